//! The console: pages for the people who work in the store, on a listener of their own. It calls the
//! same operations of the store as the interface, and shares its edge.

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
mod reply;
mod session;
mod staff;
mod state;
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
use petstore_domain::{Actor, Client, Problem};
use petstore_formats::json::times;
use petstore_languages::{self as languages, console_texts as texts};
use petstore_store::{Cause, StoreError};
use petstore_web::{
    edge::{ApiError, Edge, Facts, Interface, RequestBody, Response, UnreadBody},
    server::Handler,
};

pub use self::state::{Console, ConsoleSettings, RequireSecondFactor};
use self::{
    desk::Desk,
    origin::Visitor,
    pages::{PAGES, Requirements, Target},
    session::Session,
    visit::{Form, Visit},
};

/// Returns an edge that also counts the requests for the pages of the console.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&PAGES)
}

impl Console {
    /// Returns the console as the server takes it.
    #[inline(never)]
    pub fn into_handler(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }

    /// Handles one request of `client` and always returns a response.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// Returns the present facts that the store states about itself.
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
    /// The time that the page may wait for pictures.
    type RouteMatch = Duration;

    fn around<T: Send>(handling: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
        zone::with_zone(languages::with_language(handling))
    }

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> Duration {
        pages::extra_form_time(&request.method, request.uri.path())
    }

    fn may_wait(extra_form_time: Duration) -> Duration {
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
        let visitor = origin::visitor(&self.settings, client, request)
            .inspect_err(|error| self.warn_of_foreign_host(error, request))?;
        let (route, [parameter, _]) = match pages::route(&request.method, request.uri.path()) {
            Ok(route) => route,
            Err(error) => {
                return Err(self
                    .without_route(error, request, request_id, visitor)
                    .await);
            }
        };
        let store_facts = match route.target {
            Target::Asset | Target::Photo => StoreFacts::default(),
            _ => self.store_facts().await?,
        };
        let mut visit = self.begin_visit(request, request_id, visitor, store_facts)?;
        visit.page = route.label.id;
        visit.has_pictures = route.target.has_pictures();
        visit.parameter = parameter;
        facts.route = Some(route.label);

        let is_form = request.method == Method::POST;
        if is_form && !matches!(route.target, Target::Server(_)) {
            self.check_site(&visit)?;
        }
        // The memory for the form counts until the page is made.
        let mut _form_memory = None;
        if is_form && !visit.has_pictures {
            let max_length = pages::max_form(route.label.path);
            let received_form = self
                .receive_form(client, &visit, &mut *body, max_length)
                .await?;
            visit.form = received_form.form;
            _form_memory = received_form.memory;
        }

        let requirements = match route.target {
            Target::Asset => return self.asset(client, request).await,
            Target::Photo => return Box::pin(self.photo(client, &visit)).await,
            Target::Public(page) | Target::Server(page) => {
                let response = page(&visit).await?;
                return self.count_long_page(client, request, response);
            }
            Target::Staff(requirements, _)
            | Target::Pictures(requirements)
            | Target::Logo(requirements) => requirements,
        };
        let session = match self.admit(client, &visit, requirements, facts).await? {
            Admission::Member(session) => session,
            Admission::Elsewhere(response) => return Ok(response),
        };
        open_page(route.target, visit, *session, body).await
    }

    fn respond_to(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        problem::error_page(error, request, request_id)
    }

    fn announce(&self, _: Duration, _: &Facts, response: &mut Response) {
        for (name, value) in SECURITY_FIELDS {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
    }
}

/// The outcome of the checks of a request for a page of the staff.
enum Admission {
    /// The member may open the page.
    Member(Box<Session>),
    /// The browser gets this response instead, such as the form to sign in.
    Elsewhere(Response),
}

/// The steps of [`Interface::process`], first to last.
impl Console {
    /// Returns the error for a request without a route, with the menu of the member who is signed in.
    async fn without_route(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
        visitor: Visitor,
    ) -> ApiError {
        let result = async {
            let store_facts = self.store_facts().await?;
            let visit = self.begin_visit(request, request_id, visitor, store_facts)?;
            let session = session::find(&visit).await?;
            Ok(problem::with_menu(error, &visit, session.as_ref()))
        };
        result.await.unwrap_or_else(|failure| failure)
    }

    /// Begins a visit in the language and the time zone of the store, without a page and a form. Fails with 400 if the query has too many
    /// fields.
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
            page: "",
            has_pictures: false,
            find_form_action: pages::find_action,
            parameter: "",
            form: Form::default(),
            query,
            visitor,
            now: times::truncate_to_milliseconds(self.app.clock.now()),
        })
    }

    /// Warns in the log of a request that was rejected because the console is not at its host.
    fn warn_of_foreign_host(&self, error: &ApiError, request: &Parts) {
        if error.problem() == Problem::InvalidRequest {
            let now = self.app.clock.instant();
            origin::warn_of_foreign_host(&self.edge, now, &self.settings, request);
        }
    }

    /// Rejects a form that another site sends, with 403, and warns of it in the log.
    fn check_site(&self, visit: &Visit<'_>) -> Result<(), ApiError> {
        let headers = &visit.request.headers;
        if let Err(error) = origin::check_site(&visit.visitor, headers) {
            let now = self.app.clock.instant();
            origin::warn_of_foreign_form(&self.edge, now, &visit.visitor, headers);
            return Err(error);
        }
        Ok(())
    }

    /// Checks that a member of the staff is signed in who fulfils the requirements of the page. Fails with 503 for a
    /// client that the server trusts no longer, and with 403 for a role that is too low.
    async fn admit(
        &self,
        client: &Client,
        visit: &Visit<'_>,
        requirements: Requirements,
        facts: &mut Facts,
    ) -> Result<Admission, ApiError> {
        // Looked up after the form has arrived, because the session may end before.
        let Some(session) = session::find(visit).await? else {
            let sign_in = staff::sign_in_page(visit, None);
            let response = self.count_long_page(client, visit.request, sign_in)?;
            return Ok(Admission::Elsewhere(response));
        };
        if !client.trust() {
            let message = texts().connection_replaced;
            return Err(ApiError::new(Problem::Unavailable, message));
        }
        facts.principal = Some(Actor::Staff(session.member.id));

        if session.member.role < requirements.role {
            let error = ApiError::new(Problem::InsufficientScope, texts().not_allowed);
            return Err(problem::with_menu(error, visit, Some(&session)));
        }
        if requirements.second_factor && self.lacks_second_factor(&session) {
            let response = layout::redirect("/account/second-factor");
            return Ok(Admission::Elsewhere(response));
        }
        if requirements.password && !session.record.is_confirmed_at(visit.now) {
            let response = staff::sign_in_page(visit, Some(&session));
            return Ok(Admission::Elsewhere(response));
        }
        // Another member may have left the page with this form open.
        if let Some(owner) = desk::owner_of(&visit.form)
            && owner != session.member.id
        {
            let path = visit.request.uri.path();
            let response =
                staff::saved_form_page(visit, &session.member, path, &visit.form).await?;
            return Ok(Admission::Elsewhere(response));
        }
        Ok(Admission::Member(Box::new(session)))
    }

    /// Whether the settings require a second factor that the member does not have. A member who signs in at a provider
    /// has the second factor of the provider.
    fn lacks_second_factor(&self, session: &Session) -> bool {
        let member = &session.member;
        let is_protected = member.has_second_factor() || member.identity.is_some();
        !is_protected && self.settings.second_factor.includes(member.role)
    }
}

/// Opens a page of the staff, and remembers the browser of the member.
async fn open_page(
    target: Target,
    visit: Visit<'_>,
    session: Session,
    body: UnreadBody<'_>,
) -> Result<Response, ApiError> {
    let mut desk = Desk::new(visit, session);
    let reply = match target {
        Target::Staff(_, open) => open(&desk).await,
        Target::Logo(_) => Box::pin(pages::logo::add(&mut desk, body)).await,
        _ => Box::pin(pages::photo_uploads::add(&desk, body)).await,
    };
    let response = async { reply?.into_response(&desk).await }.await;
    let mut response =
        response.map_err(|error| problem::with_menu(error, &desk.visit, Some(&desk.session)))?;

    // A new password makes a browser unknown, and a browser can lose its cookie.
    let member = &desk.session.member;
    if !known_browsers::has_signed_in(&desk.visit, member) {
        known_browsers::remember(&desk.visit, &mut response, member);
    }
    Ok(response)
}

/// The header fields with which a browser loads nothing from other hosts, runs no script in a page, shows no
/// page in a frame, and tells other hosts nothing. With `no-referrer`, browsers would hide the origin of forms
/// from the console, too.
const SECURITY_FIELDS: [(HeaderName, &str); 3] = [
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
