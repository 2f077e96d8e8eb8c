//! The change of a member.

#![expect(missing_docs, reason = "a comment says what a name does not")]

/// The new value of a member that may be null (RFC 7396).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    /// Returns the patch with what `change` makes of its value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Keep => Patch::Keep,
            Self::Clear => Patch::Clear,
            Self::Set(value) => Patch::Set(change(value)),
        }
    }

    /// Returns the new value, if it is one.
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}

impl<T: Clone> Patch<T> {
    /// The value after the change.
    pub(super) fn apply(&self, present: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *present = None,
            Self::Set(value) => *present = Some(value.clone()),
        }
    }
}
