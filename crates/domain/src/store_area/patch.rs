//! Changes of members that may be null.

#![expect(missing_docs, reason = "a comment says what a name does not")]

/// The change of a member that may be null (RFC 7396): a body without the member keeps the value, null clears it, and any
/// other value is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    /// Converts the new value, if there is one.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Keep => Patch::Keep,
            Self::Clear => Patch::Clear,
            Self::Set(value) => Patch::Set(convert(value)),
        }
    }

    /// Returns the new value; `None` if the patch keeps or clears the value.
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}

impl<T: Clone> Patch<T> {
    /// Changes the present value of the member.
    pub(super) fn apply(&self, present: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *present = None,
            Self::Set(value) => *present = Some(value.clone()),
        }
    }
}
