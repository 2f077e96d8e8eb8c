//! The HTTP API: the operations of the contract (`/v1/pets`) and of the store area (`/v1/store`).
//!
//! Each operation parses a request, calls the application layer, and renders the response.

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

pub use self::{
    api::{Api, with_routes},
    context::Settings,
    management::Management,
    store_area::declared_bodies,
};
