//! The validated URL of an endpoint.

use std::net::IpAddr;

use petstore_domain::Networks;
use petstore_system::addresses::forbidden_reason;
use url::{Host, Url};

/// The maximum length of a URL in bytes.
const MAX_URL_LENGTH: usize = 2000;

/// A hint about the form of a valid URL, for error messages to clients.
const FORM: &str = "Use the form https://shop.example/hooks.";

/// The URL of an endpoint, checked as far as its text allows. The addresses of a host name can
/// change, so they are checked at each attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Parses and validates a URL. `allowed` are the private networks that the operator permits.
    ///
    /// The error is a message for a client, which says what is wrong and what is allowed.
    pub fn parse(text: &str, allowed: &Networks) -> Result<Self, String> {
        check_text(text)?;
        let url =
            Url::parse(text).map_err(|_| format!("url has an invalid host or port. {FORM}"))?;
        check_parts(text, &url)?;
        check_address(&url, allowed)?;
        Ok(Self(url))
    }

    /// Returns the URL.
    pub fn get(&self) -> &Url {
        &self.0
    }
}

/// Checks the text of a URL for errors that the URL parser would silently correct.
fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_URL_LENGTH {
        return Err(format!(
            "url must have at most {MAX_URL_LENGTH} characters."
        ));
    }
    // The parser would drop some spaces and control characters.
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "url must not contain spaces or control characters. {FORM}"
        ));
    }
    let after_scheme = strip_scheme(text, "https://").or_else(|| strip_scheme(text, "http://"));
    let Some(after_scheme) = after_scheme else {
        return Err(format!("url must begin with https://. {FORM}"));
    };
    // The parser would skip the extra slashes and take the start of the path as the host.
    if after_scheme.starts_with(['/', '\\']) {
        return Err(format!("url must have a host after https://. {FORM}"));
    }
    Ok(())
}

/// Returns the text after the scheme. Returns `None` if the text has another scheme. Compares the
/// schemes regardless of upper and lower case.
fn strip_scheme<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let (start, after_scheme) = text.split_at_checked(scheme.len())?;
    if !start.eq_ignore_ascii_case(scheme) {
        return None;
    }
    Some(after_scheme)
}

/// Checks that the URL has no user name, password, fragment or invalid port.
fn check_parts(text: &str, url: &Url) -> Result<(), String> {
    // Every `@` is refused, because the parser drops an empty user name.
    if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
        return Err(format!(
            "url must not contain a user name, a password or @. {FORM}"
        ));
    }
    if text.contains('#') {
        return Err(format!("url must not contain a fragment. {FORM}"));
    }
    if url.port() == Some(0) {
        return Err(format!(
            "url must have a port between 1 and 65535, or none. {FORM}"
        ));
    }
    Ok(())
}

/// Checks that the URL leads to no forbidden address, and uses plain HTTP only into the `allowed`
/// networks.
///
/// A host name passes with plain HTTP if there is any allowed network, because the name may resolve
/// to an address in it.
fn check_address(url: &Url, allowed: &Networks) -> Result<(), String> {
    let address = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
        Some(Host::Domain(_)) | None => None,
    };
    let may_use_plain_http = match address {
        Some(address) => allowed.contains(address),
        None => !allowed.is_empty(),
    };
    if url.scheme() != "https" && !may_use_plain_http {
        return Err(format!(
            "url must begin with https://. {FORM} The operator of the service can permit \
             plain HTTP into a network with --webhook-allow."
        ));
    }
    if let Some(address) = address
        && let Some(kind) = forbidden_reason(address, allowed)
    {
        return Err(format!(
            "url must not have this address ({kind}). The operator of the service can permit its \
             network with --webhook-allow."
        ));
    }
    Ok(())
}
