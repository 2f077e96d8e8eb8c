//! Who may do what: API keys, scopes and rate limits.

pub(super) mod auth;
mod issued_keys;
mod key_usage;
pub(super) mod rate_limit;
