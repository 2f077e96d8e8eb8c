//! The text of the contract that a store prints on the paper of an order.

use super::valid_text::is_paragraph;

/// The text of a contract, in which placeholders such as `{animal}` stand for values. No other brace is possible.
///
/// It is only for paper and for programs of the store, and never public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractText(String);

/// A word in braces that stands for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// The name of the animal.
    Animal,
    /// The name of the store.
    Store,
    /// The number of the microchip of the animal.
    Microchip,
    /// The price of the order.
    Fee,
    /// The name of the customer.
    Adopter,
    /// The day of the contract.
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

    /// Returns the placeholder as the text of a contract has it.
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

    /// Returns the placeholder with which a text begins, and the text after it; `None` if the text begins with none.
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

    /// The rule, which completes the sentence "… must be".
    pub const RULE: &'static str = "a string of 1 to 4000 characters, one of them visible, without control characters \
        other than line breaks, with no braces except in {animal}, {store}, {microchip}, {fee}, {adopter} and {date}";

    /// Returns the text; `None` if it does not follow the rule.
    pub fn new(text: String) -> Option<Self> {
        let is_valid =
            is_paragraph(&text, Self::MAX_LENGTH) && unknown_placeholder(&text).is_none();
        is_valid.then_some(Self(text))
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text with the values of `value_of` in place of the placeholders. A placeholder in a value stays as it
    /// is.
    ///
    /// Example: `{store} gives {animal} away.` becomes `Paws gives Luna away.`
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
                filled_text.push('{');
                remaining = &from_brace[1..];
            }
        }
        filled_text.push_str(remaining);
        filled_text
    }
}

/// Returns the first word in braces that is no placeholder, or a brace that has no other; `None` if there is none.
///
/// Example: `{name} moves in` has the unknown placeholder `{name}`.
pub fn unknown_placeholder(text: &str) -> Option<String> {
    let mut remaining = text;
    while let Some(position) = remaining.find(['{', '}']) {
        let from_brace = &remaining[position..];
        let Some((_, after)) = Placeholder::split_from(from_brace) else {
            let end = from_brace.find('}').unwrap_or(0);
            return Some(from_brace[..=end].to_owned());
        };
        remaining = after;
    }
    None
}
