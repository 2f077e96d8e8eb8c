//! The template of the contract that a store prints for an order.

use super::valid_text::is_paragraph;

/// The text of a contract, with placeholders such as `{animal}`. Braces are valid only as part of a
/// known placeholder.
///
/// The text is only for printing and for the store's own programs, and is never public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractText(String);

/// A placeholder in the text of a contract, such as `{animal}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// The name of the animal.
    Animal,
    /// The name of the store.
    Store,
    /// The microchip number of the animal.
    Microchip,
    /// The price of the order.
    Fee,
    /// The name of the customer.
    Adopter,
    /// The date of the contract.
    Date,
}

impl Placeholder {
    /// All placeholders.
    const ALL: [Self; 6] = [
        Self::Animal,
        Self::Store,
        Self::Microchip,
        Self::Fee,
        Self::Adopter,
        Self::Date,
    ];

    /// Returns the placeholder as it is written in the text, with its braces.
    fn as_str(self) -> &'static str {
        match self {
            Self::Animal => "{animal}",
            Self::Store => "{store}",
            Self::Microchip => "{microchip}",
            Self::Fee => "{fee}",
            Self::Adopter => "{adopter}",
            Self::Date => "{date}",
        }
    }

    /// Splits off the placeholder with which a text begins, and returns it with the remaining text;
    /// `None` if the text does not begin with a placeholder.
    fn split_from(text: &str) -> Option<(Self, &str)> {
        for placeholder in Self::ALL {
            if let Some(after) = text.strip_prefix(placeholder.as_str()) {
                return Some((placeholder, after));
            }
        }
        None
    }
}

impl ContractText {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 4_000;

    /// The rule, phrased to follow "… must be".
    pub const RULE: &'static str = "a string of 1 to 4000 characters, one of them visible, without control characters \
        other than line breaks, with no braces except in {animal}, {store}, {microchip}, {fee}, {adopter} and {date}";

    /// Validates the text; `None` if it does not follow the rule.
    pub fn new(text: String) -> Option<Self> {
        let is_valid =
            is_paragraph(&text, Self::MAX_LENGTH) && find_unknown_placeholder(&text).is_none();
        is_valid.then_some(Self(text))
    }

    /// Returns the text with its placeholders.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text with each placeholder replaced by its value from `value_of`. Placeholders
    /// within a value are not replaced.
    ///
    /// For example, `{store} gives {animal} away.` becomes `Paws gives Luna away.`
    pub fn fill(&self, value_of: impl Fn(Placeholder) -> String) -> String {
        let mut filled_text = String::with_capacity(self.0.len());
        let mut remaining = self.0.as_str();
        while let Some(position) = remaining.find('{') {
            let (before, from_brace) = remaining.split_at(position);
            filled_text.push_str(before);
            if let Some((placeholder, after)) = Placeholder::split_from(from_brace) {
                filled_text.push_str(&value_of(placeholder));
                remaining = after;
            } else {
                // A validated text has no other braces, so this is only a safeguard.
                filled_text.push('{');
                remaining = &from_brace[1..];
            }
        }
        filled_text.push_str(remaining);
        filled_text
    }
}

/// Returns the first word in braces that is not a known placeholder, or the first unmatched brace.
///
/// For example, `{name} moves in` has the unknown placeholder `{name}`.
pub fn find_unknown_placeholder(text: &str) -> Option<String> {
    let mut remaining = text;
    while let Some(position) = remaining.find(['{', '}']) {
        let from_brace = &remaining[position..];
        let Some((_, after)) = Placeholder::split_from(from_brace) else {
            // A brace that is never closed is returned as it is.
            let end = from_brace.find('}').unwrap_or(0);
            return Some(from_brace[..=end].to_owned());
        };
        remaining = after;
    }
    None
}
