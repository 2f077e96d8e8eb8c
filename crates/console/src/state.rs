//! The state that all requests to the console share, and the console's settings.

use std::sync::{Arc, Weak, atomic::Ordering::Relaxed};

use parking_lot::Mutex;
use petstore_app::{App, KnownFacts, StoreOptions};
use petstore_domain::{
    Deployment, Networks, Role, StaffId, named_enum::named_enum, staff::TokenDigest,
};
use petstore_web::edge::{Edge, Origin};
use rand::rngs::StdRng;

use super::{
    guesses::Guesses, heavy_work::HeavyWork, openid::Provider, passwords::Passwords,
    replay_cache::ReplayCaches,
};

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
    /// The values that were accepted once, and are rejected when they come again.
    pub(super) replay_caches: ReplayCaches,
}

/// The operator's settings for the console.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// The public origin of the console, which is needed behind a proxy. It may be missing if
    /// browsers reach the listener directly.
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

    /// Whether members can sign in with a password. They cannot if the provider is the only way to
    /// sign in.
    pub(super) fn has_passwords(&self) -> bool {
        match &self.provider {
            Some(provider) => !provider.settings.only,
            None => true,
        }
    }

    /// Returns the number of password hashes computed since the start. Tests use it to check that a
    /// sign-in with an unknown name costs as much as one with a wrong password.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed_count.load(Relaxed)
    }

    /// Calls `work` with the console's random number generator, which is locked in the meantime.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock())
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
