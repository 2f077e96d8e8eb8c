//! The label of a category.

/// A label for people, by which they know a `categoryId`. No operation checks that a category has
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Chosen by the client: any number.
    pub id: i64,
    /// Its label.
    pub label: Label,
    /// From 1, one higher with each change. A category that is made again starts at 1.
    pub version: i64,
}

/// The label of a category: 1 to 255 characters without U+0000.
pub type Label = super::Text<255, 1>;
