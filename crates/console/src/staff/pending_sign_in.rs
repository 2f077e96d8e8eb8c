//! The sign-ins at the provider that have begun in a browser, which keeps them in a cookie.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::Method;
use petstore_domain::staff::{Token, TokenDigest};
use petstore_web::edge::Response;

use super::{destination::own_path, sign_out::console_origin};
use crate::{cookies::Cookie, openid::SignIn, visit::Visit};

/// The time that a sign-in may take, in seconds.
const MAX_SECONDS: u32 = 10 * 60;

/// The number of sign-ins that may have begun in one browser: several pages can lead to the provider at once.
const MAX_PENDING: usize = 4;

/// The longest path to which a sign-in leads, in bytes, because a cookie has it.
const MAX_NEXT_BYTES: usize = 500;

/// A sign-in that has begun in this browser. Its cookie has a random text; state, nonce and the secret of
/// PKCE follow from this text with a key of the service. So the service stores nothing of a sign-in, no
/// response counts in another browser, and none with a text that the service has not made.
pub(super) struct PendingSignIn {
    /// The text in the cookie, such as `SECRET.1764316800.0.Lw`: the secret, the second in which the sign-in began,
    /// whether the provider asks again, and the path to which the sign-in leads, in base64url.
    text: String,
    /// The Unix time at which the sign-in began, in seconds.
    begun_second: i64,
    /// Whether the provider asks the member again for a proof.
    asks_again: bool,
    /// The path to which the sign-in leads.
    pub(super) next_path: String,
}

impl PendingSignIn {
    /// Begins a sign-in that leads to the page in the query of this request.
    pub(super) fn begin(visit: &Visit<'_>) -> Option<Self> {
        let secret = visit.console.with_random(Token::generate).reveal();
        let next_path = match own_path(visit, &Method::GET, visit.query.raw("next")) {
            Some(path) if path.len() <= MAX_NEXT_BYTES => path,
            _ => "/",
        };
        let second = visit.now.as_second();
        let asks_again = u8::from(visit.query.raw("again") == "1");
        let encoded_path = URL_SAFE_NO_PAD.encode(next_path);
        Self::parse(&format!("{secret}.{second}.{asks_again}.{encoded_path}"))
    }

    /// Parses the text in a cookie.
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let [_secret, second, asks_again, encoded_path] = parts[..] else {
            return None;
        };
        let path = URL_SAFE_NO_PAD.decode(encoded_path).ok()?;
        Some(Self {
            begun_second: second.parse().ok()?,
            asks_again: asks_again == "1",
            next_path: String::from_utf8(path).ok()?,
            text: text.to_owned(),
        })
    }

    /// Returns the sign-ins of this browser that can still complete.
    pub(super) fn all(visit: &Visit<'_>) -> impl Iterator<Item = Self> {
        let now = visit.now.as_second();
        Cookie::Provider
            .get(visit)
            .unwrap_or_default()
            .split('~')
            .take(MAX_PENDING)
            .filter_map(Self::parse)
            .filter(move |pending| {
                now.saturating_sub(pending.begun_second) < i64::from(MAX_SECONDS)
            })
    }

    /// Takes the sign-in out of the list whose state is in the query of this request.
    pub(super) fn take_called_back(list: &mut Vec<Self>, visit: &Visit<'_>) -> Option<Self> {
        let state = visit.query.raw("state");
        let index = list
            .iter()
            .position(|pending| pending.derived_text("state", visit) == state)?;
        Some(list.remove(index))
    }

    /// Replaces the sign-ins in the cookie of the browser by the first [`MAX_PENDING`] of the list.
    pub(super) fn save(list: Vec<Self>, visit: &Visit<'_>, response: &mut Response) {
        let texts: Vec<String> = list
            .into_iter()
            .take(MAX_PENDING)
            .map(|pending| pending.text)
            .collect();
        let seconds = if texts.is_empty() { 0 } else { MAX_SECONDS };
        Cookie::Provider.set(visit, response, &texts.join("~"), Some(seconds));
    }

    /// Returns the text for a purpose that follows from the random text and the key of the service.
    fn derived_text(&self, purpose: &str, visit: &Visit<'_>) -> String {
        visit.sign(format!("{purpose} of sign-in {}", self.text).as_bytes())
    }

    /// Returns the sign-in as the provider gets it.
    pub(super) fn request(&self, visit: &Visit<'_>) -> SignIn {
        SignIn {
            redirect: format!("{}/sign-in/callback", console_origin(visit)),
            state: self.derived_text("state", visit),
            nonce: self.derived_text("nonce", visit),
            verifier: self.derived_text("verifier", visit),
            asks_again: self.asks_again,
        }
    }

    /// Returns the link of a member, if the sign-in began on the page of one.
    pub(super) fn link(&self) -> Option<TokenDigest> {
        TokenDigest::from_presented(self.next_path.strip_prefix("/link/")?)
    }
}
