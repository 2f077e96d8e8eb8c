//! The interface, tested through a real server and a real client, and compared with the contract.
//! One file for each operation, and one for each topic.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod authentication;
mod clock;
mod compression;
mod conditional;
mod connection_slots;
mod cors;
mod create;
mod documents;
mod errors;
mod get;
mod heads;
mod idempotency;
mod limits;
mod list;
mod paging;
mod rate_limit;
mod response_memory;
mod server_address;
mod shutdown;
mod store_area;
mod tls;
