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
    pub(super) fn unsaved_use(self: &Arc<Self>, id: KeyId) -> Option<UnsavedUse> {
        let used_second = self.used.load(Relaxed);
        let called_second = self.called.load(Relaxed);
        if used_second.max(called_second) == NOTHING {
            return None;
        }
        Some(UnsavedUse {
            id,
            used_second,
            called_second,
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
    /// The second of the last use, since 1970.
    used_second: i64,
    /// The second of the last call of the deprecated operation, since 1970.
    called_second: i64,
    usage: Arc<Usage>,
}

impl UnsavedUse {
    /// Returns the use in the form that a store saves.
    pub(super) fn to_key_use(&self) -> Option<KeyUse> {
        // If the use was saved just before the call was recorded, the call counts as a use.
        let used_second = self.used_second.max(self.called_second);
        Some(KeyUse {
            id: self.id,
            used_at: Timestamp::from_second(used_second).ok()?,
            // [`NOTHING`] is outside the range of timestamps.
            deprecated_call_at: Timestamp::from_second(self.called_second).ok(),
        })
    }

    /// Clears the saved seconds, unless the key was used again after this was read.
    pub(super) fn note_saved(&self) {
        clear(&self.usage.used, self.used_second);
        clear(&self.usage.called, self.called_second);
    }
}

/// Clears a second that was saved, unless a later one is recorded.
fn clear(latest_second: &AtomicI64, saved_second: i64) {
    let _ = latest_second.compare_exchange(saved_second, NOTHING, Relaxed, Relaxed);
}
