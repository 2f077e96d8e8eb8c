//! The interface, tested through a real server and a real client on each store, and compared with
//! the contract. One file for each operation, and one for each topic.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::duplicate_mod, reason = "every test runs over every store")]

mod backend;
#[path = "../shared/certificates.rs"]
mod certificates;
mod contract;
mod harness;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
// Independent of the store.
mod tls;

/// Creates a module with all tests and a `Server` on one store.
macro_rules! suite {
    ($store:ident, $backend:ident) => {
        #[path = "."]
        mod $store {
            use crate::contract;

            mod harness {
                pub(super) use crate::harness::*;

                pub(super) type Server = crate::harness::Server<crate::backend::$backend>;
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
        }
    };
}

suite!(sqlite, Sqlite);
suite!(postgres, Postgres);
