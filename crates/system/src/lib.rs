//! The interface of the service to its machine and to other servers: TLS, outgoing HTTP requests,
//! name resolution, and the ownership of files.

pub mod addresses;
pub mod http_client;
pub mod owner;
pub mod tls;
