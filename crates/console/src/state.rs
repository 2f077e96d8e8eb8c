//! The state that all requests to the console share, and the console's settings.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_app::{App, KnownFacts, StoreOptions};
use petstore_domain::{
    Deployment, Networks, Role, StaffId, named_enum::named_enum, staff::TokenDigest,
};
use petstore_web::edge::{Edge, Origin};
use rand::rngs::StdRng;

use super::{guesses::Guesses, heavy_work::HeavyWork, passwords::Passwords};
use crate::openid::Provider;

/// The console of a store: the shared state behind all of its pages.
pub struct Console {
    pub(super) app: Arc<App>,
    pub(super) edge: Arc<Edge>,
    pub(super) settings: ConsoleSettings,
    /// A cache of the store's facts, such as its name, which every page shows.
    pub(super) facts: Arc<KnownFacts>,
    random: Mutex<StdRng>,
    pub(super) passwords: Passwords,
    pub(super) guesses: Guesses,
    pub(super) heavy_work: HeavyWork,
    /// The member behind each photo upload in flight. The upload holds the only strong reference,
    /// so an entry is dead once its upload has ended.
    pub(super) uploads: Mutex<Vec<Weak<StaffId>>>,
    /// The OpenID provider at which members can sign in, if the operator configured one.
    pub(super) provider: Option<Provider>,
    pub(super) replay_caches: ReplayCaches,
}

impl Console {
    /// Returns a console for `app`, without an OpenID provider.
    pub fn new(
        app: Arc<App>,
        edge: Arc<Edge>,
        settings: ConsoleSettings,
        mut random: StdRng,
    ) -> Self {
        let guesses = Guesses::new(app.clock.instant(), &mut random);
        let passwords = Passwords::default();
        Self {
            app,
            edge,
            settings,
            facts: Arc::default(),
            random: Mutex::new(random),
            passwords,
            guesses,
            heavy_work: HeavyWork::default(),
            uploads: Mutex::default(),
            provider: None,
            replay_caches: ReplayCaches::default(),
        }
    }

    /// Returns the console with sign-in at this provider. Passwords stay possible unless the
    /// settings of the provider turn them off.
    pub fn with_provider(self, provider: Option<Provider>) -> Self {
        Self { provider, ..self }
    }

    /// Whether members can sign in with a password. The settings of a provider can turn passwords
    /// off.
    pub(super) fn has_passwords(&self) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| !provider.settings.only)
    }

    /// Returns the number of password hashes computed since the start. Tests use it to check that a
    /// sign-in with an unknown name costs as much as one with a wrong password.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed.load(Relaxed)
    }

    /// Calls `work` with the console's random number generator, which is locked in the meantime.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock())
    }
}

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

/// A bounded cache of used values. An entry is kept for longer than its value is valid, so after
/// that the value cannot be replayed either. A full cache evicts its oldest entry.
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

/// The operator's settings for the console.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// The public origin of the console, which is needed behind a proxy. `None` if browsers reach
    /// the listener directly.
    pub url: Option<Origin>,
    /// Whether the console's listener terminates TLS itself.
    pub tls: bool,
    /// The proxies that are trusted to state the client's address in a header.
    pub trusted_proxies: Networks,
    /// The operator's options for facts that the store's profile does not state.
    pub store: StoreOptions,
    /// The public URL of the window, the store's website, if there is one. Pages link to it.
    pub window: Option<String>,
    /// The deployment whose API keys the console lists and creates.
    pub deployment: Deployment,
    /// The members who must have a second factor.
    pub second_factor: RequireSecondFactor,
    /// A link that signs anybody in as the first manager, any number of times. Only `petstore demo`
    /// sets one.
    pub demo_link: Option<TokenDigest>,
}

named_enum! {
    /// The members who must have a second factor. For others, it is optional.
    #[derive(Default)]
    pub enum RequireSecondFactor {
        /// Only managers must have one.
        Managers = "managers",
        /// The whole staff must have one.
        All = "all",
        /// Nobody must have one.
        #[default]
        None = "none",
    }
}

impl RequireSecondFactor {
    /// Whether members with this role must have a second factor.
    pub(super) fn includes(self, role: Role) -> bool {
        match self {
            Self::None => false,
            Self::Managers => role == Role::Manager,
            Self::All => true,
        }
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
