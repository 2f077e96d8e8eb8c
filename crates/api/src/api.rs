//! The API itself: authenticates each request, and dispatches it to its operation.

use std::{mem, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use hyper::{
    HeaderMap, Request, StatusCode,
    header::{HeaderValue, InvalidHeaderValue},
    http::request::Parts,
};
use petstore_app::{App, Caller};
use petstore_domain::{Actor, Client, Scope};
use petstore_formats::json;
use petstore_observe::metrics::Exposition;
use petstore_store::PhotoAudience;
use petstore_web::{
    edge::{
        ApiError, BaseUrl, Body, Edge, Facts, Interface, RequestBody, Response, ResponseMemory,
        RouteMatch, UnreadBody,
        etag::{self, EtagKey},
        find, photos,
    },
    server::Handler,
};

use super::{
    access::{auth, rate_limit},
    context::{Call, Context, Settings},
    contract::{Contract, create, deprecation, get, list},
    documents::Documents,
    routes::{self, Access, Operation, ROUTES, Run},
    store_area::StoreArea,
};

/// The API for client programs.
pub struct Api {
    app: Arc<App>,
    edge: Arc<Edge>,
    contract: Contract,
    store_area: StoreArea,
    documents: Documents,
    /// The path of the base URL without its final `/v1`, such as `/shop`. The paths of photos begin with it.
    /// It is usually empty.
    photo_path_prefix: String,
    /// The `Link` value that points to the replacement of `getPet`.
    successor: HeaderValue,
}

/// Registers the route table with `edge`, which counts the requests for each operation.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&ROUTES)
}

impl Api {
    /// Creates the API on top of `app`. Fails only if the base URL is not valid in a header.
    pub fn new(
        app: Arc<App>,
        edge: Arc<Edge>,
        settings: &Settings,
    ) -> Result<Self, InvalidHeaderValue> {
        let base_url = settings.own_base_url();
        let context = Arc::new(Context {
            memory: edge.response_memory.clone(),
            etag_key: EtagKey::new(app.store.etag_key()),
            base_path: base_url.map_or("/v1", BaseUrl::path).to_owned(),
            body_timeout: edge.body_timeout,
        });
        let pets_path = format!("{}/pets", context.base_path);
        let successor = format!(r#"<{pets_path}>; rel="successor-version""#);
        let photo_path_prefix = context.base_path.trim_end_matches("/v1").to_owned();
        Ok(Self {
            photo_path_prefix,
            contract: Contract::new(Arc::clone(&app), Arc::clone(&context), pets_path),
            store_area: StoreArea::new(Arc::clone(&app), context, settings.store.clone()),
            documents: Documents::new(settings, Arc::clone(&app.clock)),
            successor: HeaderValue::try_from(successor)?,
            app,
            edge,
        })
    }

    /// Returns the API as a request handler for the server. This function is never inlined, so that the code
    /// of the handler is compiled once in this crate, and not again in each program.
    #[inline(never)]
    pub fn clone_as_handler(self: &Arc<Self>) -> Arc<dyn Handler> {
        Arc::clone(self) as Arc<dyn Handler>
    }

    /// Returns the application behind the API.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Handles one request of `client`. An error becomes a response, too.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// Returns the caller with this API key. Fails with 401 if the key is not valid.
    ///
    /// `client` is the other end of the connection.
    async fn authenticate(&self, key: &[u8], client: &Client) -> Result<Caller, ApiError> {
        let caller = self.app.keys.authenticate(key, client).await;
        caller.map_err(auth::key_error)
    }

    /// Handles `GET /photos/{file}`. Requires a key unless the public may see the animal in the
    /// photo.
    async fn photo_file(&self, client: &Client, call: Call<'_>) -> Result<Response, ApiError> {
        let headers = &call.request.headers;
        let file_name = call.parameter;
        let reading = &self.app.reading;
        let audience = photos::find_audience(&reading.store, file_name).await?;
        if audience == PhotoAudience::Staff {
            self.check_reader_of_animals(client, headers).await?;
        }
        // The memory for the file counts for the address of the client, even with a key.
        let reader = self.edge.strangers.reader(client, headers);
        let memory = &self.edge.response_memory;
        let mut response =
            photos::respond(&reading.photos, memory, reader, headers, file_name).await?;
        if audience == PhotoAudience::Staff {
            photos::make_private(&mut response);
        }
        Ok(response)
    }

    /// Checks that a request has a key that may read animals. Fails with 404 if it has no key, as if the
    /// file did not exist.
    async fn check_reader_of_animals(
        &self,
        client: &Client,
        headers: &HeaderMap,
    ) -> Result<(), ApiError> {
        let key = auth::presented_key(headers).map_err(|_| ApiError::no_such_path())?;
        let caller = self.authenticate(key, client).await?;
        rate_limit::check(caller.rate)?;
        auth::require_scope(Some(&caller), Scope::StoreRead)
    }

    /// Adds the path prefix of the base URL to the photo paths in a response. Photo paths are rendered and
    /// stored without the prefix, because the base URL can change.
    fn add_photo_prefix(&self, body: &mut Body) {
        *body = match mem::take(body) {
            Body::Whole(json) => {
                let memory = &self.edge.response_memory;
                Body::Whole(with_prefix(&self.photo_path_prefix, memory, json))
            }
            Body::Stream(events) => {
                let prefix = self.photo_path_prefix.clone();
                let memory = self.edge.response_memory.clone();
                Body::Stream(Box::pin(
                    events.map(move |event| with_prefix(&prefix, &memory, event)),
                ))
            }
            // A file is a picture, not JSON.
            file @ Body::File(_) => file,
        };
    }

    /// Returns all metrics, as a page for Prometheus.
    pub fn metrics(&self) -> String {
        let mut exposition = Exposition::default();
        self.edge.expose(&mut exposition);
        self.contract.expose(&mut exposition);
        self.app.expose(&mut exposition);
        exposition.finish()
    }
}

impl Interface for Api {
    const IS_FOR_CLIENTS: bool = true;
    const CACHE_CONTROL: HeaderValue = etag::REVALIDATE;
    type RouteMatch = RouteMatch<Operation>;

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> RouteMatch<Operation> {
        find(&ROUTES, &request.method, request.uri.path())
    }

    fn extra_time(route_match: RouteMatch<Operation>) -> Duration {
        routes::extra_time(route_match)
    }

    /// Authenticates the request, checks its rate limit and scope, and runs its operation.
    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        route_match: RouteMatch<Operation>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let path = request.uri.path();
        // The key is checked before the route, so that a client without one learns nothing about `/v1`.
        let key_owner = if routes::needs_key(route_match, path) {
            let key = auth::presented_key(&request.headers)?;
            Some(self.authenticate(key, client).await?)
        } else {
            None
        };

        let caller = key_owner.as_ref();
        facts.principal = caller.map(|caller| Actor::Key(caller.key_id()));
        facts.rate = caller.and_then(|caller| caller.rate);
        rate_limit::check(facts.rate)?;

        let (route, [parameter, second_parameter]) = route_match
            .route(&ROUTES, path)
            .map_err(routes::explain_unknown_path)?;
        facts.route = Some(route.label);
        if let Access::Key(scope) = route.target.access {
            auth::require_scope(caller, scope)?;
        }

        let call = Call {
            request,
            request_id,
            operation: route.label.id,
            parameter,
            second_parameter,
            body,
            caller,
            rate: &mut facts.rate,
        };
        match route.target.run {
            Run::ListPets => list::list_pets(&self.contract, call).await,
            Run::CreatePet => create::create_pet(&self.contract, call).await,
            Run::GetPet => get::get_pet(&self.contract, call).await,
            Run::StoreArea(run) => run(&self.store_area, call).await,
            Run::Document(run) => run(&self.documents, call).await,
            // Boxed like the operations behind `run`: see `OperationFuture`.
            Run::PhotoFile => Box::pin(self.photo_file(client, call)).await,
        }
    }

    /// Adds the headers that depend on the request: the rate limit of the key, and the deprecation of the
    /// operation. Then adds the path prefix of the base URL to the photo paths in the body.
    fn add_headers(
        &self,
        route_match: RouteMatch<Operation>,
        facts: &Facts,
        response: &mut Response,
    ) {
        let status = response.status();
        let headers = response.headers_mut();
        // Of the errors, the OpenAPI documents declare the headers of the rate limit only for 429.
        let is_error = status.is_client_error() || status.is_server_error();
        let announces_rate_limit = !is_error || status == StatusCode::TOO_MANY_REQUESTS;
        if let Some(rate) = facts.rate
            && announces_rate_limit
        {
            rate_limit::announce(headers, rate);
        }
        if routes::is_deprecated(route_match) {
            deprecation::announce(headers, &self.successor);
        }
        // Responses without a principal are public documents and errors, which stay as they are.
        if !self.photo_path_prefix.is_empty() && facts.principal.is_some() {
            self.add_photo_prefix(response.body_mut());
        }
    }
}

/// Adds `prefix` to the photo paths in JSON.
fn with_prefix(prefix: &str, memory: &ResponseMemory, json: Bytes) -> Bytes {
    let Some(longer_json) = json::with_photo_prefix(prefix, &json) else {
        return json;
    };
    // `fill` counts the longer JSON, even if it exceeds the limit, so nothing is reserved before. The
    // memory of the original JSON is released at the end of this function.
    let reserved_before = 0;
    match memory.reserve(reserved_before) {
        Ok(reservation) => reservation.fill(longer_json),
        // The memory is full already. The change may have been made, so send the response uncounted.
        Err(_) => longer_json.into(),
    }
}
