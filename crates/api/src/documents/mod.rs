//! The public documents, which need no key: the OpenAPI documents, the pages that show them, and the API
//! catalog.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

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

pub struct Documents {
    clock: Arc<dyn Clock>,
    openapi: OpenApiDocuments,
    /// The content of `/.well-known/api-catalog`.
    catalog: Document,
    docs: Docs,
}

impl Documents {
    pub(super) fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            openapi: OpenApiDocuments::new(settings),
            catalog: api_catalog::catalog(settings.own_base_url()),
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

    pub(super) async fn catalog(&self, call: Call<'_>) -> Result<Response, ApiError> {
        api_catalog::get(&self.catalog, call).await
    }

    pub(super) async fn root(&self, call: Call<'_>) -> Result<Response, ApiError> {
        api_catalog::root(&self.catalog, call).await
    }

    pub(super) async fn docs_file(&self, call: Call<'_>) -> Result<Response, ApiError> {
        self.docs.file(call.parameter, &call.request.headers).await
    }
}
