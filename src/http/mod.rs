//! The contract: HTTP requests in, domain calls, HTTP responses out.

mod accept;
mod access;
mod addresses;
mod body;
mod contract;
pub mod documents;
mod edge;
mod error;
mod etag;
mod for_console;
mod idempotency;
mod management;
mod query;
pub(crate) mod response;
pub mod routes;
mod settings;
mod store_area;

use std::{sync::Arc, time::Duration};

pub(crate) use self::body::MAX_BODY;

use hyper::{
    Request, StatusCode,
    header::{HeaderValue, InvalidHeaderValue},
    http::request::Parts,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use self::{
    access::{
        auth::{self, KeyRing},
        rate_limit,
    },
    contract::{FirstPages, deprecation},
    documents::{
        api_catalog,
        docs::{self, Docs},
        document::Document,
        openapi::{self, Served},
    },
    etag::Tags,
    idempotency::{InFlight, LastMark, Lineages},
    routes::{Access, Call, Operation},
    store_area::StoreArea,
};
pub use self::{
    addresses::{BaseUrl, Origin},
    body::RequestBody,
    management::Management,
    response::{Body, Response},
    settings::Settings,
};
pub(crate) use self::{
    body::UnreadBody,
    edge::{
        Edge, Facts, Interface, forwarded, host,
        response_memory::{Reservation, ResponseMemory},
    },
    error::{ApiError, Problem},
    routes::{Label, Pattern},
    store_area::{Watcher, WebhookChanged},
};
use crate::{
    confirmed_clock::ConfirmedClock,
    delivery::{Registrar, Vault},
    domain::{Actor, Client, Clock, Networks},
    observe::{
        metrics::{Exposition, Kind, TaskMetrics},
        traces::Spans,
    },
    store::{Store, StoreError},
};

/// The interface: handles requests.
pub struct App {
    edge: Edge,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) confirmed_clock: Arc<ConfirmedClock>,
    keys: KeyRing,
    in_flight: InFlight,
    lineages: Lineages,
    last_mark: LastMark,
    documents: Served,
    /// The content of `/.well-known/api-catalog`.
    catalog: Document,
    docs: Docs,
    first_pages: FirstPages,
    store_area: StoreArea,
    tags: Tags,
    /// The path of the base address as clients see it, used in links.
    base_path: String,
    /// The path of the list below it.
    pets_path: String,
    /// The `Link` value that names the replacement of `getPet`.
    successor: HeaderValue,
    body_timeout: Duration,
    tasks: Arc<TaskMetrics>,
}

impl App {
    /// Builds the interface over `store`. Fails only if the base URL cannot be sent in a header field.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        random: &mut impl Rng,
        settings: &Settings,
    ) -> Result<Self, InvalidHeaderValue> {
        // Without a key file; see `with_webhooks`.
        let vault = Arc::new(Vault::new(None));
        let registrar = Registrar::new(vault, Networks::default(), StdRng::from_rng(&mut *random));
        let own = settings.own_base_url();
        let base_path = own.map_or("/v1", BaseUrl::path).to_owned();
        let pets_path = format!("{base_path}/pets");
        let successor = format!(r#"<{pets_path}>; rel="successor-version""#);
        Ok(Self {
            edge: Edge::new(Arc::clone(&clock), random, settings),
            keys: KeyRing::new(Arc::<dyn Store>::clone(&store), Arc::clone(&clock), settings),
            in_flight: InFlight::default(),
            lineages: Lineages::default(),
            last_mark: LastMark::default(),
            tags: Tags::new(store.etag_key()),
            confirmed_clock: Arc::new(ConfirmedClock::new(Arc::clone(&store), Arc::clone(&clock))),
            store,
            clock,
            documents: Served::new(settings),
            catalog: api_catalog::catalog(own),
            docs: Docs::default(),
            first_pages: FirstPages::default(),
            store_area: StoreArea::new(settings.reservation, settings.keep_changes, registrar),
            successor: HeaderValue::try_from(successor)?,
            base_path,
            pets_path,
            body_timeout: settings.body_timeout,
            tasks: Arc::default(),
        })
    }

    /// Saves the last use of each key, if the store does not have it yet. Called periodically,
    /// outside of requests. After an error, the next call saves these uses.
    pub async fn save_key_uses(&self) -> Result<(), StoreError> {
        self.keys.save_uses().await
    }

    /// Deletes some of the remembered requests that are older than 48 hours, counted in marks, and
    /// returns whether more may be left. Called periodically, outside of requests.
    pub async fn forget_old_requests(&self) -> Result<bool, StoreError> {
        self.last_mark.forget(self.store.as_ref(), self.clock.as_ref()).await
    }

    /// Waits until the log is to be read for those who follow it.
    pub async fn log_due(&self) {
        self.store_area.feed.due().await;
    }

    /// Reads what is new in the log, for all who follow it. Called each time it is due, outside of
    /// requests. After an error, the next call reads it.
    pub async fn read_log(&self) -> Result<(), StoreError> {
        self.store_area.feed.read(self.store.as_ref(), self.clock.as_ref()).await
    }

    /// Ends all streams and all waiting for changes, because the service shuts down.
    pub fn end_following(&self) {
        self.store_area.feed.end();
    }

    /// The clock, as far as it may be believed.
    pub fn confirmed_clock(&self) -> Arc<ConfirmedClock> {
        Arc::clone(&self.confirmed_clock)
    }

    /// The metrics of the background tasks of the service.
    pub fn tasks(&self) -> &Arc<TaskMetrics> {
        &self.tasks
    }

    /// Handles one request of `client` and always returns a response.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// Lets clients register webhooks.
    #[must_use]
    pub fn with_webhooks(mut self, registrar: Registrar) -> Self {
        self.store_area.registrar = registrar;
        self
    }

    /// Records a span for each request, if there is something that sends them.
    #[must_use]
    pub fn traced(mut self, spans: Option<Arc<Spans>>) -> Self {
        self.edge.spans = spans;
        self
    }

    /// All metrics, as a page for Prometheus.
    pub fn metrics(&self) -> String {
        let mut page = Exposition::default();
        self.edge.metrics.expose(&mut page);
        self.keys.expose(&mut page);
        self.first_pages.expose(&mut page);
        self.store.expose(&mut page);
        self.store_area.metrics.expose(&mut page, self.clock.now());
        self.store_area.feed.expose(&mut page);
        page.number(
            "petstore_clock_confirmed",
            "Whether the clock agrees with the confirmed time; if not, nothing expires.",
            u8::from(self.confirmed_clock.doubt().is_none()),
        );
        self.store_area.registrar.metrics().expose(&mut page);
        if let Some(spans) = &self.edge.spans {
            spans.expose(&mut page);
        }
        self.tasks.expose(&mut page);
        let name = "petstore_build_info";
        page.begin(Kind::Gauge, name, "Always 1; the version is in the label.");
        page.sample(name, &[("version", &env!("CARGO_PKG_VERSION"))], 1);
        page.finish()
    }
}

impl Interface for App {
    const IS_FOR_CLIENTS: bool = true;
    const CACHE_CONTROL: HeaderValue = etag::REVALIDATE;

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn facts<'r>(&self, request: &'r Parts) -> Facts<'r> {
        let found = routes::find(&request.method, request.uri.path());
        Facts { found, ..Facts::default() }
    }

    /// Checks the key, and runs the operation that was found.
    async fn process<'r>(
        &self,
        client: &Client,
        request: &'r Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        facts: &mut Facts<'r>,
    ) -> Result<Response, ApiError> {
        let caller = if facts.found.needs_key(request.uri.path()) {
            Some(self.keys.authenticate(&request.headers, client).await?)
        } else {
            None
        };
        let caller = caller.as_ref();
        facts.principal = caller.map(|caller| Actor::Key(caller.key_id()));
        facts.rate = caller.and_then(|caller| caller.rate);
        rate_limit::check(facts.rate)?;
        let (route, parameter) = facts.found.route()?;
        facts.route = Some(route.label());
        if let Access::Key(needed) = route.access {
            auth::allow(caller, needed)?;
        }
        let call = Call { request, request_id, route, parameter, body, caller };
        // Called here, because a pointer to an `async` function would cost an allocation, and one
        // more layer 250 instructions.
        match route.operation {
            Operation::listPets => contract::list(self, call).await,
            Operation::createPet => contract::create(self, call).await,
            Operation::getPet => contract::get(self, call).await,
            // Boxed, because the largest future decides how much memory each request needs.
            Operation::listStorePets => Box::pin(store_area::list_pets(self, call)).await,
            Operation::getStorePet => Box::pin(store_area::get_pet(self, call)).await,
            Operation::patchPet => Box::pin(store_area::patch_pet(self, call)).await,
            Operation::withdrawPet => Box::pin(store_area::withdraw_pet(self, call)).await,
            Operation::restorePet => Box::pin(store_area::restore_pet(self, call)).await,
            Operation::getInventory => Box::pin(store_area::get_inventory(self, call)).await,
            Operation::listOrders => Box::pin(store_area::list_orders(self, call)).await,
            Operation::placeOrder => Box::pin(store_area::place_order(self, call)).await,
            Operation::getOrder => Box::pin(store_area::get_order(self, call)).await,
            Operation::patchOrder => Box::pin(store_area::patch_order(self, call)).await,
            Operation::completeOrder => Box::pin(store_area::complete_order(self, call)).await,
            Operation::cancelOrder => Box::pin(store_area::cancel_order(self, call)).await,
            Operation::returnOrder => Box::pin(store_area::return_order(self, call)).await,
            Operation::listCategories => Box::pin(store_area::list_categories(self, call)).await,
            Operation::putCategory => Box::pin(store_area::put_category(self, call)).await,
            Operation::deleteCategory => Box::pin(store_area::delete_category(self, call)).await,
            Operation::runBatch => {
                Box::pin(store_area::run_batch(self, call, &mut facts.rate)).await
            }
            Operation::listAudit => Box::pin(store_area::list_audit(self, call)).await,
            Operation::followChanges => Box::pin(store_area::follow_changes(self, call)).await,
            Operation::listWebhooks => Box::pin(store_area::list_webhooks(self, call)).await,
            Operation::addWebhook => Box::pin(store_area::add_webhook(self, call)).await,
            Operation::getWebhook => Box::pin(store_area::get_webhook(self, call)).await,
            Operation::patchWebhook => Box::pin(store_area::patch_webhook(self, call)).await,
            Operation::deleteWebhook => Box::pin(store_area::delete_webhook(self, call)).await,
            Operation::rotateWebhookSecret => Box::pin(store_area::rotate_secret(self, call)).await,
            Operation::testWebhook => Box::pin(store_area::test_webhook(self, call)).await,
            Operation::enableWebhook => Box::pin(store_area::enable_webhook(self, call)).await,
            Operation::listWebhookAttempts => Box::pin(store_area::list_attempts(self, call)).await,
            Operation::openapiYaml | Operation::openapiStoreYaml => openapi::yaml(self, call).await,
            Operation::openapiJson | Operation::openapiStoreJson => openapi::json(self, call).await,
            Operation::apiCatalog => api_catalog::get(self, call).await,
            Operation::root => api_catalog::root(self, call).await,
            Operation::docsRedirect => Ok(docs::redirect()),
            Operation::docsFile => docs::file(self, call).await,
        }
    }

    fn announce(&self, facts: &Facts<'_>, response: &mut Response) {
        let status = response.status();
        let headers = response.headers_mut();
        if let Some(rate) = facts.rate
            && (status.as_u16() < 400 || status == StatusCode::TOO_MANY_REQUESTS)
        {
            rate_limit::announce(headers, rate);
        }
        if facts.found.is_deprecated() {
            deprecation::announce(headers, &self.successor);
        }
    }
}
