//! The ID token of a sign-in, and the person of it: who it is, with which role, and how the person is called.

use jiff::Timestamp;
use petstore_domain::staff::{Identity, Role};
use serde_json::{Map, Value};

use super::{
    claims::{Claims, MAX_SKEW_SECONDS, invalid},
    settings::{Failure, ProviderSettings},
};

/// The longest list of the names of claims in the log, in bytes.
const MAX_LISTED_BYTES: usize = 1000;

/// Claims about a person, in an ID token or at userinfo.
pub(super) type UserClaims = Map<String, Value>;

/// A person after a sign-in at the provider.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// The identity by which the store recognizes the person.
    pub identity: Identity,
    /// The highest role that the claims give.
    pub role: Option<Role>,
    /// The names of the person at the provider; the first one is best, and the subject is the last.
    pub names: Vec<String>,
    /// The names of the claims that came, for the log.
    pub(crate) claim_names: String,
    /// The time at which the person last proved to the provider who they are.
    pub(crate) proved_at: Option<Timestamp>,
    /// The session at the provider.
    pub session: Option<String>,
    /// The ID token as the provider has sent it, with which the person signs out there.
    pub(crate) id_token: String,
}

/// A verified ID token of a sign-in.
pub(super) struct IdToken {
    identity: Identity,
    proved_at: Option<Timestamp>,
    session: Option<String>,
    /// All claims of the token.
    claims: UserClaims,
}

impl IdToken {
    /// Parses the content of an ID token. Fails unless the token is valid and belongs to the sign-in with this nonce.
    pub(super) fn parse(
        token: &[u8],
        settings: &ProviderSettings,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Self, Failure> {
        let claims = Claims::parse(token, settings, now)?;
        if claims.nonce.as_deref() != Some(nonce) {
            return invalid("the token is not that of this sign-in (nonce)");
        }
        let Some(identity) = claims.identity() else {
            return invalid("the token names nobody (sub)");
        };
        if let Some(proved_at) = claims.auth_time
            && proved_at.second > now.as_second() + MAX_SKEW_SECONDS
        {
            return invalid("the token is from before the person signed in (auth_time)");
        }
        let proved_at = claims
            .auth_time
            .and_then(|date| Timestamp::from_second(date.second).ok())
            .map(|time| time.min(now));
        Ok(Self {
            identity,
            proved_at,
            session: claims.session(),
            claims: serde_json::from_slice(token).unwrap_or_default(),
        })
    }

    /// Whether the token lacks the claim of a rule that would give the person more than the rules that hold, so a
    /// higher role may follow from the claims at userinfo.
    pub(super) fn lacks_claim_of_rule(&self, settings: &ProviderSettings) -> bool {
        let rules = settings.roles.iter();
        let held_role = rules
            .clone()
            .filter(|rule| rule.holds(&self.claims))
            .map(|rule| rule.role)
            .max();
        rules
            .filter(|rule| Some(rule.role) > held_role)
            .any(|rule| !rule.is_decided_by(&self.claims))
    }

    /// Whether the token has no name of the person. An e-mail address is none.
    pub(super) fn lacks_name(&self) -> bool {
        names(&[&self.claims]).is_empty()
    }

    /// Checks that the claims at userinfo are about the person of the token (OpenID Connect Core 1.0, section 5.3.2).
    pub(super) fn check_userinfo(&self, userinfo: &UserClaims) -> Result<(), Failure> {
        if userinfo.get("sub").and_then(Value::as_str) == Some(&self.identity.subject) {
            return Ok(());
        }
        invalid("the claims at userinfo are those of another person (sub)")
    }

    /// Returns the person of the token, with the claims at userinfo if the provider was asked for them.
    pub(super) fn into_person(
        self,
        userinfo: Option<&UserClaims>,
        settings: &ProviderSettings,
    ) -> Person {
        let all_claims: Vec<&UserClaims> = [Some(&self.claims), userinfo]
            .into_iter()
            .flatten()
            .collect();
        let role = settings
            .roles
            .iter()
            .filter(|rule| all_claims.iter().any(|claims| rule.holds(claims)))
            .map(|rule| rule.role)
            .max();

        let mut known_names = names(&all_claims);
        let addresses = all_claims
            .iter()
            .filter_map(|claims| text_claim(claims, "email"));
        known_names.extend(addresses);
        known_names.push(self.identity.subject.clone());

        let token_names = list_names(&self.claims);
        let claim_names = match userinfo {
            Some(userinfo) => {
                let userinfo_names = list_names(userinfo);
                format!("the ID token has {token_names}; userinfo has {userinfo_names}")
            }
            None => format!("the ID token has {token_names}"),
        };
        Person {
            identity: self.identity,
            role,
            names: known_names,
            claim_names,
            proved_at: self.proved_at,
            session: self.session,
            id_token: String::new(),
        }
    }
}

/// Returns the names of a person in these claims; the first one is best.
fn names(all_claims: &[&UserClaims]) -> Vec<String> {
    let sources: [fn(&UserClaims) -> Option<String>; 4] = [
        |claims| text_claim(claims, "name"),
        |claims| text_claim(claims, "preferred_username"),
        joined_name,
        |claims| text_claim(claims, "nickname"),
    ];
    let mut names = Vec::new();
    for source in sources {
        names.extend(all_claims.iter().filter_map(|claims| source(claims)));
    }
    names
}

/// Returns the given name and the family name as one name, if there is one of them.
fn joined_name(claims: &UserClaims) -> Option<String> {
    let given_name = text_claim(claims, "given_name");
    let family_name = text_claim(claims, "family_name");
    match (given_name, family_name) {
        (Some(given_name), Some(family_name)) => Some(format!("{given_name} {family_name}")),
        (Some(name), None) | (None, Some(name)) => Some(name),
        (None, None) => None,
    }
}

/// Returns a claim that is a text and not blank.
fn text_claim(claims: &UserClaims, name: &str) -> Option<String> {
    let text = claims.get(name)?.as_str()?;
    if text.trim().is_empty() {
        return None;
    }
    Some(text.to_owned())
}

/// Returns the names of claims for the log, without their values. A log needs no more than the first
/// [`MAX_LISTED_BYTES`].
fn list_names(claims: &UserClaims) -> String {
    let names: Vec<&str> = claims.keys().map(String::as_str).collect();
    let mut list = names.join(", ");
    if list.len() > MAX_LISTED_BYTES {
        list.truncate(list.floor_char_boundary(MAX_LISTED_BYTES));
        list.push('…');
    }
    list
}
