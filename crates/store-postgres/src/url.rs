//! Parses the URL of a PostgreSQL cluster.

use std::{error::Error, fmt, path::PathBuf, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode as DriverSslMode, TargetSessionAttrs},
};

/// The time limit for a server to accept a TCP connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the server may leave data unacknowledged (by TCP) before the connection counts as lost.
/// A connection without data for this long gets its first keepalive.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two TCP keepalives.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);

/// The number of unanswered TCP keepalives after which the connection counts as lost.
const KEEPALIVE_RETRIES: u32 = 3;

/// The port of a server if the URL does not name one.
const DEFAULT_PORT: u16 = 5432;

/// The address of a cluster, as in libpq:
/// `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTIONS`.
///
/// `Debug` and `Display` show neither the password nor the options.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    servers: Vec<Config>,
    ssl_mode: SslMode,
    root_certificate: Option<PathBuf>,
}

/// How the connection is protected: `sslmode` of libpq, without `allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SslMode {
    Disable,
    /// TLS if the server supports it, without verification.
    #[default]
    Prefer,
    /// TLS without verification. If the URL names a root certificate, this is like
    /// [`Self::VerifyCa`].
    Require,
    /// TLS, with a certificate that a trusted root has issued.
    VerifyCa,
    /// Like [`Self::VerifyCa`]; in addition, the certificate must name the host.
    VerifyFull,
}

impl PostgresUrl {
    /// Parses a URL. Returns `None` if its scheme is neither `postgres` nor `postgresql`. The error is a
    /// message for the operator.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let without_scheme = ["postgres://", "postgresql://"]
            .iter()
            .find_map(|&scheme| text.strip_prefix(scheme))?;
        Some(Self::parse_without_scheme(without_scheme))
    }

    /// Parses the part of a URL after `postgres://`.
    fn parse_without_scheme(text: &str) -> Result<Self, String> {
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let options = Options::parse(query)?;
        let (authority, path) = match address.find('/') {
            Some(slash) => address.split_at(slash),
            None => (address, ""),
        };
        // `user_info` is `USER:PASSWORD@`, including the `@`, so it can stand in front of each host.
        let (user_info, hosts) = match authority.rfind('@') {
            Some(at_sign) => authority.split_at(at_sign + 1),
            None => ("", authority),
        };
        if user_info.trim_end_matches('@').contains('@') {
            return Err("write an @ in the user name or password as %40".to_owned());
        }
        // One configuration for each server, because the `Connector` of `connect.rs` tries the
        // servers one by one, each with its own time limit.
        let mut servers = Vec::new();
        for host in hosts.split(',') {
            let url = format!(
                "postgres://{user_info}{host}{path}?{}",
                options.driver_query
            );
            servers.push(parse_server(&url, options.ssl_mode)?);
        }
        Ok(Self {
            servers,
            ssl_mode: options.ssl_mode,
            root_certificate: options.root_certificate,
        })
    }

    /// Returns the driver's configuration of each server.
    pub(super) fn servers(&self) -> &[Config] {
        &self.servers
    }

    /// Returns the effective mode: as in libpq, `require` with a root certificate means `verify-ca`.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match (self.ssl_mode, &self.root_certificate) {
            (SslMode::Require, Some(_)) => SslMode::VerifyCa,
            (mode, _) => mode,
        }
    }

    /// Returns the file with the trusted root certificates. `None` stands for the roots of the system.
    pub(super) fn root_certificate(&self) -> Option<&PathBuf> {
        self.root_certificate.as_ref()
    }
}

/// Shows the URL in messages and in the log, where the password must not appear. This is a text for
/// people: it is not always a valid URL.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://")?;
        let first_server = self.servers.first();
        if let Some(user) = first_server.and_then(Config::get_user) {
            write!(formatter, "{user}@")?;
        }
        for (index, server) in self.servers.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            match server.get_hosts().first() {
                Some(Host::Tcp(name)) => formatter.write_str(name)?,
                Some(Host::Unix(path)) => write!(formatter, "{}", path.display())?,
                // `parse_server` rejects a URL without a host.
                None => {}
            }
            match server.get_ports().first() {
                Some(&port) if port != DEFAULT_PORT => write!(formatter, ":{port}")?,
                _ => {}
            }
        }
        let database = first_server.and_then(Config::get_dbname);
        write!(formatter, "/{}", database.unwrap_or_default())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for SslMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "disable" => Ok(Self::Disable),
            "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(
                "sslmode must be one of disable, prefer, require, verify-ca and verify-full"
                    .to_owned(),
            ),
        }
    }
}

/// The options in the query of a URL.
struct Options {
    ssl_mode: SslMode,
    root_certificate: Option<PathBuf>,
    /// The remaining options, as a query that the driver parses.
    driver_query: String,
}

impl Options {
    /// Parses the query of a URL.
    ///
    /// For example, `sslmode=require&sslrootcert=%2Fca.pem&connect_timeout=1` becomes the mode
    /// [`SslMode::Require`], the path `/ca.pem`, and the query `connect_timeout=1` for the driver.
    fn parse(query: &str) -> Result<Self, String> {
        let mut ssl_mode: Option<SslMode> = None;
        let mut root_certificate = None;
        let mut driver_options = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "sslmode" => ssl_mode = Some(decode_option(name, value)?.parse()?),
                "sslrootcert" => root_certificate = Some(decode_option(name, value)?),
                _ => driver_options.push(option),
            }
        }
        // `system` stands for the roots of the system instead of a file. As in libpq since version
        // 16, it asks for a verified server. In contrast to libpq, `verify-ca` is accepted, because
        // earlier releases accepted it.
        if root_certificate.as_deref() == Some("system") {
            root_certificate = None;
            match ssl_mode {
                None => ssl_mode = Some(SslMode::VerifyFull),
                Some(SslMode::VerifyCa | SslMode::VerifyFull) => {}
                Some(_) => {
                    return Err("sslrootcert=system needs sslmode=verify-full".to_owned());
                }
            }
        }
        let ssl_mode = ssl_mode.unwrap_or_default();
        Ok(Self {
            ssl_mode,
            root_certificate: root_certificate.map(PathBuf::from),
            driver_query: driver_options.join("&"),
        })
    }
}

/// Percent-decodes the value of the option `name`.
fn decode_option(name: &str, value: &str) -> Result<String, String> {
    match percent_decode_str(value).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(format!("{name} is not UTF-8")),
    }
}

/// Parses the URL of one server into the driver's configuration, and adds the timeouts and requirements
/// of this store. The error is a message for the operator.
fn parse_server(url: &str, ssl_mode: SslMode) -> Result<Config, String> {
    let mut configuration = Config::from_str(url).map_err(|error| explain_invalid_url(&error))?;
    if configuration.get_hosts().is_empty() {
        return Err("a PostgreSQL URL must name a host: postgres://USER@HOST/DATABASE".to_owned());
    }
    if configuration.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
        return Err("petstore needs to write: target_session_attrs must be read-write".to_owned());
    }
    if configuration.get_application_name().is_none() {
        configuration.application_name("petstore");
    }
    configuration
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .ssl_mode(match ssl_mode {
            SslMode::Disable => DriverSslMode::Disable,
            SslMode::Prefer => DriverSslMode::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => DriverSslMode::Require,
        })
        .connect_timeout(CONNECT_TIMEOUT)
        .keepalives_idle(ACKNOWLEDGE_TIMEOUT)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(KEEPALIVE_RETRIES)
        .tcp_user_timeout(ACKNOWLEDGE_TIMEOUT);
    Ok(configuration)
}

/// Returns the message about a URL that the driver rejects.
fn explain_invalid_url(error: &tokio_postgres::Error) -> String {
    // The source of the error names an option at most, never a value, so this cannot reveal a password.
    let reason = match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    format!("not a valid PostgreSQL URL: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sslmode_and_sslrootcert_are_those_of_libpq() {
        let ssl_settings = |query: &str| {
            let url = PostgresUrl::parse(&format!("postgres://db/pets?{query}"))
                .unwrap()
                .unwrap();
            (url.ssl_mode(), url.root_certificate().cloned())
        };
        assert_eq!(ssl_settings(""), (SslMode::Prefer, None));
        assert_eq!(ssl_settings("sslmode=require"), (SslMode::Require, None));
        assert_eq!(
            ssl_settings("sslmode=require&sslrootcert=%2Fca.pem"),
            (SslMode::VerifyCa, Some("/ca.pem".into()))
        );
        assert_eq!(
            ssl_settings("sslrootcert=system&sslmode=verify-full"),
            (SslMode::VerifyFull, None)
        );
        assert_eq!(
            ssl_settings("sslrootcert=system"),
            (SslMode::VerifyFull, None)
        );
        for mode in ["disable", "prefer", "require"] {
            let url = format!("postgres://db/pets?sslmode={mode}&sslrootcert=system");
            let error = PostgresUrl::parse(&url).unwrap().unwrap_err();
            assert_eq!(error, "sslrootcert=system needs sslmode=verify-full");
        }
    }
}
