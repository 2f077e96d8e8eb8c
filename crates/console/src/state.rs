//! What all pages share: the console and its settings.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_app::{App, KnownFacts, StoreOptions};
use petstore_domain::{Deployment, Networks, Role, StaffId, staff::TokenDigest, words::words};
use petstore_web::edge::{Edge, Origin};
use rand::rngs::StdRng;

use super::{guesses::Guesses, heavy_work::HeavyWork, passwords::Passwords};
use crate::openid::Provider;

/// The console of a store.
pub struct Console {
    pub(super) app: Arc<App>,
    pub(super) edge: Arc<Edge>,
    pub(super) settings: ConsoleSettings,
    /// What the store says about itself, for each page.
    pub(super) facts: KnownFacts,
    random: Mutex<StdRng>,
    pub(super) passwords: Passwords,
    pub(super) guesses: Guesses,
    pub(super) heavy_work: HeavyWork,
    /// The member of each form with photos that arrives.
    pub(super) uploads: Mutex<Vec<Weak<StaffId>>>,
    /// Where members sign in who do not have a password.
    pub(super) provider: Option<Provider>,
    pub(super) used: Used,
}

impl Console {
    /// The console of `app`.
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
            facts: KnownFacts::default(),
            random: Mutex::new(random),
            passwords,
            guesses,
            heavy_work: HeavyWork::default(),
            uploads: Mutex::default(),
            provider: None,
            used: Used::default(),
        }
    }

    /// The console, to which members also sign in at this provider.
    pub fn with_provider(self, provider: Option<Provider>) -> Self {
        Self { provider, ..self }
    }

    /// Whether members sign in with passwords.
    pub(super) fn has_passwords(&self) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| !provider.settings.only)
    }

    /// How many hashes of passwords were computed.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed.load(Relaxed)
    }

    /// Uses the source of randomness.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock())
    }
}

/// What counts once. Each use has a memory of its own, because strangers can fill that of the callbacks.
#[derive(Default)]
pub(super) struct Used {
    /// The states of the callbacks of the provider.
    pub(super) callbacks: Once,
    /// The challenges that a passkey has signed.
    pub(super) challenges: Once,
    /// The ids of the logout tokens of the provider.
    pub(super) logouts: Once,
}

/// A memory of texts that count once. None is valid for longer than it stays here; if there are too many, the oldest one
/// leaves.
#[derive(Default)]
pub(super) struct Once(Mutex<VecDeque<UsedText>>);

struct UsedText {
    text: String,
    used_at: Timestamp,
}

impl Once {
    const MAX: usize = 4096;
    const SECONDS: i64 = 15 * 60;

    /// Whether this text was used before.
    pub(super) fn has(&self, text: &str, now: Timestamp) -> bool {
        let is_valid = |used: &UsedText| now.as_second() - used.used_at.as_second() < Self::SECONDS;
        self.0
            .lock()
            .iter()
            .any(|used| used.text == text && is_valid(used))
    }

    /// Uses this text, unless it was used before. Returns whether it comes for the first time.
    pub(super) fn take(&self, text: &str, now: Timestamp) -> bool {
        let mut all = self.0.lock();
        all.retain(|used| now.as_second() - used.used_at.as_second() < Self::SECONDS);
        if all.iter().any(|used| used.text == text) {
            return false;
        }
        if all.len() == Self::MAX {
            all.pop_front();
        }
        all.push_back(UsedText {
            text: text.to_owned(),
            used_at: now,
        });
        true
    }
}

/// The settings of the console that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// Where browsers reach the console, if that is not its listener.
    pub url: Option<Origin>,
    /// Whether its listener has TLS.
    pub tls: bool,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
    /// What holds if the profile of the store does not say it.
    pub store: StoreOptions,
    /// Where the public reaches the window, if there is one.
    pub window: Option<String>,
    /// The deployment whose API keys are shown and made.
    pub deployment: Deployment,
    /// Who must have a second factor.
    pub second_factor: RequireSecondFactor,
    /// The link by which anybody signs in as the first manager, as often as it is opened: of a demo.
    pub demo_link: Option<TokenDigest>,
}

words! {
    /// Who must have a second factor. Everybody may.
    #[derive(Default)]
    pub enum RequireSecondFactor {
        /// Managers.
        Managers = "managers",
        /// The whole staff.
        All = "all",
        /// Nobody.
        #[default]
        None = "none",
    }
}

impl RequireSecondFactor {
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
        let (used, now) = (Used::default(), Timestamp::UNIX_EPOCH);
        assert!(used.challenges.take("challenge", now) && used.logouts.take("id", now));
        for number in 0..=Once::MAX {
            assert!(used.callbacks.take(&number.to_string(), now));
        }
        assert!(used.callbacks.take("0", now));
        assert!(!used.challenges.take("challenge", now) && used.logouts.has("id", now));
        // None is valid for longer than it stays.
        let later = Timestamp::new(Once::SECONDS, 0).unwrap_or(now);
        assert!(!used.logouts.has("id", later) && used.challenges.take("challenge", later));
    }
}
