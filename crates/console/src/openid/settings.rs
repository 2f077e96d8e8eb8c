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
    /// The claims of the person match no rule for a role.
    #[error("no --oidc-role matches: {0}")]
    WithoutRole(String),
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
    /// The scopes for which the provider is asked, separated by spaces. `None`: the usual ones.
    pub scope: Option<String>,
    /// The claims that give a role.
    pub roles: Vec<RoleRule>,
    /// Whether nobody signs in with a password.
    pub only: bool,
    /// Whether a page leads to the provider without a button in between.
    pub redirects: bool,
}

/// Checks the scopes for which an operator wants to ask, and returns them, separated by one space each.
pub fn parse_scope(text: &str) -> Result<String, &'static str> {
    let scopes: Vec<&str> = text.split_ascii_whitespace().collect();
    if !scopes.contains(&"openid") {
        return Err(
            "name the scopes with spaces between them, and openid among them, such as \"openid profile groups\"",
        );
    }
    Ok(scopes.join(" "))
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
        if let Some((claim, value_and_role)) = text.trim().split_once('=')
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

/// The rules of one option, or of the variable.
#[derive(Debug, Clone)]
pub struct RoleRules(pub Vec<RoleRule>);

impl FromStr for RoleRules {
    type Err = &'static str;

    /// Parses rules with commas between them. The values of claims can have commas, too, so only a comma after a role
    /// ends a rule.
    ///
    /// Example: `groups=cn=managers,ou=groups:manager,hd=shop.example:clerk` has two rules.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut rules = Vec::new();
        let mut start = 0;
        let commas = text.match_indices(',').map(|(position, _)| position);
        for end in commas.chain([text.len()]) {
            let is_last = end == text.len();
            let result = text[start..end].parse();
            if let Ok(rule) = result {
                rules.push(rule);
                start = end + 1;
            } else if is_last {
                result?;
            }
        }
        Ok(Self(rules))
    }
}

impl RoleRule {
    /// Whether the claim has the value: as a text, in a list, or as a name in an object.
    pub(super) fn holds(&self, claims: &Map<String, Value>) -> bool {
        // At many providers, everybody can enter any address.
        if self.claim == "email" && !has_verified_address(claims) {
            return false;
        }
        self.find_claim(claims)
            .is_some_and(|claim| self.is_value_of(claim))
    }

    /// Whether these claims decide the rule: they have its claim, with any value. An address needs the statement
    /// whether it is verified.
    pub(super) fn is_decided_by(&self, claims: &Map<String, Value>) -> bool {
        let has_statement = self.claim != "email" || claims.contains_key("email_verified");
        let claim = self.find_claim(claims);
        has_statement && claim.is_some_and(|claim| !claim.is_null())
    }

    /// Whether a claim is the value of the rule, or has it.
    fn is_value_of(&self, claim: &Value) -> bool {
        match claim {
            Value::String(text) => *text == self.value,
            Value::Bool(_) | Value::Number(_) => {
                let text = claim.to_string();
                text == self.value
            }
            Value::Array(values) => values.iter().any(|value| self.is_value_of(value)),
            Value::Object(members) => members.contains_key(&self.value),
            Value::Null => false,
        }
    }

    /// Finds the claim with the name of the rule, or else with this path, such as `realm_access.roles`.
    fn find_claim<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        find_at_path(claims, &self.claim)
    }
}

/// Whether the provider states that the address of the person is verified. Cognito writes `true` as a text.
fn has_verified_address(claims: &Map<String, Value>) -> bool {
    match claims.get("email_verified") {
        Some(Value::Bool(is_verified)) => *is_verified,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// Finds the value at a path, whose names can have dots themselves: the longest name counts first.
///
/// Example: `resource_access.console.shop.example.roles` leads to the member `roles` of the member
/// `console.shop.example`.
fn find_at_path<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    if let Some(claim) = claims.get(path) {
        return Some(claim);
    }
    path.rmatch_indices('.').find_map(|(dot, _)| {
        let members = claims.get(&path[..dot])?.as_object()?;
        find_at_path(members, &path[dot + 1..])
    })
}
