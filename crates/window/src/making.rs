//! Renders pages: each page once for each version of the store, and in a turn of its visitor.

use std::{hash::BuildHasher, sync::Arc};

use petstore_app::turns::Turns;
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, cache::Cache};
use tokio::sync::MutexGuard;

use super::{
    MAKING_LOCKS, Visit, Window, animal_page, data, feed, list,
    query::Query,
    rendered::{EncodedPage, RenderedPage},
    routes::Page,
    shop::Moment,
    sitemap,
};

/// A request for a page, compared with what the public sees now.
pub(super) struct PageRequest<'w> {
    pub(super) moment: Arc<Moment>,
    pub(super) query: Query,
    /// The key of the page in its cache.
    key: String,
    cache: &'w Cache<String, Arc<EncodedPage>>,
    /// The turns in which the page is rendered.
    pub(super) turns: &'w Arc<Turns>,
}

impl PageRequest<'_> {
    /// Returns the page, if the cache has it at the present version.
    pub(super) fn cached_page(&self) -> Option<Arc<EncodedPage>> {
        self.cache
            .find(self.key.as_str(), Some(self.moment.version))
    }
}

impl Window {
    /// Renders a page when it is the visitor's turn, unless another request has rendered it until then.
    pub(super) async fn render_in_turn(
        &self,
        turns: &Arc<Turns>,
        visit: Visit<'_>,
    ) -> Result<Arc<EncodedPage>, ApiError> {
        let turn = turns.take(visit.visitor.into()).await;
        let _turn = turn.map_err(|_| StoreError::Overloaded)?;

        // The public may see something else after the wait, so this reads it again.
        let page_request = self.page_request(visit).await?;
        let _lock = self.lock(&page_request.key).await;
        if let Some(page) = page_request.cached_page() {
            return Ok(page);
        }

        let page = self.render(visit, &page_request).await?;
        let page = Arc::new(EncodedPage::new(page, self.etag_key));
        if page.may_be_cached() {
            let version = page_request.moment.version;
            page_request
                .cache
                .insert(page_request.key, Some(version), &page);
        }
        Ok(page)
    }

    /// Waits until no other request renders the page with this key.
    async fn lock(&self, key: &str) -> MutexGuard<'_, ()> {
        let index = usize::try_from(self.hashes.hash_one(key) % MAKING_LOCKS as u64);
        self.making_locks[index.unwrap_or_default()].lock().await
    }

    /// Reads what the public sees now, and the query of a request for a page.
    pub(super) async fn page_request(&self, visit: Visit<'_>) -> Result<PageRequest<'_>, ApiError> {
        let shop = &self.shop;
        let moment = shop.moment().await?;
        let query = self.query(visit, &moment)?;

        let variant = match visit.page {
            Page::animal => visit.parameter.to_owned(),
            Page::embed | Page::json => format!("{} {}", query.limit.get(), query.canonical()),
            Page::list if query.has_unknown => format!("unknown {}", query.canonical()),
            _ => query.canonical(),
        };
        // Ages depend on the day.
        let key = format!("{:?} {} {variant}", visit.page, shop.today(&moment.facts));

        let cache = if visit.page == Page::animal {
            &self.animals
        } else if query.filter.is_typed() {
            &self.typed_lists
        } else {
            &self.lists
        };
        let turns = if query.filter.is_empty() {
            &shop.pages
        } else {
            &shop.searches
        };

        Ok(PageRequest {
            moment,
            query,
            key,
            cache,
            turns,
        })
    }

    /// Parses the query of a request for a page.
    fn query(&self, visit: Visit<'_>, moment: &Moment) -> Result<Query, ApiError> {
        if matches!(visit.page, Page::sitemap | Page::animal) {
            return Ok(Query::default());
        }

        let takes_limit = matches!(visit.page, Page::embed | Page::json);
        let query = Query::parse(
            visit.request.uri.query(),
            &moment.fields,
            takes_limit,
            self.shop.today(&moment.facts),
        )?;
        if visit.page == Page::atom {
            return Ok(query.into_first_page());
        }
        Ok(query)
    }

    /// Renders a page. Fails with 404 for a file, which is not a page.
    async fn render(
        &self,
        visit: Visit<'_>,
        page_request: &PageRequest<'_>,
    ) -> Result<RenderedPage, ApiError> {
        let shop = &self.shop;
        let layout = &self.layout;
        let moment = &page_request.moment;
        let query = shop.understand(page_request.query.clone(), moment).await?;
        let query = &query;
        match visit.page {
            Page::list => list::page(shop, layout, moment, query).await,
            Page::embed => list::embedded_page(shop, layout, moment, query).await,
            Page::json => data::page(shop, moment, query).await,
            Page::atom => feed::page(shop, moment, query).await,
            Page::sitemap => sitemap::index(shop).await,
            Page::animal => animal_page::page(shop, layout, moment, visit.parameter).await,
            _ => Err(ApiError::no_such_path()),
        }
    }
}
