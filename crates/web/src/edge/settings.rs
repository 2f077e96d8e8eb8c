//! The settings of the edge, and the types of its URLs: the base URL, and the origins that CORS
//! allows.

use std::{str::FromStr, time::Duration};

use hyper::header::HeaderValue;
use petstore_domain::Networks;
use url::Url;

/// The settings with which the edge handles all requests.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The origins whose pages may use the service from a browser.
    pub cors_origins: Vec<Origin>,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: Networks,
    /// Whether local programs, which share the loopback address, are exempt from the limits per
    /// address.
    pub exempts_loopback: bool,
    /// Whether every request is logged, instead of only requests that fail or are slow.
    pub access_log: bool,
    /// How long a request takes at least to be logged as slow.
    pub slow_request: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a request may take, from its head to its response.
    pub request_timeout: Duration,
    /// How many bytes of memory all responses together may occupy until clients have read them.
    pub response_memory: usize,
}

impl Default for Settings {
    /// Returns the settings that `petstore serve` has without options.
    fn default() -> Self {
        Self {
            cors_origins: Vec::new(),
            trusted_proxies: Networks::default(),
            exempts_loopback: true,
            access_log: false,
            slow_request: Duration::from_secs(1),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(45),
            response_memory: 256 << 20,
        }
    }
}

/// The URL at which clients reach a deployment. It ends in `/v1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Returns the URL as text, without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the path: `/v1`, or a longer one behind a proxy that strips a prefix.
    ///
    /// Example: `/petstore/v1`.
    pub fn path(&self) -> &str {
        self.0.path()
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    /// Parses a base URL. The error is a message for the operator.
    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text)
            .map_err(|error| format!("{error}; a base URL must begin with http:// or https://"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("a base URL must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a base URL must not contain a user name or password".to_owned());
        }
        let has_other_parts = url.query().is_some() || url.fragment().is_some();
        if has_other_parts || !url.path().ends_with("/v1") {
            return Err("a base URL must end in /v1, without a query or fragment".to_owned());
        }
        // A link to `//v1/pets` would be relative to the scheme, with `v1` as the host.
        if url.path().starts_with("//") {
            return Err("the path of a base URL must not begin with //".to_owned());
        }
        Ok(Self(url))
    }
}

/// A web origin: scheme, host and port, spelled as a browser sends them in `Origin` (RFC 6454,
/// section 6.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(HeaderValue);

impl Origin {
    /// Returns the origin as text.
    pub fn as_str(&self) -> &str {
        // An origin is ASCII, so the default is never used.
        self.0.to_str().unwrap_or_default()
    }

    /// Returns the origin as the value of a header field.
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl FromStr for Origin {
    type Err = String;

    /// Parses an origin. The error is a message for the operator.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "an origin has the form https://shop.example or http://localhost:3000";
        let url = Url::parse(text).map_err(|error| format!("{error}; {form}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(form.to_owned());
        }
        let origin = url.origin().ascii_serialization();
        if origin != text {
            return Err(format!("browsers send it as {origin}; {form}"));
        }
        match HeaderValue::try_from(origin) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(error.to_string()),
        }
    }
}
