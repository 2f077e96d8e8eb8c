//! The window: the public website of the store, served on its own listener without authentication.
//! It is read-only by construction: it only has access to [`ReadingParts`].

mod accent;
mod animal_page;
mod arrival_order;
mod cards;
mod contact;
mod csv;
mod data;
mod feed;
mod filter;
mod filter_form;
mod filter_panel;
mod gone_page;
mod kinds;
mod labels;
mod layout;
mod list;
mod list_page;
mod making;
mod offers;
mod query;
mod query_parser;
mod refreshed;
mod rendered;
mod returned_pets;
mod routes;
mod schema;
mod security_headers;
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
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_app::ReadingParts;
use petstore_domain::{Client, client::ClientAddress, store_area::Logo};
use petstore_languages as languages;
use petstore_store::Cause;
use petstore_web::{
    edge::{
        ApiError, Edge, Facts, Interface, MemoryAccount, Reader, RequestBody, Response, RouteMatch,
        UnreadBody, cache::Cache, etag::EtagKey, find, http_status, photos, response::redirect,
    },
    server::Handler,
};
use tokio::sync::Mutex as AsyncMutex;

use self::{
    layout::Layout,
    query::Query,
    rendered::EncodedPage,
    routes::{PAGES, Page},
    security_headers::{add_security_headers, allow_other_sites, embedded_policy},
    shop::{Shop, Snapshot},
    walk::FilePermit,
};

pub use self::settings::{Style, WindowSettings};

/// The capacity of the cache of lists, and of the cache of animal pages. Each cache takes at most
/// 16 MiB, plus about a fifth more for the gzip copies.
const MAX_CACHED_PAGES: usize = 256;

/// The capacity of the cache of lists whose filter contains text that a visitor typed.
const MAX_CACHED_FREE_TEXT_LISTS: usize = 64;

/// The number of locks that keep a page from being rendered twice at once. The hash of a page selects
/// its lock. Two different pages with the same lock are rendered one after the other.
const RENDER_LOCKS: usize = 64;

/// The maximum number of files that are streamed at once. They are limited because a slow client can
/// keep a file open for a long time.
const MAX_CONCURRENT_FILES: usize = 512;

/// The maximum number of files that are streamed at once to one client address.
const MAX_CONCURRENT_FILES_PER_ADDRESS: usize = 4;

/// The maximum number of files that are streamed at once to one client address while half of
/// [`MAX_CONCURRENT_FILES`] are being streamed. The other half is a reserve for addresses with few files.
const MAX_FILES_IN_RESERVE: usize = 1;

/// The public website of a store.
pub struct Window {
    edge: Arc<Edge>,
    shop: Arc<Shop>,
    layout: Layout,
    etag_key: EtagKey,
    /// When this process started. The `ETag` of files depends on this time.
    started_at: String,
    /// Cached pages of the list: HTML, embedded, JSON, the feed and the sitemap index.
    lists: Cache<String, Arc<EncodedPage>>,
    /// Cached lists whose filter contains typed text. They have a cache of their own because their
    /// number is unlimited, and they must not evict the lists that everybody opens.
    free_text_lists: Cache<String, Arc<EncodedPage>>,
    /// Cached pages of single animals. They have a cache of their own because crawlers request
    /// every one of them, which would evict the lists.
    animals: Cache<String, Arc<EncodedPage>>,
    /// Striped locks, selected by the hash of a page's cache key. A request for a page that is
    /// being rendered waits for the result instead of rendering it again.
    render_locks: [AsyncMutex<()>; RENDER_LOCKS],
    /// Hashes cache keys to select one of the `render_locks`.
    hash_builder: RandomState,
    /// The slots for files that are being streamed. This account counts files instead of bytes; the
    /// memory of files counts towards the limit for all responses.
    file_slots: Arc<MemoryAccount>,
    /// The `Content-Security-Policy` of `/embed`, which lets the configured sites frame it.
    embedded_policy: HeaderValue,
}

/// A request for a page or file.
#[derive(Clone, Copy)]
struct Visit<'r> {
    page: Page,
    /// The path parameter, still percent-encoded. Empty if the route has none.
    parameter: &'r str,
    request: &'r Parts,
    /// The address whose limits apply to the request. It is `None` if the client is exempt from them.
    visitor: Option<ClientAddress>,
}

/// Registers the routes of the window with `edge`, so that its metrics cover them.
pub fn with_routes(edge: Edge) -> Edge {
    edge.with_routes(&PAGES)
}

impl Window {
    /// Returns a window that reads from `parts`.
    pub fn new(parts: ReadingParts, edge: Arc<Edge>, settings: WindowSettings) -> Self {
        let embedded_policy = embedded_policy(&settings.embed);
        Self {
            edge,
            etag_key: EtagKey::new(parts.store.etag_key()),
            started_at: parts.clock.now().to_string(),
            layout: Layout::new(&settings),
            shop: Arc::new(Shop::new(parts, settings)),
            lists: Cache::with_capacity(MAX_CACHED_PAGES),
            free_text_lists: Cache::with_capacity(MAX_CACHED_FREE_TEXT_LISTS),
            animals: Cache::with_capacity(MAX_CACHED_PAGES),
            render_locks: std::array::from_fn(|_| AsyncMutex::default()),
            hash_builder: RandomState::new(),
            file_slots: MemoryAccount::with_reserve(
                MAX_CONCURRENT_FILES,
                MAX_CONCURRENT_FILES_PER_ADDRESS,
                MAX_FILES_IN_RESERVE,
            ),
            embedded_policy,
        }
    }

    /// Converts the window into a request handler for the server. This function is never inlined, so
    /// that the code of the handler is compiled once in this crate, and not again in each program.
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

    /// Dispatches a request to the function for its page or file. The names of the pages are those in
    /// metrics and logs: see [`Page`].
    async fn respond(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let path = visit.request.uri.path();
        match visit.page {
            Page::robots => Ok(sitemap::respond_with_robots(&self.shop)),
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

    /// Responds with a photo file. Fails with 404 if the animal of the photo is not listed on the
    /// website.
    async fn respond_with_photo(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        photos::reject_private(self.shop.store(), visit.parameter).await?;
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

    /// Responds with a file that is generated while the client downloads it: the CSV export, or the
    /// sitemap of a block of animals.
    async fn respond_with_file(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let shop = &self.shop;
        let snapshot = shop.snapshot().await?;
        let permit = self.reserve_file(visit)?;
        let file = if visit.page == Page::csv {
            let parsed_query = self.parse_query(visit, &snapshot)?;
            let query = shop.interpret_search(parsed_query, &snapshot).await?;
            csv::respond(shop, visit.visitor, &query.filter, permit).await?
        } else {
            let block = sitemap::parse_block(visit.parameter)?;
            sitemap::respond(shop, visit.visitor, block, permit)?
        };
        let etag = self.file_etag(&snapshot);
        Ok(walk::adapt_to_client(&visit.request.headers, file, etag))
    }

    /// Responds with a page. Takes it from the cache if it was rendered since the public data last
    /// changed, and renders it otherwise.
    async fn respond_with_page(&self, visit: Visit<'_>) -> Result<Response, ApiError> {
        let page_request = self.resolve_page_request(visit).await?;
        if visit.page == Page::list && page_request.query.has_empty_parameters {
            return redirect_to_canonical(&page_request.query);
        }

        let page = match page_request.cached_page() {
            Some(page) => page,
            None => self.render_in_turn(page_request.turns, visit).await?,
        };
        // The index of the sitemaps is empty if a single sitemap can hold all animals.
        if visit.page == Page::sitemap && page.is_empty() {
            return self.respond_with_single_sitemap(visit, &page_request.snapshot);
        }

        // A cached page reserves memory too: it may be evicted before the client has read it.
        let reader = Reader::Stranger(visit.visitor);
        let memory = &self.edge.response_memory;
        Ok(memory.hold_for(reader, page.respond(&visit.request.headers))?)
    }

    /// Responds with one sitemap of all animals.
    fn respond_with_single_sitemap(
        &self,
        visit: Visit<'_>,
        snapshot: &Snapshot,
    ) -> Result<Response, ApiError> {
        let permit = self.reserve_file(visit)?;
        let block = sitemap::Block::WHOLE;
        let file = sitemap::respond(&self.shop, visit.visitor, block, permit)?;
        let etag = self.file_etag(snapshot);
        Ok(walk::adapt_to_client(&visit.request.headers, file, etag))
    }

    /// Reserves a slot and memory for a file: see [`FilePermit::reserve`].
    fn reserve_file(&self, visit: Visit<'_>) -> Result<FilePermit, ApiError> {
        FilePermit::reserve(&self.file_slots, &self.edge.response_memory, visit.visitor)
    }

    /// Returns the `ETag` of a file whose generation begins at this snapshot. The tag is weak, because
    /// the data can change while the file is generated. It depends on:
    ///
    /// - the version of the data;
    /// - the start of this process, because settings only change with a restart;
    /// - the day, because the ages of animals change with it.
    fn file_etag(&self, snapshot: &Snapshot) -> HeaderValue {
        let today = self.shop.today(&snapshot.facts).to_string();
        let parts = [
            snapshot.version.as_bytes(),
            self.started_at.as_bytes(),
            today.as_bytes(),
        ];
        self.etag_key.compute_etag(&parts.concat())
    }
}

/// Redirects to the same list, but without the empty parameters in its URL. Browsers send a parameter
/// for every input of the filter form, even for an empty one.
fn redirect_to_canonical(query: &Query) -> Result<Response, ApiError> {
    let path = HeaderValue::try_from(format!("/{}", query.canonical_query_string()))
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(redirect(StatusCode::SEE_OTHER, path))
}

impl Interface for Window {
    const IS_FOR_CLIENTS: bool = true;
    const HAS_KEYS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static(
        "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400, no-transform",
    );
    type RouteMatch = RouteMatch<Page>;

    fn with_request_scope<T: Send>(
        handling: impl Future<Output = T> + Send,
    ) -> impl Future<Output = T> + Send {
        languages::with_language(handling)
    }

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> RouteMatch<Page> {
        find(&PAGES, &request.method, request.uri.path())
    }

    /// Finds the page or file of a request, and responds with it.
    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        route_match: RouteMatch<Page>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let visitor = self
            .edge
            .strangers
            .find_limited_address(client, &request.headers);
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
            // Refresh the last snapshot, from which `error_response` takes the profile of the store.
            // If that fails, the error page shows the previous profile.
            _ = self.shop.snapshot().await;
        }
        response
    }

    /// Responds with an error page in the layout of the store.
    fn error_response(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        self.layout
            .respond_with_problem(&self.shop.last_facts(), error, request, request_id)
    }

    /// Adds the security headers and, for `/animals.json`, the headers with which scripts of other
    /// sites may read it.
    fn add_headers(&self, route_match: RouteMatch<Page>, _: &Facts, response: &mut Response) {
        let headers = response.headers_mut();
        add_security_headers(headers);
        let RouteMatch::Route { route, .. } = route_match else {
            return;
        };
        if route.target == Page::embed {
            let policy = self.embedded_policy.clone();
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        if route.target == Page::json {
            allow_other_sites(headers);
        }
    }
}
