//! The use of keys, recorded in memory and saved periodically.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;
use petstore_domain::{KeyId, KeyUse, rate_limit::Meter};
use petstore_observe::metrics::Counter;

/// The use of one key.
pub(super) struct Usage {
    /// The last use, in seconds since 1970, until it is saved; then [`NOTHING`].
    used: AtomicI64,
    /// The last call of the deprecated operation, in the same way.
    called: AtomicI64,
    /// How often the key called the deprecated operation.
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
    /// Records that the key was accepted.
    pub(super) fn note_use(&self, time: Timestamp) {
        advance(&self.used, time);
    }

    /// Records a call of the deprecated operation.
    pub(super) fn note_deprecated_call(&self, time: Timestamp) {
        advance(&self.called, time);
        self.deprecated_calls.count();
    }

    /// Returns the unsaved use of the key `id`, if any.
    pub(super) fn unsaved(self: &Arc<Self>, id: KeyId) -> Option<UnsavedUse> {
        let used = self.used.load(Relaxed);
        let called = self.called.load(Relaxed);
        if used.max(called) == NOTHING {
            return None;
        }
        Some(UnsavedUse {
            id,
            used,
            called,
            usage: Arc::clone(self),
        })
    }
}

/// Records the second of `time`, unless this second or a later one is recorded. Usually one is, and a
/// load does not take the cache line from other cores.
fn advance(latest_second: &AtomicI64, time: Timestamp) {
    if latest_second.load(Relaxed) < time.as_second() {
        latest_second.fetch_max(time.as_second(), Relaxed);
    }
}

/// The use of a key that the store does not have yet.
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
            // If the use was saved just before the call was recorded, the call counts as a use.
            used_at: time(self.used.max(self.called))?,
            // [`NOTHING`] is outside the range of timestamps.
            deprecated_call_at: time(self.called),
        })
    }

    /// Clears the saved values, unless the key was used again in the meantime.
    pub(super) fn saved(&self) {
        let Usage { used, called, .. } = &*self.usage;
        for (noted, saved) in [(used, self.used), (called, self.called)] {
            let _ = noted.compare_exchange(saved, NOTHING, Relaxed, Relaxed);
        }
    }
}
