//! The checks that every request of the interface passes before its operation runs.

pub(crate) mod auth;
pub(crate) mod rate_limit;
