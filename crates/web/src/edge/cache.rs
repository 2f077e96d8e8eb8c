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

/// A bounded cache that approximates least-recently-used eviction with two generations.
///
/// New entries go into the recent generation, and a hit in the older one moves the page there. When
/// the recent generation is full, it replaces the older one, whose pages are dropped. So a hit in the
/// recent generation needs only a read lock.
pub struct Cache<K, P> {
    generations: RwLock<[Pages<K, P>; 2]>,
    max_pages: usize,
}

impl<K: Hash + Eq, P: Clone> Cache<K, P> {
    /// Creates an empty cache of at most `max_pages` pages.
    pub fn with_capacity(max_pages: usize) -> Self {
        Self {
            generations: RwLock::default(),
            max_pages,
        }
    }

    /// Returns the cached page for `key`, if it is from exactly this version. Returns `None` if the
    /// version of the store is unknown.
    pub fn find<Q>(&self, key: &Q, version: Option<Version>) -> Option<P>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (page, is_recent) = {
            let [recent, older] = &*self.generations.read();
            let (cached_page, is_recent) = match recent.get(key) {
                Some(cached_page) => (cached_page, true),
                None => (older.get(key)?, false),
            };
            if Some(cached_page.version) != version {
                return None;
            }
            (cached_page.page.clone(), is_recent)
        };
        if !is_recent {
            self.insert(key.to_owned(), version, &page);
        }
        Some(page)
    }

    /// Caches a page. `version` must have been read before the page, so that a concurrent write
    /// invalidates it. The caller ensures that the page has at most [`MAX_CACHED`] bytes.
    pub fn insert(&self, key: K, version: Option<Version>, page: &P) {
        let Some(version) = version else { return };
        let [recent, older] = &mut *self.generations.write();
        if recent.len() >= self.max_pages / 2 {
            *older = mem::take(recent);
        }
        let page = page.clone();
        recent.insert(key, CachedPage { version, page });
    }
}
