//! The address of a PostgreSQL cluster, as a URL.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode as SslUse, TargetSessionAttrs},
};

/// How long one server may take to accept a TCP connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long transmitted data may stay unacknowledged before the connection counts as lost.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(10);

const PORT: u16 = 5432;

/// `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTIONS`, as in libpq. `Debug` and
/// `Display` show neither the password nor the options.
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
    /// TLS without verification; with a root certificate like [`Self::VerifyCa`].
    Require,
    /// TLS with a certificate from a trusted root.
    VerifyCa,
    /// In addition, the certificate must name the host.
    VerifyFull,
}

impl PostgresUrl {
    /// Parses a URL; `None` if it has another scheme.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let rest = ["postgres://", "postgresql://"]
            .iter()
            .find_map(|&s| text.strip_prefix(s))?;
        Some(Self::parse_rest(rest))
    }

    fn parse_rest(rest: &str) -> Result<Self, String> {
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (ssl_mode, root_certificate, query) = take_ssl_options(query)?;
        let (authority, path) = match address.find('/') {
            Some(slash) => address.split_at(slash),
            None => (address, ""),
        };
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        if user.trim_end_matches('@').contains('@') {
            return Err("write an @ in the user name or password as %40".to_owned());
        }
        // One configuration for each server, so that each can have its own timeout.
        let servers = hosts
            .split(',')
            .map(|host| server(&format!("postgres://{user}{host}{path}?{query}"), ssl_mode))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            servers,
            ssl_mode,
            root_certificate,
        })
    }

    pub(super) fn servers(&self) -> &[Config] {
        &self.servers
    }

    pub(super) fn ssl_mode(&self) -> SslMode {
        match (self.ssl_mode, &self.root_certificate) {
            (SslMode::Require, Some(_)) => SslMode::VerifyCa,
            (mode, _) => mode,
        }
    }

    /// Returns the file with the trusted roots; `None` means those of the system.
    pub(super) fn root_certificate(&self) -> Option<&PathBuf> {
        self.root_certificate.as_ref()
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        let first = self.servers.first();
        if let Some(user) = first.and_then(Config::get_user) {
            write!(f, "{user}@")?;
        }
        for (number, server) in self.servers.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "," })?;
            match server.get_hosts().first() {
                Some(Host::Tcp(name)) => f.write_str(name)?,
                Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
                None => {}
            }
            if let Some(port) = server.get_ports().first().filter(|&&port| port != PORT) {
                write!(f, ":{port}")?;
            }
        }
        write!(
            f,
            "/{}",
            first.and_then(Config::get_dbname).unwrap_or_default()
        )
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

/// Parses the options that the driver does not know, and returns the other options.
fn take_ssl_options(query: &str) -> Result<(SslMode, Option<PathBuf>, String), String> {
    let mut mode = SslMode::default();
    let mut root = None;
    let mut rest = Vec::new();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let decoded = || {
            let value = percent_decode_str(value).decode_utf8();
            value.map_err(|_| format!("{name} is not UTF-8"))
        };
        match name {
            "sslmode" => mode = decoded()?.parse()?,
            "sslrootcert" => root = Some(decoded()?.into_owned()),
            _ => rest.push(option),
        }
    }
    // As in libpq, `system` is not a file name.
    let root = root.filter(|root| root != "system").map(PathBuf::from);
    Ok((mode, root, rest.join("&")))
}

/// Returns the driver's configuration for one server.
fn server(url: &str, ssl_mode: SslMode) -> Result<Config, String> {
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        // The source of the error names the option at most, and never a value.
        let reason = std::error::Error::source(&error).map(ToString::to_string);
        format!(
            "not a valid PostgreSQL URL: {}",
            reason.unwrap_or_else(|| error.to_string())
        )
    })?;
    if config.get_hosts().is_empty() {
        return Err("a PostgreSQL URL must name a host: postgres://USER@HOST/DATABASE".to_owned());
    }
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
        return Err("petstore needs to write: target_session_attrs must be read-write".to_owned());
    }
    if config.get_application_name().is_none() {
        config.application_name("petstore");
    }
    config
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .ssl_mode(match ssl_mode {
            SslMode::Disable => SslUse::Disable,
            SslMode::Prefer => SslUse::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => SslUse::Require,
        })
        .connect_timeout(CONNECT_TIMEOUT)
        .keepalives_idle(ACKNOWLEDGE_TIMEOUT)
        .keepalives_interval(ACKNOWLEDGE_TIMEOUT / 5)
        .keepalives_retries(3)
        .tcp_user_timeout(ACKNOWLEDGE_TIMEOUT);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sslmode_and_sslrootcert_are_those_of_libpq() {
        let ssl = |query: &str| {
            let url = PostgresUrl::parse(&format!("postgres://db/pets?{query}"))
                .unwrap()
                .unwrap();
            (url.ssl_mode(), url.root_certificate().cloned())
        };
        assert_eq!(ssl(""), (SslMode::Prefer, None));
        assert_eq!(ssl("sslmode=require"), (SslMode::Require, None));
        assert_eq!(
            ssl("sslmode=require&sslrootcert=%2Fca.pem"),
            (SslMode::VerifyCa, Some("/ca.pem".into()))
        );
        assert_eq!(
            ssl("sslrootcert=system&sslmode=verify-full"),
            (SslMode::VerifyFull, None)
        );
    }
}
