//! The operator's settings for the provider.

use std::str::FromStr;

use petstore_domain::staff::Role;
use petstore_system::addresses::is_this_machine;
use serde_json::{Map, Value};
use url::Url;

/// The issuer URL of a provider. Every token states it in `iss`, which must be equal byte by byte,
/// so the exact spelling of the operator is kept next to the parsed URL.
#[derive(Debug, Clone)]
pub struct Issuer {
    /// The URL exactly as the operator wrote it.
    text: String,
    pub(super) url: Url,
}

impl FromStr for Issuer {
    type Err = &'static str;

    /// Parses the URL of an issuer, such as `https://login.shop.example/realms/shop`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An extra part is a query, a fragment, a user, or a character that the parser changes.
        let has_extra_part = text.contains(|character: char| {
            matches!(character, '?' | '#' | '@' | '\\') || character.is_whitespace()
        });
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

/// Whether requests to this URL cannot be intercepted: it uses HTTPS, or stays on this machine.
fn is_safe(url: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => is_this_machine(url),
        _ => false,
    }
}

impl Issuer {
    /// Returns the issuer exactly as the operator wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host, which pages show as the name of the provider.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

/// The operator's settings for the provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The issuer URL, at which the service also finds the provider's metadata.
    pub issuer: Issuer,
    /// The id under which this service is registered at the provider.
    pub client_id: String,
    /// The secret of the client; `None` for a public client.
    pub client_secret: Option<String>,
    /// The scopes to request, separated by spaces; `None` for the defaults.
    pub scope: Option<String>,
    /// The rules that grant roles to people by their claims.
    pub roles: Vec<RoleRule>,
    /// Whether the provider is the only way to sign in. Passwords are then turned off.
    pub only: bool,
    /// Whether pages that need a session redirect directly to the provider instead of the sign-in
    /// page.
    pub redirects: bool,
}

/// Parses the scopes that an operator configured, and returns them separated by single spaces.
/// Fails if `openid` is missing, which OpenID Connect requires.
pub fn parse_scope(text: &str) -> Result<String, &'static str> {
    let scopes: Vec<&str> = text.split_ascii_whitespace().collect();
    if !scopes.contains(&"openid") {
        return Err(
            "name the scopes with spaces between them, and openid among them, such as \"openid profile groups\"",
        );
    }
    Ok(scopes.join(" "))
}

/// A rule that grants a role to everybody with a certain value of a claim: `CLAIM=VALUE:ROLE`, such
/// as `groups=shop-managers:manager`.
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
        Self::parse(text).ok_or(
            "use the form CLAIM=VALUE:ROLE, such as groups=shop-managers:manager; the roles are viewer, \
             clerk and manager",
        )
    }
}

/// The rules in one command-line option or environment variable, separated by commas.
#[derive(Debug, Clone)]
pub struct RoleRules(pub Vec<RoleRule>);

impl FromStr for RoleRules {
    type Err = &'static str;

    /// Parses rules separated by commas. The values of claims can contain commas, too, so a comma
    /// only separates rules if the text before it is a complete rule.
    ///
    /// Example: `groups=cn=managers,ou=groups:manager,hd=shop.example:clerk` has two rules.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut rules = Vec::new();
        let mut rule_start = 0;
        let commas = text.match_indices(',').map(|(position, _)| position);
        for rule_end in commas.chain([text.len()]) {
            match text[rule_start..rule_end].parse::<RoleRule>() {
                Ok(rule) => {
                    rules.push(rule);
                    rule_start = rule_end + ",".len();
                }
                Err(error) if rule_end == text.len() => return Err(error),
                // This comma is part of a value, so the rule continues after it.
                Err(_) => {}
            }
        }
        Ok(Self(rules))
    }
}

impl RoleRule {
    /// Parses a rule; `None` if a part is missing, or if there is no such role. The value can
    /// contain colons and equals signs.
    fn parse(text: &str) -> Option<Self> {
        let (claim, value_and_role) = text.trim().split_once('=')?;
        let (value, role) = value_and_role.rsplit_once(':')?;
        if claim.is_empty() || value.is_empty() {
            return None;
        }
        Some(Self {
            claim: claim.to_owned(),
            value: value.to_owned(),
            role: role.parse().ok()?,
        })
    }

    /// Whether the claims satisfy the rule. The rule's claim must be the rule's value, an array
    /// that contains the value, or an object with a member of that name.
    pub(super) fn matches(&self, claims: &Map<String, Value>) -> bool {
        // At many providers, people can enter an e-mail address that is not theirs.
        if self.claim == "email" && !has_verified_address(claims) {
            return false;
        }
        self.find_claim(claims)
            .is_some_and(|claim| self.is_value_of(claim))
    }

    /// Whether these claims are enough to decide whether the rule matches. They must contain the
    /// claim of the rule, with any value. If this claim is the e-mail address, they must also say
    /// whether it is verified.
    pub(super) fn is_decided_by(&self, claims: &Map<String, Value>) -> bool {
        let states_verification = self.claim != "email" || claims.contains_key("email_verified");
        let claim = self.find_claim(claims);
        states_verification && claim.is_some_and(|claim| !claim.is_null())
    }

    /// Whether a claim equals the value of the rule, or contains it.
    fn is_value_of(&self, claim: &Value) -> bool {
        match claim {
            Value::String(text) => *text == self.value,
            Value::Bool(value) => value.to_string() == self.value,
            Value::Number(number) => number.to_string() == self.value,
            Value::Array(values) => values.iter().any(|value| self.is_value_of(value)),
            Value::Object(members) => members.contains_key(&self.value),
            Value::Null => false,
        }
    }

    /// Finds the claim of the rule, which can be nested: `realm_access.roles` is the member `roles`
    /// of the claim `realm_access`.
    fn find_claim<'c>(&self, claims: &'c Map<String, Value>) -> Option<&'c Value> {
        find_at_path(claims, &self.claim)
    }
}

/// Whether the provider states that the person's e-mail address is verified. Some providers, such
/// as Cognito, send `true` as a string.
fn has_verified_address(claims: &Map<String, Value>) -> bool {
    match claims.get("email_verified") {
        Some(Value::Bool(is_verified)) => *is_verified,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// Finds the value at a path of names that are separated by dots. The names can contain dots
/// themselves, so the longest possible name is tried first at each level.
///
/// Example: in `resource_access.console.shop.example.roles`, `console.shop.example` can be the name
/// of a member of `resource_access`.
fn find_at_path<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    if let Some(claim) = claims.get(path) {
        return Some(claim);
    }
    path.rmatch_indices('.').find_map(|(position, dot)| {
        let members = claims.get(&path[..position])?.as_object()?;
        find_at_path(members, &path[position + dot.len()..])
    })
}
