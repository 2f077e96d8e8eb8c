//! The window: the public pages of the animals, on a listener of their own. Nobody needs a key, and
//! nothing here writes: the window is made of [`ReadingParts`].

mod accent;
mod animal_page;
mod cards;
mod contact;
mod csv;
mod data;
mod feed;
mod filter;
mod filter_form;
mod filter_panel;
mod labels;
mod layout;
mod list;
mod list_page;
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
mod suggestions;
mod walk;
mod xml;

use std::{hash::RandomState, sync::Arc};

use hyper::{
    Request, StatusCode,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use petstore_app::ReadingParts;
use petstore_domain::{Client, client::ClientAddress, store_area::Logo};
use petstore_languages as languages;
use petstore_store::Cause;
use petstore_web::{
    edge::{
        ApiError, Edge, Facts, Interface, MemoryAccount, Origin, Reader, RequestBody, Response,
        Route, RouteMatch, UnreadBody, cache::Cache, etag::EtagKey, find, http_status, photos,
        response::redirect,
    },
    server::Handler,
};
use tokio::sync::Mutex as AsyncMutex;

pub use self::settings::{Style, WindowSettings};
use self::{
    layout::Layout,
    query::Query,
    rendered::EncodedPage,
    routes::{PAGES, Page},
    shop::{Moment, Shop},
};

/// The number of lists that are cached, and of pages of animals: at most 16 MiB each, and a fifth of that again for
/// their compressed forms.
const MAX_PAGES: usize = 256;

/// The number of cached lists for which visitors have typed something.
const MAX_TYPED_LISTS: usize = 64;

/// The number of locks for pages that are rendered. Two pages can have the same one, which only takes longer.
const MAKING_LOCKS: usize = 64;

/// The maximum number of files that are made at once, because a client can take long to read one. While others make half
/// of them, an address gets one. The memory of files counts with the memory of all responses.
const MAX_FILES: usize = 512;

/// The maximum number of files that are made at once for one address.
const MAX_FILES_OF_ADDRESS: usize = 4;

/// The public pages of a store.
pub struct Window {
    edge: Arc<Edge>,
    shop: Arc<Shop>,
    layout: Layout,
    etag_key: EtagKey,
    /// The time at which this process started.
    started_at: String,
    /// The pages of the list in each form.
    lists: Cache<String, Arc<EncodedPage>>,
    /// The lists for which visitors have typed something. Their number has no limit.
    typed_lists: Cache<String, Arc<EncodedPage>>,
    /// The pages of animals. Crawlers ask for all of them, so they have a cache of their own.
    animals: Cache<String, Arc<EncodedPage>>,
    /// The locks by the keys of pages. Visitors who want a page while it is rendered wait for it.
    making_locks: [AsyncMutex<()>; MAKING_LOCKS],
    hashes: RandomState,
    files: Arc<MemoryAccount>,
    /// The `Content-Security-Policy` of `/embed`.
    embedded_policy: HeaderValue,
}

/// A request for a page or file.
#[derive(Clone, Copy)]
struct Visit<'r> {
    page: Page,
    /// The parameter in the path, not decoded. Empty if the page has none.
    parameter: &'r str,
    request: &'r Parts,
    /// The address of the visitor, unless many visitors share it.
    visitor: Option<ClientAddress>,
}

/// Makes `edge` also count the requests for the pages of the window.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&PAGES)
}

impl Window {
    /// Returns the window as a handler of requests, for the server.
    #[inline(never)]
    pub fn into_handler(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }

    /// Returns a window that reads from `parts`.
    pub fn new(parts: ReadingParts, edge: Arc<Edge>, settings: WindowSettings) -> Self {
        let policy = embedded_policy(&settings.embed);
        Self {
            edge,
            etag_key: EtagKey::new(parts.store.etag_key()),
            started_at: parts.clock.now().to_string(),
            layout: Layout::new(&settings),
            shop: Arc::new(Shop::new(parts, settings)),
            lists: Cache::with_capacity(MAX_PAGES),
            typed_lists: Cache::with_capacity(MAX_TYPED_LISTS),
            animals: Cache::with_capacity(MAX_PAGES),
            making_locks: std::array::from_fn(|_| AsyncMutex::default()),
            hashes: RandomState::new(),
            files: MemoryAccount::with_reserve(MAX_FILES, MAX_FILES_OF_ADDRESS, 1),
            embedded_policy: policy,
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
    async fn respond(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let path = visit.request.uri.path();
        match visit.page {
            Page::robots => Ok(sitemap::robots(&self.shop)),
            Page::photo => self.respond_with_photo(visit).await,
            Page::asset if let Some(logo) = Logo::from_path(path) => {
                self.respond_with_logo(logo, visit.visitor).await
            }
            Page::asset | Page::favicon | Page::touchIcon => self.layout.respond_with_asset(path),
            Page::csv | Page::sitemapPart => self.respond_with_file(visit).await,
            Page::list | Page::embed | Page::json | Page::atom | Page::animal | Page::sitemap => {
                self.respond_with_page(visit).await
            }
        }
    }

    /// Responds with the file of a photo, unless its animal is not on the website.
    async fn respond_with_photo(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        photos::refuse_private(self.shop.store(), visit.parameter).await?;
        photos::respond(
            &self.shop.parts.photos,
            &self.edge.response_memory,
            Reader::Stranger(visit.visitor),
            &visit.request.headers,
            visit.parameter,
        )
        .await
    }

    /// Responds with the logo of the store.
    async fn respond_with_logo(
        &self,
        logo: Logo,
        visitor: Option<ClientAddress>,
    ) -> Result<Response, ApiError> {
        let reader = Reader::Stranger(visitor);
        let memory = &self.edge.response_memory;
        photos::respond_with_logo(&self.shop.parts.logos, memory, reader, logo).await
    }

    /// Responds with a file that is made while the client reads it.
    async fn respond_with_file(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let shop = &self.shop;
        let moment = shop.moment().await?;
        let permit = walk::reserve(&self.files, &self.edge.response_memory, visit.visitor)?;
        let file = if visit.page == Page::csv {
            let query = visit.request.uri.query();
            let today = shop.today(&moment.facts);
            let query = Query::parse(query, &moment.fields, false, today)?;
            let query = shop.understand(query, &moment).await?;
            csv::respond(shop, visit.visitor, &query.filter, permit).await?
        } else {
            let block = sitemap::parse_block(visit.parameter)?;
            sitemap::respond(shop, visit.visitor, block, permit)?
        };
        let tag = self.file_tag(&moment);
        Ok(walk::adapt_to_client(&visit.request.headers, file, tag))
    }

    /// Responds with a page that is rendered once for each version of what the public sees.
    async fn respond_with_page(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let headers = &visit.request.headers;
        let page_request = self.page_request(visit).await?;
        if visit.page == Page::list && page_request.query.has_empty {
            return redirect_to_canonical(&page_request.query);
        }

        let page = match page_request.cached_page() {
            Some(page) => page,
            None => self.render_in_turn(page_request.turns, visit).await?,
        };
        if visit.page == Page::sitemap && page.is_empty() {
            let permit = walk::reserve(&self.files, &self.edge.response_memory, visit.visitor)?;
            let block = sitemap::Block::WHOLE;
            let sitemap = sitemap::respond(&self.shop, visit.visitor, block, permit)?;
            let tag = self.file_tag(&page_request.moment);
            return Ok(walk::adapt_to_client(headers, sitemap, tag));
        }

        // A page of the cache needs memory too, because it may leave the cache before the client reads it.
        let reader = Reader::Stranger(visit.visitor);
        let memory = &self.edge.response_memory;
        Ok(memory.hold_for(reader, page.respond(headers))?)
    }

    /// Returns the tag of a file at this moment. It is weak, because a file is not read at one moment. It also depends
    /// on the day, which decides what a filter by age finds, and on the start of this process, because settings change
    /// when a process starts.
    fn file_tag(&self, moment: &Moment) -> HeaderValue {
        let today = self.shop.today(&moment.facts).to_string();
        let parts = [
            moment.version.as_bytes(),
            self.started_at.as_bytes(),
            today.as_bytes(),
        ];
        self.etag_key.etag(&parts.concat())
    }
}

/// Redirects to the list of the same query without empty parameters.
fn redirect_to_canonical(query: &Query) -> Result<Response, ApiError> {
    let path = HeaderValue::try_from(format!("/{}", query.canonical()))
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(redirect(StatusCode::SEE_OTHER, path))
}

/// Returns the `Content-Security-Policy` of `/embed`, which these sites may show in a frame.
fn embedded_policy(sites: &[Origin]) -> HeaderValue {
    let origins: Vec<&str> = sites.iter().map(Origin::as_str).collect();
    let ancestors = if origins.is_empty() {
        "'none'".to_owned()
    } else {
        origins.join(" ")
    };
    let policy = [POLICY.trim_end_matches("'none'"), &ancestors].concat();
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

impl Interface for Window {
    const IS_FOR_CLIENTS: bool = true;
    const HAS_KEYS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static(
        "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400, no-transform",
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
        route_match: RouteMatch<Page>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let visitor = self.edge.strangers.address(client, &request.headers);
        let response = match route_match.route(&PAGES, request.uri.path()) {
            Ok((route, [parameter, _])) => {
                facts.route = Some(route.label);
                let visit = Visit {
                    page: route.target,
                    parameter,
                    request,
                    visitor,
                };
                Box::pin(self.respond(visit)).await
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
            .respond_with_problem(&self.shop.last_facts(), error, request, request_id)
    }

    fn announce(&self, route_match: RouteMatch<Page>, _: &Facts, response: &mut Response) {
        let headers = response.headers_mut();
        for (name, value) in SECURITY_FIELDS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let RouteMatch::Route(Route { target: page, .. }, _) = route_match else {
            return;
        };
        if *page == Page::embed {
            headers.insert(
                header::CONTENT_SECURITY_POLICY,
                self.embedded_policy.clone(),
            );
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

/// The `Content-Security-Policy` with which a browser loads nothing from other hosts, runs no script, and shows a page
/// in no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// The header fields for the security of pages. `/embed` has another policy. Pages tell other sites only the address
/// of the window.
const SECURITY_FIELDS: [(HeaderName, &str); 2] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
];
