//! The contract and the store area: HTTP requests in, calls of the service, HTTP responses out.

mod accept;
mod access;
mod api;
mod context;
mod contract;
pub mod documents;
mod idempotency;
mod management;
mod query;
pub mod routes;
mod store_area;

use petstore_web::edge::etag;

pub use self::{
    api::{Api, with_routes},
    context::Settings,
    management::Management,
    store_area::declared_bodies,
};
