//! Changes of the staff, with the sessions that they end or begin.

use super::{StaffMember, StaffSession, TokenDigest};
use crate::store_area::{Act, ActType};

/// A change of a member of the staff and the member's sessions, to be made in one transaction.
#[derive(Debug, Clone)]
pub struct StaffChange {
    /// The version that the change is based on; 0 for a new member. The store rejects the change if
    /// the saved member has a different version.
    pub seen_version: i64,
    /// The member after the change. The version stays the same if only sessions change.
    pub after: StaffMember,
    /// The sessions of the member that the change ends.
    pub ended_sessions: EndedSessions,
    /// The session that the change begins, if it begins one.
    pub new_session: Option<StaffSession>,
    /// The act for the audit trail, if there is one.
    pub act: Option<Act>,
}

/// The sessions of a member that a change ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndedSessions {
    /// No session.
    None,
    /// All sessions.
    All,
    /// All sessions except this one.
    Others(TokenDigest),
    /// Only this session.
    One(TokenDigest),
}

impl StaffChange {
    /// Creates the change that adds a member.
    pub fn adding(member: StaffMember) -> Self {
        let seen_version = 0;
        Self::new(seen_version, member, ActType::StaffAdded)
    }

    /// Creates a change based on `seen_version` that neither ends nor begins sessions. The act for
    /// the audit trail has this type.
    pub fn new(seen_version: i64, after: StaffMember, act_type: ActType) -> Self {
        let act = Some(after.create_act(act_type));
        Self {
            seen_version,
            after,
            ended_sessions: EndedSessions::None,
            new_session: None,
            act,
        }
    }

    /// Returns the change with the sessions that it ends.
    pub fn with_ended_sessions(self, ended_sessions: EndedSessions) -> Self {
        Self {
            ended_sessions,
            ..self
        }
    }
}
