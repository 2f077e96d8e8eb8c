//! How requests reach the service: `server` has sockets, TLS and limits, `edge` what happens to every request.

pub mod edge;
pub mod server;
