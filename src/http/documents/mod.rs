//! What anybody may read without a key: the contract, the page that shows it, and
//! the API catalog.

pub(super) mod api_catalog;
pub(super) mod docs;
pub(super) mod document;
pub mod openapi;
mod server_url;
