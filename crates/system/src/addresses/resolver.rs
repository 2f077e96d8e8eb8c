//! Name resolution with shared lookups.
//!
//! An attempt to deliver a message has a timeout. A lookup by the system cannot be cancelled, and
//! occupies one of a limited number of threads while it waits for a name server. All attempts that
//! need the same name therefore share one lookup, which continues even when they time out.

use std::{collections::HashMap, io, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use parking_lot::Mutex;
use tokio::{net, task};
use url::{Host, Url};

/// A resolver of host names.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Returns all addresses of a host name, combined with the port.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The resolver of the operating system.
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(net::lookup_host((name, port)).await?.collect())
    }
}

/// The host name and port of a lookup.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Target {
    name: String,
    port: u16,
}

/// The addresses of a target. The error is shared by all attempts that wait for the lookup.
type LookupResult = Result<Vec<SocketAddr>, Arc<io::Error>>;

/// A lookup in progress, whose result is shared by all attempts with the same target.
type SharedLookup = Shared<BoxFuture<'static, LookupResult>>;

/// The lookups in progress.
type RunningLookups = Mutex<HashMap<Target, SharedLookup>>;

/// A resolver that runs at most one lookup for each host name and port at a time. It resolves the
/// host of a URL, so it does not implement [`Resolve`].
pub struct SharedResolver {
    resolver: Arc<dyn Resolve>,
    running: Arc<RunningLookups>,
}

impl SharedResolver {
    /// Returns a resolver that makes its lookups with `resolver`.
    pub fn new(resolver: Box<dyn Resolve>) -> Self {
        Self {
            resolver: resolver.into(),
            running: Arc::default(),
        }
    }

    /// Returns the addresses of the server in a URL, of which there is at least one. Fails if its
    /// host name has no address.
    pub async fn resolve_url(&self, url: &Url) -> io::Result<Vec<SocketAddr>> {
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            // Does not occur: each URL with the scheme `http` or `https` has a host and a port.
            return Err(io::Error::other("the URL names no server"));
        };
        let addresses = match host {
            Host::Ipv4(address) => vec![(address, port).into()],
            Host::Ipv6(address) => vec![(address, port).into()],
            Host::Domain(name) => self.resolve_name(name, port).await?,
        };
        if addresses.is_empty() {
            return Err(io::Error::other("the name has no address"));
        }
        Ok(addresses)
    }

    /// Resolves a name by joining a running lookup, or by starting a new one.
    async fn resolve_name(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let target = Target {
            name: name.to_owned(),
            port,
        };
        // The lock is held while the task of a new lookup is spawned. The task itself takes the
        // lock only when it ends.
        let lookup = self
            .running
            .lock()
            .entry(target.clone())
            .or_insert_with(|| self.start_lookup(target))
            .clone();
        // Other attempts share the error, so each of them wraps it.
        lookup.await.map_err(io::Error::other)
    }

    /// Starts a lookup as a separate task, which continues even if nobody waits for it.
    fn start_lookup(&self, target: Target) -> SharedLookup {
        let resolver = Arc::clone(&self.resolver);
        let guard = LookupGuard {
            target: target.clone(),
            running: Arc::clone(&self.running),
        };
        let Target { name, port } = target;
        let task_result = task::spawn(async move {
            // Dropped at the end of the task.
            let _guard = guard;
            resolver.resolve(&name, port).await.map_err(Arc::new)
        });
        // If the task panics or is cancelled, all attempts that wait for it get an error.
        task_result
            .map(|result| result.unwrap_or_else(|failure| Err(Arc::new(failure.into()))))
            .boxed()
            .shared()
    }
}

/// A guard that removes a lookup from the running ones when it ends, even by a panic.
struct LookupGuard {
    target: Target,
    running: Arc<RunningLookups>,
}

impl Drop for LookupGuard {
    fn drop(&mut self) {
        self.running.lock().remove(&self.target);
    }
}
