//! Merge patches of nullable members.

/// The change of a nullable member in a JSON merge patch (RFC 7396): an absent member keeps the
/// value, null clears it, and any other value replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Keeps the value.
    #[default]
    Keep,
    /// Clears the value.
    Clear,
    /// Replaces the value by this one.
    Set(T),
}

impl<T> Patch<T> {
    /// Converts the new value, if the patch sets one.
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
    /// Applies the patch to the present value.
    pub(super) fn apply(&self, present: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *present = None,
            Self::Set(value) => *present = Some(value.clone()),
        }
    }
}
