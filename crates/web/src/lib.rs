//! The way of requests to the operations of the service: `server` has sockets, TLS and limits, `edge` the work that every
//! request needs.

pub mod edge;
pub mod server;
