//! What the service needs of its machine and of other servers: TLS, requests to other servers, their addresses, and the
//! owner of the files that it makes.

pub mod addresses;
pub mod http_client;
pub mod owner;
pub mod tls;
