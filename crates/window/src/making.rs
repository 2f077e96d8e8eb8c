//! Renders the pages that are not in a cache, and caches them. A page is rendered once per version of the
//! public data, even if many visitors request it at the same time.
//!
//! Only a few pages are rendered at once. Before a page is rendered, the request waits for a turn
//! of its visitor. The queues of [`Turns`] give the next turn to the visitor that was served least,
//! so that nobody can keep the others waiting.

use std::{hash::BuildHasher, sync::Arc};

use jiff::civil::Date;
use petstore_app::turns::Turns;
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, cache::Cache};
use tokio::sync::MutexGuard;

use super::{
    RENDER_LOCKS, Visit, Window, animal_page, data, feed, list,
    query::Query,
    query_parser::parse_query,
    rendered::{EncodedPage, RenderedPage},
    routes::Page,
    shop::Snapshot,
    sitemap,
};

/// A request for a page, resolved against the current snapshot: its parsed query, and where the
/// page is cached.
pub(super) struct PageRequest<'w> {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) query: Query,
    /// The cache key of the page.
    key: String,
    cache: &'w Cache<String, Arc<EncodedPage>>,
    /// The queue in which the request waits for its turn to render the page.
    pub(super) turns: &'w Arc<Turns>,
}

impl PageRequest<'_> {
    /// Returns the cached page, if it was rendered at the version of the snapshot.
    pub(super) fn cached_page(&self) -> Option<Arc<EncodedPage>> {
        self.cache
            .find(self.key.as_str(), Some(self.snapshot.version))
    }
}

impl Window {
    /// Waits for the visitor's turn, then renders the page and caches it.
    ///
    /// If another request has rendered the page in the meantime, returns the cached page instead.
    /// Fails with 503 if the queue is full, or if the wait takes too long.
    pub(super) async fn render_in_turn(
        &self,
        turns: &Arc<Turns>,
        visit: Visit<'_>,
    ) -> Result<Arc<EncodedPage>, ApiError> {
        let turn = turns.take(visit.visitor.into()).await;
        let _turn = turn.map_err(|_| StoreError::Overloaded)?;

        // The data may have changed during the wait, so the request is resolved again.
        let page_request = self.resolve_page_request(visit).await?;
        let _lock = self.lock_rendering(&page_request.key).await;
        if let Some(page) = page_request.cached_page() {
            return Ok(page);
        }

        let rendered_page = self.render(visit, &page_request).await?;
        let page = Arc::new(EncodedPage::new(rendered_page, self.etag_key));
        if page.may_be_cached() {
            let version = page_request.snapshot.version;
            page_request
                .cache
                .insert(page_request.key, Some(version), &page);
        }
        Ok(page)
    }

    /// Waits for the lock for rendering the page with this cache key.
    async fn lock_rendering(&self, key: &str) -> MutexGuard<'_, ()> {
        let hash = self.hash_builder.hash_one(key);
        // The remainder is less than `RENDER_LOCKS`, so the conversion cannot fail.
        let index = usize::try_from(hash % RENDER_LOCKS as u64).unwrap_or_default();
        self.render_locks[index].lock().await
    }

    /// Parses a request for a page, and resolves it against the current snapshot.
    pub(super) async fn resolve_page_request(
        &self,
        visit: Visit<'_>,
    ) -> Result<PageRequest<'_>, ApiError> {
        let shop = &self.shop;
        let snapshot = shop.snapshot().await?;
        let query = self.parse_query(visit, &snapshot)?;
        let turns = if query.filter.is_empty() {
            &shop.page_turns
        } else {
            &shop.search_turns
        };
        Ok(PageRequest {
            key: make_cache_key(visit, &query, shop.today(&snapshot.facts)),
            cache: self.cache_for(visit.page, &query),
            turns,
            snapshot,
            query,
        })
    }

    /// Returns the cache for a page. The fields of [`Window`] state why there are several caches.
    fn cache_for(&self, page: Page, query: &Query) -> &Cache<String, Arc<EncodedPage>> {
        if page == Page::animal {
            &self.animals
        } else if query.filter.has_free_text() {
            &self.free_text_lists
        } else {
            &self.lists
        }
    }

    /// Parses the query of a request for a page or for the CSV export. A page that takes no
    /// parameters gets the default query. The feed takes only the filter: it always begins with the
    /// newest animals.
    pub(super) fn parse_query(
        &self,
        visit: Visit<'_>,
        snapshot: &Snapshot,
    ) -> Result<Query, ApiError> {
        if matches!(visit.page, Page::sitemap | Page::animal) {
            return Ok(Query::default());
        }

        let query_string = visit.request.uri.query();
        let today = self.shop.today(&snapshot.facts);
        let query = parse_query(query_string, visit.page, &snapshot.fields, today)?;
        if visit.page == Page::atom {
            return Ok(query.into_first_page());
        }
        Ok(query)
    }

    /// Renders a page. Fails with 404 for routes that are not rendered as pages, such as files.
    async fn render(
        &self,
        visit: Visit<'_>,
        page_request: &PageRequest<'_>,
    ) -> Result<RenderedPage, ApiError> {
        let shop = &self.shop;
        let layout = &self.layout;
        let snapshot = &page_request.snapshot;
        let query = shop
            .interpret_search(page_request.query.clone(), snapshot)
            .await?;
        match visit.page {
            Page::list => list::render_page(shop, layout, snapshot, &query).await,
            Page::embed => list::render_embedded_page(shop, layout, snapshot, &query).await,
            Page::json => data::render_page(shop, snapshot, &query).await,
            Page::atom => feed::render_page(shop, snapshot, &query).await,
            Page::sitemap => sitemap::render_index(shop).await,
            Page::animal => animal_page::render_page(shop, layout, snapshot, visit.parameter).await,
            _ => Err(ApiError::no_such_path()),
        }
    }
}

/// Returns the cache key of a page. It includes the day, because pages show ages, which depend on
/// it.
fn make_cache_key(visit: Visit<'_>, query: &Query, today: Date) -> String {
    // The variant distinguishes the pages of a route from each other. The canonical query lacks two
    // things that change a page: the limit, and the unknown parameters, about which a list has a
    // note.
    let variant = match visit.page {
        Page::animal => visit.parameter.to_owned(),
        Page::embed | Page::json => {
            format!("{} {}", query.limit.get(), query.canonical_query_string())
        }
        Page::list if query.has_unknown_parameters => {
            format!("unknown {}", query.canonical_query_string())
        }
        _ => query.canonical_query_string(),
    };
    format!("{:?} {today} {variant}", visit.page)
}
