//! A cache of pages that are ready to send. A page is valid until the next write.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, mem};

use foldhash::fast::RandomState;
use parking_lot::RwLock;
use petstore_store::Version;

/// The largest page that is cached, in bytes.
pub const MAX_CACHED: usize = 64 << 10;

type Pages<K, P> = HashMap<K, (Version, P), RandomState>;

/// The cached pages, by what was asked for, each with the version of the store at which it was read:
/// those that were used since the last time that the first half was full, and those before.
pub struct Cache<K, P> {
    halves: RwLock<[Pages<K, P>; 2]>,
    most: usize,
}

impl<K: Hash + Eq, P: Clone> Cache<K, P> {
    /// A cache of at most so many pages.
    pub fn with_capacity(most: usize) -> Self {
        Self {
            halves: RwLock::default(),
            most,
        }
    }

    /// The page, if it was rendered at this version. `None` if the store has no version.
    pub fn find<Q>(&self, key: &Q, version: Option<Version>) -> Option<P>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let (page, is_recent) = {
            let [recent, older] = &*self.halves.read();
            let (found, is_recent) = match recent.get(key) {
                Some(found) => (found, true),
                None => (older.get(key)?, false),
            };
            if Some(found.0) != version {
                return None;
            }
            (found.1.clone(), is_recent)
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
        if recent.len() >= self.most / 2 {
            *older = mem::take(recent);
        }
        recent.insert(key, (version, page.clone()));
    }
}
