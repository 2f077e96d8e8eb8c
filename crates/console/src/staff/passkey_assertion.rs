//! The challenges that passkeys sign, and the checks of a signed challenge.

use std::future::{Ready, ready};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;
use petstore_domain::staff::{Assertion, Token};
use petstore_web::edge::Response;
use serde_json::{Map, Value};

use super::passkey_button::passkey_host;
use crate::{cookies::Cookie, layout, prelude::*, visit::Visit};

/// The time that a browser may take, in seconds.
const MAX_SECONDS: u32 = 5 * 60;

/// The reason for which a passkey is refused that can be the right one.
pub(super) const LATE_REASON: &str =
    "it was asked for more than 5 minutes ago, was used, or is of another browser";

/// Responds to `GET /sign-in/passkey` with the challenge that a passkey signs next in this browser. The challenge
/// follows from a random text in a cookie with a key of the service, so the service stores no challenges.
pub(crate) fn challenge(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let secret = visit.console.with_random(Token::generate).reveal();
    let text = format!("{secret}.{}", visit.now.as_second());
    let challenge = Bytes::from(challenge_for(visit, &text));
    let mut response = layout::of_type("text/plain; charset=utf-8", challenge.into());
    Cookie::Passkey.set(visit, &mut response, &text, Some(MAX_SECONDS));
    ready(Ok(response))
}

/// Returns the challenge that follows from the text in the cookie.
fn challenge_for(visit: &Visit<'_>, text: &str) -> String {
    visit.sign(format!("challenge of passkey {text}").as_bytes())
}

/// Returns bytes in base64url.
pub(super) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Decodes a field that a browser sends for a passkey; empty if it is missing or invalid.
pub(super) fn decoded_part(visit: &Visit<'_>, name: &str) -> Vec<u8> {
    BASE64.decode(visit.form.raw(name)).unwrap_or_default()
}

/// Accepts what a passkey of this browser says, for the host in the second argument of `verify`. Each challenge is
/// accepted once. Fails with a reason for the log if the passkey is for another purpose, another site, or another
/// browser, or if `verify` fails.
pub(super) fn accept_assertion<T>(
    visit: &Visit<'_>,
    purpose: &str,
    verify: impl FnOnce(Assertion, &str) -> Result<T, &'static str>,
) -> Result<T, &'static str> {
    let host = passkey_host(visit).ok_or("there are no passkeys at this address")?;
    let assertion = Assertion {
        id: decoded_part(visit, "id"),
        user: decoded_part(visit, "user"),
        client: decoded_part(visit, "client"),
        data: decoded_part(visit, "data"),
        signature: decoded_part(visit, "signature"),
    };
    let client_data: ClientData = serde_json::from_slice(&assertion.client)
        .map_err(|_| "the browser says nothing about the site")?;
    let challenge_text = Cookie::Passkey.get(visit).unwrap_or_default();
    let challenge = challenge_for(visit, challenge_text);
    if is_expired(visit, challenge_text) {
        return Err(LATE_REASON);
    }
    check_client_data(visit, &client_data, purpose, &challenge)?;

    let verified_passkey = verify(assertion, host)?;
    // Last, so that only somebody with a passkey can fill this memory.
    if !visit.console.used.challenges.take(&challenge, visit.now) {
        return Err(LATE_REASON);
    }
    Ok(verified_passkey)
}

/// The data that the browser adds to an assertion (`CollectedClientData` in Web Authentication).
type ClientData = Map<String, Value>;

/// Whether the challenge was made too long ago, from the text in the cookie, such as `SECRET.1764316800`.
fn is_expired(visit: &Visit<'_>, challenge_text: &str) -> bool {
    let made_second = match challenge_text.split_once('.') {
        Some((_, second)) => second.parse().unwrap_or(0),
        None => 0,
    };
    visit.now.as_second().saturating_sub(made_second) >= i64::from(MAX_SECONDS)
}

/// Checks that a browser made an assertion for this challenge, this purpose and this site, and outside of a frame.
fn check_client_data(
    visit: &Visit<'_>,
    client_data: &ClientData,
    purpose: &str,
    challenge: &str,
) -> Result<(), &'static str> {
    let has = |name: &str, expected_value: &str| {
        let value = client_data.get(name);
        value.is_some_and(|value| value == expected_value)
    };
    if !has("challenge", challenge) {
        return Err(LATE_REASON);
    }
    if !has("type", purpose) {
        return Err("it is for another purpose (type)");
    }
    if !has("origin", &visit.visitor.origin) {
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
