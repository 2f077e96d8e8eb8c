//! The window: the public pages of the animals, on a listener of their own. Nobody needs a key, and
//! nothing here writes: the window is made of [`ReadingParts`].

mod accent;
mod animal_page;
mod contact;
mod csv;
mod data;
mod feed;
mod filter;
mod labels;
mod layout;
mod list;
mod making;
mod query;
mod refreshed;
mod rendered;
mod routes;
mod schema;
mod selection;
mod settings;
mod shop;
mod sitemap;
mod store;
mod walk;
mod xml;

use std::{hash::RandomState, sync::Arc};

use petstore_app::ReadingParts;
use petstore_domain::{Client, client::ClientAddress, store_area::Logo};
use petstore_languages as languages;
use petstore_store::{Cause, Version};
use petstore_web::{
    edge::{
        Account, ApiError, Edge, Facts, Interface, Reader, RequestBody, Response, Route,
        RouteMatch, UnreadBody, cache::Cache, etag::Tags, find, http_status, photos,
        response::redirect,
    },
    server::Handler,
};
use tokio::sync::Mutex as AsyncMutex;

pub use self::settings::{Style, WindowSettings};
use self::{
    layout::Layout,
    query::Query,
    rendered::Rendered,
    routes::{PAGES, Page},
    shop::{Moment, Shop},
};
use hyper::{
    Request, StatusCode,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};

/// How many lists are cached, and how many animals: at most 16 MiB each, and a fifth of that again for
/// the compressed ones.
const MAX_PAGES: usize = 256;

/// How many lists are cached for which visitors have typed something.
const MAX_TYPED: usize = 64;

/// The number of locks for pages that are made. Two pages can have the same one, which only takes longer.
const MAKING_LOCKS: usize = 64;

/// The maximum numbers of files that are made at once, in total and for one address, because a client can take long to read
/// one. While others make half of them, an address gets one. Their memory counts with that of all responses.
const FILES_AT_ONCE: usize = 512;
const FILES_OF_ADDRESS: usize = 4;

/// The public pages of a store.
pub struct Window {
    edge: Arc<Edge>,
    shop: Arc<Shop>,
    layout: Layout,
    tags: Tags,
    /// When this process started.
    started: String,
    /// Pages of the list in each form, and those for which visitors have typed something, of which there are
    /// any number.
    lists: Cache<String, Arc<Rendered>>,
    typed: Cache<String, Arc<Rendered>>,
    /// Pages of animals, which crawlers ask for in any number, and so not among the lists.
    animals: Cache<String, Arc<Rendered>>,
    /// Locks by the keys of pages: visitors who want a page while it is made wait for it.
    making: [AsyncMutex<()>; MAKING_LOCKS],
    hashes: RandomState,
    files: Arc<Account>,
    /// The `Content-Security-Policy` of `/embed`.
    embedded: HeaderValue,
}

/// Makes `edge` also count the requests for the pages of the window.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&PAGES)
}

impl Window {
    /// Returns the window as the server takes it.
    #[inline(never)]
    pub fn into_handler(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }

    /// Makes the window of these parts.
    pub fn new(parts: ReadingParts, edge: Arc<Edge>, settings: WindowSettings) -> Self {
        let sites: Vec<&str> = settings
            .embed
            .iter()
            .map(petstore_web::edge::Origin::as_str)
            .collect();
        let sites = if sites.is_empty() {
            "'none'".to_owned()
        } else {
            sites.join(" ")
        };
        let policy = [POLICY.trim_end_matches("'none'"), &sites].concat();
        Self {
            edge,
            tags: Tags::new(parts.store.etag_key()),
            started: parts.clock.now().to_string(),
            layout: Layout::new(&settings),
            shop: Arc::new(Shop::new(parts, settings)),
            lists: Cache::with_capacity(MAX_PAGES),
            typed: Cache::with_capacity(MAX_TYPED),
            animals: Cache::with_capacity(MAX_PAGES),
            making: std::array::from_fn(|_| AsyncMutex::default()),
            hashes: RandomState::new(),
            files: Account::with_reserve(FILES_AT_ONCE, FILES_OF_ADDRESS, 1),
            embedded: HeaderValue::try_from(policy)
                .unwrap_or(HeaderValue::from_static("default-src 'none'")),
        }
    }

    /// Handles one request of `client` and always returns a response.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        self.edge.handle(self, client, request)
    }

    /// Responds with a page or file.
    async fn respond(
        &self,
        page: Page,
        parameter: &str,
        request: &Parts,
        visitor: Option<ClientAddress>,
    ) -> Result<Response, ApiError> {
        let shop = &self.shop;
        let headers = &request.headers;
        let memory = &self.edge.response_memory;
        let reader = Reader::Stranger(visitor);
        match page {
            Page::robots => Ok(sitemap::robots(shop)),
            Page::photo => {
                photos::respond(&shop.parts.photos, memory, reader, headers, parameter).await
            }
            Page::asset if let Some(logo) = Logo::at(request.uri.path()) => {
                photos::respond_with_logo(&shop.parts.logos, memory, reader, logo).await
            }
            Page::asset | Page::favicon | Page::touchIcon => self.layout.asset(request.uri.path()),
            Page::csv | Page::sitemapPart => {
                let moment = shop.moment().await?;
                let file = self
                    .file(page, parameter, request, visitor, &moment)
                    .await?;
                Ok(walk::for_client(
                    headers,
                    file,
                    Some(self.file_tag(moment.version)),
                ))
            }
            Page::list | Page::embed | Page::json | Page::atom | Page::animal | Page::sitemap => {
                self.respond_with_page(page, parameter, request, visitor)
                    .await
            }
        }
    }

    /// Begins a file that is made while the client reads it.
    async fn file(
        &self,
        page: Page,
        parameter: &str,
        request: &Parts,
        visitor: Option<ClientAddress>,
        moment: &Moment,
    ) -> Result<Response, ApiError> {
        let shop = &self.shop;
        let permit = walk::permit(&self.files, &self.edge.response_memory, visitor)?;
        if page == Page::csv {
            let query = Query::parse(request.uri.query(), &moment.fields, false, shop.today())?;
            return csv::file(shop, visitor, &query.filter, permit).await;
        }
        let bounds = sitemap::bounds(parameter)?;
        sitemap::pages(shop, visitor, bounds, permit)
    }

    /// Responds with a page that is made once for each version of what the public sees.
    async fn respond_with_page(
        &self,
        page: Page,
        parameter: &str,
        request: &Parts,
        visitor: Option<ClientAddress>,
    ) -> Result<Response, ApiError> {
        let headers = &request.headers;
        let wanted = self.wanted_page(page, parameter, request).await?;
        if page == Page::list && wanted.query.has_empty {
            let path = ["/", &wanted.query.canonical()].concat();
            let path = HeaderValue::try_from(path);
            let path = path.map_err(|error| ApiError::internal(Arc::new(error)))?;
            return Ok(redirect(StatusCode::SEE_OTHER, path));
        }
        let rendered = match wanted.find() {
            Some(rendered) => rendered,
            None => {
                self.make_in_turn(wanted.turns, page, parameter, request, visitor)
                    .await?
            }
        };
        if page == Page::sitemap && rendered.is_empty() {
            let permit = walk::permit(&self.files, &self.edge.response_memory, visitor)?;
            let all = sitemap::pages(&self.shop, visitor, (0, None), permit)?;
            let tag = self.file_tag(wanted.moment.version);
            return Ok(walk::for_client(headers, all, Some(tag)));
        }
        // Also for a page of the cache, which may have left the cache before the client reads it.
        let reader = Reader::Stranger(visitor);
        Ok(self
            .edge
            .response_memory
            .hold_for(reader, rendered.respond(headers))?)
    }

    /// The tag of a file at this version. Weak, because a file is not read at one moment. Settings change when a
    /// process starts.
    fn file_tag(&self, version: Version) -> HeaderValue {
        self.tags
            .tag(&[version.as_bytes(), self.started.as_bytes()].concat())
    }
}

impl Interface for Window {
    const IS_FOR_CLIENTS: bool = true;
    const HAS_KEYS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static(
        "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400",
    );
    type RouteMatch = RouteMatch<Page>;

    fn around<T: Send>(handling: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
        languages::with_language(handling)
    }

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> RouteMatch<Page> {
        find(&PAGES, &request.method, request.uri.path())
    }

    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        found: RouteMatch<Page>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let visitor = self.edge.strangers.address(client, &request.headers);
        let response = match found.route(&PAGES, request.uri.path()) {
            Ok((route, [parameter, _])) => {
                facts.route = Some(route.label);
                Box::pin(self.respond(route.target, parameter, request, visitor)).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &response
            && http_status(error.problem()).is_client_error()
        {
            // The page about the error shows what the store says about itself now.
            _ = self.shop.moment().await;
        }
        response
    }

    fn respond_to(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        self.layout
            .problem(&self.shop.last_facts(), error, request, request_id)
    }

    fn announce(&self, found: RouteMatch<Page>, _: &Facts, response: &mut Response) {
        let headers = response.headers_mut();
        for (name, value) in SECURITY_FIELDS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let RouteMatch::Route(Route { target: page, .. }, _) = found else {
            return;
        };
        if *page == Page::embed {
            headers.insert(header::CONTENT_SECURITY_POLICY, self.embedded.clone());
        }
        if *page == Page::json {
            let anybody = HeaderValue::from_static("*");
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
            // Otherwise, a script of another site cannot read the link to the next page.
            let link = HeaderValue::from_static("Link");
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, link);
        }
    }
}

/// What lets a browser load nothing from other hosts, run no script, and show a page in no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// The policy is the same for all pages other than `/embed`. Pages tell other sites only the address of
/// the window.
const SECURITY_FIELDS: [(HeaderName, &str); 2] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
];
