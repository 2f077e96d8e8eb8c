//! The label of a category.

/// A category with a label, by which people know its number. An animal can also have the number of a category
/// without a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Chosen by the client: any number.
    pub id: i64,
    /// The label for people.
    pub label: Label,
    /// From 1, one higher with each change. A category that is made again starts at 1.
    pub version: i64,
}

/// The label of a category: 1 to 255 characters without U+0000.
pub type Label = super::Text<255, 1>;
