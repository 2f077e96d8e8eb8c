//! What the public types and functions of this crate promise, each by itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod endpoint_url;
mod signature;
mod store_facts;
mod vault;
