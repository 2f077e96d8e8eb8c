//! The limits of a server. Each connection needs an open file, so the system's limit of open files
//! is handled here, too.

use std::time::Duration;

use petstore_domain::Networks;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many addresses an attacker needs at least to occupy all connections of a large service.
const MIN_ADDRESSES: usize = 20;

/// The smallest default limit of connections from one address. The connection pool of one client
/// fits into it.
const MIN_LIMIT_PER_ADDRESS: usize = 64;

/// How many open files the deliveries of webhooks and their tests need at most.
const DELIVERY_FILES: u64 = 464;

/// How many open files are reserved for the database, the listeners and the log.
const OTHER_FILES: u64 = 256;

/// How many open files are reserved for purposes other than connections.
const RESERVED_FILES: u64 = DELIVERY_FILES + OTHER_FILES;

/// The limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// How many of them may come from one address (IPv6: one /64 network), unless it is a trusted
    /// proxy.
    pub max_connections_per_address: usize,
    /// The proxies to which the limit per address does not apply.
    pub trusted_proxies: Networks,
    /// Whether the limit per address does not apply to local programs. They share one address, and
    /// one of them may be a proxy.
    pub exempts_loopback: bool,
    /// How long a client may take to send the head of a request, and how long it may stay idle
    /// between requests. A client is disconnected if it sends no request for four times as long,
    /// and reads less than 1 KiB per second.
    pub client_timeout: Duration,
    /// The age at which a connection is shut down gracefully, even if it is busy. Rounded down to a
    /// multiple of `client_timeout`.
    pub connection_age: Duration,
    /// How long requests in flight may take after the server is told to stop.
    pub shutdown_timeout: Duration,
}

/// Returns the default limit of connections from one address: a twentieth of all connections, but
/// at least 64.
pub fn default_limit_per_address(max_connections: usize) -> usize {
    max_connections
        .div_ceil(MIN_ADDRESSES)
        .max(MIN_LIMIT_PER_ADDRESS)
}

/// Raises the process's limit of open files as far as permitted.
///
/// Returns how many connections the raised limit allows, or `None` if open files are not limited.
pub fn raise_open_files_limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    let highest_limit = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // If the system rejects this (macOS has an undocumented lower maximum), the limit stays
    // unchanged.
    let _ = setrlimit(Resource::Nofile, highest_limit);
    getrlimit(Resource::Nofile).current.map(connections_under)
}

/// Returns how many connections a limit of open files allows. At most half of a low limit is
/// reserved.
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
