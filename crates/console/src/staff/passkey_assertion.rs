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

/// The reason why the challenge itself was rejected. The passkey may be right, so the member is
/// asked to repeat the sign-in.
pub(super) const LATE_REASON: &str =
    "it was asked for more than 5 minutes ago, was used, or is of another browser";

/// Responds to `GET /sign-in/passkey` with a new challenge for this browser. It is derived from a
/// random text in a cookie with a secret key, so the service does not have to store challenges.
pub(crate) fn challenge(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let secret = visit.console.with_random(Token::generate).reveal();
    let text = format!("{secret}.{}", visit.now.as_second());
    let challenge = Bytes::from(derive_challenge(visit, &text));
    let mut response = layout::response_of_type("text/plain; charset=utf-8", challenge.into());
    Cookie::Passkey.set(visit, &mut response, &text, Some(MAX_SECONDS));
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

/// Checks the browser's response in the form, and accepts its challenge once. `purpose` is the
/// required `type` of the client data, such as `webauthn.get`. `verify` checks the passkey itself;
/// its arguments are the response and the host to which passkeys are bound. Returns the result of
/// `verify`.
///
/// Fails with a reason for the log if the response is for another purpose, site or browser, or if
/// `verify` fails.
pub(super) fn accept_assertion<T>(
    visit: &Visit<'_>,
    purpose: &str,
    verify: impl FnOnce(Assertion, &str) -> Result<T, &'static str>,
) -> Result<T, &'static str> {
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
        return Err(LATE_REASON);
    }
    check_client_data(visit, &client_data, purpose, &challenge)?;

    let verified_passkey = verify(assertion, host)?;
    // Last, so that only somebody with a valid passkey can fill the cache.
    let used_challenges = &visit.console.replay_caches.challenges;
    if !used_challenges.insert(&challenge, visit.now) {
        return Err(LATE_REASON);
    }
    Ok(verified_passkey)
}

/// The data that the browser itself adds to the response (`CollectedClientData` in Web
/// Authentication).
type ClientData = Map<String, Value>;

/// Whether the challenge has expired, according to the time in the cookie's text. A malformed text
/// counts as expired.
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
) -> Result<(), &'static str> {
    let states = |name: &str, expected_value: &str| {
        let value = client_data.get(name);
        value.is_some_and(|value| value == expected_value)
    };
    if !states("challenge", challenge) {
        return Err(LATE_REASON);
    }
    if !states("type", purpose) {
        return Err("it is for another purpose (type)");
    }
    if !states("origin", &visit.visitor.origin) {
        return Err("it is for another site (origin)");
    }
    let is_cross_origin = client_data
        .get("crossOrigin")
        .is_some_and(|value| value != false);
    if is_cross_origin || client_data.contains_key("topOrigin") {
        return Err("it is from a frame (crossOrigin)");
    }
    Ok(())
}
