//! The services that the clients of a history talk to: some in this process, or
//! processes of the program on one database, through sockets.

use std::{
    net::IpAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, StatusCode, Uri, header};
use jiff::Timestamp;
use petstore::{
    domain::{Actor, ApiKey, Clock, Deployment, NewKey, Scope, SystemClock, WriteContext},
    http::{App, Settings},
    store::Store,
};
use rand::{SeedableRng, rngs::StdRng};

use super::{by_hand::Database, program};

/// One of the services on a database.
#[derive(Clone)]
pub(crate) enum Service {
    Here(Arc<App>),
    /// The origin of another process.
    There(reqwest::Client, String),
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

    pub(crate) fn tag(&self) -> &str {
        self.field(header::ETAG).unwrap_or_default()
    }

    /// Where the next page is.
    pub(crate) fn next(&self) -> Option<String> {
        let link = self.field(header::LINK)?.strip_prefix('<').unwrap();
        Some(link.split_once('>').unwrap().0.to_owned())
    }
}

impl Service {
    pub(crate) async fn send(&self, mut request: Request<Bytes>) -> Response {
        let (head, body) = match self {
            Self::Here(app) => {
                let from = IpAddr::from([127, 0, 0, 1]).into();
                request.headers_mut().insert(header::HOST, header::HeaderValue::from_static("x"));
                let response = app.handle(&from, request.map(Full::from)).await;
                let (head, body) = response.into_parts();
                (head, body.collect().await.unwrap().to_bytes())
            }
            Self::There(client, origin) => {
                *request.uri_mut() = format!("{origin}{}", request.uri()).parse::<Uri>().unwrap();
                let response = client.execute(request.try_into().unwrap()).await.unwrap();
                let response = hyper::Response::from(response);
                let (head, body) = response.into_parts();
                (head, body.collect().await.unwrap().to_bytes())
            }
        };
        Response { status: head.status, headers: head.headers, body }
    }
}

/// A date before the end of reading by id, whatever the machine's is.
struct BeforeTheEnd;

impl Clock for BeforeTheEnd {
    fn now(&self) -> Timestamp {
        "2026-12-01T12:00:00Z".parse().unwrap()
    }

    fn instant(&self) -> Instant {
        SystemClock.instant()
    }
}

/// Where a history takes place: services on one database, which is empty.
pub(crate) struct Place {
    pub(crate) services: Vec<Service>,
    /// An API key that may do everything.
    pub(crate) key: String,
    pub(crate) database: Database,
    _processes: Vec<program::Service>,
}

impl Place {
    /// A service in this process over each of `stores`, which are one SQLite
    /// file opened several times.
    pub(crate) async fn here(stores: &[Arc<dyn Store>], file: &Path) -> Self {
        let mut random = StdRng::seed_from_u64(1);
        let key = ApiKey::generate(Deployment::Production, &mut random);
        let new = NewKey {
            digest: key.digest(),
            name: "histories".to_owned(),
            scope: Scope::Write,
            deployment: Deployment::Production,
            expires_at: None,
            rate_limit: None,
        };
        let context = WriteContext::new(Actor::Command, BeforeTheEnd.now());
        stores[0].create_key(new, context).await.unwrap();
        let settings = Settings { slow_request: Duration::from_mins(1), ..Settings::default() };
        let service = |store: &Arc<dyn Store>| {
            let store = Arc::clone(store);
            let app = App::new(store, Arc::new(BeforeTheEnd), &mut random, &settings);
            Service::Here(Arc::new(app.unwrap()))
        };
        Self {
            services: stores.iter().map(service).collect(),
            key: key.reveal().to_owned(),
            database: Database::sqlite(file),
            _processes: Vec::new(),
        }
    }

    /// Two processes of the program on the database that `url` names, a SQLite
    /// file or a PostgreSQL schema.
    pub(crate) async fn processes(directory: &Path, url: &str) -> Self {
        let start = |_| program::Service::start(directory, &["--database", url]);
        let processes: Vec<_> = (0..2).map(start).collect();
        let database = match url.strip_prefix("sqlite:") {
            Some(file) => Database::sqlite(Path::new(file)),
            None => Database::postgres(url).await,
        };
        let make = ["keys", "create", "--name", "histories", "--database", url];
        let key = program::run(directory, &make).expect_success().stdout;
        let service = |process: &program::Service| {
            let origin = process.url.trim_end_matches("/v1").to_owned();
            Service::There(program::client(), origin)
        };
        Self {
            services: processes.iter().map(service).collect(),
            key: key.trim_end().to_owned(),
            database,
            _processes: processes,
        }
    }
}
