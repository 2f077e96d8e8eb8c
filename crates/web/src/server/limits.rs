//! The limits of a server. The system limits the number of open files, and each connection needs one.

use std::time::Duration;

use petstore_domain::Networks;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// How many of them may come from one address (IPv6: one /64 network), unless it is a trusted
    /// proxy.
    pub max_connections_per_address: usize,
    /// Addresses without this limit.
    pub trusted_proxies: Networks,
    /// Whether local programs, which share one address, may use all connections. One of them may be
    /// a proxy.
    pub exempts_loopback: bool,
    /// How long a client may take to send the head of a request, and may stay idle between
    /// requests. A client that sends no request for four times as long, and reads less than 1 KiB
    /// per second, is disconnected.
    pub client_timeout: Duration,
    /// The age at which a connection is asked to end, even if it is busy. Rounded down to a
    /// multiple of `client_timeout`.
    pub connection_age: Duration,
    /// How long requests in flight may take after the server is told to stop.
    pub shutdown_timeout: Duration,
}

/// Returns the default limit of connections from one address. Clients need 20 addresses to use all
/// connection slots of a large service. In a small one, the connection pool of one client still fits.
pub fn per_address_of(max_connections: usize) -> usize {
    max_connections.div_ceil(20).max(64)
}

/// How many files are reserved for other uses: 464 for deliveries to webhooks and their tests, the
/// others for the database, the listeners and the log.
const RESERVED_FILES: u64 = 464 + 256;

/// Raises the limit of open files as far as permitted, and returns how many connections it leaves
/// room for; `None` without a limit.
pub fn raise_open_files_limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    // If the system rejects this (macOS has an undocumented lower limit), the limit stays as it
    // was.
    let highest_limit = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let _ = setrlimit(Resource::Nofile, highest_limit);
    getrlimit(Resource::Nofile).current.map(connections_under)
}

/// Returns the number of connections for which a limit of open files leaves room.
fn connections_under(limit: u64) -> usize {
    let connections = limit - RESERVED_FILES.min(limit / 2);
    usize::try_from(connections).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_are_reserved_for_other_uses_than_connections() {
        assert_eq!(connections_under(4096), 3376);
        assert_eq!(connections_under(100), 50);
        assert_eq!(connections_under(1), 1);
    }
}
