//! Declared members in a form for people, which the tests write into the document of the store area.

use serde_json::{Value, json};

/// Keywords of JSON Schema, as an object.
pub type Keywords = Value;

/// An object with the members that its declaration names.
#[derive(Debug, Clone)]
pub struct DeclaredObject {
    /// The name of the type in the code.
    pub name: &'static str,
    /// The members, in the order of the document.
    pub members: Vec<DeclaredMember>,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct DeclaredMember {
    /// The name in JSON.
    pub name: &'static str,
    /// Whether the object is invalid without the member.
    pub is_required: bool,
    /// Whether the value can be null.
    pub is_nullable: bool,
    /// The keywords of a value that is not null, which follow from its type.
    pub keywords: Keywords,
}

/// Returns the keywords for a text that must be one of `words`.
pub(super) fn keywords_of_words(words: &[&str]) -> Keywords {
    json!({ "type": "string", "enum": words })
}

/// Returns the keywords of a text with this many characters and without U+0000.
pub(super) fn keywords_of_text(min_length: usize, max_length: usize) -> Keywords {
    let mut keywords = json!({ "type": "string" });
    if min_length > 0 {
        keywords["minLength"] = min_length.into();
    }
    keywords["maxLength"] = max_length.into();
    keywords["pattern"] = NO_NULL_CHARACTER.into();
    keywords
}

/// Returns the keywords of an identifier that the service assigns. Files accept only identifiers up to
/// [`HIGHEST_IMPORTED`](petstore_domain::pet::HIGHEST_IMPORTED).
pub(super) fn keywords_of_identifier(highest: i64) -> Keywords {
    json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": highest })
}

/// The pattern of a text without U+0000.
pub(super) const NO_NULL_CHARACTER: &str = r"^[^\x00]*$";
