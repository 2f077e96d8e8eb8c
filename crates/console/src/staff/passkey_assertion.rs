//! Challenges for passkeys, and the verification of the browser's response to one (Web
//! Authentication). The response is called an assertion here, even if it creates a passkey.

use std::future::{Ready, ready};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;
use petstore_domain::staff::{Assertion, Token};
use petstore_web::edge::Response;
use serde_json::{Map, Value};

use super::passkey_button::passkey_host;
use crate::{cookies::Cookie, layout, prelude::*, visit::Visit};

/// How long a challenge is valid, in seconds.
const MAX_SECONDS: u32 = 5 * 60;

/// The data that the browser itself adds to the response (`CollectedClientData` in Web
/// Authentication).
type ClientData = Map<String, Value>;

/// The reason why a passkey was rejected.
pub(super) enum PasskeyRejection {
    /// The challenge has expired, was used before, or is of another browser. The passkey may be
    /// right, so the member is asked to repeat the sign-in.
    Challenge,
    /// The passkey or the browser's response is invalid, for this reason.
    Invalid(&'static str),
}

impl From<&'static str> for PasskeyRejection {
    /// Rejects a passkey as invalid for this reason.
    fn from(reason: &'static str) -> Self {
        Self::Invalid(reason)
    }
}

impl PasskeyRejection {
    /// Returns the reason for the log.
    pub(super) fn reason(&self) -> &'static str {
        match *self {
            Self::Challenge => {
                "it was asked for more than 5 minutes ago, was used, or is of another browser"
            }
            Self::Invalid(reason) => reason,
        }
    }

    /// Returns the message for the member. `message_if_invalid` is the message for an invalid
    /// passkey, which depends on what the member wanted to do with it.
    pub(super) fn message(&self, message_if_invalid: &'static str) -> &'static str {
        match self {
            Self::Challenge => texts().passkey_late,
            Self::Invalid(_) => message_if_invalid,
        }
    }
}

/// Responds to `GET /sign-in/passkey` with a new challenge for this browser. It is derived from a
/// random text in a cookie with a secret key, so the service does not have to store challenges.
pub(crate) fn send_challenge(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let secret = visit.console.with_random(Token::generate).reveal();
    let text = format!("{secret}.{}", visit.now.as_second());
    let challenge = Bytes::from(derive_challenge(visit, &text));
    let mut response = layout::response_of_type("text/plain; charset=utf-8", challenge.into());
    Cookie::Passkey.set_for_seconds(visit, &mut response, &text, MAX_SECONDS);
    ready(Ok(response))
}

/// Derives the challenge from the text in the cookie, such as `SECRET.1764316800`: a random secret,
/// and the Unix time.
fn derive_challenge(visit: &Visit<'_>, cookie_text: &str) -> String {
    visit.sign(format!("challenge of passkey {cookie_text}").as_bytes())
}

/// Encodes bytes as base64url.
pub(super) fn encode_base64url(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Decodes a base64url form field of a passkey response; empty if the field is missing or invalid.
pub(super) fn decode_field(visit: &Visit<'_>, name: &str) -> Vec<u8> {
    BASE64.decode(visit.form.raw(name)).unwrap_or_default()
}

/// Checks the browser's response in the form, and accepts its challenge once. Returns the result of
/// `verify`, which checks the passkey itself. Fails if the response is for another purpose, site or
/// browser, or if `verify` fails.
///
/// `purpose` is the required `type` of the client data, such as `webauthn.get`. The arguments of
/// `verify` are the response, and the host to which passkeys are bound.
pub(super) fn accept_assertion<T>(
    visit: &Visit<'_>,
    purpose: &str,
    verify: impl FnOnce(Assertion, &str) -> Result<T, &'static str>,
) -> Result<T, PasskeyRejection> {
    let host = passkey_host(visit).ok_or("there are no passkeys at this address")?;
    let assertion = Assertion {
        id: decode_field(visit, "id"),
        user: decode_field(visit, "user"),
        client_data: decode_field(visit, "client"),
        authenticator_data: decode_field(visit, "data"),
        signature: decode_field(visit, "signature"),
    };
    let client_data: ClientData = serde_json::from_slice(&assertion.client_data)
        .map_err(|_| "the browser says nothing about the site")?;
    let cookie_text = Cookie::Passkey.get(visit).unwrap_or_default();
    let challenge = derive_challenge(visit, cookie_text);
    if is_expired(visit, cookie_text) {
        return Err(PasskeyRejection::Challenge);
    }
    check_client_data(visit, &client_data, purpose, &challenge)?;

    let verified_passkey = verify(assertion, host)?;
    // Last, so that only somebody with a valid passkey can fill the cache.
    let used_challenges = &visit.console.replay_caches.challenges;
    if !used_challenges.insert(&challenge, visit.now) {
        return Err(PasskeyRejection::Challenge);
    }
    Ok(verified_passkey)
}

/// Whether the challenge has expired, by the time in the cookie's text. A malformed text counts as
/// expired.
fn is_expired(visit: &Visit<'_>, cookie_text: &str) -> bool {
    let created_second = match cookie_text.split_once('.') {
        Some((_, second)) => second.parse().unwrap_or(0),
        None => 0,
    };
    visit.now.as_second().saturating_sub(created_second) >= i64::from(MAX_SECONDS)
}

/// Checks that the response is for this challenge, purpose and site, and does not come from a frame
/// of another site.
fn check_client_data(
    visit: &Visit<'_>,
    client_data: &ClientData,
    purpose: &str,
    challenge: &str,
) -> Result<(), PasskeyRejection> {
    let states = |name: &str, expected_value: &str| {
        let value = client_data.get(name);
        value.is_some_and(|value| value == expected_value)
    };
    if !states("challenge", challenge) {
        return Err(PasskeyRejection::Challenge);
    }
    if !states("type", purpose) {
        return Err("it is for another purpose (type)".into());
    }
    if !states("origin", &visit.visitor.origin) {
        return Err("it is for another site (origin)".into());
    }
    let is_cross_origin = client_data
        .get("crossOrigin")
        .is_some_and(|value| value != false);
    if is_cross_origin || client_data.contains_key("topOrigin") {
        return Err("it is from a frame (crossOrigin)".into());
    }
    Ok(())
}
