//! What all pages share: the console and its settings.

use std::sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering::Relaxed};

use rand::rngs::StdRng;

use super::{guesses::Guesses, passwords::Passwords};
use crate::{
    app::{App, StoreOptions},
    domain::{Deployment, Networks, Role, StaffId, staff::TokenDigest, words::words},
    edge::{Edge, Origin},
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
        }
    }

    /// How many hashes of passwords were computed.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed.load(Relaxed)
    }

    /// Uses the source of randomness.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
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
