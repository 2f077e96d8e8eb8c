//! How a key is used: noted in memory, and written down from time to time.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;

use crate::{
    domain::{KeyId, KeyUse, rate_limit::Meter},
    metrics::Counter,
};

/// How a key is used.
pub(super) struct Usage {
    /// When it was last, in seconds since 1970, if the store does not know that
    /// yet; [`NOTHING`] otherwise.
    used: AtomicI64,
    /// Likewise, when it last called the deprecated operation.
    called: AtomicI64,
    /// How often it called the deprecated operation.
    pub(super) deprecated_calls: Counter,
    pub(super) meter: Meter,
}

const NOTHING: i64 = i64::MIN;

impl Default for Usage {
    fn default() -> Self {
        Self {
            used: AtomicI64::new(NOTHING),
            called: AtomicI64::new(NOTHING),
            deprecated_calls: Counter::default(),
            meter: Meter::default(),
        }
    }
}

impl Usage {
    /// Notes that the key was accepted.
    pub(super) fn note_use(&self, at: Timestamp) {
        advance(&self.used, at);
    }

    /// Notes that the key called the deprecated operation.
    pub(super) fn note_deprecated_call(&self, at: Timestamp) {
        advance(&self.called, at);
        self.deprecated_calls.count();
    }

    /// What the store does not know yet of the key of this number.
    pub(super) fn unsaved(self: &Arc<Self>, id: KeyId) -> Option<UnsavedUse> {
        let (used, called) = (self.used.load(Relaxed), self.called.load(Relaxed));
        if used.max(called) == NOTHING {
            return None;
        }
        Some(UnsavedUse { id, used, called, usage: Arc::clone(self) })
    }
}

/// Notes the second of `at`, unless it or a later one is noted. It mostly is, and
/// cores that only look do not take the memory from each other.
fn advance(noted: &AtomicI64, at: Timestamp) {
    if noted.load(Relaxed) < at.as_second() {
        noted.fetch_max(at.as_second(), Relaxed);
    }
}

/// What the store does not know yet of how a key is used.
pub(super) struct UnsavedUse {
    id: KeyId,
    used: i64,
    called: i64,
    usage: Arc<Usage>,
}

impl UnsavedUse {
    pub(super) fn to_save(&self) -> Option<KeyUse> {
        let time = |second: i64| Timestamp::from_second(second).ok();
        Some(KeyUse {
            id: self.id,
            // A call that came just after the use that belongs to it was saved
            // is a use.
            used_at: time(self.used.max(self.called))?,
            // NOTHING is no time.
            deprecated_call_at: time(self.called),
        })
    }

    /// Forgets it, unless the key was used again meanwhile.
    pub(super) fn saved(&self) {
        let Usage { used, called, .. } = &*self.usage;
        for (noted, saved) in [(used, self.used), (called, self.called)] {
            let _ = noted.compare_exchange(saved, NOTHING, Relaxed, Relaxed);
        }
    }
}
