//! The ways from the service to its machine and to other servers: TLS, requests, addresses, and the owner of the files that
//! it makes.

pub mod addresses;
pub mod http_client;
pub mod owner;
pub mod tls;
