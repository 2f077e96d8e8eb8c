//! First pages, rendered before, and good for as long as nobody has written.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use bytes::Bytes;
use hyper::header::HeaderValue;

use crate::{
    domain::{Limit, PageRequest, PetStatus},
    metrics::{Counter, Exposition, Kind},
    store::Version,
};

/// The largest page that is kept, in bytes, and how many are: at most 8 MiB, in
/// at most twice as much memory.
const MAX_PAGE: usize = 64 << 10;
const MAX_PAGES: usize = 128;

/// A page as it is answered.
#[derive(Clone)]
pub(super) struct RenderedPage {
    pub(super) body: Bytes,
    /// The link to the page that follows, if one does.
    pub(super) next: Option<HeaderValue>,
    /// Its `ETag`.
    pub(super) tag: HeaderValue,
}

type Key = (Option<PetStatus>, Limit);

/// The first pages that were asked for, by what makes them different.
#[derive(Default)]
pub(in crate::http) struct FirstPages {
    pages: RwLock<HashMap<Key, (Version, RenderedPage)>>,
    hits: Counter,
    misses: Counter,
}

impl FirstPages {
    /// The page, if it was rendered at this version of the catalogue.
    pub(super) fn find(
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

    /// Shows how often a page was found.
    pub(in crate::http) fn expose(&self, page: &mut Exposition) {
        let name = "petstore_first_pages_total";
        page.begin(Kind::Counter, name, "First pages that were asked for: kept in memory or not.");
        for (cache, counter) in [("hit", &self.hits), ("miss", &self.misses)] {
            page.sample(name, &[("cache", &cache)], counter.get());
        }
    }

    /// Keeps a page that was read after `version` was told.
    pub(super) fn insert(
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
