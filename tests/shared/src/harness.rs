//! A real server on a free port, over a fresh database, with a clock that the test sets.

use std::{
    any::Any,
    net::SocketAddr,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::SignedDuration;
use petstore_api::{Api, Settings};
use petstore_app::{self as app, App};
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    Actor, ApiKey, Clock, Deployment, KeyId, Networks, NewKey, NewPet, PetName, PetStatus,
    RateLimit, Scope, WriteContext,
};
use petstore_store::{OpenMode, Store};
use petstore_web::{
    edge,
    server::{self, Limits, Tls},
};
use rand::{SeedableRng, rngs::StdRng};
use reqwest::{Client, Method, header::HeaderValue};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

use crate::{
    clock::ManualClock, contract, database::Database, interface, photo_storage, reply::Reply,
};

/// Waits for what must happen soon. Fails after a timeout.
pub async fn soon<T>(condition: impl Future<Output = T>) -> T {
    let happened = tokio::time::timeout(Duration::from_secs(30), condition).await;
    happened.unwrap_or_else(|_| panic!("it did not happen within 30 seconds"))
}

/// The settings of a server.
pub struct Setup {
    pub now: &'static str,
    pub deployment: Deployment,
    pub base_url: Option<&'static str>,
    pub staging_base_url: Option<&'static str>,
    pub cors_origins: &'static [&'static str],
    pub limits: Limits,
    pub tls: Option<Arc<Tls>>,
    pub body_timeout: Duration,
    pub request_timeout: Duration,
    pub response_memory: usize,
    pub rate_limit: Option<&'static str>,
    pub reservation: Duration,
    pub photos: photo_storage::StorageOf,
    /// Wraps the real store.
    pub wrap: fn(Arc<dyn Store>) -> Arc<dyn Store>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            now: "2026-12-01T12:00:00Z",
            deployment: Deployment::Production,
            base_url: None,
            staging_base_url: None,
            cors_origins: &[],
            limits: Limits {
                max_connections: 1000,
                max_connections_per_address: 1000,
                trusted_proxies: Networks::default(),
                exempts_loopback: false,
                client_timeout: Duration::from_mins(1),
                connection_age: Duration::from_hours(1),
                shutdown_timeout: Duration::from_mins(1),
            },
            tls: None,
            body_timeout: Duration::from_mins(1),
            request_timeout: Duration::from_mins(1),
            response_memory: 256 << 20,
            rate_limit: None,
            reservation: Duration::from_hours(14 * 24),
            photos: Box::new(|path| Some(photo_storage::folder(path))),
            wrap: |store| store,
        }
    }
}

pub struct Server {
    pub address: SocketAddr,
    pub clock: Arc<ManualClock>,
    /// The store, with its wrapper.
    pub store: Arc<dyn Store>,
    pub app: Arc<App>,
    pub api: Arc<Api>,
    /// A key with the scope to write.
    pub key: String,
    deployment: Deployment,
    pub client: Client,
    random: Mutex<StdRng>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
    pub photos: TempDir,
    // Dropped last.
    pub database: Database,
}

pub async fn open(database: &Database, mode: OpenMode) -> Arc<dyn Store> {
    let connections = NonZeroU32::new(8).unwrap();
    databases::open(
        &database.url(),
        mode,
        connections,
        &mut StdRng::seed_from_u64(2),
    )
    .await
    .unwrap()
}

impl Server {
    pub async fn start() -> Self {
        Self::start_with(Setup::default()).await
    }

    pub async fn start_with(setup: Setup) -> Self {
        let database = Database::fresh().await;
        let store = open(&database, OpenMode::CreateAndMigrate).await;
        let clock = ManualClock::at(setup.now);
        let app_settings = app::Settings {
            deployment: setup.deployment,
            rate_limit: setup.rate_limit.map(|rate| rate.parse().unwrap()),
            reservation: setup.reservation,
            ..app::Settings::default()
        };
        let edge_settings = edge::Settings {
            cors_origins: setup
                .cors_origins
                .iter()
                .map(|origin| origin.parse().unwrap())
                .collect(),
            trusted_proxies: setup.limits.trusted_proxies.clone(),
            exempts_loopback: setup.limits.exempts_loopback,
            access_log: true,
            slow_request: Duration::from_secs(1),
            body_timeout: setup.body_timeout,
            request_timeout: setup.request_timeout,
            response_memory: setup.response_memory,
        };
        let settings = Settings {
            deployment: setup.deployment,
            base_url: setup.base_url.map(|url| url.parse().unwrap()),
            staging_base_url: setup.staging_base_url.map(|url| url.parse().unwrap()),
            tls: setup.tls.is_some(),
            store: app::StoreOptions::default(),
        };
        let seen = (setup.wrap)(Arc::clone(&store));
        let photos = crate::temporary_folder();
        let app = interface::app_with(
            seen,
            clock.clone(),
            &app_settings,
            (setup.photos)(photos.path()),
        );
        let edge = Arc::new(interface::edge(clock.clone(), &edge_settings));
        let api = Arc::new(Api::new(Arc::clone(&app), edge, &settings).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&api);
        let serving = tokio::spawn(async move {
            let stopped = async {
                drop(stopped.await);
                shared.app().journal.end();
            };
            // Without a log, nothing follows it.
            let following = async {
                loop {
                    shared.app().journal.due().await;
                    let _ = shared.app().journal.poll().await;
                }
            };
            let handler = shared.clone_as_handler();
            let stopped = Box::pin(stopped);
            let serving = server::serve(listener, setup.tls, handler, &setup.limits, stopped);
            tokio::select! {
                () = serving => {}
                () = following => {}
            }
        });
        let mut server = Self {
            address,
            clock,
            store,
            app,
            api,
            key: String::new(),
            deployment: setup.deployment,
            client: Client::builder().no_proxy().build().unwrap(),
            random: Mutex::new(StdRng::seed_from_u64(20_261_124)),
            stop: Some(stop),
            serving: Some(serving),
            photos,
            database,
        };
        server.key = server.new_key(Scope::Write, None).await.0;
        server
    }

    /// Opens the same database again, as another process does.
    pub async fn open_again(&self) -> Arc<dyn Store> {
        open(&self.database, OpenMode::AsIs).await
    }

    pub fn database_url(&self) -> DatabaseUrl {
        self.database.url()
    }

    /// Blocks all writes until the result is dropped.
    pub async fn hold_writes(&self) -> Box<dyn Any> {
        self.database.hold_writes().await
    }

    pub async fn log_of_later_release(&self, pet: i64) {
        self.database.log_of_later_release(pet).await;
    }

    pub async fn execute(&self, sql: &str) {
        self.database.execute(sql).await;
    }

    pub async fn count_rows(&self, table: &str) -> i64 {
        self.database.count_rows(table).await
    }

    pub async fn new_key(&self, scope: Scope, expires: Option<Duration>) -> (String, KeyId) {
        self.new_limited_key(scope, expires, None).await
    }

    pub fn act(&self) -> WriteContext {
        WriteContext::new(Actor::Command, self.clock.now())
    }

    /// Creates a key with this rate limit.
    pub async fn new_limited_key(
        &self,
        scope: Scope,
        expires: Option<Duration>,
        rate_limit: Option<RateLimit>,
    ) -> (String, KeyId) {
        self.new_named_key("test", scope, expires, rate_limit).await
    }

    pub async fn new_named_key(
        &self,
        name: &str,
        scope: Scope,
        expires: Option<Duration>,
        rate_limit: Option<RateLimit>,
    ) -> (String, KeyId) {
        let key = ApiKey::generate(self.deployment, &mut *self.random.lock().unwrap());
        let now = self.clock.now();
        let new = NewKey {
            digest: key.digest(),
            name: name.to_owned(),
            scope,
            deployment: self.deployment,
            expires_at: expires.map(|after| now + SignedDuration::try_from(after).unwrap()),
            rate_limit,
        };
        let record = self.store.create_key(new, self.act()).await.unwrap();
        (key.reveal().to_owned(), record.id)
    }

    /// Adds animals with these statuses directly to the store.
    pub async fn fill(&self, statuses: impl IntoIterator<Item = PetStatus>) {
        for status in statuses {
            let name = PetName::new("Frank".to_owned()).unwrap();
            let new = NewPet {
                name,
                category_id: 1,
                status,
                is_listed: true,
            };
            self.store
                .create_pet(new, self.act(), |_| unreachable!())
                .await
                .unwrap();
        }
    }

    /// Sends a request unchanged, and compares the response with the contract.
    pub async fn send(
        &self,
        method: Method,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Reply {
        let url = format!("http://{}{target}", self.address);
        let mut request = self.client.request(method.clone(), url).body(body);
        for (name, value) in headers {
            request = request.header(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let response = request.send().await.unwrap();
        let path = response.url().path().to_owned();
        let reply = Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.bytes().await.unwrap().to_vec(),
        };
        contract::check(&method, &path, reply.status, &reply.headers, &reply.body);
        reply
    }

    /// Sends a request with the key.
    pub async fn request(&self, method: Method, target: &str) -> Reply {
        self.send(method, target, &[("authorization", &self.bearer())], "")
            .await
    }

    pub async fn get(&self, target: &str) -> Reply {
        self.request(Method::GET, target).await
    }

    pub async fn get_with_key(&self, target: &str, key: &str) -> Reply {
        self.send(
            Method::GET,
            target,
            &[("authorization", &format!("Bearer {key}"))],
            "",
        )
        .await
    }

    /// Posts a body to `/v1/pets`, as JSON, with this `Idempotency-Key`.
    pub async fn post_with_idempotency_key(
        &self,
        key: &str,
        body: impl Into<reqwest::Body>,
    ) -> Reply {
        let bearer = self.bearer();
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        self.send(Method::POST, "/v1/pets", &headers, body).await
    }

    /// Posts a body to `/v1/pets`, as JSON.
    pub async fn post(&self, body: impl Into<reqwest::Body>) -> Reply {
        let headers = [
            ("authorization", &*self.bearer()),
            ("content-type", "application/json"),
        ];
        self.send(Method::POST, "/v1/pets", &headers, body).await
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.key)
    }

    /// For requests that no HTTP client sends.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes, and reads until the server closes the connection.
    pub async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes.as_ref()).await;
        let mut response = Vec::new();
        soon(stream.read_to_end(&mut response)).await.unwrap();
        String::from_utf8(response).unwrap()
    }

    /// Tells the server to stop; the handle completes when it has stopped.
    pub fn stop(&mut self) -> JoinHandle<()> {
        drop(self.stop.take());
        self.serving.take().unwrap()
    }
}
