//! What all pages share: the console and its settings.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use rand::rngs::StdRng;

use super::{guesses::Guesses, passwords::Passwords};
use crate::{
    app::{App, StoreOptions},
    domain::{Deployment, Networks, Role, StaffId, staff::TokenDigest, words::words},
    edge::{Edge, Origin},
    openid::Provider,
};

/// The console of a store.
pub struct Console {
    pub(super) app: Arc<App>,
    pub(super) edge: Arc<Edge>,
    pub(super) settings: ConsoleSettings,
    random: Mutex<StdRng>,
    pub(super) passwords: Passwords,
    pub(super) guesses: Guesses,
    /// The member of each form with photos that arrives.
    pub(super) uploads: Mutex<Vec<Weak<StaffId>>>,
    /// Where members sign in who do not have a password.
    pub(super) provider: Option<Provider>,
    pub(super) once: Once,
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
            random: Mutex::new(random),
            passwords,
            guesses,
            uploads: Mutex::default(),
            provider: None,
            once: Once::default(),
        }
    }

    /// The console, to which members also sign in at this provider.
    pub fn with_provider(self, provider: Option<Provider>) -> Self {
        Self { provider, ..self }
    }

    /// Whether members sign in with passwords.
    pub(super) fn has_passwords(&self) -> bool {
        self.provider.as_ref().is_none_or(|provider| !provider.settings.only)
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

/// What counts once: the responses and the logout tokens of the provider. Neither is valid for longer than it
/// stays here; if there are too many, the oldest one leaves.
#[derive(Default)]
pub(super) struct Once(Mutex<VecDeque<(String, Timestamp)>>);

impl Once {
    const MAX: usize = 4096;
    const SECONDS: i64 = 15 * 60;

    /// Whether this text comes for the first time.
    pub(super) fn is_first(&self, text: &str, now: Timestamp) -> bool {
        let mut seen = self.0.lock();
        seen.retain(|(_, at)| now.as_second() - at.as_second() < Self::SECONDS);
        if seen.iter().any(|(of, _)| of == text) {
            return false;
        }
        seen.push_back((text.to_owned(), now));
        if seen.len() > Self::MAX {
            seen.pop_front();
        }
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
