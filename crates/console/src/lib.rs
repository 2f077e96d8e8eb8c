//! The console: web pages for the store's staff, on a listener of their own.
//!
//! The pages carry out the same commands as the API. The [`Edge`], which the API uses, too, parses,
//! limits, logs and measures the requests.
//!
//! A request becomes a `Visit`. A page that requires a session gets a `Desk`, which adds the
//! signed-in member to the visit. Pages show the store's facts ([`StoreFacts`]): what the store
//! states about itself, such as its name and language. The window is the store's public website.

mod admission;
mod ask;
mod browser_secret;
mod colour_picker;
mod cookies;
mod desk;
mod files;
mod form_body;
mod forms;
mod guesses;
mod heavy_work;
mod known_browsers;
mod layout;
mod markup;
mod merge;
pub mod openid;
mod order_inputs;
mod origin;
mod pages;
mod passwords;
mod prelude;
mod problem;
mod replay_cache;
mod reply;
mod session;
mod staff;
mod state;
mod static_assets;
mod store_inputs;
mod store_spellings;
mod visit;
mod wording;
mod words;
mod zone;

use std::{sync::Arc, time::Duration};

use hyper::{
    Method, Request,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use petstore_app::StoreFacts;
use petstore_domain::{Client, Problem};
use petstore_formats::json::times;
use petstore_languages as languages;
use petstore_store::{Cause, StoreError};
use petstore_web::{
    edge::{
        ApiError, Edge, Facts, Interface, RequestBody, Reservation, Response, Route, UnreadBody,
    },
    server::Handler,
};

pub use self::state::{Console, ConsoleSettings, RequireSecondFactor};
use self::{
    admission::Admission,
    desk::Desk,
    origin::Visitor,
    pages::{PAGES, Target},
    session::Session,
    visit::{Form, Visit},
};

/// The security headers of every response. With them, browsers load nothing from other hosts, run
/// no inline scripts, show no page in a frame, and send no referrer to other hosts.
///
/// The referrer policy is not `no-referrer`, because browsers would then submit forms with `Origin:
/// null`, and [`origin::check_site`] needs the origin.
const SECURITY_HEADERS: [(HeaderName, &str); 3] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// Returns an edge whose metrics also cover the console's routes.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&PAGES)
}

impl Console {
    /// Returns the console as a request handler for the server.
    #[inline(never)]
    pub fn into_handler(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }

    /// Handles one request from `client`. There is always a response, because an error becomes an
    /// error page.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// Returns the store's current facts, such as its name and language, from the cache if
    /// possible.
    async fn store_facts(&self) -> Result<StoreFacts, StoreError> {
        let reading = &self.app.reading;
        self.facts
            .read(&reading.store, &*reading.clock, &self.settings.store)
            .await
    }
}

impl Interface for Console {
    const IS_FOR_CLIENTS: bool = true;
    const HAS_KEYS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-store, no-transform");
    /// The extra time to receive the body, which only routes for uploads of pictures have.
    type RouteMatch = Duration;

    fn with_request_scope<T: Send>(
        handling: impl Future<Output = T> + Send,
    ) -> impl Future<Output = T> + Send {
        zone::with_zone(languages::with_language(handling))
    }

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> Duration {
        pages::extra_form_time(&request.method, request.uri.path())
    }

    fn extra_time(extra_form_time: Duration) -> Duration {
        extra_form_time
    }

    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        _: Duration,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let visitor = origin::identify_visitor(&self.settings, client, request)
            .inspect_err(|error| self.warn_if_foreign_host(error, request))?;
        // No page has a second parameter in its path.
        let (route, [parameter, _]) = match pages::find_route(&request.method, request.uri.path()) {
            Ok(route) => route,
            Err(error) => {
                return self
                    .fail_without_route(error, request, request_id, visitor)
                    .await;
            }
        };
        let store_facts = self.facts_for(route.target).await?;
        let mut visit = self.begin_visit(request, request_id, visitor, store_facts)?;
        visit.route_id = route.label.id;
        visit.has_pictures = route.target.has_pictures();
        visit.parameter = parameter;
        facts.route = Some(route.label);

        // Dropped at the end of this function, when the page has been rendered.
        let _form_memory = self
            .check_and_receive_form(client, route, &mut visit, &mut *body)
            .await?;
        // Boxed, because the futures of the pages are large.
        Box::pin(self.open(client, route.target, visit, body, facts)).await
    }

    fn error_response(
        &self,
        error: ApiError,
        _: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        problem::error_page(error, request_id)
    }

    fn add_headers(&self, _: Duration, _: &Facts, response: &mut Response) {
        for (name, value) in SECURITY_HEADERS {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
    }
}

/// The steps of [`Interface::process`], in the order in which it calls them.
impl Console {
    /// Fails with `error`, which comes from the router. It never returns a response. If a member is
    /// signed in, the error page has the main menu.
    async fn fail_without_route(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
        visitor: Visitor,
    ) -> Result<Response, ApiError> {
        let store_facts = self.store_facts().await?;
        let visit = self.begin_visit(request, request_id, visitor, store_facts)?;
        let session = session::resume(&visit).await?;
        Err(problem::with_menu(error, &visit, session.as_ref()))
    }

    /// Returns the store's facts for the page of a route. Files show no facts, so they get the
    /// defaults, without a read of the store.
    async fn facts_for(&self, target: Target) -> Result<StoreFacts, StoreError> {
        match target {
            Target::Asset | Target::Photo => Ok(StoreFacts::default()),
            _ => self.store_facts().await,
        }
    }

    /// Creates the visit of a request, and sets the store's language and time zone for the rest of
    /// the request. Fails with 400 if the query has too many fields.
    ///
    /// The caller fills in the route and the form.
    fn begin_visit<'r>(
        &'r self,
        request: &'r Parts,
        request_id: &'r HeaderValue,
        visitor: Visitor,
        store_facts: StoreFacts,
    ) -> Result<Visit<'r>, ApiError> {
        languages::set_language_and_kind(store_facts.language().value, store_facts.kind());
        zone::set_zone(store_facts.time_zone().value.cloned());
        let query = Form::from_query(request.uri.query().unwrap_or_default())
            .map_err(|_| problem::too_many_fields(Problem::InvalidRequest))?;
        Ok(Visit {
            console: self,
            request,
            request_id,
            facts: store_facts,
            route_id: "",
            has_pictures: false,
            find_form_action: pages::find_action,
            parameter: "",
            form: Form::default(),
            query,
            visitor,
            now: times::truncate_to_milliseconds(self.app.clock.now()),
        })
    }

    /// Logs a warning if `error` means that the `Host` of the request is not the console's.
    fn warn_if_foreign_host(&self, error: &ApiError, request: &Parts) {
        // `identify_visitor` fails with this problem only for a foreign host.
        if error.problem() == Problem::InvalidRequest {
            let now = self.app.clock.instant();
            origin::warn_of_foreign_host(&self.edge, now, &self.settings, request);
        }
    }

    /// Checks that no other site submitted the form (CSRF). Otherwise logs a warning, and fails
    /// with 403.
    fn check_site(&self, visit: &Visit<'_>) -> Result<(), ApiError> {
        let headers = &visit.request.headers;
        if let Err(error) = origin::check_site(&visit.visitor, headers) {
            let now = self.app.clock.instant();
            origin::warn_of_foreign_form(&self.edge, now, &visit.visitor, headers);
            return Err(error);
        }
        Ok(())
    }

    /// Checks that no other site submitted the form of a POST, and receives the form into the
    /// visit. Returns the memory reserved for the form. Routes that accept pictures stream the body
    /// themselves.
    async fn check_and_receive_form(
        &self,
        client: &Client,
        route: &Route<Target>,
        visit: &mut Visit<'_>,
        body: UnreadBody<'_>,
    ) -> Result<Option<Reservation>, ApiError> {
        if visit.request.method != Method::POST {
            return Ok(None);
        }
        // The server of the OpenID provider sends no `Origin`.
        if !matches!(route.target, Target::Server(_)) {
            self.check_site(visit)?;
        }
        if visit.has_pictures {
            return Ok(None);
        }
        let max_length = pages::max_form_bytes(route.label.path);
        let received_form = self.receive_form(client, visit, body, max_length).await?;
        visit.form = received_form.form;
        Ok(received_form.memory)
    }

    /// Responds with the file or the page of a route. A staff page is opened only after the [access
    /// checks](Self::admit).
    async fn open(
        &self,
        client: &Client,
        target: Target,
        visit: Visit<'_>,
        body: UnreadBody<'_>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let requirements = match target {
            Target::Asset => return self.serve_asset(client, visit.request).await,
            Target::Photo => return Box::pin(self.serve_photo(client, &visit)).await,
            Target::Public(page) | Target::Server(page) => {
                let response = page(&visit).await?;
                return self.reserve_for_long_page(client, visit.request, response);
            }
            Target::Staff(requirements, _)
            | Target::Pictures(requirements)
            | Target::Logo(requirements) => requirements,
        };
        let admission = self.admit(client, &visit, requirements, facts).await?;
        match admission {
            Admission::Member(session) => open_staff_page(target, visit, *session, body).await,
            Admission::Respond(response) => Ok(response),
        }
    }
}

/// Opens a staff page, and returns its response. If the browser does not have the cookie that marks
/// it as known to the member, the response sets the cookie.
async fn open_staff_page(
    target: Target,
    visit: Visit<'_>,
    session: Session,
    body: UnreadBody<'_>,
) -> Result<Response, ApiError> {
    let mut desk = Desk::new(visit, session);
    let reply = match target {
        Target::Staff(_, open) => open(&desk).await,
        Target::Logo(_) => Box::pin(pages::logo::replace(&mut desk, body)).await,
        Target::Pictures(_) => Box::pin(pages::photo_uploads::add_pictures(&desk, body)).await,
        // Never reached, because these targets have no staff page.
        Target::Asset | Target::Photo | Target::Public(_) | Target::Server(_) => {
            Err(ApiError::no_such_path())
        }
    };
    let result = match reply {
        Ok(reply) => reply.into_response(&desk).await,
        Err(error) => Err(error),
    };
    let mut response =
        result.map_err(|error| problem::with_menu(error, &desk.visit, Some(&desk.session)))?;

    // The cookie can be missing: a new password invalidates it, and a browser can lose it.
    let member = &desk.session.member;
    if !known_browsers::has_signed_in(&desk.visit, member) {
        known_browsers::remember(&desk.visit, &mut response, member);
    }
    Ok(response)
}
