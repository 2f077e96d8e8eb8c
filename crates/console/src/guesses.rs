//! Limits for guessing passwords and codes: for each name and for each address, and of callbacks of the provider with
//! invented codes. A member has another limit in browsers in which they have signed in before. Strangers cannot use it up.

use std::{
    hash::BuildHasher,
    net::IpAddr,
    time::{Duration, Instant},
};

use highway::{HighwayBuildHasher, Key};
use petstore_app::turns::Caller;
use petstore_domain::{RateLimit, StaffId, client::ClientAddress, rate_limit::Meter};
use petstore_languages::console_texts as texts;
use petstore_web::edge::ApiError;
use rand::{RngExt, rngs::StdRng};

/// The number of meters of each kind. Names and addresses share meters at random, which nobody can
/// predict, so the memory is fixed. Members do not share them: there are at most
/// [`StaffMember::MAX`](petstore_domain::staff::StaffMember::MAX), with numbers in sequence.
const METERS: usize = 4096;

/// Counts attempts.
pub(super) struct Guesses {
    /// Of members in browsers that are known.
    members: Vec<Meter>,
    names: Vec<Meter>,
    addresses: Vec<Meter>,
    /// Of codes of the provider: of members in browsers that are known, and of addresses.
    codes_of_members: Vec<Meter>,
    codes_of_addresses: Vec<Meter>,
    recorded: Meter,
    by_name: Option<RateLimit>,
    by_address: Option<RateLimit>,
    place: HighwayBuildHasher,
    started: Instant,
}

impl Guesses {
    /// Counts from `now` on.
    pub(super) fn new(now: Instant, random: &mut StdRng) -> Self {
        let meters = || (0..METERS).map(|_| Meter::default()).collect();
        Self {
            members: meters(),
            names: meters(),
            addresses: meters(),
            codes_of_members: meters(),
            codes_of_addresses: meters(),
            recorded: Meter::default(),
            by_name: "60/h".parse().ok(),
            by_address: "600/h".parse().ok(),
            place: HighwayBuildHasher::new(Key(random.random())),
            started: now,
        }
    }

    /// Counts an attempt to sign in with this name. `known`: the member, in a browser in which the
    /// member has signed in before. Fails with 429 after too many attempts.
    pub(super) fn take(
        &self,
        name: &str,
        address: IpAddr,
        known: Option<StaffId>,
        now: Instant,
    ) -> Result<(), ApiError> {
        if let Some(member) = known {
            return self.count(&self.members[place_of(member)], self.by_name, now);
        }
        let address = &self.addresses[self.place(&ClientAddress::from(address))];
        self.count(address, self.by_address, now)?;
        self.count(&self.names[self.place(&name)], self.by_name, now)
    }

    /// Counts a code that the provider is asked about. Fails with 429 after too many invented ones.
    pub(super) fn take_code(&self, caller: Caller, now: Instant) -> Result<(), ApiError> {
        self.count(self.codes_of(caller), self.by_address, now)
    }

    /// Forgets a code that the provider had made, so only invented ones count.
    pub(super) fn give_code_back(&self, caller: Caller) {
        if let Some(limit) = self.by_address {
            self.codes_of(caller).give_back(limit);
        }
    }

    fn codes_of(&self, caller: Caller) -> &Meter {
        match caller {
            Caller::Known(member) => &self.codes_of_members[place_of(member)],
            Caller::Stranger(_) | Caller::Shared => &self.codes_of_addresses[self.place(&caller)],
        }
    }

    fn count(&self, meter: &Meter, limit: Option<RateLimit>, now: Instant) -> Result<(), ApiError> {
        let Some(limit) = limit else { return Ok(()) };
        let reading = meter.take(limit, now.saturating_duration_since(self.started));
        if reading.within {
            return Ok(());
        }
        let message = texts().too_many_attempts(reading.more_in.div_ceil(60));
        Err(ApiError::rate_limited(message, reading.more_in))
    }

    /// Whether a failed attempt is recorded in the audit trail, which strangers must not fill.
    pub(super) fn is_recorded(&self, now: Instant) -> bool {
        let since: Duration = now.saturating_duration_since(self.started);
        self.by_address
            .is_some_and(|limit| self.recorded.take(limit, since).within)
    }

    fn place(&self, of: &impl std::hash::Hash) -> usize {
        usize::try_from(self.place.hash_one(of) % METERS as u64).unwrap_or_default()
    }
}

/// The place of the meter of a member.
fn place_of(member: StaffId) -> usize {
    usize::try_from(member.0).unwrap_or_default() % METERS
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use petstore_domain::{Clock, SystemClock, staff::StaffMember};

    fn guesses(start: Instant) -> Guesses {
        Guesses::new(start, &mut StdRng::seed_from_u64(1))
    }

    #[test]
    fn a_stranger_uses_up_only_the_attempts_of_strangers() {
        let start = SystemClock.instant();
        let guesses = guesses(start);
        let from = |last: u8| IpAddr::from([192, 0, 2, last]);
        // Many addresses guess one name.
        let mut allowed = 0;
        for address in 0..=255 {
            allowed += usize::from(guesses.take("ana", from(address), None, start).is_ok());
        }
        assert_eq!(allowed, 60);
        // The member signs in where they have signed in before.
        assert!(
            guesses
                .take("ana", from(1), Some(StaffId(1)), start)
                .is_ok()
        );
        assert!(guesses.take("ana", from(1), None, start).is_err());
        // A minute later, there is one more attempt.
        let later = start + Duration::from_mins(1);
        assert!(guesses.take("ana", from(1), None, later).is_ok());
        assert!(guesses.take("ana", from(1), None, later).is_err());
    }

    #[test]
    fn strangers_who_fill_the_meters_of_all_names_leave_each_member_all_attempts() {
        let start = SystemClock.instant();
        let guesses = guesses(start);
        let mut address = 0_u32;
        for name in 0..3 * METERS {
            for _ in 0..60 {
                address += 1;
                let _ = guesses.take(&name.to_string(), address.to_be_bytes().into(), None, start);
            }
        }
        for member in 1..=StaffMember::MAX {
            let known = Some(StaffId(member));
            let take = || {
                guesses
                    .take("ana", [192, 0, 2, 1].into(), known, start)
                    .is_ok()
            };
            assert_eq!((0..61).filter(|_| take()).count(), 60, "{member}");
        }
    }

    #[test]
    fn only_invented_codes_count_and_those_of_strangers_leave_members_theirs() {
        let start = SystemClock.instant();
        let guesses = guesses(start);
        let stranger = Caller::Stranger(IpAddr::from([192, 0, 2, 1]).into());
        for _ in 0..1000 {
            assert!(guesses.take_code(stranger, start).is_ok());
            guesses.give_code_back(stranger);
        }
        let allowed = (0..1000)
            .filter(|_| guesses.take_code(stranger, start).is_ok())
            .count();
        assert_eq!(allowed, 600);
        let other = Caller::Stranger(IpAddr::from([192, 0, 2, 2]).into());
        for caller in [other, Caller::Known(StaffId(1))] {
            assert!(guesses.take_code(caller, start).is_ok(), "{caller:?}");
        }
    }

    #[test]
    fn one_address_guesses_few_names() {
        let start = SystemClock.instant();
        let guesses = guesses(start);
        let address = IpAddr::from([192, 0, 2, 1]);
        let allowed = |name: &usize| {
            guesses
                .take(&name.to_string(), address, None, start)
                .is_ok()
        };
        assert_eq!((0..1000).filter(allowed).count(), 600);
    }
}
