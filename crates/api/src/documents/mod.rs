//! The public documents, which need no key: the OpenAPI documents, the pages that show them, and the API
//! catalog.

mod api_catalog;
mod docs;
mod document;
pub mod openapi;

use std::sync::Arc;

use petstore_domain::Clock;
use petstore_web::edge::{ApiError, Response};

pub(super) use self::docs::redirect as docs_redirect;
use self::{
    docs::Docs,
    document::Document,
    openapi::{Format, OpenApi, OpenApiDocuments},
};
use super::context::{Call, Settings};

/// The public documents, ready to be sent.
pub struct Documents {
    clock: Arc<dyn Clock>,
    openapi: OpenApiDocuments,
    /// The content of `/.well-known/api-catalog`.
    catalog: Document,
    docs: Docs,
}

impl Documents {
    /// Creates the documents of the service with these settings.
    pub(super) fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            openapi: OpenApiDocuments::new(settings),
            catalog: api_catalog::render(settings.own_base_url()),
            docs: Docs::default(),
        }
    }

    /// Responds with an OpenAPI document, as it is at the present time.
    pub(super) async fn openapi(
        &self,
        call: Call<'_>,
        document: OpenApi,
        format: Format,
    ) -> Result<Response, ApiError> {
        self.openapi
            .response(call.request, document, format, self.clock.now())
            .await
    }

    /// Responds with the API catalog.
    pub(super) async fn catalog(&self, call: Call<'_>) -> Result<Response, ApiError> {
        api_catalog::respond(&self.catalog, call).await
    }

    /// Responds to `GET /` with the API catalog, or with a redirect to the docs for a browser.
    pub(super) async fn root(&self, call: Call<'_>) -> Result<Response, ApiError> {
        api_catalog::respond_at_root(&self.catalog, call).await
    }

    /// Responds with a file of the docs.
    pub(super) async fn docs_file(&self, call: Call<'_>) -> Result<Response, ApiError> {
        self.docs.file(call.parameter, &call.request.headers).await
    }
}
