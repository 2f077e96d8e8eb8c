//! Preconditions of a change (RFC 9110, section 13.1). They prevent a client from overwriting a
//! version that it has not seen.

/// The conditions that a command sets on the present version of its subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preconditions {
    /// The versions to which `If-Match` restricts the change.
    pub if_match: Option<IfMatch>,
    /// Whether the resource must not exist yet: `If-None-Match: *`.
    pub if_absent: bool,
}

impl Preconditions {
    /// Requires that the resource does not exist.
    pub const ABSENT: Self = Self {
        if_match: None,
        if_absent: true,
    };

    /// Requires that the resource exists, in any version.
    pub const PRESENT: Self = Self {
        if_match: Some(IfMatch::Any),
        if_absent: false,
    };

    /// A precondition that no resource meets.
    pub const IMPOSSIBLE: Self = Self {
        if_match: Some(IfMatch::Versions(Vec::new())),
        if_absent: false,
    };

    /// Requires that the resource has exactly this version.
    pub fn version(version: i64) -> Self {
        Self {
            if_match: Some(IfMatch::Versions(vec![version])),
            if_absent: false,
        }
    }

    /// Whether any condition was given.
    pub(super) fn are_given(&self) -> bool {
        self.if_match.is_some() || self.if_absent
    }

    /// Whether the preconditions hold for a resource with this version. `None` means that the
    /// resource does not exist.
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

/// The value of the `If-Match` header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// Any version: `If-Match: *`.
    Any,
    /// The matching versions: 7 for the ETag `"7"`. Empty if none of the listed ETags is the ETag
    /// of a version.
    Versions(Vec<i64>),
}

impl IfMatch {
    /// Returns the matching versions; `None` if any version matches.
    pub fn versions(&self) -> Option<&[i64]> {
        match self {
            Self::Any => None,
            Self::Versions(versions) => Some(versions),
        }
    }
}
