//! The settings of the interface.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::{domain::Deployment, edge::BaseUrl};

/// The settings that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The deployment that the interface belongs to.
    pub deployment: Deployment,
    pub base_url: Option<BaseUrl>,
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
}

impl Settings {
    /// The URL at which clients reach this deployment, if it is set.
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        match self.deployment {
            Deployment::Production => self.base_url.as_ref(),
            Deployment::Staging => self.staging_base_url.as_ref(),
        }
    }
}
