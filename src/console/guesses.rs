//! Limits for guessing passwords and codes: for each name and for each address. A browser in which a
//! member has signed in before has a limit of its own, so no stranger can keep the member out.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::{Duration, Instant},
};

use super::texts;
use crate::{
    domain::{RateLimit, client::ClientAddress, rate_limit::Meter},
    http::ApiError,
};

/// The number of meters of each kind. Names and addresses share meters at random, which nobody can
/// predict, so the memory is fixed.
const METERS: usize = 4096;

/// Counts attempts.
pub(super) struct Guesses {
    names: Vec<Meter>,
    addresses: Vec<Meter>,
    recorded: Meter,
    by_name: Option<RateLimit>,
    by_address: Option<RateLimit>,
    place: RandomState,
    started: Instant,
}

impl Guesses {
    /// Counts from `now` on.
    pub(super) fn new(now: Instant) -> Self {
        let meters = || (0..METERS).map(|_| Meter::default()).collect();
        Self {
            names: meters(),
            addresses: meters(),
            recorded: Meter::default(),
            by_name: "60/h".parse().ok(),
            by_address: "600/h".parse().ok(),
            place: RandomState::new(),
            started: now,
        }
    }

    /// Counts an attempt to sign in with this name. `is_known`: in a browser in which the member
    /// has signed in before. Fails with 429 after too many attempts.
    pub(super) fn take(
        &self,
        name: &str,
        address: IpAddr,
        is_known: bool,
        now: Instant,
    ) -> Result<(), ApiError> {
        let since = now.saturating_duration_since(self.started);
        let of_name = &self.names[self.place(&(name, is_known))];
        let of_address = &self.addresses[self.place(&ClientAddress::from(address))];
        let of_address = self.by_address.filter(|_| !is_known).map(|limit| (of_address, limit));
        let of_name = self.by_name.map(|limit| (of_name, limit));
        for (meter, limit) in of_address.into_iter().chain(of_name) {
            let reading = meter.take(limit, since);
            if !reading.within {
                let message = texts::too_many_attempts(reading.more_in);
                return Err(ApiError::rate_limited(message, reading.more_in));
            }
        }
        Ok(())
    }

    /// Whether a failed attempt is recorded in the audit trail, which strangers must not fill.
    pub(super) fn is_recorded(&self, now: Instant) -> bool {
        let since: Duration = now.saturating_duration_since(self.started);
        self.by_address.is_some_and(|limit| self.recorded.take(limit, since).within)
    }

    fn place(&self, of: &impl std::hash::Hash) -> usize {
        usize::try_from(self.place.hash_one(of) % METERS as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Clock, SystemClock};

    #[test]
    fn a_stranger_uses_up_only_the_attempts_of_strangers() {
        let start = SystemClock.instant();
        let guesses = Guesses::new(start);
        let from = |last: u8| IpAddr::from([192, 0, 2, last]);
        // Many addresses guess one name.
        let mut allowed = 0;
        for address in 0..=255 {
            allowed += usize::from(guesses.take("ana", from(address), false, start).is_ok());
        }
        assert_eq!(allowed, 60);
        // The member signs in where they have signed in before.
        assert!(guesses.take("ana", from(1), true, start).is_ok());
        assert!(guesses.take("ana", from(1), false, start).is_err());
        // A minute later, there is one more attempt.
        let later = start + Duration::from_mins(1);
        assert!(guesses.take("ana", from(1), false, later).is_ok());
        assert!(guesses.take("ana", from(1), false, later).is_err());
    }

    #[test]
    fn one_address_guesses_few_names() {
        let start = SystemClock.instant();
        let guesses = Guesses::new(start);
        let address = IpAddr::from([192, 0, 2, 1]);
        let allowed = |name: &usize| guesses.take(&name.to_string(), address, false, start).is_ok();
        assert_eq!((0..1000).filter(allowed).count(), 600);
    }
}
