//! An OpenID Connect client (relying party), so that staff can sign in with their accounts at a
//! provider. It implements OpenID Connect Core 1.0, Discovery 1.0, RP-Initiated Logout 1.0 and
//! Back-Channel Logout 1.0, and RFC 6749, 7636 and 9207.

mod claims;
mod fetch;
mod metadata;
mod person;
mod provider;
mod settings;
mod signature;

pub(crate) use self::{claims::Logout, person::Person, provider::SignIn};
pub use self::{
    provider::{Provider, REQUEST_LIMIT},
    settings::{Failure, Issuer, ProviderSettings, RoleRule, RoleRules, parse_scope},
};
