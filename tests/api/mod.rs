//! The interface, tested through a real server and a real client, and compared with the contract.
//! One file for each operation, and one for each topic.

mod authentication;
mod clock;
mod compression;
mod conditional;
mod connection_slots;
pub(crate) mod contract;
mod cors;
mod create;
mod documents;
mod errors;
mod get;
mod harness;
mod heads;
mod idempotency;
mod limits;
mod list;
mod paging;
pub(crate) mod pictures;
mod rate_limit;
mod response_memory;
mod server_address;
mod shutdown;
mod store_area;
mod tls;
