//! A pet store service. A request takes this path:
//!
//! 1. `server` (in `petstore-web`) accepts the connection and reads HTTP from it.
//! 2. `edge` (in `petstore-web`) gives the request an id, and enforces the limits and the rules for
//!    the head.
//! 3. `petstore-api` authenticates the API key, and its `routes.rs` finds the operation.
//! 4. The operation (one file each in `contract/`) parses the request into types of
//!    `petstore-domain`, calls `petstore-app` or the store to carry it out, and renders the
//!    response.
//! 5. Every problem becomes an `ApiError` (`edge/error.rs`), which determines the status code.
//!
//! [`cli`] parses the command line, and starts all of this. [`backups`] makes backups of the
//! database of the service.

pub mod backups;
pub mod cli;
