//! 429: how often a key may be used, and how often an address may come with
//! keys that are none.

use std::time::Duration;

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use rand::Rng;

use super::error::ApiError;
use crate::domain::{
    ClientAddress, RateLimit,
    rate_limit::{Meter, Reading},
};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Refuses a request that is one too many for its key.
///
/// # Errors
///
/// 429.
pub(super) fn check(key: Option<Reading>) -> Result<(), ApiError> {
    let Some(Reading { limit, within: false, more_in, .. }) = key else {
        return Ok(());
    };
    let (quota, window) = (limit.quota(), limit.window());
    let message =
        format!("This API key is for {quota} requests in {window} s. Try again in {more_in} s.");
    Err(ApiError::rate_limited(message, more_in))
}

/// Says how much of a key's quota is left
/// (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn announce(headers: &mut HeaderMap, key: Reading) {
    let Reading { limit, remaining, more_in, .. } = key;
    let (quota, window) = (limit.quota(), limit.window());
    for (name, value) in [
        (RATE_LIMIT, format!(r#""default";r={remaining};t={more_in}"#)),
        (RATE_LIMIT_POLICY, format!(r#""default";q={quota};w={window}"#)),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// How many meters the addresses share.
const METERS: usize = 1 << 16;

/// Counts requests with keys that are not valid, by the address that they come
/// from.
///
/// A hash with a secret factor says which of a fixed number of meters is an
/// address's own. So this takes the same memory whoever comes, and has nothing
/// to evict. Two addresses may share a meter; nobody can choose with whom, and
/// it harms neither as long as their keys are valid.
pub(super) struct FailedKeys {
    limit: RateLimit,
    factor: u128,
    meters: Box<[Meter]>,
}

impl FailedKeys {
    /// Allows each address `limit` failures.
    pub(super) fn new(limit: RateLimit, random: &mut impl Rng) -> Self {
        let mut factor = [0; 16];
        random.fill_bytes(&mut factor);
        // Odd, so that no bit of an address is lost.
        let factor = u128::from_be_bytes(factor) | 1;
        Self { limit, factor, meters: (0..METERS).map(|_| Meter::default()).collect() }
    }

    /// Refuses an address that has failed too often.
    ///
    /// # Errors
    ///
    /// 429.
    pub(super) fn check(&self, client: ClientAddress, now: Duration) -> Result<(), ApiError> {
        refuse_above(self.meter(client).read(self.limit, now))
    }

    /// Counts a failure.
    ///
    /// # Errors
    ///
    /// 429 if it is one too many.
    pub(super) fn count(&self, client: ClientAddress, now: Duration) -> Result<(), ApiError> {
        refuse_above(self.meter(client).take(self.limit, now))
    }

    fn meter(&self, client: ClientAddress) -> &Meter {
        // Multiply-shift: the highest bits depend on all of the address.
        let product = u128::from_be_bytes(client.octets()).wrapping_mul(self.factor);
        let [first, second, ..] = product.to_be_bytes();
        &self.meters[usize::from(u16::from_be_bytes([first, second]))]
    }
}

fn refuse_above(failures: Reading) -> Result<(), ApiError> {
    if failures.within {
        return Ok(());
    }
    let more_in = failures.more_in;
    let message = format!(
        "Too many requests with invalid API keys came from this address. Try again in {more_in} s."
    );
    Err(ApiError::rate_limited(message, more_in))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv6Addr};

    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::http::error::Problem;

    fn address(network: u64) -> ClientAddress {
        IpAddr::from(Ipv6Addr::from_bits(u128::from(network) << 64)).into()
    }

    fn failed_keys(limit: &str) -> FailedKeys {
        FailedKeys::new(limit.parse().unwrap(), &mut StdRng::seed_from_u64(1))
    }

    const NOW: Duration = Duration::from_secs(1);

    #[test]
    fn an_address_may_fail_so_often_and_others_are_not_its_concern() {
        let failed = failed_keys("3/min");
        let (bad, good) = (address(1), address(2));
        for _ in 0..3 {
            failed.check(bad, NOW).unwrap();
            failed.count(bad, NOW).unwrap();
        }
        for refused in [failed.check(bad, NOW), failed.count(bad, NOW)] {
            assert_eq!(refused.unwrap_err().problem(), Problem::RateLimited);
        }
        failed.check(good, NOW).unwrap();
        failed.check(bad, NOW + Duration::from_secs(20)).unwrap();
    }

    #[test]
    fn a_million_addresses_take_no_more_memory_than_one_and_shut_out_nobody() {
        let failed = failed_keys("600/min");
        let before = (failed.meters.as_ptr(), failed.meters.len());
        for network in 0..1_000_000 {
            failed.count(address(network), NOW).unwrap();
        }
        assert_eq!((failed.meters.as_ptr(), failed.meters.len()), before);
        assert_eq!(size_of_val(&*failed.meters), 512 << 10);
        failed.check(address(1_000_000), NOW).unwrap();
    }

    #[test]
    fn the_fields_say_what_is_left_and_of_what() {
        let meter = Meter::default();
        let limit = "60/min".parse().unwrap();
        let mut headers = HeaderMap::new();
        announce(&mut headers, meter.take(limit, NOW));
        assert_eq!(headers[RATE_LIMIT], r#""default";r=59;t=1"#);
        assert_eq!(headers[RATE_LIMIT_POLICY], r#""default";q=60;w=60"#);
    }
}
