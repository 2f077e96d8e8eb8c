//! A pet store service. How a request travels:
//!
//! 1. [`server`] accepts the connection and reads HTTP from it;
//! 2. [`http::App::handle`] gives the request an id, holds it to the limits,
//!    and checks its API key;
//! 3. `http/routes.rs` finds the operation;
//! 4. the operation (one file each in `http/contract/`) parses the request into
//!    [`domain`] types, asks the [`store`], and renders the answer;
//! 5. whatever goes wrong becomes an `ApiError` (`http/error.rs`), where each
//!    problem has its one status code.
//!
//! [`cli`] reads the command line and puts these together.

pub mod cli;
pub mod config;
pub mod domain;
pub mod files;
pub mod http;
mod json;
mod lenient_verifier;
pub mod observe;
pub mod server;
pub mod store;
