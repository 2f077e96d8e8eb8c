//! The sessions of staff in the console.

use jiff::Timestamp;

use super::{StaffId, TokenDigest};

/// A session of a member of the staff in one browser. The browser has its secret in a cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffSession {
    /// The digest of its secret.
    pub digest: TokenDigest,
    /// Whose it is.
    pub staff: StaffId,
    /// When the password was given.
    pub begun_at: Timestamp,
    /// When it was used last, up to a minute ago.
    pub seen_at: Timestamp,
    /// When the member last proved who they are, with the second factor if there is one. `None` while
    /// that is missing: then it is not a session yet.
    pub confirmed_at: Option<Timestamp>,
    /// From where it began.
    pub address: String,
    /// The description that the browser gives of itself, shortened.
    pub browser: String,
    /// The session at the OpenID provider with which it began, if the provider names it.
    pub provider_session: Option<String>,
}

impl StaffSession {
    /// The longest time between two requests, in seconds.
    pub const MAX_IDLE_SECONDS: i64 = 30 * 60;
    /// The longest time in all, in seconds.
    pub const MAX_AGE_SECONDS: i64 = 12 * 60 * 60;
    /// For how long a proof is enough for what concerns keys, webhooks and staff, in seconds.
    pub const CONFIRMATION_SECONDS: i64 = 5 * 60;
    /// How often the last use is saved, in seconds.
    const SEEN_EVERY: i64 = 60;

    /// Whether it can be used now, or be completed with the second factor.
    pub fn is_alive_at(&self, now: Timestamp) -> bool {
        let age = |since: Timestamp| now.as_second() - since.as_second();
        age(self.seen_at) < Self::MAX_IDLE_SECONDS && age(self.begun_at) < Self::MAX_AGE_SECONDS
    }

    /// Whether the member has proved recently who they are.
    pub fn is_confirmed_at(&self, now: Timestamp) -> bool {
        self.confirmed_at
            .is_some_and(|at| now.as_second() - at.as_second() < Self::CONFIRMATION_SECONDS)
    }

    /// Whether its use is to be saved.
    pub fn is_to_be_saved_at(&self, now: Timestamp) -> bool {
        now.as_second() - self.seen_at.as_second() >= Self::SEEN_EVERY
    }
}
