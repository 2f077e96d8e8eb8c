//! Replay protection: remembers the values that are accepted only once.

use std::collections::VecDeque;

use jiff::Timestamp;
use parking_lot::Mutex;

/// Replay protection for values that are accepted only once. Each kind of value has its own cache,
/// because strangers can fill the one for callbacks, and must not evict values of other kinds.
#[derive(Default)]
pub(super) struct ReplayCaches {
    /// The `state` parameters of callbacks from the provider.
    pub(super) callbacks: ReplayCache,
    /// The challenges that passkeys have signed.
    pub(super) challenges: ReplayCache,
    /// The ids (`jti`) of the provider's logout tokens.
    pub(super) logouts: ReplayCache,
}

/// A bounded cache of used values. A full cache evicts its oldest entry. Any other entry is kept
/// for longer than its value is valid, so that the value cannot be replayed afterwards either.
#[derive(Default)]
pub(super) struct ReplayCache {
    /// The used values, oldest first.
    used_values: Mutex<VecDeque<UsedValue>>,
}

/// A value in a [`ReplayCache`].
struct UsedValue {
    value: String,
    used_at: Timestamp,
}

impl ReplayCache {
    const MAX_ENTRIES: usize = 4096;
    /// How long an entry is kept, in seconds. It must be longer than any value is valid.
    const ENTRY_SECONDS: i64 = 15 * 60;

    /// Whether this value was used before.
    pub(super) fn contains(&self, value: &str, now: Timestamp) -> bool {
        self.used_values
            .lock()
            .iter()
            .any(|entry| entry.value == value && entry.is_remembered_at(now))
    }

    /// Marks a value as used. Returns `true` on its first use, and `false` on a replay.
    pub(super) fn insert(&self, value: &str, now: Timestamp) -> bool {
        let mut used_values = self.used_values.lock();
        used_values.retain(|entry| entry.is_remembered_at(now));
        if used_values.iter().any(|entry| entry.value == value) {
            return false;
        }
        if used_values.len() == Self::MAX_ENTRIES {
            // The oldest entry, because new ones are appended.
            used_values.pop_front();
        }
        used_values.push_back(UsedValue {
            value: value.to_owned(),
            used_at: now,
        });
        true
    }
}

impl UsedValue {
    /// Whether the entry still rejects a replay at this time.
    fn is_remembered_at(&self, now: Timestamp) -> bool {
        now.as_second() - self.used_at.as_second() < ReplayCache::ENTRY_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_use_up_pushes_nothing_of_members_and_of_the_provider_out() {
        let caches = ReplayCaches::default();
        let now = Timestamp::UNIX_EPOCH;
        assert!(caches.challenges.insert("challenge", now) && caches.logouts.insert("id", now));
        for number in 0..=ReplayCache::MAX_ENTRIES {
            assert!(caches.callbacks.insert(&number.to_string(), now));
        }
        // The oldest entry was evicted.
        assert!(caches.callbacks.insert("0", now));
        assert!(!caches.challenges.insert("challenge", now) && caches.logouts.contains("id", now));
        // No value is valid for longer than its entry is kept.
        let later = Timestamp::new(ReplayCache::ENTRY_SECONDS, 0).unwrap_or(now);
        assert!(!caches.logouts.contains("id", later));
        assert!(caches.challenges.insert("challenge", later));
    }
}
