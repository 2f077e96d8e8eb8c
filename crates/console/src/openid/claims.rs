//! Validates the claims of ID tokens, logout tokens and signed userinfo responses. The caller has
//! already verified their signatures.

use std::slice;

use jiff::Timestamp;
use petstore_domain::staff::Identity;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

use super::{failure::Failure, settings::ProviderSettings};

/// The tolerated difference between the clocks of the provider and of this service, in seconds.
pub(super) const MAX_SKEW_SECONDS: i64 = 60;

/// The maximum age of a token, in seconds. Tokens are used as soon as they are issued, so an older
/// one is suspicious.
const MAX_AGE_SECONDS: i64 = 10 * 60;

/// The maximum length of a subject, in bytes (OpenID Connect Core 1.0, section 2).
const MAX_SUBJECT_BYTES: usize = 255;

/// The member of `events` that identifies a logout token.
const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// The claims of a logout token, which names a person, a session at the provider, or both.
pub(crate) struct Logout {
    /// The person (`sub`), if the token names one.
    pub identity: Option<Identity>,
    /// The id of the session at the provider (`sid`), if the token names one.
    pub session: Option<String>,
    /// The id of the token (`jti`), which is accepted only once.
    pub id: String,
}

/// The claims of an ID token or a logout token, by their names in the specification. serde rejects
/// a token in which one of them appears twice.
#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    sub: Option<String>,
    aud: Value,
    azp: Option<String>,
    exp: NumericDate,
    iat: NumericDate,
    pub(super) nonce: Option<String>,
    pub(super) auth_time: Option<NumericDate>,
    /// The id of the session at the provider. Some providers send a number.
    sid: Option<NumberOrText>,
    jti: Option<String>,
    #[serde(default)]
    events: Map<String, Value>,
}

/// A Unix time as any JSON number, such as `1796126700.5` (RFC 7519, section 2), or as a string,
/// which some providers send.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub(super) struct NumericDate {
    /// The Unix time in whole seconds, rounded down.
    pub(super) second: i64,
}

/// A JSON number or string.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(Number),
    Text(String),
}

impl TryFrom<NumberOrText> for NumericDate {
    type Error = serde_json::Error;

    /// Converts a number or a text, such as `1796126700`, `1796126700.5` or `"1796126700"`.
    fn try_from(date: NumberOrText) -> Result<Self, Self::Error> {
        let number = match date {
            NumberOrText::Number(number) => number,
            NumberOrText::Text(text) => text.parse()?,
        };
        // A number that exceeds an `f64`, such as `1e999`, counts as 1970, so its token has expired.
        let floor = number.as_f64().unwrap_or_default().floor();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time that is out of range saturates"
        )]
        let second = number.as_i64().unwrap_or(floor as i64);
        Ok(Self { second })
    }
}

/// Returns the failure of a response that is invalid for this reason, as an `Err` of any type.
pub(super) fn invalid<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(reason.into()))
}

impl Claims {
    /// Parses the payload of a token. Fails unless the provider issued the token for this client,
    /// and the token is valid now.
    pub(super) fn parse(
        token: &[u8],
        settings: &ProviderSettings,
        now: Timestamp,
    ) -> Result<Self, Failure> {
        let claims: Self = serde_json::from_slice(token)
            .or_else(|error| invalid(format!("the token is invalid: {error}")))?;
        check_issuer("the token", &claims.iss, settings.issuer.as_str())?;
        claims.check_audience(&settings.client_id)?;
        claims.check_times(now.as_second())?;
        claims.check_subject_and_session()?;
        Ok(claims)
    }

    /// Checks that the token was made for this client (OpenID Connect Core 1.0, section 3.1.3.7).
    ///
    /// `aud` must contain the client. `azp`, which is required if `aud` has several values, must be
    /// the client.
    fn check_audience(&self, client_id: &str) -> Result<(), Failure> {
        let audiences = list_audiences(&self.aud);
        require_client(audiences, client_id)?;
        let is_for_other_client = match &self.azp {
            Some(authorized_party) => authorized_party != client_id,
            None => audiences.len() > 1,
        };
        if is_for_other_client {
            return invalid("the token was made for another client (azp)");
        }
        Ok(())
    }

    /// Checks that the token has not expired, and was issued within the last [`MAX_AGE_SECONDS`].
    /// Tolerates [`MAX_SKEW_SECONDS`].
    fn check_times(&self, now: i64) -> Result<(), Failure> {
        if self.exp.second <= now - MAX_SKEW_SECONDS {
            let seconds = now.saturating_sub(self.exp.second);
            return invalid(format!("the token expired {seconds} s ago (exp)"));
        }

        let issued_at = self.iat.second;
        if issued_at < now - MAX_AGE_SECONDS - MAX_SKEW_SECONDS {
            let seconds = now.saturating_sub(issued_at);
            return invalid(format!(
                "the token was issued {seconds} s ago (iat), which is too long: check both clocks"
            ));
        }
        if issued_at > now + MAX_SKEW_SECONDS {
            let seconds = issued_at.saturating_sub(now);
            return invalid(format!(
                "the token was issued {seconds} s in the future (iat): check both clocks"
            ));
        }
        Ok(())
    }

    /// Checks the length of the subject, and that neither the subject nor the session id contains
    /// control characters. PostgreSQL cannot store U+0000, and a line break would split a log
    /// entry.
    fn check_subject_and_session(&self) -> Result<(), Failure> {
        if let Some(subject) = &self.sub
            && (subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES)
        {
            return invalid("the token has an invalid subject (sub)");
        }
        let subject = self.sub.clone().unwrap_or_default();
        let session = self.session().unwrap_or_default();
        if subject.contains(char::is_control) || session.contains(char::is_control) {
            return invalid(
                "the token has a control character in its subject or session (sub, sid)",
            );
        }
        Ok(())
    }

    /// Returns the identity of the person, if the token names a subject.
    pub(super) fn identity(&self) -> Option<Identity> {
        Some(Identity {
            issuer: self.iss.clone(),
            subject: self.sub.clone()?,
        })
    }

    /// Returns the id of the session at the provider as text, if the token names one.
    pub(super) fn session(&self) -> Option<String> {
        match self.sid.as_ref()? {
            NumberOrText::Text(text) => Some(text.clone()),
            NumberOrText::Number(number) => Some(number.to_string()),
        }
    }
}

/// Checks that `stated_issuer` equals the configured issuer, byte by byte. `subject` says what
/// states the issuer, such as `the token`; the message of the failure begins with it.
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

/// Returns the audiences in an `aud` claim, which is an array or a single value.
fn list_audiences(claim: &Value) -> &[Value] {
    match claim {
        Value::Array(audiences) => audiences,
        audience => slice::from_ref(audience),
    }
}

/// Checks that this client is among the audiences.
fn require_client(audiences: &[Value], client_id: &str) -> Result<(), Failure> {
    if audiences.iter().any(|audience| audience == client_id) {
        return Ok(());
    }
    invalid("the token is for another client (aud)")
}

/// Parses the payload of a signed userinfo response. Fails unless the provider issued it for this
/// client (OpenID Connect Core 1.0, section 5.3.2).
pub(super) fn parse_userinfo(
    token: &[u8],
    settings: &ProviderSettings,
) -> Result<Map<String, Value>, Failure> {
    let claims: Map<String, Value> = serde_json::from_slice(token)
        .or_else(|error| invalid(format!("the response of userinfo is invalid: {error}")))?;
    let issuer = claims.get("iss").and_then(Value::as_str);
    // A missing issuer counts as an empty one, which never equals the configured one.
    check_issuer(
        "the response of userinfo",
        issuer.unwrap_or_default(),
        settings.issuer.as_str(),
    )?;
    let audience = claims.get("aud").unwrap_or(&Value::Null);
    require_client(list_audiences(audience), &settings.client_id)?;
    Ok(claims)
}

/// Parses and validates the payload of a logout token (OpenID Connect Back-Channel Logout, section
/// 2.6). The caller must reject a token whose id was used before.
pub(super) fn parse_logout(
    token: &[u8],
    settings: &ProviderSettings,
    now: Timestamp,
) -> Result<Logout, Failure> {
    let claims = Claims::parse(token, settings, now)?;
    let Some(Value::Object(_)) = claims.events.get(LOGOUT_EVENT) else {
        return invalid("the token ends no session (events)");
    };
    if claims.nonce.is_some() {
        return invalid("the token is an ID token, not a logout token (nonce)");
    }
    let identity = claims.identity();
    let session = claims.session();
    if identity.is_none() && session.is_none() {
        return invalid("the token names no session (sub, sid)");
    }
    let Some(id) = claims.jti else {
        return invalid("the token has no id (jti)");
    };
    Ok(Logout {
        identity,
        session,
        id,
    })
}
