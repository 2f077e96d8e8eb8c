//! What anybody may read without a key: the OpenAPI documents, the pages that show
//! them, and the API catalog.

pub(super) mod api_catalog;
pub(super) mod docs;
pub(super) mod document;
pub mod openapi;
mod server_url;
