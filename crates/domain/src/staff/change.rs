//! A change of a member of the staff, with the sessions that end or begin with it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{StaffMember, StaffSession, TokenDigest};
use crate::store_area::{Act, ActType};

/// A change of a member of the staff and of the sessions of the member, which is made completely or not at all.
#[derive(Debug, Clone)]
pub struct StaffChange {
    /// The version that was read; 0 for a new member. Nothing is changed if the store has another version.
    pub seen_version: i64,
    /// The member afterwards, with the same version if only sessions change.
    pub after: StaffMember,
    pub ended_sessions: EndedSessions,
    pub new_session: Option<StaffSession>,
    /// The details in the audit trail.
    pub act: Option<Act>,
}

impl StaffChange {
    /// Returns the change that adds a member.
    pub fn adding(member: StaffMember) -> Self {
        Self::new(0, member, ActType::StaffAdded)
    }

    /// Returns a change of the version that was read, which ends and begins no session.
    pub fn new(seen_version: i64, after: StaffMember, act_type: ActType) -> Self {
        let act = Some(after.act(act_type));
        Self {
            seen_version,
            after,
            ended_sessions: EndedSessions::None,
            new_session: None,
            act,
        }
    }

    pub fn with_ended_sessions(self, ended_sessions: EndedSessions) -> Self {
        Self {
            ended_sessions,
            ..self
        }
    }
}

/// The sessions of a member that end with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndedSessions {
    None,
    All,
    /// All sessions except this one.
    Others(TokenDigest),
    One(TokenDigest),
}
