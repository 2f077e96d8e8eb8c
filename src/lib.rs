//! A pet store service. The path of a request:
//!
//! 1. [`server`] accepts the connection and reads HTTP from it.
//! 2. [`http::App::handle`] gives the request an id, checks the limits and its API key.
//! 3. `http/routes.rs` finds the operation.
//! 4. The operation (one file each in `http/contract/`) parses the request into [`domain`] types,
//!    calls the [`store`], and renders the response.
//! 5. Every problem becomes an `ApiError` (`http/error.rs`), which knows its status code.
//!
//! [`cli`] reads the command line and starts all of this.

pub mod cli;
pub mod confirmed_clock;
pub mod console;
pub mod delivery;
pub mod domain;
pub mod files;
pub mod http;
mod http_client;
mod json;
pub mod observe;
pub mod server;
pub mod store;
pub mod tasks;
mod text;
mod tls;
