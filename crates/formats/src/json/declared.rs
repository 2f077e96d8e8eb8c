//! Descriptions of declared JSON members, from which the tests write parts of the OpenAPI document
//! of the store area.

use serde_json::{Value, json};

/// Keywords of JSON Schema, as an object such as `{"type":"string"}`.
pub type Keywords = Value;

/// A description of an object whose members are declared in the code.
#[derive(Debug, Clone)]
pub struct DeclaredObject {
    /// The name of the type in the code.
    pub name: &'static str,
    /// The members, in the order of the OpenAPI document.
    pub members: Vec<DeclaredMember>,
}

/// A description of a member of an object.
#[derive(Debug, Clone)]
pub struct DeclaredMember {
    /// The name in JSON.
    pub name: &'static str,
    /// Whether the object is invalid without the member.
    pub is_required: bool,
    /// Whether the value can be null.
    pub is_nullable: bool,
    /// The keywords that follow from the type of the value, for a value that is not null.
    pub keywords: Keywords,
}

/// Returns the keywords of a string that must be one of `names`.
pub(super) fn enum_keywords(names: &[&str]) -> Keywords {
    json!({ "type": "string", "enum": names })
}

/// Returns the keywords of a string of `min_length` to `max_length` characters without U+0000.
pub(super) fn string_keywords(min_length: usize, max_length: usize) -> Keywords {
    let mut keywords = json!({ "type": "string" });
    if min_length > 0 {
        keywords["minLength"] = min_length.into();
    }
    keywords["maxLength"] = max_length.into();
    keywords["pattern"] = NO_NULL_CHARACTER.into();
    keywords
}

/// Returns the keywords of an identifier that the service assigns, up to `highest`. Files accept
/// only identifiers up to [`HIGHEST_IMPORTED`](petstore_domain::pet::HIGHEST_IMPORTED).
pub(super) fn identifier_keywords(highest: i64) -> Keywords {
    json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": highest })
}

/// The pattern of a string without U+0000.
pub(super) const NO_NULL_CHARACTER: &str = r"^[^\x00]*$";
