//! Categories and their labels.

use super::Text;

/// A category with a label. Animals refer to categories by number, and a number need not have a
/// label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// The number of the category: any number, chosen by the client.
    pub id: i64,
    /// The name that people see, such as `Dogs`.
    pub label: Label,
    /// Starts at 1 and increases by one with each change. A category that is deleted and created
    /// again starts at 1 again.
    pub version: i64,
}

/// The label of a category or a field: 1 to 255 characters without U+0000.
pub type Label = Text<255, 1>;
