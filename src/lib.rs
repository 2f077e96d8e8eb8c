//! A pet store service. The path of a request:
//!
//! 1. [`server`] accepts the connection and reads HTTP from it.
//! 2. [`edge`] gives the request an id, and checks its head and the limits.
//! 3. [`http::Api`] checks the API key, and `http/routes.rs` finds the operation.
//! 4. The operation (one file each in `http/contract/`) parses the request into [`domain`] types,
//!    lets [`app`] or the [`store`] do what it asks for, and renders the response.
//! 5. Every problem becomes an `ApiError` (`edge/error.rs`), which knows its status code.
//!
//! [`cli`] reads the command line and starts all of this.

pub mod addresses;
pub mod app;
pub mod backups;
pub mod cli;
pub mod confirmed_clock;
pub mod console;
pub mod databases;
pub mod delivery;
pub mod domain;
pub mod edge;
pub mod files;
pub mod http;
mod http_client;
mod json;
mod languages;
mod look;
pub mod observe;
pub mod openid;
pub mod owner;
pub mod photos;
pub mod server;
pub mod store;
pub mod tasks;
mod text;
mod tls;
mod turns;
pub mod window;
