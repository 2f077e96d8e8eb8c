//! The window: the public pages of the animals, on a listener of their own. Nobody needs a key, and
//! nothing here writes.

mod animal;
mod animal_page;
mod csv;
mod data;
mod drawings;
mod feed;
mod labels;
mod layout;
mod list;
mod problem;
mod query;
mod rendered;
mod routes;
mod schema;
mod selection;
mod settings;
mod shop;
mod sitemap;
mod texts;
mod walk;
mod xml;

use std::sync::Arc;

use hyper::{
    HeaderMap, Request,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use tokio::sync::Semaphore;

pub use self::settings::{ContactUrl, Style, WindowSettings};
use self::{
    layout::Layout,
    query::Query,
    rendered::{Cache, Made, Rendered},
    routes::Page,
    shop::Shop,
};
use crate::{
    app::App,
    domain::Client,
    edge::{
        ApiError, Edge, Facts, Interface, RequestBody, Response, UnreadBody, etag::Tags, photos,
    },
    store::Cause,
};

/// How many files can be made at once. Each needs the memory of a page, and a client can take long to
/// read one.
const FILES_AT_ONCE: usize = 64;

/// The public pages of a store.
pub struct Window {
    edge: Arc<Edge>,
    shop: Arc<Shop>,
    layout: Layout,
    tags: Tags,
    /// First pages of the list in each form, and files.
    lists: Cache,
    /// Pages of animals, which crawlers ask for in any number, and so not among the first pages.
    animals: Cache,
    files: Arc<Semaphore>,
    /// The `Content-Security-Policy` of `/embed`.
    embedded: HeaderValue,
}

/// Makes `edge` also count the requests for the pages of the window.
#[must_use]
pub fn counted(edge: Edge) -> Edge {
    edge.counting(routes::PAGES.iter().map(|route| route.label))
}

impl Window {
    /// The window of `app`.
    pub fn new(app: Arc<App>, edge: Arc<Edge>, settings: WindowSettings) -> Self {
        let sites: Vec<&str> = settings.embed.iter().map(crate::edge::Origin::as_str).collect();
        let sites = if sites.is_empty() { "'none'".to_owned() } else { sites.join(" ") };
        let policy = HeaderValue::try_from(policy(&sites));
        Self {
            edge,
            tags: Tags::new(app.store.etag_key()),
            layout: Layout::new(&settings),
            shop: Arc::new(Shop::new(app, settings)),
            lists: Cache::default(),
            animals: Cache::default(),
            files: Arc::new(Semaphore::new(FILES_AT_ONCE)),
            embedded: policy.unwrap_or(HeaderValue::from_static("default-src 'none'")),
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
    ) -> Result<Response, ApiError> {
        let (shop, layout, headers) = (&self.shop, &self.layout, &request.headers);
        match page {
            Page::list => {
                let key = self.key(request, "list");
                let make =
                    async || list::page(shop, layout, &self.query(request, false).await?).await;
                self.cached(&self.lists, key, headers, make).await
            }
            Page::embed => {
                let key = self.key(request, "embed");
                let make =
                    async || list::embed(shop, layout, &self.query(request, true).await?).await;
                self.cached(&self.lists, key, headers, make).await
            }
            Page::json => {
                let key = self.key(request, "json");
                let make = async || data::page(shop, &self.query(request, false).await?).await;
                self.cached(&self.lists, key, headers, make).await
            }
            Page::atom => {
                let key = format!("atom {}", shop.today());
                self.cached(&self.lists, key, headers, async || feed::page(shop).await).await
            }
            Page::animal => {
                let key = format!("{parameter} {}", shop.today());
                let make = async || animal_page::page(shop, layout, parameter).await;
                self.cached(&self.animals, key, headers, make).await
            }
            Page::csv => csv::file(shop, &self.files).await,
            Page::sitemap => sitemap::file(shop, &self.files).await,
            Page::sitemapPart => sitemap::part(shop, &self.files, parameter),
            Page::robots => Ok(sitemap::robots(shop)),
            Page::photo => {
                photos::respond(&shop.app.photos, &self.edge.response_memory, headers, parameter)
                    .await
            }
            Page::asset => layout.asset(request.uri.path()),
        }
    }

    /// The page that was asked for, as a key of the cache. Ages depend on the day.
    fn key(&self, request: &Parts, form: &str) -> String {
        let query = request.uri.query().unwrap_or_default();
        format!("{form} {} {query}", self.shop.today())
    }

    async fn query(&self, request: &Parts, takes_limit: bool) -> Result<Query, ApiError> {
        let fields = self.shop.fields().await?;
        Query::parse(request.uri.query(), &fields, takes_limit)
    }

    /// A page that is made once for each version of the store.
    async fn cached(
        &self,
        cache: &Cache,
        key: String,
        request: &HeaderMap,
        make: impl AsyncFnOnce() -> Result<Made, ApiError>,
    ) -> Result<Response, ApiError> {
        let version = self.shop.app.store.version().await?;
        if let Some(version) = version
            && let Some(page) = cache.find(&key, version)
        {
            return Ok(page.respond(request));
        }
        let page = Rendered::new(make().await?, self.tags, &self.edge.response_memory)?;
        let page = Arc::new(page);
        if let Some(version) = version {
            cache.insert(key, version, &page);
        }
        Ok(page.respond(request))
    }
}

impl Interface for Window {
    const IS_FOR_CLIENTS: bool = true;
    const HAS_KEYS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=60");
    /// The page, if the request found one.
    type Found = Option<Page>;

    fn edge(&self) -> &Edge {
        &self.edge
    }

    fn find(&self, request: &Parts) -> Option<Page> {
        routes::find(&request.method, request.uri.path()).ok().map(|(route, _)| route.page)
    }

    async fn process(
        &self,
        _: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        _: Option<Page>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        let (route, parameter) = routes::find(&request.method, request.uri.path())?;
        facts.route = Some(route.label);
        Box::pin(self.respond(route.page, parameter, request)).await
    }

    fn respond_to(
        &self,
        error: ApiError,
        request: &Parts,
        request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        problem::response(&self.layout, error, request, request_id)
    }

    fn announce(&self, page: Option<Page>, _: &Facts, response: &mut Response) {
        let headers = response.headers_mut();
        for (name, value) in SECURITY_FIELDS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if page == Some(Page::embed) {
            headers.insert(header::CONTENT_SECURITY_POLICY, self.embedded.clone());
        }
        if page == Some(Page::json) {
            let anybody = HeaderValue::from_static("*");
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
            // Otherwise, a script of another site cannot read the link to the next page.
            let link = HeaderValue::from_static("Link");
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, link);
        }
    }
}

/// What lets a browser load nothing from other hosts, run no script, and show a page only in frames of
/// these sites.
fn policy(sites: &str) -> String {
    format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors {sites}"
    )
}

/// The policy is the same for all pages other than `/embed`. Pages tell other sites only the address of
/// the window.
const SECURITY_FIELDS: [(HeaderName, &str); 2] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
    (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
];
