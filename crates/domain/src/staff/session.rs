//! Sessions of the staff in the console.

use jiff::Timestamp;

use super::{StaffId, TokenDigest};

/// A session of a member of the staff in one browser, which holds the session's token in a cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffSession {
    /// The digest of the token.
    pub digest: TokenDigest,
    /// The member who signed in.
    pub staff: StaffId,
    /// When the session began, with the password or another first factor.
    pub begun_at: Timestamp,
    /// When the session was last used. The resolution is one minute, because uses are saved once a
    /// minute.
    pub seen_at: Timestamp,
    /// When the member last authenticated completely, including the second factor if there is one.
    /// `None` while the second factor is missing: the session then grants no access yet.
    pub confirmed_at: Option<Timestamp>,
    /// The IP address from which the session began.
    pub address: String,
    /// The shortened `User-Agent` of the browser.
    pub browser: String,
    /// The session at the OpenID provider through which the member signed in, if the provider named
    /// it.
    pub provider_session: Option<String>,
}

impl StaffSession {
    /// The maximum time between two requests, in seconds.
    pub const MAX_IDLE_SECONDS: i64 = 30 * 60;
    /// The maximum duration of a session, in seconds.
    pub const MAX_AGE_SECONDS: i64 = 12 * 60 * 60;
    /// The time after authentication in which sensitive pages (about keys, webhooks and staff) can
    /// be opened without authenticating again, in seconds.
    pub const CONFIRMATION_SECONDS: i64 = 5 * 60;
    /// The minimum time between two saved uses, in seconds.
    const SAVE_INTERVAL_SECONDS: i64 = 60;

    /// Whether the session has not expired yet. It can then be used or, if the second factor is
    /// missing, completed.
    pub fn is_alive_at(&self, now: Timestamp) -> bool {
        seconds_between(self.seen_at, now) < Self::MAX_IDLE_SECONDS
            && seconds_between(self.begun_at, now) < Self::MAX_AGE_SECONDS
    }

    /// Whether the member has authenticated recently enough for sensitive pages.
    pub fn is_confirmed_at(&self, now: Timestamp) -> bool {
        self.confirmed_at.is_some_and(|confirmed_at| {
            seconds_between(confirmed_at, now) < Self::CONFIRMATION_SECONDS
        })
    }

    /// Whether a use at `now` must be saved, because the last save was long enough ago.
    pub fn needs_saving_at(&self, now: Timestamp) -> bool {
        seconds_between(self.seen_at, now) >= Self::SAVE_INTERVAL_SECONDS
    }
}

fn seconds_between(earlier: Timestamp, later: Timestamp) -> i64 {
    later.as_second() - earlier.as_second()
}
