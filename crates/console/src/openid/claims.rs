//! What a token must say to count, and what it says about a person.

use jiff::Timestamp;
use petstore_domain::staff::{Identity, Role};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::settings::{Failure, ProviderSettings};

/// How far the clocks of provider and service may be apart, in seconds.
const SKEW: i64 = 60;

/// How old a token may be that the provider has just made, in seconds.
const MAX_AGE: i64 = 10 * 60;

/// The event of a token that ends sessions.
const LOGOUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A person after a sign-in at the provider.
#[derive(Debug, Clone)]
pub struct Person {
    pub identity: Identity,
    /// The highest role that the claims give.
    pub role: Option<Role>,
    /// Names that the person has there; the first one is best.
    pub names: Vec<String>,
    /// When the person last proved there who they are.
    pub(crate) proved_at: Option<Timestamp>,
    /// The session there.
    pub session: Option<String>,
}

/// The content of a logout token: a person, a session, or both.
pub(crate) struct LoggedOut {
    pub identity: Option<Identity>,
    /// The session there.
    pub session: Option<String>,
    /// The id of the token, which counts once.
    pub id: String,
}

/// The claims of both tokens. serde rejects one that is there twice.
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

fn invalid<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(why.into()))
}

impl Claims {
    /// Fails unless the token is from the issuer, for this client, and valid now.
    fn checked(token: &[u8], settings: &ProviderSettings, now: Timestamp) -> Result<Self, Failure> {
        let claims: Self = serde_json::from_slice(token)
            .or_else(|error| invalid(format!("the token is invalid: {error}")))?;
        let (client, now) = (&*settings.client_id, now.as_second());
        check_issuer("the token", &claims.iss, settings.issuer.as_str())?;
        let is_client = |audience: &Value| audience == client;
        let (is_for_us, is_for_others) = match &claims.aud {
            Value::Array(all) => (all.iter().any(is_client), all.len() > 1),
            one => (is_client(one), false),
        };
        if !is_for_us {
            return invalid("the token is for another client (aud)");
        }
        // Several audiences need azp, and it must be this client.
        if claims
            .azp
            .as_ref()
            .map_or(is_for_others, |azp| azp != client)
        {
            return invalid("the token was made for another client (azp)");
        }
        if claims.exp <= now - SKEW {
            return invalid(format!(
                "the token has expired {} s ago (exp)",
                now.saturating_sub(claims.exp)
            ));
        }
        if !(now - MAX_AGE - SKEW..=now + SKEW).contains(&claims.iat) {
            let off = claims.iat.saturating_sub(now);
            return invalid(format!(
                "the token was made {off} s from now (iat): check both clocks"
            ));
        }
        if claims
            .sub
            .as_ref()
            .is_some_and(|sub| sub.is_empty() || sub.len() > 255)
        {
            return invalid("the token has an invalid subject (sub)");
        }
        // PostgreSQL stores no U+0000.
        let has_control = |text: &Option<String>| {
            text.as_ref()
                .is_some_and(|text| text.contains(char::is_control))
        };
        if has_control(&claims.sub) || has_control(&claims.sid) {
            return invalid(
                "the token has a control character in its subject or session (sub, sid)",
            );
        }
        Ok(claims)
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity {
            issuer: self.iss.clone(),
            subject: self.sub.clone()?,
        })
    }
}

/// Fails unless `found` is the issuer, byte by byte.
pub(super) fn check_issuer(what: &str, found: &str, issuer: &str) -> Result<(), Failure> {
    if found == issuer {
        return Ok(());
    }
    let is_slash = found.trim_end_matches('/') == issuer.trim_end_matches('/');
    let slash = if is_slash {
        ": only a slash at the end differs"
    } else {
        ""
    };
    invalid(format!(
        "{what} has the issuer {found:.200}, but --oidc-issuer is {issuer}{slash}"
    ))
}

/// The person whom an ID token names.
pub(super) fn person(
    token: &[u8],
    settings: &ProviderSettings,
    nonce: &str,
    now: Timestamp,
) -> Result<Person, Failure> {
    let claims = Claims::checked(token, settings, now)?;
    if claims.nonce.as_deref() != Some(nonce) {
        return invalid("the token is not that of this sign-in (nonce)");
    }
    let Some(identity) = claims.identity() else {
        return invalid("the token names nobody (sub)");
    };
    if claims
        .auth_time
        .is_some_and(|at| at > now.as_second() + SKEW)
    {
        return invalid("the token is from before the person signed in (auth_time)");
    }
    let proved_at = claims
        .auth_time
        .and_then(|at| Timestamp::from_second(at).ok());
    let all: Map<String, Value> = serde_json::from_slice(token).unwrap_or_default();
    let name = |claim| all.get(claim).and_then(Value::as_str).map(str::to_owned);
    Ok(Person {
        identity,
        role: settings
            .roles
            .iter()
            .filter(|rule| rule.holds(&all))
            .map(|rule| rule.role)
            .max(),
        names: ["preferred_username", "name"]
            .into_iter()
            .filter_map(name)
            .collect(),
        proved_at: proved_at.map(|at| at.min(now)),
        session: claims.sid,
    })
}

/// What a logout token ends (OpenID Connect Back-Channel Logout, section 2.6).
pub(super) fn logged_out(
    token: &[u8],
    settings: &ProviderSettings,
    now: Timestamp,
) -> Result<LoggedOut, Failure> {
    let claims = Claims::checked(token, settings, now)?;
    if !claims.events.get(LOGOUT).is_some_and(Value::is_object) {
        return invalid("the token ends no session (events)");
    }
    if claims.nonce.is_some() {
        return invalid("the token is one to sign in (nonce)");
    }
    match (claims.identity(), claims.sid, claims.jti) {
        (None, None, _) => invalid("the token names no session (sub, sid)"),
        (_, _, None) => invalid("the token has no id (jti)"),
        (identity, session, Some(id)) => Ok(LoggedOut {
            identity,
            session,
            id,
        }),
    }
}
