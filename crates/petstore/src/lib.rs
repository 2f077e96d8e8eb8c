//! A pet store service. The path of a request:
//!
//! 1. `server` (in `petstore-web`) accepts the connection and reads HTTP from it.
//! 2. `edge` (in `petstore-web`) gives the request an id, and checks its head and the limits.
//! 3. `petstore-api` checks the API key, and its `routes.rs` finds the operation.
//! 4. The operation (one file each in `contract/`) parses the request into types of `petstore-domain`,
//!    lets `petstore-app` or the store do what it asks for, and renders the response.
//! 5. Every problem becomes an `ApiError` (`edge/error.rs`), which knows its status code.
//!
//! [`cli`] reads the command line and starts all of this.

pub mod backups;
pub mod cli;
