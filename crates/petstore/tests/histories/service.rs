//! The services that the clients of a history talk to: some in this process, or
//! processes of the program on one database, through sockets.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, StatusCode, Uri, header};
use jiff::Timestamp;
use petstore_api::Api;
use petstore_app::App;
use petstore_databases as databases;
use petstore_domain::{Actor, ApiKey, Clock, Deployment, NewKey, Scope, SystemClock, WriteContext};
use petstore_store::{OpenMode, Store};
use petstore_testing::interface;
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::watch;

use super::program;

/// One of the services on a database.
#[derive(Clone)]
pub(crate) enum Service {
    Here(Arc<Api>),
    There(reqwest::Client, Arc<Process>),
}

/// A process of the program, which can be killed and started again.
pub(crate) struct Process {
    directory: PathBuf,
    database: String,
    running: Mutex<Option<program::Service>>,
    /// `None` while it is down.
    origin: watch::Sender<Option<String>>,
}

impl Process {
    pub(crate) fn start(&self) {
        let started = program::Service::start(&self.directory, &["--database", &self.database]);
        self.origin
            .send_replace(Some(started.url.trim_end_matches("/v1").to_owned()));
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
    }

    pub(crate) fn kill(&self) {
        self.origin.send_replace(None);
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        running.unwrap().kill();
    }
}

/// Starts processes of the program on the database that `url` names, a SQLite file or a PostgreSQL
/// schema. Returns them and an API key.
pub(crate) fn processes(directory: &Path, url: &str, count: usize) -> (Vec<Arc<Process>>, String) {
    let start = |_| {
        let process = Process {
            directory: directory.to_owned(),
            database: url.to_owned(),
            running: Mutex::default(),
            origin: watch::Sender::default(),
        };
        process.start();
        Arc::new(process)
    };
    let processes = (0..count).map(start).collect();
    let make = [
        "keys",
        "create",
        "--name",
        "histories",
        "--scope",
        "store:write",
        "--database",
        url,
    ];
    let key = program::run(directory, &make).expect_success().stdout;
    (processes, key.trim_end().to_owned())
}

/// A response that was read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Response {
    fn field(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn location(&self) -> Option<&str> {
        self.field(header::LOCATION)
    }

    pub(crate) fn tag(&self) -> &str {
        self.field(header::ETAG).unwrap_or_default()
    }

    /// Where the next page is.
    pub(crate) fn next(&self) -> Option<String> {
        let links = self.headers.get_all(header::LINK).iter();
        let mut links = links.flat_map(|field| field.to_str().unwrap().split(", "));
        let next = links.find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
        Some(next.strip_prefix('<').unwrap().to_owned())
    }
}

impl Service {
    /// The response; `None` if the process was killed meanwhile. Waits for a process
    /// that is down.
    pub(crate) async fn send(&self, mut request: Request<Bytes>) -> Option<Response> {
        let (head, body) = match self {
            Self::Here(app) => {
                let from = IpAddr::from([127, 0, 0, 1]).into();
                request
                    .headers_mut()
                    .insert(header::HOST, header::HeaderValue::from_static("x"));
                let response = app.handle(&from, request.map(Full::from)).await;
                let (head, body) = response.into_parts();
                (head, body.collect().await.unwrap().to_bytes())
            }
            Self::There(client, process) => {
                let target = request.uri().clone();
                let response = loop {
                    let mut origin = process.origin.subscribe();
                    let origin = origin
                        .wait_for(Option::is_some)
                        .await
                        .unwrap()
                        .clone()
                        .unwrap();
                    *request.uri_mut() = format!("{origin}{target}").parse::<Uri>().unwrap();
                    match client.execute(request.clone().try_into().unwrap()).await {
                        Err(error) if error.is_connect() => tokio::task::yield_now().await,
                        sent => break sent.ok()?,
                    }
                };
                let (head, body) = hyper::Response::from(response).into_parts();
                (head, body.collect().await.ok()?.to_bytes())
            }
        };
        Some(Response {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    /// Kills a process, and starts it again.
    pub(crate) async fn restart(&self) {
        if let Self::There(_, process) = self {
            let process = Arc::clone(process);
            let restart = move || {
                process.kill();
                process.start();
            };
            tokio::task::spawn_blocking(restart).await.unwrap();
        }
    }
}

/// A clock that always shows this time.
struct Stopped(Timestamp);

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn instant(&self) -> Instant {
        SystemClock.instant()
    }
}

/// The interface of a process whose request ids follow from `seed`.
fn api(seed: u64, store: &Arc<dyn Store>, now: Timestamp) -> Arc<Api> {
    interface::api_of_process(seed, Arc::clone(store), Arc::new(Stopped(now)))
}

/// For each store in this process.
const CONNECTIONS: NonZeroU32 = NonZeroU32::new(4).unwrap();

pub(crate) async fn open(url: &str) -> Arc<dyn Store> {
    let mut random = StdRng::seed_from_u64(1);
    let (url, mode) = (url.parse().unwrap(), OpenMode::CreateAndMigrate);
    databases::open(&url, mode, CONNECTIONS, &mut random)
        .await
        .unwrap()
}

/// Where a history takes place: services on one database, which is empty.
pub(crate) struct Place {
    pub(crate) services: Vec<Service>,
    /// An API key that may do everything that a history needs.
    pub(crate) key: String,
    /// The same database, for sweeps whose clock is ahead.
    pub(crate) store: Arc<dyn Store>,
    /// What the clocks of the services show, or a moment before.
    pub(crate) now: Timestamp,
    /// The SQLite file, if the database is one.
    pub(crate) file: Option<PathBuf>,
}

impl Place {
    /// A service in this process over each of `stores`, which are one database
    /// opened several times. `file` is that of SQLite.
    pub(crate) async fn here(stores: &[Arc<dyn Store>], file: Option<&Path>) -> Self {
        let mut random = StdRng::seed_from_u64(1);
        let key = ApiKey::generate(Deployment::Production, &mut random);
        // Before the end of reading by id, whatever the machine's date is.
        let now = "2026-12-01T12:00:00Z".parse().unwrap();
        let new = NewKey {
            digest: key.digest(),
            name: "histories".to_owned(),
            scope: Scope::StoreWrite,
            deployment: Deployment::Production,
            expires_at: None,
            rate_limit: None,
        };
        let context = WriteContext::new(Actor::Command, now);
        stores[0].create_key(new, context).await.unwrap();
        Self {
            services: (1..)
                .zip(stores)
                .map(|(seed, store)| Service::Here(api(seed, store, now)))
                .collect(),
            key: key.reveal().to_owned(),
            store: Arc::clone(&stores[0]),
            now,
            file: file.map(Path::to_owned),
        }
    }

    /// Another service on the database, whose clock shows `now`.
    pub(crate) fn app_at(&self, now: Timestamp) -> Arc<App> {
        Arc::clone(api(0, &self.store, now).app())
    }

    /// Two processes of the program on the database that `url` names, a SQLite
    /// file or a PostgreSQL schema.
    pub(crate) async fn processes(directory: &Path, url: &str) -> Self {
        let (processes, key) = processes(directory, url, 2);
        let client = program::client();
        let there = |process| Service::There(client.clone(), process);
        Self {
            services: processes.into_iter().map(there).collect(),
            key,
            store: open(url).await,
            now: SystemClock.now(),
            file: url.strip_prefix("sqlite:").map(PathBuf::from),
        }
    }
}
