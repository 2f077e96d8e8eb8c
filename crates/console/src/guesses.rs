//! Rate limits that prevent guessing.
//!
//! Attempts to sign in with a password or a code are limited for each name and from each address.
//! Attempts from a member's [known browsers](super::known_browsers) have a limit of their own,
//! which strangers cannot exhaust. Authorization codes of the OpenID provider are limited, too.

use std::{
    hash::{BuildHasher, Hash},
    net::IpAddr,
    time::{Duration, Instant},
};

use highway::{HighwayBuildHasher, Key};
use petstore_app::turns::Caller;
use petstore_domain::{RateLimit, StaffId, client::ClientAddress, rate_limit::Meter};
use petstore_languages::console_texts as texts;
use petstore_web::edge::ApiError;
use rand::{RngExt, rngs::StdRng};

/// The number of meters in each table, which bounds the memory.
///
/// A hash with a random key assigns each name and each address to a meter, so nobody can predict
/// which names share one. Members never share a meter, because their numbers are consecutive, and
/// there are at most [`StaffMember::MAX`](petstore_domain::staff::StaffMember::MAX), which is less.
const METER_COUNT: usize = 4096;

/// The limit of attempts for one name or one member. People mistype a few times, and a program that
/// guesses gets nowhere at this rate.
const NAME_LIMIT: &str = "60/h";

/// The limit of attempts from one address. It is higher than [`NAME_LIMIT`], because many people
/// can share an address. It also applies to the authorization codes of one caller, and to the
/// failures in the audit trail.
const ADDRESS_LIMIT: &str = "600/h";

const SECONDS_PER_MINUTE: u64 = 60;

/// The meters that count attempts to guess passwords and codes.
pub(super) struct Guesses {
    /// Attempts of members from their known browsers.
    member_meters: Vec<Meter>,
    /// Attempts from other browsers, by name.
    name_meters: Vec<Meter>,
    /// Attempts from other browsers, by address.
    address_meters: Vec<Meter>,
    /// Authorization codes from known browsers of members.
    member_code_meters: Vec<Meter>,
    /// Authorization codes from other browsers, by address.
    address_code_meters: Vec<Meter>,
    /// Failed attempts that the audit trail records.
    audit_meter: Meter,
    /// The parsed [`NAME_LIMIT`], which is valid, so this is never `None`.
    name_limit: Option<RateLimit>,
    /// The parsed [`ADDRESS_LIMIT`], which is valid, so this is never `None`.
    address_limit: Option<RateLimit>,
    /// The keyed hash that chooses the meter of a name or an address.
    hasher: HighwayBuildHasher,
    start: Instant,
}

impl Guesses {
    /// Returns unused meters, which measure time from `start`.
    pub(super) fn new(start: Instant, random: &mut StdRng) -> Self {
        Self {
            member_meters: new_meters(),
            name_meters: new_meters(),
            address_meters: new_meters(),
            member_code_meters: new_meters(),
            address_code_meters: new_meters(),
            audit_meter: Meter::default(),
            name_limit: NAME_LIMIT.parse().ok(),
            address_limit: ADDRESS_LIMIT.parse().ok(),
            hasher: HighwayBuildHasher::new(Key(random.random())),
            start,
        }
    }

    /// Counts a sign-in attempt with a name. Fails with 429 after too many attempts with this name
    /// or from this address.
    ///
    /// `known_member` is the member with this name, if the attempt comes from one of the member's
    /// known browsers. Then only the member's own limit applies.
    pub(super) fn count_attempt(
        &self,
        name: &str,
        address: IpAddr,
        known_member: Option<StaffId>,
        now: Instant,
    ) -> Result<(), ApiError> {
        if let Some(member) = known_member {
            let meter = &self.member_meters[member_index(member)];
            return self.count(meter, self.name_limit, now);
        }
        // The address is counted first, so that strangers who have used up its attempts take none
        // from the name.
        let address_index = self.hash_index(&ClientAddress::from(address));
        self.count(&self.address_meters[address_index], self.address_limit, now)?;
        let name_index = self.hash_index(&name);
        self.count(&self.name_meters[name_index], self.name_limit, now)
    }

    /// Counts an authorization code before it is redeemed at the provider. Fails with 429 after too
    /// many codes that were not [refunded](Self::refund_code).
    pub(super) fn count_code(&self, caller: Caller, now: Instant) -> Result<(), ApiError> {
        self.count(self.code_meter(caller), self.address_limit, now)
    }

    /// Refunds an authorization code that the provider did not reject, so that only invented codes
    /// count in the end.
    pub(super) fn refund_code(&self, caller: Caller) {
        if let Some(limit) = self.address_limit {
            self.code_meter(caller).refund(limit);
        }
    }

    /// Returns the meter for the authorization codes of a caller.
    fn code_meter(&self, caller: Caller) -> &Meter {
        match caller {
            Caller::Known(member) => &self.member_code_meters[member_index(member)],
            Caller::Stranger(_) | Caller::Shared => {
                &self.address_code_meters[self.hash_index(&caller)]
            }
        }
    }

    /// Counts an attempt on a meter. Fails with 429 if the limit is reached. Without a limit, every
    /// attempt is allowed.
    fn count(&self, meter: &Meter, limit: Option<RateLimit>, now: Instant) -> Result<(), ApiError> {
        let Some(limit) = limit else { return Ok(()) };
        let reading = meter.take(limit, self.elapsed(now));
        if reading.is_within_limit {
            return Ok(());
        }
        let message =
            texts().too_many_attempts(reading.refill_seconds.div_ceil(SECONDS_PER_MINUTE));
        Err(ApiError::rate_limited(message, reading.refill_seconds))
    }

    /// Counts a failed attempt, and returns whether the audit trail should record the failure. The
    /// limit prevents strangers from flooding the audit trail.
    pub(super) fn count_failure(&self, now: Instant) -> bool {
        match self.address_limit {
            Some(limit) => {
                let reading = self.audit_meter.take(limit, self.elapsed(now));
                reading.is_within_limit
            }
            None => false,
        }
    }

    /// Returns the time since the start, by which the meters measure.
    fn elapsed(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.start)
    }

    /// Returns the index of the meter for a name or an address.
    fn hash_index(&self, value: &impl Hash) -> usize {
        let index = self.hasher.hash_one(value) % METER_COUNT as u64;
        // Never fails, because the index is less than `METER_COUNT`.
        usize::try_from(index).unwrap_or_default()
    }
}

/// Returns a table of unused meters.
fn new_meters() -> Vec<Meter> {
    (0..METER_COUNT).map(|_| Meter::default()).collect()
}

/// Returns the index of a member's meter.
fn member_index(member: StaffId) -> usize {
    // Never fails, because ids are positive.
    usize::try_from(member.0).unwrap_or_default() % METER_COUNT
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use petstore_domain::{Clock, SystemClock, staff::StaffMember};

    fn new_guesses(start: Instant) -> Guesses {
        Guesses::new(start, &mut StdRng::seed_from_u64(1))
    }

    #[test]
    fn a_stranger_uses_up_only_the_attempts_of_strangers() {
        let start = SystemClock.instant();
        let guesses = new_guesses(start);
        let is_allowed = |last_byte: u8, known_member, now| {
            let address = IpAddr::from([192, 0, 2, last_byte]);
            guesses
                .count_attempt("ana", address, known_member, now)
                .is_ok()
        };
        // Many addresses guess the password of one name.
        let allowed_count = (0..=255)
            .filter(|last_byte| is_allowed(*last_byte, None, start))
            .count();
        assert_eq!(allowed_count, 60);
        // The member signs in with a known browser.
        assert!(is_allowed(1, Some(StaffId(1)), start));
        assert!(!is_allowed(1, None, start));
        // A minute later, one more attempt is allowed.
        let minute_later = start + Duration::from_mins(1);
        assert!(is_allowed(1, None, minute_later));
        assert!(!is_allowed(1, None, minute_later));
    }

    #[test]
    fn strangers_who_fill_the_meters_of_all_names_leave_each_member_all_attempts() {
        let start = SystemClock.instant();
        let guesses = new_guesses(start);
        let mut address = 0_u32;
        for name in 0..3 * METER_COUNT {
            for _ in 0..60 {
                address += 1;
                let _ = guesses.count_attempt(
                    &name.to_string(),
                    address.to_be_bytes().into(),
                    None,
                    start,
                );
            }
        }
        for member in 1..=StaffMember::MAX {
            let known_member = Some(StaffId(member));
            let member_address = IpAddr::from([192, 0, 2, 1]);
            let allowed_count = (0..61)
                .filter(|_| {
                    guesses
                        .count_attempt("ana", member_address, known_member, start)
                        .is_ok()
                })
                .count();
            assert_eq!(allowed_count, 60, "member {member}");
        }
    }

    #[test]
    fn only_invented_codes_count_and_those_of_strangers_leave_members_theirs() {
        let start = SystemClock.instant();
        let guesses = new_guesses(start);
        let stranger = Caller::Stranger(IpAddr::from([192, 0, 2, 1]).into());
        for _ in 0..1000 {
            assert!(guesses.count_code(stranger, start).is_ok());
            guesses.refund_code(stranger);
        }
        let allowed_count = (0..1000)
            .filter(|_| guesses.count_code(stranger, start).is_ok())
            .count();
        assert_eq!(allowed_count, 600);
        let other_stranger = Caller::Stranger(IpAddr::from([192, 0, 2, 2]).into());
        for caller in [other_stranger, Caller::Known(StaffId(1))] {
            assert!(guesses.count_code(caller, start).is_ok(), "{caller:?}");
        }
    }

    #[test]
    fn one_address_guesses_few_names() {
        let start = SystemClock.instant();
        let guesses = new_guesses(start);
        let address = IpAddr::from([192, 0, 2, 1]);
        let allowed_count = (0..1000)
            .filter(|name| {
                guesses
                    .count_attempt(&name.to_string(), address, None, start)
                    .is_ok()
            })
            .count();
        assert_eq!(allowed_count, 600);
    }
}
