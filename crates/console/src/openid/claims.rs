//! The claims that a token must have to count, and the claims about a person.

use jiff::Timestamp;
use petstore_domain::staff::{Identity, Role};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::settings::{Failure, ProviderSettings};

/// The accepted difference between the clocks of provider and service, in seconds.
const MAX_SKEW_SECONDS: i64 = 60;

/// The accepted age of a token that the provider has just made, in seconds.
const MAX_AGE_SECONDS: i64 = 10 * 60;

/// The longest subject, in bytes (OpenID Connect Core 1.0, section 2).
const MAX_SUBJECT_BYTES: usize = 255;

/// The event of a token that ends sessions.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A person after a sign-in at the provider.
#[derive(Debug, Clone)]
pub struct Person {
    /// The identity by which the store recognizes the person.
    pub identity: Identity,
    /// The highest role that the claims give.
    pub role: Option<Role>,
    /// The names of the person at the provider; the first one is best.
    pub names: Vec<String>,
    /// The time at which the person last proved to the provider who they are.
    pub(crate) proved_at: Option<Timestamp>,
    /// The session at the provider.
    pub session: Option<String>,
}

/// The content of a logout token: a person, a session, or both.
pub(crate) struct Logout {
    pub identity: Option<Identity>,
    /// The session at the provider.
    pub session: Option<String>,
    /// The id of the token, which counts once.
    pub id: String,
}

/// The claims of both tokens. serde rejects a claim that is there twice.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: Option<String>,
    aud: Value,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nonce: Option<String>,
    auth_time: Option<i64>,
    sid: Option<String>,
    jti: Option<String>,
    #[serde(default)]
    events: Map<String, Value>,
}

/// Returns the failure for an invalid token.
fn invalid<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(reason.into()))
}

impl Claims {
    /// Parses the content of a token. Fails unless the token is from the issuer, for this client, and valid now.
    fn parse(token: &[u8], settings: &ProviderSettings, now: Timestamp) -> Result<Self, Failure> {
        let claims: Self = serde_json::from_slice(token)
            .or_else(|error| invalid(format!("the token is invalid: {error}")))?;
        check_issuer("the token", &claims.iss, settings.issuer.as_str())?;
        claims.check_audience(&settings.client_id)?;
        claims.check_times(now.as_second())?;
        claims.check_texts()?;
        Ok(claims)
    }

    /// Checks that the token is for this client. Several audiences need `azp`, and it must be this client.
    fn check_audience(&self, client_id: &str) -> Result<(), Failure> {
        let audiences = match &self.aud {
            Value::Array(audiences) => &audiences[..],
            audience => std::slice::from_ref(audience),
        };
        if !audiences.iter().any(|audience| audience == client_id) {
            return invalid("the token is for another client (aud)");
        }
        let is_for_another = match &self.azp {
            Some(azp) => azp != client_id,
            None => audiences.len() > 1,
        };
        if is_for_another {
            return invalid("the token was made for another client (azp)");
        }
        Ok(())
    }

    /// Checks that the token has not expired, and was made just now.
    fn check_times(&self, now: i64) -> Result<(), Failure> {
        if self.exp <= now - MAX_SKEW_SECONDS {
            let age = now.saturating_sub(self.exp);
            return invalid(format!("the token has expired {age} s ago (exp)"));
        }
        let earliest = now - MAX_AGE_SECONDS - MAX_SKEW_SECONDS;
        if !(earliest..=now + MAX_SKEW_SECONDS).contains(&self.iat) {
            let difference = self.iat.saturating_sub(now);
            return invalid(format!(
                "the token was made {difference} s from now (iat): check both clocks"
            ));
        }
        Ok(())
    }

    /// Checks that the store can keep the subject and the session. PostgreSQL stores no U+0000.
    fn check_texts(&self) -> Result<(), Failure> {
        if let Some(subject) = &self.sub
            && (subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES)
        {
            return invalid("the token has an invalid subject (sub)");
        }
        for text in [&self.sub, &self.sid].into_iter().flatten() {
            if text.contains(char::is_control) {
                return invalid(
                    "the token has a control character in its subject or session (sub, sid)",
                );
            }
        }
        Ok(())
    }

    /// Returns the identity of the subject, if the token names one.
    fn identity(&self) -> Option<Identity> {
        Some(Identity {
            issuer: self.iss.clone(),
            subject: self.sub.clone()?,
        })
    }
}

/// Checks that `stated_issuer` is the issuer, byte by byte. `subject` begins the message, such as `the token`.
pub(super) fn check_issuer(
    subject: &str,
    stated_issuer: &str,
    issuer: &str,
) -> Result<(), Failure> {
    if stated_issuer == issuer {
        return Ok(());
    }
    let hint = if stated_issuer.trim_end_matches('/') == issuer.trim_end_matches('/') {
        ": only a slash at the end differs"
    } else {
        ""
    };
    invalid(format!(
        "{subject} has the issuer {stated_issuer:.200}, but --oidc-issuer is {issuer}{hint}"
    ))
}

/// Returns the person whom an ID token names.
pub(super) fn parse_person(
    token: &[u8],
    settings: &ProviderSettings,
    nonce: &str,
    now: Timestamp,
) -> Result<Person, Failure> {
    let claims = Claims::parse(token, settings, now)?;
    if claims.nonce.as_deref() != Some(nonce) {
        return invalid("the token is not that of this sign-in (nonce)");
    }
    let Some(identity) = claims.identity() else {
        return invalid("the token names nobody (sub)");
    };
    if let Some(proved_at) = claims.auth_time
        && proved_at > now.as_second() + MAX_SKEW_SECONDS
    {
        return invalid("the token is from before the person signed in (auth_time)");
    }
    let proved_at = claims
        .auth_time
        .and_then(|second| Timestamp::from_second(second).ok())
        .map(|time| time.min(now));

    let all_claims: Map<String, Value> = serde_json::from_slice(token).unwrap_or_default();
    let role = settings
        .roles
        .iter()
        .filter(|rule| rule.holds(&all_claims))
        .map(|rule| rule.role)
        .max();
    let mut names = Vec::new();
    for claim in ["preferred_username", "name"] {
        if let Some(Value::String(name)) = all_claims.get(claim) {
            names.push(name.clone());
        }
    }
    Ok(Person {
        identity,
        role,
        names,
        proved_at,
        session: claims.sid,
    })
}

/// Returns the content of a logout token (OpenID Connect Back-Channel Logout, section 2.6).
pub(super) fn parse_logout(
    token: &[u8],
    settings: &ProviderSettings,
    now: Timestamp,
) -> Result<Logout, Failure> {
    let claims = Claims::parse(token, settings, now)?;
    if !claims
        .events
        .get(LOGOUT_EVENT)
        .is_some_and(Value::is_object)
    {
        return invalid("the token ends no session (events)");
    }
    if claims.nonce.is_some() {
        return invalid("the token is one to sign in (nonce)");
    }
    let identity = claims.identity();
    if identity.is_none() && claims.sid.is_none() {
        return invalid("the token names no session (sub, sid)");
    }
    let Some(id) = claims.jti else {
        return invalid("the token has no id (jti)");
    };
    Ok(Logout {
        identity,
        session: claims.sid,
        id,
    })
}
