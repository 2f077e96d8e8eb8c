//! Serves photos, the store's logo and static assets, which browsers can load without a session.

use hyper::http::request::Parts;
use petstore_domain::{Client, store_area::Logo};
use petstore_web::edge::{ApiError, Reader, Response, photos};

use super::{session, state::Console, static_assets, visit::Visit};

impl Console {
    /// Responds to `GET /photos/{file}`. Without a session, only photos that the store's website
    /// may show are available, and the response to other names is 404.
    pub(super) async fn serve_photo(
        &self,
        client: &Client,
        visit: &Visit<'_>,
    ) -> Result<Response, ApiError> {
        let headers = &visit.request.headers;
        let name = visit.parameter;
        let reading = &self.app.reading;
        let is_member = session::resume(visit).await?.is_some();
        let reader = if is_member {
            Reader::Known
        } else {
            photos::reject_private(&reading.store, name).await?;
            self.edge.strangers.reader(client, headers)
        };
        let memory = &self.edge.response_memory;
        let mut response = photos::respond(&reading.photos, memory, reader, headers, name).await?;
        if is_member {
            photos::make_private(&mut response);
        }
        Ok(response)
    }

    /// Responds to `GET /assets/{name}` with a static asset or the store's logo.
    pub(super) async fn serve_asset(
        &self,
        client: &Client,
        request: &Parts,
    ) -> Result<Response, ApiError> {
        let Some(logo) = Logo::from_path(request.uri.path()) else {
            return static_assets::respond_with_asset(request.uri.path());
        };
        let reader = self.edge.strangers.reader(client, &request.headers);
        let memory = &self.edge.response_memory;
        photos::respond_with_logo(&self.app.reading.logos, memory, reader, logo).await
    }
}
