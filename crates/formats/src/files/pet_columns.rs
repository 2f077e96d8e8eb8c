//! The columns of CSV, and the members of JSON, that an animal can have: their names, and messages
//! for their invalid values.

use petstore_domain::{PetName, PetStatus};

use crate::json::{self, member_values::IMPORTED_NUMBER_RULE};

pub(super) const ID: &str = "id";
pub(super) const NAME: &str = "name";
pub(super) const CATEGORY_ID: &str = "categoryId";
pub(super) const CATEGORY: &str = "category";
pub(super) const STATUS: &str = "status";
pub(super) const SPECIES: &str = "species";
pub(super) const LISTED: &str = "listed";
pub(super) const FIELDS: &str = "fields";

/// Quotes the beginning of a text from a file, with escapes, for a message.
pub fn quote_beginning(text: &str) -> String {
    format!("{:?}", json::shorten_for_message(text))
}

/// Parses the name of an animal. The error says what is wrong with it.
pub(super) fn parse_name(text: String) -> Result<PetName, String> {
    if text.len() > PetName::MAX_LENGTH {
        return Err(format!("is longer than {} bytes", PetName::MAX_LENGTH));
    }
    PetName::new(text).ok_or_else(|| "must not contain U+0000".to_owned())
}

/// Describes the problem of a text that is not the id of a category.
pub(super) fn describe_invalid_category_id(text: &str) -> String {
    format!(
        "must be an integer from {} to {} without leading zeros, but was {}",
        i64::MIN,
        i64::MAX,
        quote_beginning(text)
    )
}

/// Describes the problem of a text that is not a status.
pub(super) fn describe_invalid_status(text: &str) -> String {
    let [first, second, third] = PetStatus::ALL;
    format!(
        "must be one of {first}, {second} and {third}, but was {}",
        quote_beginning(text)
    )
}

/// Describes the problem of a text that does not say whether the window, the public pages of the
/// store, may show an animal.
pub(super) fn describe_invalid_listed(text: &str) -> String {
    format!("must be true or false, but was {}", quote_beginning(text))
}

/// Describes the problem of a text that is not the id of an animal.
pub(super) fn describe_invalid_id(text: &str) -> String {
    format!(
        "must be {IMPORTED_NUMBER_RULE}, but was {}",
        quote_beginning(text)
    )
}
