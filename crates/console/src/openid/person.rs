//! The person who signs in at the provider: their identity, role and names, from the ID token and
//! userinfo.

use jiff::Timestamp;
use petstore_domain::staff::{Identity, Role};
use serde_json::{Map, Value};

use super::{
    claims::{Claims, MAX_SKEW_SECONDS, invalid},
    failure::Failure,
    settings::ProviderSettings,
};

/// The maximum length of a list of claim names in the log, in bytes. Longer lists are truncated.
const MAX_LISTED_BYTES: usize = 1000;

/// Claims about a person, from an ID token or the userinfo endpoint.
pub(super) type UserClaims = Map<String, Value>;

/// A person whom the provider has signed in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// The identity by which the store recognizes the person.
    pub identity: Identity,
    /// The highest role that the claims grant; `None` if no rule matches.
    pub role: Option<Role>,
    /// The names by which the console could call the person, the most suitable one first. The last
    /// one is the subject, so the list is never empty.
    pub names: Vec<String>,
    /// The names of the received claims, for the log.
    pub claim_names: String,
    /// When the provider last authenticated the person (`auth_time`), if it says so.
    pub authenticated_at: Option<Timestamp>,
    /// The id of the session at the provider (`sid`).
    pub session: Option<String>,
    /// The encoded ID token. The provider may require it for signing out.
    pub id_token: String,
}

/// A validated ID token.
pub(super) struct IdToken {
    identity: Identity,
    authenticated_at: Option<Timestamp>,
    session: Option<String>,
    /// All claims of the token.
    claims: UserClaims,
}

impl IdToken {
    /// Parses the payload of an ID token. Fails unless the token is valid, and was issued for the
    /// sign-in with this nonce.
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
        if let Some(auth_time) = claims.auth_time
            && auth_time.second > now.as_second() + MAX_SKEW_SECONDS
        {
            return invalid("the token is from before the person signed in (auth_time)");
        }
        // A time that is out of range counts as unknown. A clock at the provider that is ahead must
        // not make the authentication later than now.
        let authenticated_at = claims
            .auth_time
            .and_then(|auth_time| Timestamp::from_second(auth_time.second).ok())
            .map(|time| time.min(now));
        Ok(Self {
            identity,
            authenticated_at,
            session: claims.session(),
            // Parsed again, because `Claims` keeps only some of the claims. A token that is not an
            // object grants nothing.
            claims: serde_json::from_slice(token).unwrap_or_default(),
        })
    }

    /// Whether userinfo may grant a higher role than the token, because a rule for a higher role
    /// depends on a claim that the token lacks.
    pub(super) fn lacks_role_claim(&self, settings: &ProviderSettings) -> bool {
        let granted_role = highest_role(settings, &[&self.claims]);
        settings
            .roles
            .iter()
            // Every role is higher than `None`.
            .filter(|rule| Some(rule.role) > granted_role)
            .any(|rule| !rule.is_decided_by(&self.claims))
    }

    /// Whether the token contains no name of the person. An e-mail address does not count as a
    /// name.
    pub(super) fn lacks_name(&self) -> bool {
        collect_names(&[&self.claims]).is_empty()
    }

    /// Checks that the userinfo claims are about the same person as the token (OpenID Connect Core
    /// 1.0, section 5.3.2).
    pub(super) fn check_userinfo(&self, userinfo: &UserClaims) -> Result<(), Failure> {
        if userinfo.get("sub").and_then(Value::as_str) == Some(&self.identity.subject) {
            return Ok(());
        }
        invalid("the claims at userinfo are those of another person (sub)")
    }

    /// Returns the person who signs in, from the claims of the token, and from the claims of
    /// userinfo if they were fetched. `encoded_token` is this token as the provider sent it.
    pub(super) fn into_person(
        self,
        encoded_token: String,
        userinfo: Option<&UserClaims>,
        settings: &ProviderSettings,
    ) -> Person {
        let mut all_claims = vec![&self.claims];
        all_claims.extend(userinfo);
        let role = highest_role(settings, &all_claims);

        let mut names = collect_names(&all_claims);
        for claims in &all_claims {
            names.extend(text_claim(claims, "email"));
        }
        names.push(self.identity.subject.clone());

        let claim_names = describe_claims(&self.claims, userinfo);
        Person {
            identity: self.identity,
            role,
            names,
            claim_names,
            authenticated_at: self.authenticated_at,
            session: self.session,
            id_token: encoded_token,
        }
    }
}

/// Returns the highest role that the operator's rules grant for any set in `all_claims`; `None` if
/// no rule matches.
fn highest_role(settings: &ProviderSettings, all_claims: &[&UserClaims]) -> Option<Role> {
    settings
        .roles
        .iter()
        .filter(|rule| all_claims.iter().any(|claims| rule.matches(claims)))
        .map(|rule| rule.role)
        .max()
}

/// Describes for the log which claims were received, by their names.
fn describe_claims(token_claims: &UserClaims, userinfo: Option<&UserClaims>) -> String {
    let token_names = list_claim_names(token_claims);
    match userinfo {
        Some(userinfo) => {
            let userinfo_names = list_claim_names(userinfo);
            format!("the ID token has {token_names}; userinfo has {userinfo_names}")
        }
        None => format!("the ID token has {token_names}"),
    }
}

/// Collects the names of a person from sets of claims, the most suitable name first.
fn collect_names(all_claims: &[&UserClaims]) -> Vec<String> {
    let sources: [fn(&UserClaims) -> Option<String>; 4] = [
        |claims| text_claim(claims, "name"),
        |claims| text_claim(claims, "preferred_username"),
        full_name,
        |claims| text_claim(claims, "nickname"),
    ];
    let mut names = Vec::new();
    for source in sources {
        for claims in all_claims {
            names.extend(source(claims));
        }
    }
    names
}

/// Returns the given name and the family name as one name, or the one that is present; `None` if
/// both are missing.
fn full_name(claims: &UserClaims) -> Option<String> {
    let given_name = text_claim(claims, "given_name");
    let family_name = text_claim(claims, "family_name");
    match (given_name, family_name) {
        (Some(given_name), Some(family_name)) => Some(format!("{given_name} {family_name}")),
        (Some(name), None) | (None, Some(name)) => Some(name),
        (None, None) => None,
    }
}

/// Returns a claim that is a string; `None` if there is no such claim, or if the string is blank.
fn text_claim(claims: &UserClaims, name: &str) -> Option<String> {
    let text = claims.get(name)?.as_str()?;
    if text.trim().is_empty() {
        return None;
    }
    Some(text.to_owned())
}

/// Lists the names of claims for the log, without their values, truncated to [`MAX_LISTED_BYTES`].
fn list_claim_names(claims: &UserClaims) -> String {
    let names: Vec<&str> = claims.keys().map(String::as_str).collect();
    let mut list = names.join(", ");
    if list.len() > MAX_LISTED_BYTES {
        list.truncate(list.floor_char_boundary(MAX_LISTED_BYTES));
        list.push('…');
    }
    list
}
