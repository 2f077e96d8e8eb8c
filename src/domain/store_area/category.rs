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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(super::Text<255>);

impl Label {
    /// `None` if the text is empty, too long, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        if text.is_empty() { None } else { super::Text::new(text).map(Self) }
    }

    /// The label as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}
