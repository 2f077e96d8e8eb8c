//! The interface for programs.

use std::{mem, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use hyper::{
    Request, StatusCode,
    header::{HeaderValue, InvalidHeaderValue},
    http::request::Parts,
};

use super::{
    access::{auth, rate_limit},
    context::Context,
    contract::{self, Contract, deprecation},
    documents::{self, Documents},
    etag::{self, Tags},
    routes::{self, Access, Call, Found, Operation, ROUTES, Route},
    settings::Settings,
    store_area::{self, StoreArea},
};
use crate::{
    app::App,
    domain::{Actor, Client},
    edge::{
        ApiError, BaseUrl, Body, Edge, Facts, Interface, RequestBody, Response, UnreadBody, photos,
    },
    json,
    observe::metrics::Exposition,
};

/// The interface for programs: handles requests.
pub struct Api {
    app: Arc<App>,
    edge: Arc<Edge>,
    contract: Contract,
    store_area: StoreArea,
    documents: Documents,
    /// The path of the base URL, without `/v1`.
    photos_below: String,
    /// The `Link` value that names the replacement of `getPet`.
    successor: HeaderValue,
}

/// Makes `edge` count the requests for each operation.
#[must_use]
pub fn counted(edge: Edge) -> Edge {
    edge.counting(ROUTES.iter().map(Route::label))
}

impl Api {
    /// The interface of `app`. Fails only if the base URL cannot be sent in a header field.
    pub fn new(
        app: Arc<App>,
        edge: Arc<Edge>,
        settings: &Settings,
    ) -> Result<Self, InvalidHeaderValue> {
        let own = settings.own_base_url();
        let context = Arc::new(Context {
            memory: edge.response_memory.clone(),
            tags: Tags::new(app.store.etag_key()),
            base_path: own.map_or("/v1", BaseUrl::path).to_owned(),
            body_timeout: edge.body_timeout,
        });
        let pets_path = format!("{}/pets", context.base_path);
        let successor = format!(r#"<{pets_path}>; rel="successor-version""#);
        let photos_below = context.base_path.trim_end_matches("/v1").to_owned();
        Ok(Self {
            photos_below,
            contract: Contract::new(Arc::clone(&app), Arc::clone(&context), pets_path),
            store_area: StoreArea::new(Arc::clone(&app), context),
            documents: Documents::new(settings, Arc::clone(&app.clock)),
            successor: HeaderValue::try_from(successor)?,
            app,
            edge,
        })
    }

    /// What the interface serves.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Handles one request of `client` and always returns a response.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// `GET /photos/{file}`.
    async fn photo_file(&self, client: &Client, call: Call<'_>) -> Result<Response, ApiError> {
        let headers = &call.request.headers;
        let memory = (&self.edge.response_memory, self.edge.strangers.reader(client, headers));
        photos::respond(&self.app.photos, memory, headers, call.parameter).await
    }

    /// Puts the path of the base URL before the paths of photos, which are without it in the store.
    fn add_prefix(&self, body: &mut Body) {
        let (prefix, memory) = (self.photos_below.clone(), self.edge.response_memory.clone());
        let add = move |json: Bytes| match json::with_photos_below(&prefix, &json) {
            // It had the room until now, except that for the prefix.
            Some(longer) => match memory.reserve(0) {
                Ok(room) => room.fill(longer),
                Err(_) => longer.into(),
            },
            None => json,
        };
        *body = match mem::take(body) {
            Body::Whole(json) => Body::Whole(add(json)),
            Body::Stream(events) => Body::Stream(Box::pin(events.map(add))),
            file @ Body::File(_) => file,
        };
    }

    /// All metrics, as a page for Prometheus.
    pub fn metrics(&self) -> String {
        let mut page = Exposition::default();
        self.edge.expose(&mut page);
        self.contract.expose(&mut page);
        self.app.expose(&mut page);
        page.finish()
    }
}

impl Interface for Api {
    const IS_FOR_CLIENTS: bool = true;
    const CACHE_CONTROL: HeaderValue = etag::REVALIDATE;
    type Found = Found;

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> Found {
        routes::find(&request.method, request.uri.path())
    }

    fn may_wait(found: Found) -> Duration {
        found.may_wait()
    }

    /// Checks the key, and runs the operation that was found.
    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        found: Found,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let path = request.uri.path();
        let caller = if found.needs_key(path) {
            let presented = auth::presented_key(&request.headers)?;
            let keys = &self.app.keys;
            Some(keys.authenticate(presented, client).await.map_err(auth::rejected)?)
        } else {
            None
        };
        let caller = caller.as_ref();
        facts.principal = caller.map(|caller| Actor::Key(caller.key_id()));
        facts.rate = caller.and_then(|caller| caller.rate);
        rate_limit::check(facts.rate)?;
        let (route, parameter) = found.route(path)?;
        facts.route = Some(route.label());
        if let Access::Key(needed) = route.access {
            auth::allow(caller, needed)?;
        }
        let call = Call { request, request_id, route, parameter, body, caller };
        let area = &self.store_area;
        // Called here, because a pointer to an `async` function would cost an allocation, and one
        // more layer 250 instructions.
        match route.operation {
            Operation::listPets => contract::list(&self.contract, call).await,
            Operation::createPet => contract::create(&self.contract, call).await,
            Operation::getPet => contract::get(&self.contract, call).await,
            // Boxed, because the largest future decides how much memory each request needs.
            Operation::listStorePets => Box::pin(store_area::list_pets(area, call)).await,
            Operation::getStorePet => Box::pin(store_area::get_pet(area, call)).await,
            Operation::addStorePet => Box::pin(store_area::add_pet(area, call)).await,
            Operation::patchPet => Box::pin(store_area::patch_pet(area, call)).await,
            Operation::withdrawPet => Box::pin(store_area::withdraw_pet(area, call)).await,
            Operation::restorePet => Box::pin(store_area::restore_pet(area, call)).await,
            Operation::addPhoto => Box::pin(store_area::add_photo(area, call)).await,
            Operation::getPhoto => Box::pin(store_area::get_photo(area, call)).await,
            Operation::patchPhoto => Box::pin(store_area::patch_photo(area, call)).await,
            Operation::deletePhoto => Box::pin(store_area::delete_photo(area, call)).await,
            Operation::getInventory => Box::pin(store_area::get_inventory(area, call)).await,
            Operation::listOrders => Box::pin(store_area::list_orders(area, call)).await,
            Operation::placeOrder => Box::pin(store_area::place_order(area, call)).await,
            Operation::getOrder => Box::pin(store_area::get_order(area, call)).await,
            Operation::patchOrder => Box::pin(store_area::patch_order(area, call)).await,
            Operation::completeOrder => Box::pin(store_area::complete_order(area, call)).await,
            Operation::cancelOrder => Box::pin(store_area::cancel_order(area, call)).await,
            Operation::returnOrder => Box::pin(store_area::return_order(area, call)).await,
            Operation::reopenOrder => Box::pin(store_area::reopen_order(area, call)).await,
            Operation::listCategories => Box::pin(store_area::list_categories(area, call)).await,
            Operation::putCategory => Box::pin(store_area::put_category(area, call)).await,
            Operation::deleteCategory => Box::pin(store_area::delete_category(area, call)).await,
            Operation::listFields => Box::pin(store_area::list_fields(area, call)).await,
            Operation::putField => Box::pin(store_area::put_field(area, call)).await,
            Operation::deleteField => Box::pin(store_area::delete_field(area, call)).await,
            Operation::runBatch => {
                Box::pin(store_area::run_batch(area, call, &mut facts.rate)).await
            }
            Operation::listAudit => Box::pin(store_area::list_audit(area, call)).await,
            Operation::followChanges => Box::pin(store_area::follow_changes(area, call)).await,
            Operation::listWebhooks => Box::pin(store_area::list_webhooks(area, call)).await,
            Operation::addWebhook => Box::pin(store_area::add_webhook(area, call)).await,
            Operation::getWebhook => Box::pin(store_area::get_webhook(area, call)).await,
            Operation::patchWebhook => Box::pin(store_area::patch_webhook(area, call)).await,
            Operation::deleteWebhook => Box::pin(store_area::delete_webhook(area, call)).await,
            Operation::rotateWebhookSecret => Box::pin(store_area::rotate_secret(area, call)).await,
            Operation::testWebhook => Box::pin(store_area::test_webhook(area, call)).await,
            Operation::enableWebhook => Box::pin(store_area::enable_webhook(area, call)).await,
            Operation::listWebhookAttempts => Box::pin(store_area::list_attempts(area, call)).await,
            Operation::photoFile => Box::pin(self.photo_file(client, call)).await,
            Operation::openapiYaml | Operation::openapiStoreYaml => self.documents.yaml(call).await,
            Operation::openapiJson | Operation::openapiStoreJson => self.documents.json(call).await,
            Operation::apiCatalog => self.documents.catalog(call).await,
            Operation::root => self.documents.root(call).await,
            Operation::docsRedirect => Ok(documents::docs_redirect()),
            Operation::docsFile => self.documents.docs_file(call).await,
        }
    }

    fn announce(&self, found: Found, facts: &Facts, response: &mut Response) {
        let status = response.status();
        let headers = response.headers_mut();
        if let Some(rate) = facts.rate
            && (status.as_u16() < 400 || status == StatusCode::TOO_MANY_REQUESTS)
        {
            rate_limit::announce(headers, rate);
        }
        if found.is_deprecated() {
            deprecation::announce(headers, &self.successor);
        }
        if !self.photos_below.is_empty() && facts.principal.is_some() {
            self.add_prefix(response.body_mut());
        }
    }
}
