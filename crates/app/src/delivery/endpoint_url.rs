//! The URL of an endpoint.

use std::net::IpAddr;

use petstore_domain::Networks;
use petstore_system::addresses::judge;
use url::{Host, Url};

/// The maximum length of a URL, in bytes.
const MAX_LENGTH: usize = 2000;

/// A URL to which messages may be sent, as far as its text shows. Its name is judged at each
/// attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Parses a URL, with the networks that the operator permits. The error says what is wrong and
    /// what is allowed, for a client.
    pub fn parse(text: &str, allowed: &Networks) -> Result<Self, String> {
        let form = "Use the form https://shop.example/hooks.";
        if text.len() > MAX_LENGTH {
            return Err(format!("url must have at most {MAX_LENGTH} characters."));
        }
        // The parser would drop these silently.
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(format!(
                "url must not contain spaces or control characters. {form}"
            ));
        }
        let start = |scheme: &str| {
            let (start, rest) = text.split_at_checked(scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some(rest)
        };
        let rest = start("https://").or_else(|| start("http://"));
        let rest = rest.ok_or_else(|| format!("url must begin with https://. {form}"))?;
        // The parser would take the beginning of the path for the host.
        if rest.starts_with(['/', '\\']) {
            return Err(format!("url must have a host after https://. {form}"));
        }
        let url =
            Url::parse(text).map_err(|_| format!("url has an invalid host or port. {form}"))?;
        if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
            return Err(format!(
                "url must not contain a user name, a password or @. {form}"
            ));
        }
        if text.contains('#') {
            return Err(format!("url must not contain a fragment. {form}"));
        }
        if url.port() == Some(0) {
            return Err(format!(
                "url must have a port between 1 and 65535, or none. {form}"
            ));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
            Some(Host::Domain(_)) | None => None,
        };
        let is_permitted = match address {
            Some(address) => allowed.contain(address),
            None => !allowed.is_empty(),
        };
        match url.scheme() {
            "https" => {}
            _ if is_permitted => {}
            _ => {
                return Err(format!(
                    "url must begin with https://. {form} The operator of the service can permit \
                     plain HTTP into a network with --webhook-allow."
                ));
            }
        }
        if let Some(what) = address.and_then(|address| judge(address, allowed)) {
            return Err(format!(
                "url must not have this address ({what}). The operator of the service can permit its \
                 network with --webhook-allow."
            ));
        }
        Ok(Self(url))
    }

    /// Returns the URL.
    pub fn get(&self) -> &Url {
        &self.0
    }
}
