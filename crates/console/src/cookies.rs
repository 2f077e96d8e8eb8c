//! The cookies of the console.

use hyper::header::{self, HeaderValue};
use petstore_web::edge::Response;

use super::visit::Visit;

/// A cookie of the console.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cookie {
    /// The secret of the session.
    Session,
    /// The signatures for the members who have signed in in this browser before. See [`super::known_browsers`].
    Browser,
    /// The message on the next page.
    Message,
    /// The sign-ins at the provider that have begun in this browser.
    Provider,
    /// The ID token of the sign-in, with which the member signs out at the provider.
    IdToken,
    /// The random text from which the challenge of a passkey follows.
    Passkey,
    /// The secret of this browser, which the signature of a saved form needs. See [`super::browser_secret`].
    Form,
}

impl Cookie {
    /// Returns the name of the cookie, such as `__Host-petstore-8443-browser`.
    ///
    /// Browsers let only this host set a cookie with the prefix, over HTTPS. Cookies have no port, so the name has it:
    /// another service on this host has cookies of its own.
    fn name(self, visit: &Visit<'_>) -> String {
        let prefix = if visit.visitor.is_secure {
            "__Host-"
        } else {
            ""
        };
        let (_, port) = visit.visitor.origin.rsplit_once(':').unwrap_or_default();
        let port = match port.parse::<u16>() {
            Ok(port) => format!("-{port}"),
            Err(_) => String::new(),
        };
        let suffix = match self {
            Self::Session => "",
            Self::Browser => "-browser",
            Self::Message => "-message",
            Self::Provider => "-provider",
            Self::IdToken => "-id-token",
            Self::Passkey => "-passkey",
            Self::Form => "-form",
        };
        format!("{prefix}petstore{port}{suffix}")
    }

    /// Returns the value of the cookie in a request.
    pub(super) fn get<'v>(self, visit: &'v Visit<'_>) -> Option<&'v str> {
        let cookie_name = self.name(visit);
        for line in visit.request.headers.get_all(header::COOKIE) {
            for pair in line.to_str().unwrap_or_default().split(';') {
                if let Some((name, value)) = pair.trim().split_once('=')
                    && name == cookie_name
                {
                    return Some(value);
                }
            }
        }
        None
    }

    /// Adds the cookie to a response. The browser keeps it for this number of seconds, or until the browser ends.
    pub(super) fn set(
        self,
        visit: &Visit<'_>,
        response: &mut Response,
        value: &str,
        seconds: Option<u32>,
    ) {
        let cookie_name = self.name(visit);
        let secure = if visit.visitor.is_secure {
            "; Secure"
        } else {
            ""
        };
        let age = match seconds {
            Some(seconds) => format!("; Max-Age={seconds}"),
            None => String::new(),
        };
        let cookie = format!("{cookie_name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }

    /// Removes the cookie from the browser.
    pub(super) fn clear(self, visit: &Visit<'_>, response: &mut Response) {
        self.set(visit, response, "", Some(0));
    }
}
