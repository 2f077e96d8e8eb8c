//! A cache of pages that are ready to send. A page is valid until the next write.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, mem};

use foldhash::fast::RandomState;
use parking_lot::RwLock;
use petstore_store::Version;

/// The largest page that is cached, in bytes.
pub const MAX_CACHED: usize = 64 << 10;

type Pages<K, P> = HashMap<K, CachedPage<P>, RandomState>;

/// A page, and the version of the store at which it was read.
struct CachedPage<P> {
    version: Version,
    page: P,
}

/// A cache of pages by keys.
///
/// It has two halves: the pages that were used since the first half was last full, and the pages before. When the first
/// half is full, it becomes the second one, whose pages are dropped.
pub struct Cache<K, P> {
    halves: RwLock<[Pages<K, P>; 2]>,
    max_pages: usize,
}

impl<K: Hash + Eq, P: Clone> Cache<K, P> {
    /// Returns a cache of at most `max_pages` pages.
    pub fn with_capacity(max_pages: usize) -> Self {
        Self {
            halves: RwLock::default(),
            max_pages,
        }
    }

    /// Returns the page with this key, if it was read at this version. Returns `None` if the store has no version.
    pub fn find<Q>(&self, key: &Q, version: Option<Version>) -> Option<P>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (page, is_recent) = {
            let [recent, older] = &*self.halves.read();
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

    /// Caches a page that was read after `version`, and that has at most [`MAX_CACHED`] bytes.
    pub fn insert(&self, key: K, version: Option<Version>, page: &P) {
        let Some(version) = version else { return };
        let [recent, older] = &mut *self.halves.write();
        if recent.len() >= self.max_pages / 2 {
            *older = mem::take(recent);
        }
        let page = page.clone();
        recent.insert(key, CachedPage { version, page });
    }
}
