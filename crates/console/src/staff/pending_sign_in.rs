//! Pending sign-ins at the provider, which a cookie of the browser stores.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::Method;
use petstore_domain::staff::{Token, TokenDigest};
use petstore_web::edge::Response;

use super::{console_origin, destination::own_path};
use crate::{cookies::Cookie, openid::SignIn, visit::Visit};

/// How long a sign-in may take, in seconds.
const MAX_SECONDS: u32 = 10 * 60;

/// The maximum number of pending sign-ins of one browser. Several tabs can each begin one.
const MAX_PENDING: usize = 4;

/// The maximum length of the path to which a sign-in leads, in bytes. The cookie contains the paths
/// of all pending sign-ins, and browsers limit it to 4,096 bytes.
const MAX_NEXT_BYTES: usize = 500;

/// A sign-in that has begun in this browser and waits for the callback from the provider.
///
/// The cookie has a random text, from which the service derives `state`, `nonce` and the PKCE
/// verifier with a secret key. So the service stores nothing for a pending sign-in, and rejects the
/// callback of the sign-in in any other browser. Nobody can derive the parameters for a forged
/// cookie.
pub(super) struct PendingSignIn {
    /// The text in the cookie, such as `SECRET.1764316800.0.Lw`: a random secret, the Unix time at
    /// which the sign-in began, whether the provider must authenticate the member again, and the
    /// path to which the sign-in leads, in base64url.
    text: String,
    /// The Unix time at which the sign-in began, in seconds.
    begun_second: i64,
    /// Whether the provider must authenticate the member again.
    asks_again: bool,
    /// The path to which the sign-in leads.
    pub(super) next_path: String,
}

impl PendingSignIn {
    /// Begins a sign-in that leads to the page in the query parameter `next`, or to the first page
    /// if that is not a page of the console.
    pub(super) fn begin(visit: &Visit<'_>) -> Self {
        let secret = visit.console.with_random(Token::generate).reveal();
        let next_path = match own_path(visit, &Method::GET, visit.query.raw("next")) {
            Some(path) if path.len() <= MAX_NEXT_BYTES => path,
            _ => "/",
        };
        let begun_second = visit.now.as_second();
        let asks_again = visit.query.raw("again") == "1";
        let again_digit = u8::from(asks_again);
        let encoded_path = URL_SAFE_NO_PAD.encode(next_path);
        Self {
            text: format!("{secret}.{begun_second}.{again_digit}.{encoded_path}"),
            begun_second,
            asks_again,
            next_path: next_path.to_owned(),
        }
    }

    /// Parses the text of one sign-in in the cookie; `None` if it is malformed.
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let [_secret, begun_second, again_digit, encoded_path] = parts[..] else {
            return None;
        };
        let path = URL_SAFE_NO_PAD.decode(encoded_path).ok()?;
        Some(Self {
            begun_second: begun_second.parse().ok()?,
            asks_again: again_digit == "1",
            next_path: String::from_utf8(path).ok()?,
            text: text.to_owned(),
        })
    }

    /// Returns the pending sign-ins of this browser that have not expired.
    pub(super) fn all(visit: &Visit<'_>) -> impl Iterator<Item = Self> {
        let now = visit.now.as_second();
        Cookie::Provider
            .get(visit)
            .unwrap_or_default()
            .split('~')
            .take(MAX_PENDING)
            .filter_map(Self::parse)
            .filter(move |pending| !pending.is_expired_at(now))
    }

    /// Whether the sign-in began too long ago. `now` is the Unix time in seconds.
    fn is_expired_at(&self, now: i64) -> bool {
        now.saturating_sub(self.begun_second) >= i64::from(MAX_SECONDS)
    }

    /// Removes the sign-in with the `state` parameter of the callback from the list, and returns
    /// it; `None` if the list has no such sign-in.
    pub(super) fn take_by_state(
        pending_sign_ins: &mut Vec<Self>,
        visit: &Visit<'_>,
    ) -> Option<Self> {
        let state = visit.query.raw("state");
        let index = pending_sign_ins
            .iter()
            .position(|pending| pending.derive_value("state", visit) == state)?;
        Some(pending_sign_ins.remove(index))
    }

    /// Replaces the sign-ins in the cookie by the first [`MAX_PENDING`] of this list.
    pub(super) fn save(pending_sign_ins: Vec<Self>, visit: &Visit<'_>, response: &mut Response) {
        let texts: Vec<String> = pending_sign_ins
            .into_iter()
            .take(MAX_PENDING)
            .map(|pending| pending.text)
            .collect();
        if texts.is_empty() {
            Cookie::Provider.clear(visit, response);
        } else {
            Cookie::Provider.set_for_seconds(visit, response, &texts.join("~"), MAX_SECONDS);
        }
    }

    /// Derives a parameter of the protocol, such as `state`, from the text in the cookie.
    fn derive_value(&self, parameter: &str, visit: &Visit<'_>) -> String {
        visit.sign(format!("{parameter} of sign-in {}", self.text).as_bytes())
    }

    /// Returns the parameters of the protocol with the provider, for the authorization request or
    /// for redeeming the code of the callback.
    pub(super) fn protocol_parameters(&self, visit: &Visit<'_>) -> SignIn {
        SignIn {
            redirect_uri: format!("{}/sign-in/callback", console_origin(visit)),
            state: self.derive_value("state", visit),
            nonce: self.derive_value("nonce", visit),
            verifier: self.derive_value("verifier", visit),
            asks_again: self.asks_again,
        }
    }

    /// Returns the digest of the member's link; `None` unless the sign-in began on the page of a
    /// link, such as `/link/TOKEN`. Such a sign-in links the member to the identity at the
    /// provider.
    pub(super) fn link(&self) -> Option<TokenDigest> {
        TokenDigest::from_presented(self.next_path.strip_prefix("/link/")?)
    }
}
