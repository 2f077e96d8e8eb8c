//! The settings of the interface.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use super::{BaseUrl, Origin};
use crate::domain::{Deployment, Networks, RateLimit};

/// The settings of the interface that an operator can choose.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The deployment whose keys are accepted.
    pub deployment: Deployment,
    pub base_url: Option<BaseUrl>,
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
    /// The origins whose pages may use the service from a browser.
    pub cors_origins: Vec<Origin>,
    /// The rate limit of keys without their own limit.
    pub rate_limit: Option<RateLimit>,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
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
    /// How long the log of changes and the audit trail are kept.
    pub keep_changes: Duration,
    /// How long a reservation lasts that does not name its end: at most 400 days.
    pub reservation: Duration,
}

impl Settings {
    /// The URL at which clients reach this deployment, if it is set.
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        match self.deployment {
            Deployment::Production => self.base_url.as_ref(),
            Deployment::Staging => self.staging_base_url.as_ref(),
        }
    }
}

impl Default for Settings {
    /// The settings of `petstore serve` without options.
    fn default() -> Self {
        Self {
            deployment: Deployment::Production,
            base_url: None,
            staging_base_url: None,
            tls: false,
            cors_origins: Vec::new(),
            rate_limit: None,
            trusted_proxies: Networks::default(),
            access_log: false,
            slow_request: Duration::from_secs(1),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(45),
            response_memory: 256 << 20,
            keep_changes: Duration::from_hours(400 * 24),
            reservation: Duration::from_hours(14 * 24),
        }
    }
}
