//! Settings, validated when they are read.

use std::{
    net::{Ipv4Addr, SocketAddr, ToSocketAddrs},
    num::NonZeroU32,
    str::FromStr,
    time::Duration,
};

use clap::{ValueEnum, builder::PossibleValue};
use hyper::header::HeaderValue;
use url::Url;

use crate::domain::{Deployment, RateLimit, Scope, store_area::Order};
pub use crate::store::DatabaseUrl;

/// The URL at which clients reach a deployment; ends in `/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// The URL as text, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The path: `/v1`, or a longer one behind a proxy that removes the first part.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.path()
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text)
            .map_err(|error| format!("{error}; a base URL must begin with http:// or https://"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("a base URL must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("a base URL must not contain a user name or password".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() || !url.path().ends_with("/v1") {
            return Err("a base URL must end in /v1, without a query or fragment".to_owned());
        }
        // In a link to //v1/pets, v1 would be the host.
        if url.path().starts_with("//") {
            return Err("the path of a base URL must not begin with //".to_owned());
        }
        Ok(Self(url))
    }
}

/// The origin of pages: scheme, host and port, as a browser writes them in
/// `Origin` (RFC 6454, section 6.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(HeaderValue);

impl Origin {
    /// The value for a header field.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl FromStr for Origin {
    type Err = String;

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
        HeaderValue::try_from(origin).map(Self).map_err(|error| error.to_string())
    }
}

/// Parses an address to listen on: `127.0.0.1:8080`, `[::1]:8080`,
/// `localhost:8080`, or `:8080` for all IPv4 addresses of the machine. Resolves a
/// host name, and prefers its first IPv4 address. Port 0 means a free port.
///
/// # Errors
///
/// Fails if the text is not an address, or the host name is unknown.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let form = "an address to listen on is HOST:PORT, such as 127.0.0.1:8080, localhost:8080 \
                or :8080 for all addresses";
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) =
        text.rsplit_once(':').ok_or_else(|| format!("the port is missing; {form}"))?;
    let port: u16 =
        port.parse().map_err(|_| format!("the port must be from 0 to 65535; {form}"))?;
    if host.is_empty() {
        return Ok((Ipv4Addr::UNSPECIFIED, port).into());
    }
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| format!("the host name {host} cannot be resolved; {form}"))?
        .collect();
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    first.copied().ok_or_else(|| format!("the host name {host} has no address; {form}"))
}

/// Parses a count of at least 1.
///
/// # Errors
///
/// Fails if the value is not allowed.
pub fn count(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("it must be an integer from 1 to {}", u32::MAX))
}

/// Parses a switch: true or false.
///
/// # Errors
///
/// Fails if the value is not allowed.
pub fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("it must be true or false".to_owned()),
    }
}

/// Parses a duration such as `90d`, `12h`, `30s` or `1h 30m`.
///
/// # Errors
///
/// Fails if the value is not allowed.
pub fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("{error}; a duration has the form 90d, 12h or 30s"))
}

/// Parses a duration of one second to one day.
///
/// # Errors
///
/// Fails if the value is not allowed.
pub fn timeout(text: &str) -> Result<Duration, String> {
    let timeout = duration(text)?;
    if timeout < Duration::from_secs(1) || timeout > Duration::from_hours(24) {
        return Err("it must be from 1s to 24h".to_owned());
    }
    Ok(timeout)
}

/// Parses the duration of a reservation: one minute to 400 days.
///
/// # Errors
///
/// Fails if the value is not allowed.
pub fn reservation(text: &str) -> Result<Duration, String> {
    let longest = Duration::try_from(Order::LONGEST_RESERVATION).unwrap_or_default();
    let reservation = duration(text)?;
    if reservation < Duration::from_mins(1) || reservation > longest {
        return Err("it must be from 1m to 400d".to_owned());
    }
    Ok(reservation)
}

/// A rate such as `600/min`, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateOrOff(pub Option<RateLimit>);

impl FromStr for RateOrOff {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self(None)),
            rate => {
                let limit = rate.parse().map_err(|error| format!("{error}; or off"))?;
                Ok(Self(Some(limit)))
            }
        }
    }
}

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

impl ValueEnum for Deployment {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_from_a_second_to_a_day() {
        assert_eq!(timeout("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(timeout("24h"), Ok(Duration::from_hours(24)));
        for other in ["0s", "999ms", "2days", "30", ""] {
            assert!(timeout(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_base_url_is_http_and_ends_in_v1() {
        for good in ["https://pets.example/v1", "http://127.0.0.1:8080/shop/v1"] {
            assert_eq!(good.parse::<BaseUrl>().unwrap().as_str(), good);
        }
        for bad in [
            "pets.example/v1",
            "ftp://pets.example/v1",
            "https://pets.example/",
            "https://pets.example/v1/",
            "https://pets.example/v2",
            "https://pets.example//v1",
            "https://pets.example/v1?x=1",
            "https://pets.example/v1#x",
            "https://me:secret@pets.example/v1",
            "",
        ] {
            assert!(bad.parse::<BaseUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for good in ["https://shop.example", "http://localhost:3000", "https://[::1]:8443"] {
            assert_eq!(good.parse::<Origin>().unwrap().header_value(), good);
        }
        for bad in [
            "*",
            "null",
            "",
            "shop.example",
            "ftp://shop.example",
            "https://Shop.example",
            "https://shop.example/",
            "https://shop.example:443",
            "https://me@shop.example",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_to_listen_on_may_have_a_name_or_no_host() {
        for (text, address) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
            (":8080", "0.0.0.0:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
        ] {
            assert_eq!(listen_address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for bad in ["", "8080", "localhost", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:http"] {
            let reason = listen_address(bad).unwrap_err();
            assert!(reason.contains("HOST:PORT"), "{bad}: {reason}");
        }
    }

    #[test]
    fn a_rate_can_be_off() {
        assert_eq!("off".parse(), Ok(RateOrOff(None)));
        assert_eq!("9/s".parse(), Ok(RateOrOff("9/s".parse().ok())));
        for bad in ["", "Off", "0/s", "600"] {
            assert!(bad.parse::<RateOrOff>().unwrap_err().ends_with("; or off"), "{bad}");
        }
    }

    #[test]
    fn a_reservation_lasts_from_a_minute_to_400_days() {
        for (text, days) in [("14d", 14), ("400d", 400), ("24h", 1)] {
            assert_eq!(reservation(text), Ok(Duration::from_hours(24 * days)), "{text}");
        }
        assert_eq!(reservation("1m"), Ok(Duration::from_mins(1)));
        for outside in ["59s", "0s", "400d 1s"] {
            assert_eq!(reservation(outside).unwrap_err(), "it must be from 1m to 400d");
        }
    }

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(duration("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(duration("12h"), Ok(Duration::from_hours(12)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        for bad in ["", "90", "d", "-1d", "1 fortnight"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
