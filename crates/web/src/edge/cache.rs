//! A cache of rendered pages. An entry is valid until the next write to the store.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, mem};

use foldhash::fast::RandomState;
use parking_lot::RwLock;
use petstore_store::Version;

/// The largest page that is cached, in bytes.
pub const MAX_CACHED: usize = 64 << 10;

type Pages<K, P> = HashMap<K, CachedPage<P>, RandomState>;

/// A page, and the version of the store from which it was rendered.
struct CachedPage<P> {
    version: Version,
    page: P,
}

impl<P: Clone> CachedPage<P> {
    /// Returns a copy of the page if it was rendered from exactly this version.
    fn page_at(&self, version: Option<Version>) -> Option<P> {
        if Some(self.version) == version {
            Some(self.page.clone())
        } else {
            None
        }
    }
}

/// The two generations of a cache.
struct Generations<K, P> {
    recent: Pages<K, P>,
    older: Pages<K, P>,
}

/// A bounded cache that approximates least-recently-used eviction with two generations.
///
/// New entries go into the recent generation, and a hit in the older one moves the page there. When
/// the recent generation is full, it replaces the older one, whose pages are dropped. So a hit in
/// the recent generation needs only a read lock.
pub struct Cache<K, P> {
    generations: RwLock<Generations<K, P>>,
    max_pages: usize,
}

impl<K: Hash + Eq, P: Clone> Cache<K, P> {
    /// Creates an empty cache of at most `max_pages` pages.
    pub fn with_capacity(max_pages: usize) -> Self {
        let generations = Generations {
            recent: Pages::default(),
            older: Pages::default(),
        };
        Self {
            generations: RwLock::new(generations),
            max_pages,
        }
    }

    /// Returns the cached page for `key`, if it was rendered from exactly this version.
    ///
    /// Without a `version`, the present version of the store is unknown, so the result is `None`.
    pub fn find<Q>(&self, key: &Q, version: Option<Version>) -> Option<P>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let generations = self.generations.read();
        if let Some(cached_page) = generations.recent.get(key) {
            return cached_page.page_at(version);
        }
        let page = generations.older.get(key)?.page_at(version)?;
        // `insert` needs the write lock.
        drop(generations);
        self.insert(key.to_owned(), version, &page);
        Some(page)
    }

    /// Caches a page. Does nothing if the version of the store is unknown.
    ///
    /// `version` must have been read before the page, so that a concurrent write invalidates it.
    /// The caller ensures that the page has at most [`MAX_CACHED`] bytes.
    pub fn insert(&self, key: K, version: Option<Version>, page: &P) {
        let Some(version) = version else { return };
        let mut generations = self.generations.write();
        if generations.recent.len() >= self.max_pages / 2 {
            generations.older = mem::take(&mut generations.recent);
        }
        let page = page.clone();
        generations.recent.insert(key, CachedPage { version, page });
    }
}
