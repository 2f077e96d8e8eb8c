//! An OpenID Connect client (relying party), so that staff can sign in with their accounts at a
//! provider. It implements OpenID Connect Core 1.0, Discovery 1.0, RP-Initiated Logout 1.0 and
//! Back-Channel Logout 1.0, and RFC 6749, 7636 and 9207.

mod claims;
mod failure;
mod fetch;
mod metadata;
mod person;
mod provider;
mod settings;
mod sign_in;
mod signature;

pub(crate) use self::{claims::Logout, person::Person, sign_in::SignIn};
pub use self::{
    failure::Failure,
    provider::{Provider, REQUEST_LIMIT},
    settings::{Issuer, ProviderSettings, RoleRule, RoleRules, parse_scope},
};
