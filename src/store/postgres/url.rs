//! Where a PostgreSQL cluster is, as a URL.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode as SslUse, TargetSessionAttrs},
};

/// How long one server may take to accept a TCP connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// After how long a server that acknowledges nothing counts as gone.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(10);

/// The port of PostgreSQL.
const PORT: u16 = 5432;

/// `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTIONS`, as libpq
/// reads it. Neither `Debug` nor `Display` shows the password or the options.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    servers: Vec<Config>,
    ssl_mode: SslMode,
    root_certificate: Option<PathBuf>,
}

/// How much the connection is protected: `sslmode` of libpq, but for `allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SslMode {
    /// No TLS.
    Disable,
    /// TLS where the server has it, whoever it is.
    #[default]
    Prefer,
    /// TLS, whoever the server is; with a root certificate as [`Self::VerifyCa`].
    Require,
    /// TLS, and a certificate that comes from a trusted root.
    VerifyCa,
    /// And that names the host.
    VerifyFull,
}

impl PostgresUrl {
    /// Reads a URL; `None` if it is not one of PostgreSQL.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, String>> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|&s| text.strip_prefix(s))?;
        Some(Self::parse_rest(rest))
    }

    fn parse_rest(rest: &str) -> Result<Self, String> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (ssl_mode, root_certificate, query) = take_ssl_options(query)?;
        let (authority, path) = match place.find('/') {
            Some(slash) => place.split_at(slash),
            None => (place, ""),
        };
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        if user.trim_end_matches('@').contains('@') {
            return Err("an @ in the user name or password reads %40".to_owned());
        }
        // One for each server, so that each can have its own time to answer.
        let servers = hosts
            .split(',')
            .map(|host| server(&format!("postgres://{user}{host}{path}?{query}"), ssl_mode))
            .collect::<Result<_, _>>()?;
        Ok(Self { servers, ssl_mode, root_certificate })
    }

    /// How to connect to each of the servers.
    pub(super) fn servers(&self) -> &[Config] {
        &self.servers
    }

    /// How much the connection is protected.
    pub(super) fn ssl_mode(&self) -> SslMode {
        match (self.ssl_mode, &self.root_certificate) {
            (SslMode::Require, Some(_)) => SslMode::VerifyCa,
            (mode, _) => mode,
        }
    }

    /// The file with the trusted roots; those of the system if `None`.
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
        write!(f, "/{}", first.and_then(Config::get_dbname).unwrap_or_default())
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
            _ => {
                Err("sslmode is one of disable, prefer, require, verify-ca and verify-full"
                    .to_owned())
            }
        }
    }
}

/// Takes out what the driver does not know, and returns the rest of the query.
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
    // As libpq has it: `system` is not the name of a file.
    let root = root.filter(|root| root != "system").map(PathBuf::from);
    Ok((mode, root, rest.join("&")))
}

/// What the driver is told about one server.
fn server(url: &str, ssl_mode: SslMode) -> Result<Config, String> {
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        // What lies behind it names the option at most, and never a value.
        let reason = std::error::Error::source(&error).map(ToString::to_string);
        format!("this is no PostgreSQL URL: {}", reason.unwrap_or_else(|| error.to_string()))
    })?;
    if config.get_hosts().is_empty() {
        return Err("a PostgreSQL URL names a host: postgres://USER@HOST/DATABASE".to_owned());
    }
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadOnly {
        return Err("petstore writes: target_session_attrs is read-write".to_owned());
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
        .keepalives_idle(ACKNOWLEDGED_WITHIN)
        .keepalives_interval(ACKNOWLEDGED_WITHIN / 5)
        .keepalives_retries(3)
        .tcp_user_timeout(ACKNOWLEDGED_WITHIN);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<PostgresUrl, String> {
        PostgresUrl::parse(text).unwrap()
    }

    #[test]
    fn a_url_names_one_server_or_several_and_shows_no_password() {
        for (text, shown, servers) in [
            ("postgres://db.example/pets", "postgres://db.example/pets", 1),
            ("postgresql://me:s3cret@db:5433/pets", "postgres://me@db:5433/pets", 1),
            ("postgres://me:s3cret@a,b:5433/pets", "postgres://me@a,b:5433/pets", 2),
            (
                "postgres://me:s3cret@a/pets?target_session_attrs=read-write&sslmode=disable",
                "postgres://me@a/pets",
                1,
            ),
            ("postgres://me@%2Frun%2Fdb/pets", "postgres://me@/run/db/pets", 1),
            ("postgres://me@/pets?host=/run/db&password=s3cret", "postgres://me@/run/db/pets", 1),
        ] {
            let url = url(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.servers().len()), (shown, servers));
            assert_eq!(format!("{url:?}"), shown);
        }
    }

    #[test]
    fn what_is_no_url_is_refused_without_its_password() {
        for (text, reason) in [
            ("postgres://", "names a host"),
            ("postgres://me:s3cret@/pets", "names a host"),
            ("postgres://me:s3cret@db:port/pets", "port"),
            ("postgres://me:s3cret@db/pets?colour=s3cret", "colour"),
            ("postgres://me:s3cret@db/pets?sslmode=s3cret", "sslmode is one of"),
            ("postgres://me:s3cret@db/pets?target_session_attrs=read-only", "read-write"),
            ("postgres://me:s3cr@et@db/pets", "%40"),
        ] {
            let refused = url(text).unwrap_err();
            assert!(refused.contains(reason) && !refused.contains("s3cr"), "{refused}");
        }
    }

    #[test]
    fn sslmode_and_sslrootcert_are_those_of_libpq() {
        let ssl = |query: &str| {
            let url = url(&format!("postgres://db/pets?{query}")).unwrap();
            (url.ssl_mode(), url.root_certificate().cloned())
        };
        assert_eq!(ssl(""), (SslMode::Prefer, None));
        assert_eq!(ssl("sslmode=require"), (SslMode::Require, None));
        assert_eq!(
            ssl("sslmode=require&sslrootcert=%2Fca.pem"),
            (SslMode::VerifyCa, Some("/ca.pem".into()))
        );
        assert_eq!(ssl("sslrootcert=system&sslmode=verify-full"), (SslMode::VerifyFull, None));
    }
}
