//! The sessions of staff in the console.

use jiff::Timestamp;

use super::{StaffId, TokenDigest};

/// A session of a member of the staff in one browser. The browser has its secret in a cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffSession {
    /// The digest of the secret.
    pub digest: TokenDigest,
    /// The member of the session.
    pub staff: StaffId,
    /// The time at which the member gave the password.
    pub begun_at: Timestamp,
    /// The time of the last use that was saved. Uses are saved once a minute.
    pub seen_at: Timestamp,
    /// The time at which the member last proved who they are, with the second factor if there is one. `None` while
    /// that proof is missing: then this is not a session yet.
    pub confirmed_at: Option<Timestamp>,
    /// The address from which the session began.
    pub address: String,
    /// The description that the browser gives of itself, shortened.
    pub browser: String,
    /// The session at the OpenID provider with which this session began, if the provider names it.
    pub provider_session: Option<String>,
}

impl StaffSession {
    /// The maximum time between two requests, in seconds.
    pub const MAX_IDLE_SECONDS: i64 = 30 * 60;
    /// The maximum time of a session, in seconds.
    pub const MAX_AGE_SECONDS: i64 = 12 * 60 * 60;
    /// The time for which a proof is enough for pages about keys, webhooks and staff, in seconds.
    pub const CONFIRMATION_SECONDS: i64 = 5 * 60;
    /// The time between two saved uses, in seconds.
    const SAVE_INTERVAL_SECONDS: i64 = 60;

    /// Whether the session can be used now, or be completed with the second factor.
    pub fn is_alive_at(&self, now: Timestamp) -> bool {
        seconds_between(self.seen_at, now) < Self::MAX_IDLE_SECONDS
            && seconds_between(self.begun_at, now) < Self::MAX_AGE_SECONDS
    }

    /// Whether the member has proved recently who they are.
    pub fn is_confirmed_at(&self, now: Timestamp) -> bool {
        self.confirmed_at.is_some_and(|confirmed_at| {
            seconds_between(confirmed_at, now) < Self::CONFIRMATION_SECONDS
        })
    }

    /// Whether a use at this time is to be saved.
    pub fn is_to_be_saved_at(&self, now: Timestamp) -> bool {
        seconds_between(self.seen_at, now) >= Self::SAVE_INTERVAL_SECONDS
    }
}

fn seconds_between(earlier: Timestamp, later: Timestamp) -> i64 {
    later.as_second() - earlier.as_second()
}
