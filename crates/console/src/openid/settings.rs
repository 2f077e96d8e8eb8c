//! The choices of an operator about the provider, and its failures.

use std::str::FromStr;

use petstore_domain::staff::Role;
use serde_json::{Map, Value};
use url::{Host, Url};

/// The reason for which somebody is not signed in. The texts are for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// The provider does not respond, or not in time.
    #[error("no response: {0}")]
    Unreachable(String),
    /// The provider, or somebody in its name, sent an invalid response.
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

    /// Parses the URL of an issuer, such as `https://login.shop.example/realms/shop`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let has_extra_part = text.contains(|c: char| "?#@\\".contains(c) || c.is_whitespace());
        match Url::parse(text) {
            Ok(url) if is_safe(&url) && !has_extra_part => Ok(Self {
                text: text.to_owned(),
                url,
            }),
            _ => Err(
                "use the form https://login.shop.example/realms/shop, exactly as the provider spells it: with \
                 https, and without query, fragment and user",
            ),
        }
    }
}

/// Whether nobody can read requests to this URL: with TLS, or on this machine.
fn is_safe(url: &Url) -> bool {
    let is_this_machine = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || url.scheme() == "http" && is_this_machine
}

impl Issuer {
    /// Returns the name as the operator wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host, by which people recognize the provider.
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
    /// The claims that give a role.
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

    /// Parses `CLAIM=VALUE:ROLE`, such as `groups=shop-managers:manager`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((claim, value_and_role)) = text.split_once('=')
            && let Some((value, role)) = value_and_role.rsplit_once(':')
            && let Ok(role) = role.parse()
            && !claim.is_empty()
            && !value.is_empty()
        {
            return Ok(Self {
                claim: claim.to_owned(),
                value: value.to_owned(),
                role,
            });
        }
        Err(
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
        match self.find_claim(claims) {
            Some(Value::String(text)) => *text == self.value,
            Some(Value::Bool(value)) => self.value == value.to_string(),
            Some(Value::Array(values)) => values.iter().any(|value| *value == *self.value),
            Some(Value::Object(members)) => members.contains_key(&self.value),
            _ => false,
        }
    }

    /// Finds the claim with the name of the rule, or else with this path, such as `realm_access.roles`.
    fn find_claim<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        if let Some(claim) = claims.get(&self.claim) {
            return Some(claim);
        }
        let mut names = self.claim.split('.');
        let first_value = claims.get(names.next()?)?;
        names.try_fold(first_value, |value, name| value.get(name))
    }
}
