//! Parsers for the values of options and variables, which also validate the values.
//! [`reachable_address`] says how to connect to an address that was parsed.

use std::{
    error::Error,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    num::NonZeroU32,
    ops::RangeInclusive,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use petstore_domain::{
    RateLimit,
    store_area::{Currency, Order, StoreTimeZone},
};
use petstore_store_sqlite as sqlite;

/// The end of the error about an address to listen on.
const ADDRESS_FORM: &str = "an address to listen on is HOST:PORT, such as 127.0.0.1:8080, localhost:8080 \
                            or :8080 for all addresses";

const KIBIBYTE: usize = 1 << 10;
const MEBIBYTE: usize = 1 << 20;

/// The setting of an optional listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListenOrOff {
    Off,
    At(SocketAddr),
}

/// A rate limit such as `600/min`, or `None` for `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateOrOff(pub(super) Option<RateLimit>);

impl FromStr for RateOrOff {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let limit = text.parse().map_err(|error| format!("{error}; or off"))?;
        Ok(Self(Some(limit)))
    }
}

/// Parses an address to listen on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or `:8080` for
/// all IPv4 addresses of the machine. Port 0 means a free port.
pub(super) fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text
        .rsplit_once(':')
        .ok_or_else(|| format!("the port is missing; {ADDRESS_FORM}"))?;
    let port: u16 = port
        .parse()
        .map_err(|_| format!("the port must be from 0 to 65535; {ADDRESS_FORM}"))?;
    if host.is_empty() {
        return Ok((Ipv4Addr::UNSPECIFIED, port).into());
    }
    resolve_host(host, port)
}

/// Resolves a host name to its first IPv4 address, or else to its first address.
fn resolve_host(host: &str, port: u16) -> Result<SocketAddr, String> {
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|_| format!("the host name {host} cannot be resolved; {ADDRESS_FORM}"))?
        .collect();
    let first_ipv4_address = addresses.iter().find(|address| address.is_ipv4());
    first_ipv4_address
        .or(addresses.first())
        .copied()
        .ok_or_else(|| format!("the host name {host} has no address; {ADDRESS_FORM}"))
}

/// Parses an address to listen on, or `off`.
pub(super) fn parse_listen_address_or_off(text: &str) -> Result<ListenOrOff, String> {
    if text == "off" {
        return Ok(ListenOrOff::Off);
    }
    parse_listen_address(text)
        .map(ListenOrOff::At)
        .map_err(|error| format!("{error}, or off"))
}

/// Parses a currency, such as `EUR`.
pub(super) fn parse_currency(text: &str) -> Result<Currency, &'static str> {
    Currency::new(text)
        .ok_or("a currency is a code of ISO 4217, which has three capital letters, such as EUR")
}

/// Parses a time zone, such as `Europe/Berlin`.
pub(super) fn parse_time_zone(text: &str) -> Result<StoreTimeZone, &'static str> {
    StoreTimeZone::from_name(text).ok_or(
        "a time zone has a name of the IANA database, such as Europe/Berlin, America/New_York or UTC",
    )
}

/// Returns a parser for the path of a file that a command may create. It rejects the names of the
/// files that SQLite keeps next to a database, such as `petstore.db-wal`, unless the file exists.
pub(super) fn new_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if sqlite::is_companion(&path) && !path.exists() {
            return Err("SQLite keeps a file of this name next to a database; name another file");
        }
        Ok(path)
    })
}

/// Parses a count of at least 1.
pub(super) fn parse_positive_count(text: &str) -> Result<NonZeroU32, String> {
    text.parse()
        .map_err(|_| format!("it must be an integer from 1 to {}", u32::MAX))
}

/// Parses a Boolean, such as `true`, `yes` or `1`.
pub(super) fn parse_boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Ok(true),
        "false" | "f" | "no" | "n" | "off" | "0" => Ok(false),
        _ => Err("it must be true or false".to_owned()),
    }
}

/// Parses a duration such as `90d`, `12h`, `30s` or `1h 30m`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "it must be a duration, such as 30s, 12h or 90d".to_owned())
}

/// Parses a timeout, from one second to one day.
pub(super) fn parse_timeout(text: &str) -> Result<Duration, String> {
    parse_duration_within(
        text,
        Duration::from_secs(1)..=Duration::from_hours(24),
        "from 1s to 24h",
    )
}

/// Parses the time between two backups, from one second to 365 days.
pub(super) fn parse_backup_interval(text: &str) -> Result<Duration, String> {
    parse_duration_within(
        text,
        Duration::from_secs(1)..=Duration::from_hours(365 * 24),
        "from 1s to 365d",
    )
}

/// Parses how long something is kept. The minimum is a day: a program that follows the log of
/// changes must be able to continue after a night.
pub(super) fn parse_retention(text: &str) -> Result<Duration, String> {
    parse_duration_within(
        text,
        Duration::from_hours(24)..=Duration::MAX,
        "at least 1d",
    )
}

/// Parses how long contacts are kept, up to 400 days.
pub(super) fn parse_contact_retention(text: &str) -> Result<Duration, String> {
    parse_duration_within(
        text,
        Duration::ZERO..=Duration::from_hours(400 * 24),
        "from 0s to 400d",
    )
}

/// Parses the duration of a reservation, from one minute to 400 days.
pub(super) fn parse_reservation_duration(text: &str) -> Result<Duration, String> {
    // Cannot fail: the duration is not negative.
    let longest = Duration::try_from(Order::LONGEST_RESERVATION).unwrap_or_default();
    parse_duration_within(text, Duration::from_mins(1)..=longest, "from 1m to 400d")
}

/// Parses the maximum size of a picture, from 1KiB to 64MiB.
pub(super) fn parse_photo_size(text: &str) -> Result<usize, String> {
    match parse_byte_count(text) {
        Some(size) if (KIBIBYTE..=64 * MEBIBYTE).contains(&size) => Ok(size),
        _ => Err("it must be a size from 1KiB to 64MiB, such as 16MiB".to_owned()),
    }
}

/// Parses a number of bytes, such as `500KiB` or `16MiB`. A number without a unit is a number of
/// bytes.
fn parse_byte_count(text: &str) -> Option<usize> {
    let (number, unit) = if let Some(number) = text.strip_suffix("MiB") {
        (number, MEBIBYTE)
    } else if let Some(number) = text.strip_suffix("KiB") {
        (number, KIBIBYTE)
    } else {
        (text, 1)
    };
    let count: usize = number.trim_end().parse().ok()?;
    count.checked_mul(unit)
}

/// Parses a duration within a range. `range_text` describes the range in the error.
fn parse_duration_within(
    text: &str,
    range: RangeInclusive<Duration>,
    range_text: &str,
) -> Result<Duration, String> {
    let duration = parse_duration(text)?;
    if range.contains(&duration) {
        Ok(duration)
    } else {
        Err(format!("it must be {range_text}"))
    }
}

/// Returns a parser for one of several words, such as the words of
/// [`Role::ALL`](petstore_domain::Role::ALL). The help lists the words.
pub(super) fn one_of<T>(words: &'static [T]) -> impl TypedValueParser<Value = T>
where
    T: AsRef<str> + FromStr<Err: Error + Send + Sync> + Clone + Send + Sync,
{
    let names = words.iter().map(AsRef::as_ref);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// Returns the address at which this machine can connect to a listener: for a listener on all
/// addresses, the loopback address.
pub(super) fn reachable_address(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}
