//! The choices of an operator about the provider, and what can go wrong with it.

use std::str::FromStr;

use petstore_domain::staff::Role;
use serde_json::{Map, Value};
use url::{Host, Url};

/// Why somebody is not signed in. The texts are for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// The provider does not respond, or not in time.
    #[error("no response: {0}")]
    Unreachable(String),
    /// The provider, or somebody in its name, said what cannot be.
    #[error("invalid response: {0}")]
    Invalid(String),
}

/// The name of a provider, which every token has. It is compared byte by byte.
#[derive(Debug, Clone)]
pub struct Issuer {
    text: String,
    pub(super) url: Url,
}

impl FromStr for Issuer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_here = |url: &Url| match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let url = Url::parse(text).ok().filter(|url| {
            (url.scheme() == "https" || url.scheme() == "http" && is_here(url))
                && !text.contains(|c: char| "?#@\\".contains(c) || c.is_whitespace())
        });
        let url = url.ok_or(
            "use the form https://login.shop.example/realms/shop, exactly as the provider spells it: with \
             https, and without query, fragment and user",
        )?;
        Ok(Self {
            text: text.to_owned(),
            url,
        })
    }
}

impl Issuer {
    /// As the operator wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, by which people recognize the provider.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

/// The choices of an operator.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "a comment says what a name does not")]
pub struct ProviderSettings {
    pub issuer: Issuer,
    /// The name of the service at the provider, and its password; a public client has none.
    pub client_id: String,
    pub client_secret: Option<String>,
    /// Which claims give which role.
    pub roles: Vec<RoleRule>,
    /// Whether nobody signs in with a password.
    pub only: bool,
    /// Whether a page leads to the provider without a button in between.
    pub redirects: bool,
}

/// A claim that gives a role: `CLAIM=VALUE:ROLE`.
#[derive(Debug, Clone)]
pub struct RoleRule {
    claim: String,
    value: String,
    pub(super) role: Role,
}

impl FromStr for RoleRule {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (claim, rest) = text
                .split_once('=')
                .filter(|(claim, _)| !claim.is_empty())?;
            let (value, role) = rest
                .rsplit_once(':')
                .filter(|(value, _)| !value.is_empty())?;
            let (claim, value) = (claim.to_owned(), value.to_owned());
            Some(Self {
                claim,
                value,
                role: role.parse().ok()?,
            })
        };
        parse().ok_or(
            "use the form CLAIM=VALUE:ROLE, such as groups=shop-managers:manager; the roles are viewer, \
             clerk and manager",
        )
    }
}

impl RoleRule {
    /// Whether the claim has the value: as a text, in a list, or as a name in an object.
    pub(super) fn holds(&self, claims: &Map<String, Value>) -> bool {
        // At many providers, everybody can enter any address.
        if self.claim == "email" && claims.get("email_verified") != Some(&Value::Bool(true)) {
            return false;
        }
        // The claim with this name, or else with this path, such as `realm_access.roles`.
        let below = || {
            let mut names = self.claim.split('.');
            let first = claims.get(names.next()?)?;
            names.try_fold(first, |value, name| value.get(name))
        };
        match claims.get(&self.claim).or_else(below) {
            Some(Value::String(text)) => *text == self.value,
            Some(Value::Bool(is)) => self.value == is.to_string(),
            Some(Value::Array(all)) => all.iter().any(|one| *one == *self.value),
            Some(Value::Object(all)) => all.contains_key(&self.value),
            _ => false,
        }
    }
}
