//! The settings of the console.

use crate::{
    domain::{Deployment, Networks, Role, store_area::Currency, words::words},
    edge::Origin,
};

/// The settings of the console that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// Where browsers reach the console, if that is not its listener.
    pub url: Option<Origin>,
    /// Whether its listener has TLS.
    pub tls: bool,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
    /// The name that its pages show.
    pub store_name: Option<String>,
    /// Where the public reaches the window, if there is one.
    pub window: Option<String>,
    /// The currency of all prices.
    pub currency: Option<Currency>,
    /// The deployment whose API keys are shown and made.
    pub deployment: Deployment,
    /// Who must have a second factor.
    pub second_factor: RequireSecondFactor,
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
