//! A cache of first pages. An entry is valid until the next write.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use bytes::Bytes;
use foldhash::fast::RandomState;
use hyper::header::HeaderValue;

use crate::{
    domain::{Limit, PageRequest, PetStatus},
    observe::metrics::{Counter, Exposition, Kind},
    store::Version,
};

/// The largest cached page, in bytes, and the number of pages: at most 8 MiB, in at most twice as
/// much memory.
const MAX_PAGE: usize = 64 << 10;
const MAX_PAGES: usize = 128;

/// A page that is ready to send.
#[derive(Clone)]
pub(crate) struct RenderedPage {
    pub(crate) body: Bytes,
    /// The link to the next page, if there is one.
    pub(crate) next: Option<HeaderValue>,
    pub(crate) tag: HeaderValue,
}

type Key = (Option<PetStatus>, Limit);

/// The cached first pages, by status and limit.
#[derive(Default)]
pub(crate) struct FirstPages {
    pages: RwLock<HashMap<Key, (Version, RenderedPage), RandomState>>,
    hits: Counter,
    misses: Counter,
}

impl FirstPages {
    /// The page, if it was rendered at this version of the catalogue.
    pub(crate) fn find(
        &self,
        wanted: &PageRequest,
        version: Option<Version>,
    ) -> Option<RenderedPage> {
        let found = self.get(wanted, version);
        if found.is_some() { &self.hits } else { &self.misses }.count();
        found
    }

    fn get(&self, wanted: &PageRequest, version: Option<Version>) -> Option<RenderedPage> {
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        let (rendered_at, page) = pages.get(&(wanted.status, wanted.limit))?;
        (Some(*rendered_at) == version).then(|| page.clone())
    }

    pub(crate) fn expose(&self, page: &mut Exposition) {
        let name = "petstore_first_pages_total";
        page.begin(
            Kind::Counter,
            name,
            "Requests for first pages, by whether the page was cached.",
        );
        for (cache, counter) in [("hit", &self.hits), ("miss", &self.misses)] {
            page.sample(name, &[("cache", &cache)], counter.get());
        }
    }

    /// Caches a page that was read after `version`.
    pub(crate) fn insert(
        &self,
        wanted: &PageRequest,
        version: Option<Version>,
        page: &RenderedPage,
    ) {
        let Some(version) = version.filter(|_| page.body.len() <= MAX_PAGE) else {
            return;
        };
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= MAX_PAGES {
            pages.clear();
        }
        pages.insert((wanted.status, wanted.limit), (version, page.clone()));
    }
}
