//! Arguments that several commands share, small groups of options of `petstore serve`, and the
//! error for an invalid setting.

use std::{ffi::OsStr, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, builder::TypedValueParser, error::ErrorKind};
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_observe::log::LogFormat;
use petstore_store::{OpenError, OpenMode, Store};
use petstore_web::{
    edge::BaseUrl,
    server::{Tls, TlsError},
};
use tracing::level_filters::LevelFilter;

use super::{runtime, values};

/// The database of the catalogue.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
pub(super) struct DatabaseArgs {
    /// The database: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`
    #[arg(
        id = "database",
        long = "database",
        // Also after the command of a group, such as `webhooks list`.
        global = true,
        value_name = "URL",
        env = "PETSTORE_DATABASE",
        // The URL can contain a password.
        hide_env_values = true,
        default_value = "sqlite:petstore.db",
        value_parser = DatabaseUrlParser
    )]
    pub(super) url: DatabaseUrl,
}

impl DatabaseArgs {
    /// Opens the database for a command. One connection is enough, because a command runs one
    /// operation at a time.
    pub(super) async fn open(&self, mode: OpenMode) -> Result<Arc<dyn Store>, OpenError> {
        let one_connection = NonZeroU32::MIN;
        databases::open(&self.url, mode, one_connection, &mut runtime::random()).await
    }

    /// Merges the animals that a command has added into the search, so that the first searches are
    /// fast. Failure is ignored, because the service merges what is left.
    pub(super) fn merge_search(&self) {
        let max_unmerged = 0;
        let _ = runtime::block_on(async {
            let store = self.open(OpenMode::AsIs).await?;
            // Each call merges a batch, and returns whether there is more to merge.
            while store.tend_search(max_unmerged).await? {}
            Ok(())
        });
    }
}

/// A parser of database URLs. The parsers of clap quote the value in errors. This parser does not,
/// because the URL can contain a password.
#[derive(Clone)]
pub(super) struct DatabaseUrlParser;

impl TypedValueParser for DatabaseUrlParser {
    type Value = DatabaseUrl;

    fn parse_ref(
        &self,
        command: &clap::Command,
        option: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<DatabaseUrl, clap::Error> {
        parse_database_url(value).map_err(|reason| {
            let option_name = option.map(ToString::to_string).unwrap_or_default();
            let message = format!("invalid value for '{option_name}': {reason}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

/// Parses the URL of a database. The error says what is wrong, without quoting the URL.
fn parse_database_url(value: &OsStr) -> Result<DatabaseUrl, String> {
    match value.to_str() {
        Some(url) => url.parse(),
        None => Err("the URL must be UTF-8".to_owned()),
    }
}

/// The option to create the database.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
pub(super) struct CreateArgs {
    /// Create the database if it does not exist
    #[arg(long)]
    pub(super) create: bool,
}

impl CreateArgs {
    /// Returns the mode in which the command opens the database.
    pub(super) fn mode(&self) -> OpenMode {
        if self.create {
            OpenMode::Create
        } else {
            OpenMode::AsIs
        }
    }
}

/// The URLs at which clients reach the two deployments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Addresses")]
pub(super) struct BaseUrlArgs {
    /// The URL at which clients reach production, for the OpenAPI document and
    /// for links; ends in /v1
    #[arg(long, value_name = "URL", env = "PETSTORE_BASE_URL")]
    pub(super) base_url: Option<BaseUrl>,

    /// The URL at which clients reach staging; ends in /v1
    #[arg(long, value_name = "URL", env = "PETSTORE_STAGING_BASE_URL")]
    pub(super) staging_base_url: Option<BaseUrl>,
}

impl BaseUrlArgs {
    /// Checks that the two deployments have different URLs.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.base_url.is_none() || self.base_url != self.staging_base_url,
            BadSetting(
                "--base-url and --staging-base-url must differ: each deployment has its own URL"
                    .to_owned()
            )
        );
        Ok(())
    }
}

/// The certificate and its private key, for TLS.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(super) struct TlsArgs {
    /// The certificate for TLS, with its chain, in PEM format; the service notices
    /// a renewed certificate
    #[arg(
        long,
        value_name = "FILE",
        env = "PETSTORE_TLS_CERT",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM format, unencrypted
    #[arg(
        long,
        value_name = "FILE",
        env = "PETSTORE_TLS_KEY",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    /// Loads the certificate and its key. Returns `None` if the service does not use TLS.
    pub(super) fn load(&self) -> Result<Option<Arc<Tls>>, TlsError> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let tls = Tls::load(certificate.clone(), key.clone())?;
        Ok(Some(Arc::new(tls)))
    }
}

/// The options for the log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logs and monitoring")]
pub(super) struct LogArgs {
    /// The format of log lines: text, or json with one object on each line; by default,
    /// text at a terminal and json otherwise
    #[arg(id = "log_format", long = "log-format", value_parser = values::one_of(&LogFormat::ALL), env = "PETSTORE_LOG_FORMAT")]
    pub(super) format: Option<LogFormat>,

    /// The least important lines to log: error, warn, info, debug, trace or off; by default,
    /// info, but at a terminal without a line for each change
    #[arg(
        id = "log_level",
        long = "log-level",
        value_name = "LEVEL",
        env = "PETSTORE_LOG_LEVEL"
    )]
    pub(super) level: Option<LevelFilter>,

    /// Log every request, not only failed and slow ones
    #[arg(long, env = "PETSTORE_ACCESS_LOG", value_parser = values::parse_boolean)]
    pub(super) access_log: bool,

    /// Log a request as slow if it takes at least this long
    #[arg(
        long,
        value_name = "DURATION",
        env = "PETSTORE_SLOW_REQUEST",
        default_value = "1s",
        value_parser = values::parse_duration
    )]
    pub(super) slow_request: Duration,
}

/// The options for the shutdown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shutdown")]
pub(super) struct ShutdownArgs {
    /// How long to accept requests after SIGTERM or Ctrl-C while /readyz is 503, so
    /// that load balancers stop sending requests; a second signal ends this delay
    #[arg(
        id = "shutdown_delay",
        long = "shutdown-delay",
        value_name = "DURATION",
        env = "PETSTORE_SHUTDOWN_DELAY",
        default_value = "0s",
        value_parser = values::parse_duration
    )]
    pub(super) delay: Duration,

    /// How long requests in flight may take after the shutdown delay
    #[arg(
        id = "shutdown_timeout",
        long = "shutdown-timeout",
        value_name = "DURATION",
        env = "PETSTORE_SHUTDOWN_TIMEOUT",
        default_value = "10s",
        value_parser = values::parse_duration
    )]
    pub(super) timeout: Duration,
}

/// The error for an invalid setting. The command fails with the exit status 2 until an operator
/// corrects the setting.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadSetting(pub(super) String);
