//! The text of the contract that a store prints on the paper of an order.

use super::valid_text::is_paragraph;

/// The text of a contract, in which `{animal}` and `{store}` stand for names. No other brace is possible.
///
/// It is only for paper and for programs of the store, and never public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractText(String);

/// The placeholder for the name of the animal.
const ANIMAL: &str = "{animal}";

/// The placeholder for the name of the store.
const STORE: &str = "{store}";

impl ContractText {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 4_000;

    /// The rule, which completes the sentence "… must be".
    pub const RULE: &'static str = "a string of 1 to 4000 characters, one of them visible, without control characters \
        other than line breaks, with no braces except in {animal} and {store}";

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

    /// Returns the text with these names in place of the placeholders. A placeholder in a name stays as it is.
    ///
    /// Example: `{store} gives {animal} away.` becomes `Paws gives Luna away.`
    pub fn with_names(&self, animal: &str, store: &str) -> String {
        let mut filled_text = String::with_capacity(self.0.len());
        let mut remaining = self.0.as_str();
        while let Some(position) = remaining.find('{') {
            let (before, placeholder) = remaining.split_at(position);
            filled_text.push_str(before);
            if let Some(after) = placeholder.strip_prefix(ANIMAL) {
                filled_text.push_str(animal);
                remaining = after;
            } else {
                filled_text.push_str(store);
                remaining = placeholder.strip_prefix(STORE).unwrap_or_default();
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
    let other_text = text.replace(ANIMAL, "").replace(STORE, "");
    let position = other_text.find(['{', '}'])?;
    let from_brace = &other_text[position..];
    let end = from_brace.find('}').unwrap_or(0);
    Some(from_brace[..=end].to_owned())
}
