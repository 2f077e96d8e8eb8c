//! The parts that all pages share: the console and its settings.

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
    /// The facts that the store states about itself, for each page.
    pub(super) facts: Arc<KnownFacts>,
    random: Mutex<StdRng>,
    pub(super) passwords: Passwords,
    pub(super) guesses: Guesses,
    pub(super) heavy_work: HeavyWork,
    /// The member of each form with photos that arrives.
    pub(super) uploads: Mutex<Vec<Weak<StaffId>>>,
    /// The provider at which members sign in without a password.
    pub(super) provider: Option<Provider>,
    pub(super) used: UsedTexts,
}

impl Console {
    /// Returns the console of `app`.
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
            used: UsedTexts::default(),
        }
    }

    /// Returns the console to which members also sign in at this provider.
    pub fn with_provider(self, provider: Option<Provider>) -> Self {
        Self { provider, ..self }
    }

    /// Whether members sign in with passwords.
    pub(super) fn has_passwords(&self) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| !provider.settings.only)
    }

    /// Returns the number of hashes of passwords that were computed.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed.load(Relaxed)
    }

    /// Uses the source of randomness.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock())
    }
}

/// The texts that count once. Each use has a memory of its own, because strangers can fill the memory for callbacks.
#[derive(Default)]
pub(super) struct UsedTexts {
    /// The states of the callbacks of the provider.
    pub(super) callbacks: UsedTextMemory,
    /// The challenges that a passkey has signed.
    pub(super) challenges: UsedTextMemory,
    /// The ids of the logout tokens of the provider.
    pub(super) logouts: UsedTextMemory,
}

/// A memory of texts that count once. None is valid for longer than it stays here; if there are too many, the oldest one
/// leaves.
#[derive(Default)]
pub(super) struct UsedTextMemory {
    texts: Mutex<VecDeque<UsedText>>,
}

struct UsedText {
    text: String,
    used_at: Timestamp,
}

impl UsedTextMemory {
    const MAX: usize = 4096;
    const SECONDS: i64 = 15 * 60;

    /// Whether this text was used before.
    pub(super) fn contains(&self, text: &str, now: Timestamp) -> bool {
        self.texts
            .lock()
            .iter()
            .any(|entry| entry.text == text && entry.is_remembered_at(now))
    }

    /// Uses this text, unless it was used before. Returns whether it comes for the first time.
    pub(super) fn take(&self, text: &str, now: Timestamp) -> bool {
        let mut texts = self.texts.lock();
        texts.retain(|entry| entry.is_remembered_at(now));
        if texts.iter().any(|entry| entry.text == text) {
            return false;
        }
        if texts.len() == Self::MAX {
            texts.pop_front();
        }
        texts.push_back(UsedText {
            text: text.to_owned(),
            used_at: now,
        });
        true
    }
}

impl UsedText {
    /// Whether the text was used so recently that it counts no second time.
    fn is_remembered_at(&self, now: Timestamp) -> bool {
        now.as_second() - self.used_at.as_second() < UsedTextMemory::SECONDS
    }
}

/// The settings of the console that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// The origin at which browsers reach the console, if that is not its listener.
    pub url: Option<Origin>,
    /// Whether the listener of the console has TLS.
    pub tls: bool,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
    /// The facts that hold if the profile of the store does not state them.
    pub store: StoreOptions,
    /// The address at which the public reaches the window, if there is one.
    pub window: Option<String>,
    /// The deployment whose API keys are shown and made.
    pub deployment: Deployment,
    /// The members who must have a second factor.
    pub second_factor: RequireSecondFactor,
    /// The link by which anybody signs in as the first manager, as often as it is opened: only a demo has one.
    pub demo_link: Option<TokenDigest>,
}

words! {
    /// The members who must have a second factor. Everybody may have one.
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
        let (used, now) = (UsedTexts::default(), Timestamp::UNIX_EPOCH);
        assert!(used.challenges.take("challenge", now) && used.logouts.take("id", now));
        for number in 0..=UsedTextMemory::MAX {
            assert!(used.callbacks.take(&number.to_string(), now));
        }
        assert!(used.callbacks.take("0", now));
        assert!(!used.challenges.take("challenge", now) && used.logouts.contains("id", now));
        // None is valid for longer than it stays.
        let later = Timestamp::new(UsedTextMemory::SECONDS, 0).unwrap_or(now);
        assert!(!used.logouts.contains("id", later) && used.challenges.take("challenge", later));
    }
}
