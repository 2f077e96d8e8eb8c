//! `petstore serve`: its options, and the settings of the service that follow from them.

mod service;

use std::{net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use clap::Args;
use petstore_api as http;
use petstore_app as app;
use petstore_domain::{Deployment, Network, SystemClock};
use petstore_store::StoreError;
use petstore_web::{
    edge::{self, Edge, Origin},
    server::{self, Limits},
};
use tracing::warn;

use super::{
    args::{BaseUrlArgs, DatabaseArgs, LogArgs, ShutdownArgs, TlsArgs},
    backups::BackupArgs,
    clock::check_date,
    demo_store::DemoStore,
    management::ManagementArgs,
    pages::{Listeners, PagesArgs},
    photos::ServicePhotoArgs,
    runtime::{self, EndSignals},
    values::{self, RateOrOff},
    webhooks::WebhookArgs,
};

/// How long a request may take in addition to the time for its body. This is longer than the store
/// waits for a lock, so that the store reports a busy database first.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// The age at which a client connection is closed. See [`Limits::connection_age`].
const MAX_CONNECTION_AGE: Duration = Duration::from_hours(1);

/// The heading of a group of options in the help.
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
    #[arg(long, help_heading = "Database", value_name = "COUNT", env = "PETSTORE_DATABASE_CONNECTIONS", default_value = "16", value_parser = values::parse_positive_count)]
    database_connections: NonZeroU32,

    /// The address and port to listen on; port 0 means a free port
    #[arg(
        long,
        help_heading = "Addresses",
        value_name = "ADDRESS",
        env = "PETSTORE_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = values::parse_listen_address
    )]
    listen: SocketAddr,

    #[command(flatten)]
    management: ManagementArgs,

    #[command(flatten)]
    pages: PagesArgs,

    /// The deployment; the service accepts only API keys of this deployment
    #[arg(long, help_heading = CLIENTS, value_parser = values::one_of(&Deployment::ALL), env = "PETSTORE_DEPLOYMENT", default_value = "production")]
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
    #[arg(long, help_heading = CLIENTS, value_name = "COUNT", env = "PETSTORE_MAX_CONNECTIONS", default_value = "10000", value_parser = values::parse_positive_count)]
    max_connections: NonZeroU32,

    /// The largest number of connections from one address that is not a trusted
    /// proxy; by default a 20th of all, at least 64, and no limit for this machine
    #[arg(long, help_heading = CLIENTS, value_name = "COUNT", env = "PETSTORE_MAX_CONNECTIONS_PER_ADDRESS", value_parser = values::parse_positive_count)]
    max_connections_per_address: Option<NonZeroU32>,

    /// How long a client may take to send a head or a body, and how long it may
    /// send nothing
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_CLIENT_TIMEOUT",
        default_value = "30s",
        value_parser = values::parse_timeout
    )]
    client_timeout: Duration,

    /// How long a reservation lasts if its order does not set an end, up to 400d
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_RESERVATION",
        default_value = "14d",
        value_parser = values::parse_reservation_duration
    )]
    reservation: Duration,

    /// How long to keep the log of changes and the audit trail, from 1d on
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_KEEP_CHANGES",
        default_value = "400d",
        value_parser = values::parse_retention
    )]
    keep_changes: Duration,

    /// How long to keep the contact of an order after the order closed, up to 400d
    #[arg(
        long,
        help_heading = CLIENTS,
        value_name = "DURATION",
        env = "PETSTORE_KEEP_CONTACTS",
        default_value = "30d",
        value_parser = values::parse_contact_retention
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

    /// The demo to fill the store with. Only `petstore demo` sets it.
    #[arg(skip)]
    demo: Option<DemoStore>,

    /// The signals that end a demo, watched before the service starts.
    #[arg(skip)]
    end_signals: Option<EndSignals>,
}

/// The error of a service that ended because another program changed the files of its database. A
/// restart does not help before an operator has looked.
#[derive(Debug, thiserror::Error)]
#[error("the service ended; its log says what to do")]
pub(super) struct FilesChanged(#[source] StoreError);

impl Serve {
    /// Turns this into the service of a demo. The `signals` end the demo.
    pub(super) fn with_demo(mut self, demo: DemoStore, signals: EndSignals) -> Self {
        self.pages.demo_link = Some(demo.link.digest());
        self.demo = Some(demo);
        self.end_signals = Some(signals);
        self
    }

    /// Checks the settings, and serves until a signal ends the process. Logs `warnings` about the
    /// settings.
    pub(super) fn run(self, warnings: Vec<String>) -> anyhow::Result<()> {
        check_date()?;
        self.base_urls.check()?;
        // The kind of database decides where photos are by default, and whether backups are
        // possible.
        self.photos.check(&self.database.url)?;
        self.backups.check(&self.database.url)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let result = runtime.block_on(self.serve(warnings));
        // A slow host name lookup must not delay the exit for longer.
        runtime.shutdown_timeout(Duration::from_secs(1));
        result
    }

    /// Returns the settings of the application, which all interfaces share.
    fn app_settings(&self) -> app::Settings {
        app::Settings {
            deployment: self.deployment,
            rate_limit: self.rate_limit.0,
            reservation: self.reservation,
            keep_changes: self.keep_changes,
            keep_contacts: self.keep_contacts,
        }
    }

    /// Builds the edge, through which all requests of clients pass, with the routes of the
    /// interface and the pages.
    fn build_edge(&self, limits: &Limits, pages: &Listeners) -> Edge {
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

    /// Returns the settings of the HTTP interface.
    fn api_settings(&self, tls: bool) -> http::Settings {
        http::Settings {
            deployment: self.deployment,
            base_url: self.base_urls.base_url.clone(),
            staging_base_url: self.base_urls.staging_base_url.clone(),
            tls,
            store: self.pages.store_options(),
        }
    }

    /// Raises the number of files that this process may open as far as possible, because each
    /// connection is an open file. Returns the number of connections that the service accepts. Logs
    /// a warning if this number is lower than configured.
    fn raise_connection_limit(&self) -> usize {
        let configured_count = self.max_connections.get() as usize;
        match server::raise_open_files_limit() {
            Some(possible_count) if possible_count < configured_count => {
                warn!(
                    "the limit of open files is too low for {configured_count} connections, so the service \
                     accepts {possible_count}; raise it (ulimit -n, LimitNOFILE), or lower \
                     --max-connections"
                );
                possible_count
            }
            _ => configured_count,
        }
    }

    /// Returns the limits of a server that can have this number of connections.
    fn server_limits(&self, max_connections: usize) -> Limits {
        let max_connections_per_address = match self.max_connections_per_address {
            Some(count) => count.get() as usize,
            None => server::default_limit_per_address(max_connections),
        };
        Limits {
            max_connections,
            max_connections_per_address,
            trusted_proxies: self.trusted_proxy.iter().copied().collect(),
            // The default limit does not apply to programs on this machine, of which one may be a
            // proxy. A limit that the operator sets also applies to them.
            exempts_loopback: self.max_connections_per_address.is_none(),
            client_timeout: self.client_timeout,
            connection_age: MAX_CONNECTION_AGE,
            shutdown_timeout: self.shutdown.timeout,
        }
    }
}

/// Logs warnings about probable mistakes in the settings.
fn log_warnings(warnings: Vec<String>) {
    for warning in warnings {
        warn!("{warning}");
    }
}
