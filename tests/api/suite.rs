//! The tests of the interface over the database of the program that includes them.

use crate::contract;

mod harness {
    pub(super) use crate::harness::*;

    pub(super) type Server = crate::harness::Server<crate::Database>;
}

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
mod idempotency;
mod limits;
mod list;
mod paging;
mod rate_limit;
mod response_memory;
mod shutdown;
mod store_area;
