//! `petstore serve`.

use std::{net::SocketAddr, num::NonZeroU32, pin::pin, sync::Arc, time::Duration};

use clap::Args;
use futures_util::{FutureExt, future};
use petstore_api::{self as http, Api, Management};
use petstore_app::{self as app, App, delivery::Dispatcher};
use petstore_databases as databases;
use petstore_domain::{Deployment, Network, SystemClock};
use petstore_observe::log;
use petstore_store::{StoreError, confirmed_clock::ConfirmedClock};
use petstore_web::{
    edge::{self, Edge, Interface as _, Origin},
    server::{self, Limits},
};
use tokio::{
    sync::{oneshot, watch},
    time,
};
use tracing::{info, warn};

use super::{
    args::{BaseUrlArgs, DatabaseArgs, LogArgs, ShutdownArgs, TlsArgs},
    backups::BackupArgs,
    clock::check_date,
    demo_store::Demo,
    first_start,
    management::{self, Bound, ManagementArgs},
    pages::{Listeners, PagesArgs},
    photos::ServicePhotoArgs,
    runtime::{self, Ends, notify},
    tasks,
    values::{self, RateOrOff},
    webhooks::WebhookArgs,
};

/// How long a request may take in addition to the time for its body: longer than the
/// store waits for a lock.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// See [`Limits::connection_age`].
const CONNECTION_AGE: Duration = Duration::from_hours(1);

/// Groups of options in the help.
const CLIENTS: &str = "Clients and limits";

/// Serve the catalogue over HTTP
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore serve\n",
    "  petstore serve --database sqlite:/var/lib/petstore/petstore.db --listen :8080\n",
    "  PETSTORE_DATABASE=postgres://petstore@db1,db2/petstore petstore serve"
))]
pub(super) struct Serve {
    #[command(flatten)]
    database: DatabaseArgs,

    /// The largest number of connections to PostgreSQL; not used with SQLite
    #[arg(long, help_heading = "Database", value_name = "COUNT", env = "PETSTORE_DATABASE_CONNECTIONS", default_value = "16", value_parser = values::count)]
    database_connections: NonZeroU32,

    /// The address and port to listen on; port 0 means a free port
    #[arg(
        long,
        help_heading = "Addresses",
        value_name = "ADDRESS",
        env = "PETSTORE_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = values::listen_address
    )]
    listen: SocketAddr,

    #[command(flatten)]
    management: ManagementArgs,

    #[command(flatten)]
    pages: PagesArgs,

    /// The deployment; the service accepts only API keys of this deployment
    #[arg(long, help_heading = CLIENTS, value_parser = values::word(&Deployment::ALL), env = "PETSTORE_DEPLOYMENT", default_value = "production")]
    deployment: Deployment,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    base_urls: BaseUrlArgs,

    /// A site whose pages may use the service from a browser, such as
    /// `https://shop.example`; repeat the option for several sites
    #[arg(long, help_heading = CLIENTS, value_name = "ORIGIN", env = "PETSTORE_CORS_ORIGIN", value_delimiter = ',')]
    cors_origin: Vec<Origin>,

    #[command(flatten)]
    log: LogArgs,

    /// The rate limit of each API key without its own limit, such as 10/s, 600/min
    /// or 5000/h, or off
    #[arg(long, help_heading = CLIENTS, value_name = "RATE", env = "PETSTORE_RATE_LIMIT", default_value = "off")]
    rate_limit: RateOrOff,

    /// A proxy, or a network of proxies such as 10.0.0.0/8, whose `Forwarded` or
    /// `X-Forwarded-For` gives the addresses of clients; repeat the option for several
    #[arg(long, help_heading = CLIENTS, value_name = "CIDR", env = "PETSTORE_TRUSTED_PROXY", value_delimiter = ',')]
    trusted_proxy: Vec<Network>,

    /// The largest number of open connections; above it, a new connection replaces
    /// the oldest one without a valid key, or gets 503
    #[arg(long, help_heading = CLIENTS, value_name = "COUNT", env = "PETSTORE_MAX_CONNECTIONS", default_value = "10000", value_parser = values::count)]
    max_connections: NonZeroU32,

    /// The largest number of connections from one address that is not a trusted
    /// proxy; by default a 20th of all, at least 64, and no limit for this machine
    #[arg(long, help_heading = CLIENTS, value_name = "COUNT", env = "PETSTORE_MAX_CONNECTIONS_PER_ADDRESS", value_parser = values::count)]
    max_connections_per_address: Option<NonZeroU32>,

    /// How long a client may take to send a head or a body, and how long it may
    /// send nothing
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_CLIENT_TIMEOUT",
        default_value = "30s",
        value_parser = values::timeout
    )]
    client_timeout: Duration,

    /// How long a reservation lasts if its order does not set an end, up to 400d
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_RESERVATION",
        default_value = "14d",
        value_parser = values::reservation
    )]
    reservation: Duration,

    /// How long to keep the log of changes and the audit trail, from 1d on
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_KEEP_CHANGES",
        default_value = "400d",
        value_parser = values::retention
    )]
    keep_changes: Duration,

    /// How long to keep the contact of an order after the order closed, up to 400d
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_KEEP_CONTACTS",
        default_value = "30d",
        value_parser = values::contacts
    )]
    keep_contacts: Duration,

    #[command(flatten)]
    photos: ServicePhotoArgs,

    #[command(flatten)]
    backups: BackupArgs,

    #[command(flatten)]
    webhooks: WebhookArgs,

    #[command(flatten)]
    shutdown: ShutdownArgs,

    /// The demo that it serves.
    #[arg(skip)]
    demo: Option<Demo>,

    /// The signals that end it, if they are not those of a service.
    #[arg(skip)]
    ends: Option<Ends>,
}

/// Somebody changed the files of the database. A restart does not help before an operator has looked.
#[derive(Debug, thiserror::Error)]
#[error("the service ended; its log says what to do")]
pub(super) struct FilesChanged(#[source] StoreError);

impl Serve {
    /// Returns a service with the store of a demo.
    pub(super) fn with(mut self, demo: Demo, ends: Ends) -> Self {
        self.pages.demo_link = Some(demo.link.digest());
        (self.demo, self.ends) = (Some(demo), Some(ends));
        self
    }

    /// Serves until a signal ends the process. `warnings` are those of the settings.
    pub(super) fn run(self, warnings: Vec<String>) -> anyhow::Result<()> {
        check_date()?;
        self.base_urls.check()?;
        self.photos.check(&self.database.database)?;
        self.backups.check(&self.database.database)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let served = runtime.block_on(self.serve(warnings));
        // A host name lookup that takes long must not delay the exit.
        runtime.shutdown_timeout(Duration::from_secs(1));
        served
    }

    async fn serve(mut self, warnings: Vec<String>) -> anyhow::Result<()> {
        // Started first, because opening the store may take long and logs this.
        let _log = log::start(self.log.format, self.log.level);
        log_warnings(warnings);
        // A port that is in use hides no wrong setting.
        let tls = self.tls.load()?;
        let style = self.pages.style()?;
        let provider = self.pages.provider()?;
        let bind = if self.demo.is_some() {
            Bound::or_free
        } else {
            Bound::new
        };
        let listener = bind(self.listen, "--listen")?;
        let management_listener = self.management.bind()?;
        let pages = self.pages.bind(style, bind)?;
        let mode = self.pages.open_mode();
        let database = &self.database.database;
        let mut random = runtime::random();
        let store = databases::open(database, mode, self.database_connections, &mut random).await?;
        let photos = Arc::new(self.photos.open(database).await?);
        // Nobody can connect before the schema is there.
        let listener = listener.listen()?;
        let management_listener = management_listener.map(Bound::listen).transpose()?;
        let pages = self.pages.listen(pages)?;
        let mut ends = self.ends.take().map_or_else(Ends::of_service, Ok)?;
        let limits = self.limits();
        let has_tls = tls.is_some();
        management::log_address(management_listener.as_ref());
        let urls = self.pages.urls(&pages, has_tls);
        let settings = self.settings(has_tls);
        let address = listener.local_addr()?;

        let of_app = self.app_settings();
        let edge = self.edge(&limits, &pages);
        let clock = Arc::new(ConfirmedClock::new(
            Arc::clone(&store),
            Arc::new(SystemClock),
        ));
        let (spans, exporter) = self
            .management
            .traces(self.deployment, &mut random)?
            .unzip();
        let registrar = self.webhooks.registrar(database, true);
        let dispatcher = Dispatcher::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            runtime::random(),
            self.webhooks.connector()?,
            &registrar,
            spans.clone(),
        );
        let app = Arc::new(App::new(
            Arc::clone(&store),
            clock,
            registrar,
            photos,
            &of_app,
        ));
        let backups = self.backups.open(database, &app).await?;
        let place = app.photos.place();
        match self.demo.take() {
            Some(demo) => tokio::select! {
                filled = demo.fill(&app, address, &urls) => filled?,
                () = ends.next() => return Ok(()),
            },
            None => first_start::log(&*store, database, place, &settings, address, urls).await?,
        }
        let edge = Arc::new(edge.with_spans(spans));
        let api = Arc::new(Api::new(Arc::clone(&app), Arc::clone(&edge), &settings)?);
        let management = Arc::new(Management::new(Arc::clone(&api)));
        let (stop, stopped) = oneshot::channel::<()>();
        let delay = self.shutdown.delay;
        let readiness = Arc::clone(&management);
        let watched = Arc::clone(&store);
        let last_signal = async move {
            future::select(pin!(ends.next()), watched.wait_for_end()).await;
            notify("STOPPING=1").await;
            readiness.begin_shutdown();
            if !delay.is_zero() {
                let seconds = delay.as_secs_f64();
                info!(
                    seconds,
                    "not ready; serving until the shutdown delay is over"
                );
                tokio::select! {
                    () = time::sleep(delay) => {}
                    () = ends.next() => {}
                }
            }
            drop(stop);
            ends.next().await;
        };
        let stopped = stopped.map(drop).shared();
        let tasks = tasks::start(&app, &store, tls.as_ref(), exporter, dispatcher, backups);
        let handler = api.handler();
        let following = api;
        let (ended, service_ended) = watch::channel(());
        let serving = async {
            let pages = self.pages.run(
                pages,
                tls.clone(),
                (app, edge, provider),
                self.deployment,
                &limits,
                stopped.clone(),
            );
            let stopped = async {
                stopped.await;
                let open = following.connections().open.get();
                info!(open, "shutting down");
                following.app().journal.end();
            };
            let served = server::serve(listener, tls, handler, &limits, Box::pin(stopped));
            tokio::join!(served, pages);
            tasks.shut_down().await;
            drop(ended);
        };
        let watching = management::run(management_listener, management, &limits, service_ended);
        let serving = async { tokio::join!(serving, watching, notify("READY=1")) };
        // The last signal ends the process without waiting for requests.
        tokio::select! {
            _ = serving => {}
            () = last_signal => {}
            Ok(()) = runtime::log_limit() => {}
        }
        let ended = store.wait_for_end().now_or_never();
        // Waits for the last write.
        drop((following, store));
        info!("stopped");
        ended.map_or(Ok(()), |cause| Err(FilesChanged(cause).into()))
    }

    fn app_settings(&self) -> app::Settings {
        app::Settings {
            deployment: self.deployment,
            rate_limit: self.rate_limit.0,
            reservation: self.reservation,
            keep_changes: self.keep_changes,
            keep_contacts: self.keep_contacts,
        }
    }

    fn edge(&self, limits: &Limits, pages: &Listeners) -> Edge {
        let settings = edge::Settings {
            cors_origins: self.cors_origin.clone(),
            trusted_proxies: limits.trusted_proxies.clone(),
            exempts_loopback: limits.exempts_loopback,
            access_log: self.log.access_log,
            slow_request: self.log.slow_request,
            body_timeout: self.client_timeout,
            request_timeout: self.client_timeout + RESPONSE_TIMEOUT,
            ..edge::Settings::default()
        };
        let edge = Edge::new(Arc::new(SystemClock), &mut runtime::random(), &settings);
        pages.with_routes(http::with_routes(edge))
    }

    fn settings(&self, tls: bool) -> http::Settings {
        http::Settings {
            deployment: self.deployment,
            base_url: self.base_urls.base_url.clone(),
            staging_base_url: self.base_urls.staging_base_url.clone(),
            tls,
        }
    }

    /// Returns the limits of the server. Each connection is an open file, so the limit of open
    /// files also limits connections.
    fn limits(&self) -> Limits {
        let wanted = self.max_connections.get() as usize;
        let max_connections = match server::raise_open_files_limit() {
            Some(possible) if possible < wanted => {
                warn!(
                    "the limit of open files is too low for {wanted} connections, so the service \
                     accepts {possible}; raise it (ulimit -n, LimitNOFILE), or lower \
                     --max-connections"
                );
                possible
            }
            _ => wanted,
        };
        let per_address = self
            .max_connections_per_address
            .map(|count| count.get() as usize);
        Limits {
            max_connections,
            max_connections_per_address: per_address
                .unwrap_or_else(|| server::per_address_of(max_connections)),
            trusted_proxies: self.trusted_proxy.iter().copied().collect(),
            exempts_loopback: per_address.is_none(),
            client_timeout: self.client_timeout,
            connection_age: CONNECTION_AGE,
            shutdown_timeout: self.shutdown.timeout,
        }
    }
}

/// Logs what the settings say that is probably not meant.
fn log_warnings(warnings: Vec<String>) {
    for warning in warnings {
        warn!("{warning}");
    }
}
