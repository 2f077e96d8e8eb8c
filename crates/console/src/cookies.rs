//! The console's cookies: their names, and how they are read, set and cleared.

use hyper::header::{self, HeaderValue};
use petstore_web::edge::Response;

use super::visit::Visit;

/// A cookie of the console.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cookie {
    /// The session token.
    Session,
    /// The signatures for members who have signed in with this browser before. See
    /// [`super::known_browsers`].
    Browser,
    /// The flash message for the next page.
    Message,
    /// The pending sign-ins at the provider.
    Provider,
    /// The ID token of the sign-in, which the provider may require for signing out there.
    IdToken,
    /// The random text from which the challenge for a passkey is derived.
    Passkey,
    /// The secret that binds saved forms to this browser. See [`super::browser_secret`].
    Form,
}

impl Cookie {
    /// Returns the name of the cookie, such as `__Host-petstore-8443-browser`.
    ///
    /// Browsers accept a cookie with the prefix `__Host-` only over HTTPS and from the host itself.
    /// The name includes the port because the ports of a host share their cookies: two services on
    /// one host would otherwise overwrite each other's cookies.
    fn name(self, visit: &Visit<'_>) -> String {
        let prefix = if visit.visitor.is_secure {
            "__Host-"
        } else {
            ""
        };
        // Without a port, the last colon is the one in `https:`, or one in an IPv6 address, which
        // ends with a bracket. Neither is followed by a number.
        let port: Option<u16> = match visit.visitor.origin.rsplit_once(':') {
            Some((_, after_colon)) => after_colon.parse().ok(),
            None => None,
        };
        let port_part = match port {
            Some(port) => format!("-{port}"),
            None => String::new(),
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
        format!("{prefix}petstore{port_part}{suffix}")
    }

    /// Returns the value of the cookie in the request; `None` if the browser did not send it.
    pub(super) fn get<'v>(self, visit: &'v Visit<'_>) -> Option<&'v str> {
        let cookie_name = self.name(visit);
        for cookie_header in visit.request.headers.get_all(header::COOKIE) {
            // The header also has the cookies of other programs on this host, which can contain any
            // bytes.
            for pair in cookie_header.as_bytes().split(|byte| *byte == b';') {
                // Only ASCII white space is removed. If other white space, such as U+2000, precedes
                // `__Host-`, browsers do not see the prefix, and let any host of the domain set the
                // cookie. Removing that space would make it pass for a cookie of the console.
                let Ok(pair) = str::from_utf8(pair.trim_ascii()) else {
                    continue;
                };
                if let Some((name, value)) = pair.split_once('=')
                    && name == cookie_name
                {
                    return Some(value);
                }
            }
        }
        None
    }

    /// Adds the cookie to the response. The browser deletes it when the browser is closed.
    pub(super) fn set(self, visit: &Visit<'_>, response: &mut Response, value: &str) {
        let no_age = None;
        self.add_header(visit, response, value, no_age);
    }

    /// Adds the cookie to the response. The browser keeps it for this many seconds.
    pub(super) fn set_for_seconds(
        self,
        visit: &Visit<'_>,
        response: &mut Response,
        value: &str,
        seconds: u32,
    ) {
        self.add_header(visit, response, value, Some(seconds));
    }

    /// Makes the browser delete the cookie.
    pub(super) fn clear(self, visit: &Visit<'_>, response: &mut Response) {
        self.set_for_seconds(visit, response, "", 0);
    }

    /// Adds the `Set-Cookie` header to the response. Without `max_age_seconds`, the browser keeps
    /// the cookie until the browser is closed.
    fn add_header(
        self,
        visit: &Visit<'_>,
        response: &mut Response,
        value: &str,
        max_age_seconds: Option<u32>,
    ) {
        let cookie_name = self.name(visit);
        let secure = if visit.visitor.is_secure {
            "; Secure"
        } else {
            ""
        };
        let age = match max_age_seconds {
            Some(seconds) => format!("; Max-Age={seconds}"),
            None => String::new(),
        };
        let cookie = format!("{cookie_name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        // Fails only for a value with control characters, which no caller passes.
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}
