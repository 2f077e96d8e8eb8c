//! The settings of the edge.

use std::time::Duration;

use super::addresses::Origin;
use crate::domain::Networks;

/// What an operator can choose for every request.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The origins whose pages may use the service from a browser.
    pub cors_origins: Vec<Origin>,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
    /// Whether local programs, which share one address, are exempt from the limits for an address.
    pub exempts_loopback: bool,
    /// Whether every request is logged, or only requests that fail or are slow.
    pub access_log: bool,
    /// A request that takes at least this long is slow.
    pub slow_request: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a request may take, from its head to its response.
    pub request_timeout: Duration,
    /// How many bytes of memory all responses together may use until clients have read them.
    pub response_memory: usize,
}

impl Default for Settings {
    /// The settings of `petstore serve` without options.
    fn default() -> Self {
        Self {
            cors_origins: Vec::new(),
            trusted_proxies: Networks::default(),
            exempts_loopback: true,
            access_log: false,
            slow_request: Duration::from_secs(1),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(45),
            response_memory: 256 << 20,
        }
    }
}
