//! The HTTP layer below the interfaces of the service: `server` has the sockets, TLS and connection
//! limits, and `edge` does the work that every request needs.

pub mod edge;
pub mod server;
