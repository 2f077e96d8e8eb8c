//! The interface, held to its contract through a real server and a real
//! client, over each store. One file an operation, and one for what they share.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::duplicate_mod, reason = "every test runs over every store")]

mod backend;
#[path = "../shared/certificates.rs"]
mod certificates;
mod contract;
mod harness;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
// It is the same over each store.
mod tls;

/// Makes a module of all tests, with a `Server` over one store.
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
