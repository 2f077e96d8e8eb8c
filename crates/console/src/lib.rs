//! The console: pages for the people who work in the store, on a listener of their own. It calls the
//! same operations of the store as the interface, and shares its edge.

mod ask;
mod desk;
mod forms;
mod guesses;
mod heavy_work;
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
mod visit;
mod wording;
mod words;

use std::{sync::Arc, time::Duration};

use hyper::{
    Method, Request,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use petstore_app::StoreFacts;
use petstore_domain::{Actor, Client, Problem, store_area::Logo};
use petstore_formats::json::times;
use petstore_languages::{self as languages, console_texts as texts};
use petstore_store::{Cause, StoreError};
use petstore_web::{
    edge::{
        ApiError, Edge, Facts, Interface, Reader, RequestBody, Reservation, Response, UnreadBody,
        body, photos,
    },
    server::Handler,
};

pub use self::state::{Console, ConsoleSettings, RequireSecondFactor};
use self::{
    desk::Desk,
    pages::{PAGES, Target},
    visit::{Form, Visit},
};

/// The largest form of a stranger that does not count, in bytes: one to sign in is smaller than a head.
const MAX_UNCOUNTED: usize = 4 << 10;

/// The largest page for a stranger that does not count, in bytes: one without what was typed is smaller.
const MAX_UNCOUNTED_PAGE: usize = 8 << 10;

/// The largest form that is read on a thread of the runtime, in bytes: it takes a fraction of a millisecond.
const MAX_READ_AT_ONCE: usize = 64 << 10;

/// Makes `edge` also count the requests for the pages of the console.
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

    /// Reads a body that is a form, up to `max` bytes. Fails like [`body::read_form`], with 503 if
    /// there is not enough memory, and with 400 if it has too many fields.
    async fn read_form(
        &self,
        request: &Parts,
        body: UnreadBody<'_>,
        max: usize,
        reader: Reader,
    ) -> Result<(Form, Option<Reservation>), ApiError> {
        let (memory, size) = (
            &self.edge.response_memory,
            body::max_length_within(&body, max),
        );
        let counts = matches!(reader, Reader::Known) || size > MAX_UNCOUNTED;
        let room = counts
            .then(|| memory.reserve_for(reader, size))
            .transpose()?;
        let bytes = body::read_form(&request.headers, body, max, self.edge.body_timeout).await;
        let bytes = bytes.map_err(problem::unread)?;
        let form = if bytes.len() > MAX_READ_AT_ONCE {
            self.heavy_work
                .run(reader, move || Form::read(bytes))
                .await?
        } else {
            Form::read(bytes)
        };
        let form = form.map_err(|_| problem::too_many_fields(Problem::InvalidBody))?;
        Ok((form, room))
    }

    /// `GET /photos/{file}`.
    async fn photo(&self, client: &Client, visit: &Visit<'_>) -> Result<Response, ApiError> {
        let headers = &visit.request.headers;
        let stranger = || self.edge.strangers.reader(client, headers);
        let reader = session::of(visit)
            .await?
            .map_or_else(stranger, |_| Reader::Known);
        let memory = &self.edge.response_memory;
        photos::respond(
            &self.app.reading.photos,
            memory,
            reader,
            headers,
            visit.parameter,
        )
        .await
    }

    /// `GET /assets/{name}`.
    async fn asset(&self, client: &Client, request: &Parts) -> Result<Response, ApiError> {
        let Some(logo) = Logo::at(request.uri.path()) else {
            return layout::asset(request.uri.path());
        };
        let reader = self.edge.strangers.reader(client, &request.headers);
        let memory = &self.edge.response_memory;
        photos::respond_with_logo(&self.app.reading.logos, memory, reader, logo).await
    }

    /// Counts the page for a stranger that repeats a long form, which takes up to six times as many
    /// bytes. To sign in depends on no memory that strangers can hold.
    fn hold(
        &self,
        client: &Client,
        request: &Parts,
        response: Response,
    ) -> Result<Response, ApiError> {
        if response
            .body()
            .whole()
            .is_none_or(|body| body.len() <= MAX_UNCOUNTED_PAGE)
        {
            return Ok(response);
        }
        let reader = self.edge.strangers.reader(client, &request.headers);
        Ok(self.edge.response_memory.hold_for(reader, response)?)
    }
}

impl Console {
    /// Returns what the store says about itself now.
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
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-store");
    /// How long the page may wait for pictures.
    type RouteMatch = Duration;

    fn around<T: Send>(handling: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
        languages::with_language(handling)
    }

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> Duration {
        pages::may_wait(&request.method, request.uri.path())
    }

    fn may_wait(found: Duration) -> Duration {
        found
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
        let visitor = origin::visitor(&self.settings, client, request)?;
        let (route, [parameter, _], unknown) =
            match pages::route(&request.method, request.uri.path()) {
                Ok((route, parameters)) => (route, parameters, None),
                Err(error) => (&PAGES[0], [""; 2], Some(error)),
            };
        let store_facts = match route.target {
            Target::Asset | Target::Photo if unknown.is_none() => StoreFacts::default(),
            _ => self.store_facts().await?,
        };
        languages::set_language_and_kind(store_facts.language().value, store_facts.kind());
        let (page, has_pictures) = (route.label.id, route.target.has_pictures());
        let query = Form::from_query(request.uri.query().unwrap_or_default());
        let query = query.map_err(|_| problem::too_many_fields(Problem::InvalidRequest))?;
        let (console, now, form) = (
            self,
            times::to_milliseconds(self.app.clock.now()),
            Form::default(),
        );
        let mut visit = Visit {
            console,
            request,
            request_id,
            facts: store_facts,
            page,
            has_pictures,
            find: pages::find,
            parameter,
            form,
            query,
            visitor,
            now,
        };
        if let Some(error) = unknown {
            return Err(problem::with_menu(
                error,
                &visit,
                session::of(&visit).await?.as_ref(),
            ));
        }
        facts.route = Some(route.label);
        // The memory counts until the page is made.
        let mut _room = None;
        if request.method == Method::POST
            && !matches!(route.target, Target::Server(_))
            && let Err(error) = origin::check_site(&visit.visitor, &request.headers)
        {
            let now = self.app.clock.instant();
            origin::warn_of_foreign_form(&self.edge, now, &visit.visitor, &request.headers);
            return Err(error);
        }
        if request.method == Method::POST && !has_pictures {
            // Looked up again below, because the session may end before the form arrives.
            let (max, session) = (
                pages::max_form(route.label.path),
                session::of(&visit).await?,
            );
            let stranger = || self.edge.strangers.reader(client, &request.headers);
            let reader = session.as_ref().map_or_else(stranger, |_| Reader::Known);
            let read = self.read_form(request, &mut *body, max, reader).await;
            let with_menu = |error| problem::with_menu(error, &visit, session.as_ref());
            (visit.form, _room) = read.map_err(with_menu)?;
        }
        let needed = match route.target {
            Target::Asset => return self.asset(client, request).await,
            Target::Photo => return Box::pin(self.photo(client, &visit)).await,
            Target::Public(page) | Target::Server(page) => {
                let response = page(&visit).await?;
                return self.hold(client, request, response);
            }
            Target::Staff(needed, _) | Target::Pictures(needed) | Target::Logo(needed) => needed,
        };
        let Some(session) = session::of(&visit).await? else {
            return self.hold(client, request, staff::required(&visit, None));
        };
        if !client.trust() {
            return Err(ApiError::new(
                Problem::Unavailable,
                texts().connection_replaced,
            ));
        }
        facts.principal = Some(Actor::Staff(session.member.id));
        if session.member.role < needed.role {
            let error = ApiError::new(Problem::InsufficientScope, texts().not_allowed);
            return Err(problem::with_menu(error, &visit, Some(&session)));
        }
        // The second factor of a provider is its own.
        let is_protected = session.member.has_second_factor() || session.member.identity.is_some();
        if !is_protected
            && needed.second_factor
            && self.settings.second_factor.includes(session.member.role)
        {
            return Ok(layout::redirect("/account/second-factor"));
        }
        if needed.password && !session.record.is_confirmed_at(now) {
            return Ok(staff::required(&visit, Some(&session)));
        }
        // A page that another member has left open.
        if desk::owner_of(&visit.form).is_some_and(|owner| owner != session.member.id) {
            let path = visit.request.uri.path();
            return staff::kept_page(&visit, &session.member, path, &visit.form).await;
        }
        let mut desk = Desk::new(visit, session);
        let reply = match route.target {
            Target::Staff(_, open) => open(&desk).await,
            Target::Logo(_) => Box::pin(pages::logo::add(&mut desk, body)).await,
            _ => Box::pin(pages::photo_forms::add(&mut desk, body)).await,
        };
        let response = async { reply?.into_response(&desk).await }.await;
        let with_menu = |error| problem::with_menu(error, &desk.visit, Some(&desk.session));
        let mut response = response.map_err(with_menu)?;
        // After a change of the password, or if the browser has lost it.
        if !session::is_known_browser(&desk.visit, &desk.session.member) {
            session::remember(&desk.visit, &mut response, &desk.session.member);
        }
        Ok(response)
    }

    fn respond_to(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        problem::page(error, request, request_id)
    }

    fn announce(&self, _: Duration, _: &Facts, response: &mut Response) {
        for (name, value) in SECURITY_FIELDS {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
    }
}

/// What tells a browser to load nothing from other hosts, to run no script in a page, to show no page
/// in a frame, and to tell other hosts nothing. With `no-referrer`, browsers would hide the origin of
/// forms from the console, too.
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
