//! The addresses of names. An attempt ends at its limit, but the system may wait longer for a name
//! server, and occupies one of a limited number of threads. So all attempts that need the same name
//! share one lookup, which continues without them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::HashMap, io, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use parking_lot::Mutex;
use tokio::{net, task};
use url::{Host, Url};

/// Finds the addresses of a name.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Returns all addresses of this name, with this port.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The resolver of the machine.
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(net::lookup_host((name, port)).await?.collect())
    }
}

type Found = Result<Vec<SocketAddr>, Arc<io::Error>>;
type Running = Mutex<HashMap<(String, u16), Shared<BoxFuture<'static, Found>>>>;

/// A resolver with at most one lookup of each name and port at a time.
pub struct Lookups {
    resolver: Arc<dyn Resolve>,
    running: Arc<Running>,
}

impl Lookups {
    pub fn new(resolver: Box<dyn Resolve>) -> Self {
        Self {
            resolver: resolver.into(),
            running: Arc::default(),
        }
    }

    /// Returns the addresses of the host in a URL; at least one.
    pub async fn addresses(&self, url: &Url) -> io::Result<Vec<SocketAddr>> {
        let port = url.port_or_known_default().unwrap_or_default();
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![(address, port).into()],
            Some(Host::Ipv6(address)) => vec![(address, port).into()],
            Some(Host::Domain(name)) => self.resolve(name, port).await?,
            None => vec![],
        };
        if addresses.is_empty() {
            Err(io::Error::other("the name has no address"))
        } else {
            Ok(addresses)
        }
    }

    /// Returns the addresses of a name, from the lookup that is running, or from a new one.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let key = (name.to_owned(), port);
        let lookup = {
            let mut running = self.running.lock();
            let start = || self.start(key.clone());
            running.entry(key.clone()).or_insert_with(start).clone()
        };
        lookup.await.map_err(io::Error::other)
    }

    fn start(&self, key: (String, u16)) -> Shared<BoxFuture<'static, Found>> {
        let resolver = Arc::clone(&self.resolver);
        let ended = Ended {
            key: key.clone(),
            running: Arc::clone(&self.running),
        };
        let lookup = task::spawn(async move {
            let _ended = ended;
            resolver.resolve(&key.0, key.1).await.map_err(Arc::new)
        });
        lookup
            .map(|found| found.unwrap_or_else(|cause| Err(Arc::new(cause.into()))))
            .boxed()
            .shared()
    }
}

/// Removes a lookup when it has ended, also by a panic.
struct Ended {
    key: (String, u16),
    running: Arc<Running>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.running.lock().remove(&self.key);
    }
}
