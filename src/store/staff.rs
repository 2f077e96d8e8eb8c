//! The staff of a store, and their sessions.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::{
    StaffId, WriteContext,
    staff::{StaffChange, StaffMember, StaffSession, TokenDigest},
    store_area::Act,
};

/// Stores who may use the console.
#[async_trait]
pub trait Staff: Send + Sync {
    /// Every member, also disabled ones, in ascending order of number.
    async fn list_staff(&self) -> Result<Vec<StaffMember>, StoreError>;

    /// A member, disabled or not.
    async fn find_staff(&self, by: StaffKey) -> Result<Option<StaffMember>, StoreError>;

    /// Makes a change of a member and their sessions, completely or not at all.
    async fn write_staff(
        &self,
        change: StaffChange,
        context: WriteContext,
    ) -> Result<StaffWritten, StoreError>;

    /// A session that has not been ended, with its member. It may have expired.
    async fn find_session(
        &self,
        digest: TokenDigest,
    ) -> Result<Option<(StaffSession, StaffMember)>, StoreError>;

    /// The sessions of a member, or of all, that have not been ended, in the order in which they began.
    async fn list_sessions(&self, of: Option<StaffId>) -> Result<Vec<StaffSession>, StoreError>;

    /// Records when a session was used. Ignores an earlier time, and an ended session.
    async fn touch_session(&self, digest: TokenDigest, at: Timestamp) -> Result<(), StoreError>;

    /// Ends sessions that were last used, or began, at or before these times, and returns how many.
    async fn forget_sessions(&self, seen: Timestamp, begun: Timestamp)
    -> Result<usize, StoreError>;

    /// Records an act that changes nothing, such as a failed attempt to sign in.
    async fn record_act(&self, act: Act, context: WriteContext) -> Result<(), StoreError>;
}

/// By what a member is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StaffKey {
    Id(StaffId),
    /// The name without regard to case and accents. See [`crate::domain::StaffName::key`].
    Name(String),
    /// The link with which the member chooses a password.
    Link(TokenDigest),
}

/// The result of [`Staff::write_staff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaffWritten {
    Done(StaffId),
    /// Nothing was done: the member has another version.
    Stale,
    /// Nothing was done: another member has this name.
    NameTaken,
    /// Nothing was done: there are [`StaffMember::MAX`] members.
    Full,
}
