//! The secret of a browser, which binds a saved form to it.

use petstore_domain::staff::{Token, TokenDigest};
use petstore_web::edge::Response;

use super::{cookies::Cookie, visit::Visit};

/// A random text that one browser has until it ends. A signature that contains it is invalid in another browser.
///
/// No other cookie can serve: the cookie of the session changes when somebody signs in, and the members of one browser
/// share the cookie of known browsers.
pub(super) struct BrowserSecret {
    text: String,
    is_new: bool,
}

impl BrowserSecret {
    /// Returns the secret that this browser presents.
    pub(super) fn from_cookie(visit: &Visit<'_>) -> Option<Self> {
        let text = Cookie::Form.get(visit)?.to_owned();
        TokenDigest::from_presented(&text)?;
        Some(Self {
            text,
            is_new: false,
        })
    }

    /// Returns the secret of this browser, or a new one, which [`Self::give`] must then add to the response.
    pub(super) fn from_cookie_or_new(visit: &Visit<'_>) -> Self {
        if let Some(secret) = Self::from_cookie(visit) {
            return secret;
        }
        Self {
            text: visit.console.with_random(Token::generate).reveal(),
            is_new: true,
        }
    }

    /// Returns the text of the secret.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds the secret to a response, if it is new.
    pub(super) fn give(&self, visit: &Visit<'_>, response: &mut Response) {
        if self.is_new {
            Cookie::Form.set(visit, response, &self.text, None);
        }
    }
}
