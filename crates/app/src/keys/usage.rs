//! The use of API keys, recorded in memory and saved periodically.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;
use petstore_domain::{KeyId, KeyUse, rate_limit::Meter};
use petstore_observe::metrics::Counter;

/// The value of a time that has nothing to save.
const UNSET: i64 = i64::MIN;

/// The use of one key.
pub(super) struct Usage {
    /// The Unix time of the last use, in seconds. It is [`UNSET`] once it is saved.
    last_use: AtomicI64,
    /// The Unix time of the last call of the deprecated operation, in seconds. It is [`UNSET`] once
    /// it is saved.
    last_deprecated_call: AtomicI64,
    /// How often the key called the deprecated operation.
    pub(super) deprecated_calls: Counter,
    /// The state of the rate limit.
    pub(super) meter: Meter,
}

/// The use of a key that is not yet in the store.
pub(super) struct UnsavedUse {
    id: KeyId,
    /// The Unix time of the last use, or [`UNSET`].
    used_second: i64,
    /// The Unix time of the last call of the deprecated operation, or [`UNSET`].
    called_second: i64,
    usage: Arc<Usage>,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            last_use: AtomicI64::new(UNSET),
            last_deprecated_call: AtomicI64::new(UNSET),
            deprecated_calls: Counter::default(),
            meter: Meter::default(),
        }
    }
}

impl Usage {
    /// Records that the key was accepted.
    pub(super) fn note_use(&self, time: Timestamp) {
        advance(&self.last_use, time);
    }

    /// Records a call of the deprecated operation.
    pub(super) fn note_deprecated_call(&self, time: Timestamp) {
        advance(&self.last_deprecated_call, time);
        self.deprecated_calls.count();
    }

    /// Returns the unsaved use of this key, if there is any. `id` is the id of the key.
    pub(super) fn find_unsaved_use(self: &Arc<Self>, id: KeyId) -> Option<UnsavedUse> {
        let used_second = self.last_use.load(Relaxed);
        let called_second = self.last_deprecated_call.load(Relaxed);
        if used_second == UNSET && called_second == UNSET {
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

/// Records the second of `time`, unless this second or a later one is already recorded.
///
/// Loads the value first: usually nothing must be recorded, and a load does not take the cache line
/// from other cores.
fn advance(latest_second: &AtomicI64, time: Timestamp) {
    if latest_second.load(Relaxed) < time.as_second() {
        latest_second.fetch_max(time.as_second(), Relaxed);
    }
}

impl UnsavedUse {
    /// Converts the use into the form that a store saves. Returns `None` if the time of the use is
    /// out of range.
    pub(super) fn to_key_use(&self) -> Option<KeyUse> {
        // Each deprecated call is recorded as a use first. If a save came in between, only the call
        // is unsaved. The call then counts as a use.
        let used_second = self.used_second.max(self.called_second);
        Some(KeyUse {
            id: self.id,
            used_at: Timestamp::from_second(used_second).ok()?,
            // `UNSET` is outside the range of timestamps, so it becomes `None`.
            deprecated_call_at: Timestamp::from_second(self.called_second).ok(),
        })
    }

    /// Clears the saved times, unless the key was used again since they were read.
    pub(super) fn mark_saved(&self) {
        clear(&self.usage.last_use, self.used_second);
        clear(&self.usage.last_deprecated_call, self.called_second);
    }
}

/// Clears a time that was saved, unless a later one has been recorded.
fn clear(latest_second: &AtomicI64, saved_second: i64) {
    // An error means that a later time has been recorded, which the next save will save.
    let _ = latest_second.compare_exchange(saved_second, UNSET, Relaxed, Relaxed);
}
