//! The preconditions of a change (RFC 9110, section 13.1), which keep a client from overwriting a version that it has not
//! seen.

#![expect(missing_docs, reason = "a comment says what a name does not")]

/// The conditions of a command on the present version of its subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preconditions {
    /// `If-Match`.
    pub if_match: Option<IfMatch>,
    /// Whether the resource must not exist: `If-None-Match: *`.
    pub if_absent: bool,
}

impl Preconditions {
    /// The precondition that the resource does not exist.
    pub const ABSENT: Self = Self {
        if_match: None,
        if_absent: true,
    };

    /// The precondition that the resource exists, in any version.
    pub const PRESENT: Self = Self {
        if_match: Some(IfMatch::Any),
        if_absent: false,
    };

    /// The precondition that no resource meets.
    pub const IMPOSSIBLE: Self = Self {
        if_match: Some(IfMatch::Versions(Vec::new())),
        if_absent: false,
    };

    /// Returns the precondition that the resource has exactly this version.
    pub fn version(version: i64) -> Self {
        Self {
            if_match: Some(IfMatch::Versions(vec![version])),
            if_absent: false,
        }
    }

    /// Whether there is a condition at all.
    pub(super) fn are_given(&self) -> bool {
        self.if_match.is_some() || self.if_absent
    }

    /// Whether the preconditions hold for a resource with this version; `None` is a resource that does not exist.
    pub(super) fn hold_for(&self, version: Option<i64>) -> bool {
        let is_match = match (&self.if_match, version) {
            (None, _) | (Some(IfMatch::Any), Some(_)) => true,
            (Some(IfMatch::Versions(versions)), Some(version)) => versions.contains(&version),
            (Some(_), None) => false,
        };
        let exists_unexpectedly = self.if_absent && version.is_some();
        is_match && !exists_unexpectedly
    }
}

/// The value of `If-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    Any,
    /// The versions that match, such as 7 for `"7"`. Empty if no tag of the list is the tag of a version.
    Versions(Vec<i64>),
}

impl IfMatch {
    /// Returns the versions that match; `None` if any version matches.
    pub fn versions(&self) -> Option<&[i64]> {
        match self {
            Self::Any => None,
            Self::Versions(versions) => Some(versions),
        }
    }
}
