//! A secret in a cookie, which binds saved forms to one browser.

use petstore_domain::staff::{Token, TokenDigest};
use petstore_web::edge::Response;

use super::{cookies::Cookie, visit::Visit};

/// A random secret in a session cookie. A signature that covers the secret is valid only in the
/// browser that has the cookie.
///
/// The other cookies cannot serve for this: the session token changes with every sign-in, and the
/// cookie of [known browsers](super::known_browsers) changes with each member who signs in.
pub(super) struct BrowserSecret {
    text: String,
    is_new: bool,
}

impl BrowserSecret {
    /// Returns the secret in the browser's cookie; `None` if it is missing or malformed.
    pub(super) fn from_cookie(visit: &Visit<'_>) -> Option<Self> {
        let text = Cookie::Form.get(visit)?;
        // Only the form of the text is checked. The digest is not needed.
        TokenDigest::from_presented(text)?;
        Some(Self {
            text: text.to_owned(),
            is_new: false,
        })
    }

    /// Returns the secret in the browser's cookie, or a new one. The caller must then call
    /// [`Self::set_cookie`] on the response.
    pub(super) fn from_cookie_or_new(visit: &Visit<'_>) -> Self {
        if let Some(secret) = Self::from_cookie(visit) {
            return secret;
        }
        Self {
            text: visit.console.with_random(Token::generate).reveal(),
            is_new: true,
        }
    }

    /// Returns the secret as text.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds the cookie to the response if the secret is new.
    pub(super) fn set_cookie(&self, visit: &Visit<'_>, response: &mut Response) {
        if self.is_new {
            Cookie::Form.set(visit, response, &self.text);
        }
    }
}
