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
        // Without a port, the last colon is the one in `https:` or in an IPv6 address, which ends
        // with a bracket. No number follows either.
        let after_colon = visit.visitor.origin.rsplit_once(':').map(|(_, text)| text);
        let port_part = match after_colon.map(str::parse::<u16>) {
            Some(Ok(port)) => format!("-{port}"),
            Some(Err(_)) | None => String::new(),
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
                // Only ASCII white space is removed. Browsers do not protect the prefix `__Host-`
                // after other white space, such as U+2000, so such a cookie can be of another host.
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

    /// Adds a cookie to the response that the browser keeps until it is closed.
    pub(super) fn set(self, visit: &Visit<'_>, response: &mut Response, value: &str) {
        self.add_header(visit, response, value, "");
    }

    /// Adds a cookie to the response that the browser keeps for this many seconds.
    pub(super) fn set_for_seconds(
        self,
        visit: &Visit<'_>,
        response: &mut Response,
        value: &str,
        seconds: u32,
    ) {
        let age = format!("; Max-Age={seconds}");
        self.add_header(visit, response, value, &age);
    }

    /// Makes the browser delete the cookie.
    pub(super) fn clear(self, visit: &Visit<'_>, response: &mut Response) {
        self.set_for_seconds(visit, response, "", 0);
    }

    /// Adds the `Set-Cookie` header to the response. `age` is the `Max-Age` attribute, or empty for
    /// a cookie that the browser keeps until it is closed.
    fn add_header(self, visit: &Visit<'_>, response: &mut Response, value: &str, age: &str) {
        let cookie_name = self.name(visit);
        let secure = if visit.visitor.is_secure {
            "; Secure"
        } else {
            ""
        };
        let cookie = format!("{cookie_name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        // Fails only for a value with control characters, which no caller passes.
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}
