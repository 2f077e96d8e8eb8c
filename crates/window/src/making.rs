//! Making a page: once for each version of what the public sees, and in a turn of its visitor.

use std::{hash::BuildHasher, sync::Arc};

use hyper::http::request::Parts;
use petstore_app::turns::Turns;
use petstore_domain::client::ClientAddress;
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, cache::Cache};
use tokio::sync::MutexGuard;

use super::{
    MAKING_LOCKS, Window, animal_page, data, feed, list,
    query::Query,
    rendered::{Made, Rendered},
    routes::Page,
    shop::Moment,
    sitemap,
};

/// A page for which a visitor asks.
pub(super) struct WantedPage<'w> {
    /// What the public sees now.
    pub(super) moment: Arc<Moment>,
    pub(super) query: Query,
    /// The key of the page in its cache.
    key: String,
    cache: &'w Cache<String, Arc<Rendered>>,
    /// The turns in which it is made.
    pub(super) turns: &'w Arc<Turns>,
}

impl WantedPage<'_> {
    /// Returns the page, if it was made at the present version.
    pub(super) fn find(&self) -> Option<Arc<Rendered>> {
        self.cache
            .find(self.key.as_str(), Some(self.moment.version))
    }
}

impl Window {
    /// Makes a page when it is the visitor's turn, unless somebody else has made it until then.
    pub(super) async fn make_in_turn(
        &self,
        turns: &Arc<Turns>,
        page: Page,
        parameter: &str,
        request: &Parts,
        visitor: Option<ClientAddress>,
    ) -> Result<Arc<Rendered>, ApiError> {
        let turn = turns.take(visitor.into()).await;
        let _turn = turn.map_err(|_| StoreError::Overloaded)?;
        // What the public sees may have changed meanwhile.
        let wanted = self.wanted_page(page, parameter, request).await?;
        let _making = self.lock(&wanted.key).await;
        if let Some(rendered) = wanted.find() {
            return Ok(rendered);
        }
        let made = self.make(page, parameter, &wanted).await?;
        let rendered = Arc::new(Rendered::new(made, self.tags));
        if rendered.may_be_cached() {
            wanted
                .cache
                .insert(wanted.key, Some(wanted.moment.version), &rendered);
        }
        Ok(rendered)
    }

    /// Waits until nobody else makes the page with this key.
    async fn lock(&self, key: &str) -> MutexGuard<'_, ()> {
        let hash = usize::try_from(self.hashes.hash_one(key) % MAKING_LOCKS as u64);
        self.making[hash.unwrap_or_default()].lock().await
    }

    /// Reads what the public sees now, and the query of a request for a page.
    pub(super) async fn wanted_page(
        &self,
        page: Page,
        parameter: &str,
        request: &Parts,
    ) -> Result<WantedPage<'_>, ApiError> {
        let shop = &self.shop;
        let moment = shop.moment().await?;
        let query = match page {
            Page::sitemap | Page::animal => Query::first(),
            _ => {
                let takes_limit = matches!(page, Page::embed | Page::json);
                Query::parse(
                    request.uri.query(),
                    &moment.fields,
                    takes_limit,
                    shop.today(),
                )?
            }
        };
        let query = if page == Page::atom {
            query.first_page()
        } else {
            query
        };
        let variant = match page {
            Page::animal => parameter.to_owned(),
            Page::embed | Page::json => format!("{} {}", query.limit.get(), query.canonical()),
            _ => query.canonical(),
        };
        // Ages depend on the day.
        let key = format!("{page:?} {} {variant}", shop.today());
        let cache = match page {
            Page::animal => &self.animals,
            _ if query.filter.is_typed() => &self.typed,
            _ => &self.lists,
        };
        let turns = if query.filter.is_empty() {
            &shop.pages
        } else {
            &shop.searches
        };
        Ok(WantedPage {
            moment,
            query,
            key,
            cache,
            turns,
        })
    }

    async fn make(
        &self,
        page: Page,
        parameter: &str,
        wanted: &WantedPage<'_>,
    ) -> Result<Made, ApiError> {
        let shop = &self.shop;
        let layout = &self.layout;
        let moment = &wanted.moment;
        let query = &wanted.query;
        match page {
            Page::list => list::page(shop, layout, moment, query).await,
            Page::embed => list::embed(shop, layout, moment, query).await,
            Page::json => data::page(shop, moment, query).await,
            Page::atom => feed::page(shop, moment, query).await,
            Page::sitemap => sitemap::index(shop).await,
            Page::animal => animal_page::page(shop, layout, moment, parameter).await,
            _ => Err(ApiError::no_such_path()),
        }
    }
}
