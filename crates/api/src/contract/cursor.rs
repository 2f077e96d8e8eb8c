//! The pagination cursors of `listPets`, which appear in `rel="next"` links.
//!
//! A cursor contains the id after which the next page begins, and the status filter of the list. It is valid
//! only for the same filter. A checksum detects altered cursors. A cursor grants no access, so it needs no
//! signature. Its first byte is a version, so the format can change.

use petstore_domain::{PetId, PetStatus, Problem, text::sealed};
use petstore_web::edge::ApiError;

const VERSION: u8 = 1;

/// Encodes the position after the animal `after`, in the list of the animals with `status`.
pub(crate) fn encode(status: Option<PetStatus>, after: PetId) -> String {
    // An id is below 2^53, so its first byte is always 0 and can be left out.
    sealed::encode(&[
        &[VERSION, status_byte(status)],
        &after.get().to_be_bytes()[1..],
    ])
}

/// Decodes a cursor, and returns the id after which the page begins. Fails with 400 if the cursor is
/// invalid, or belongs to a list with another status filter.
pub(crate) fn decode(text: &str, status: Option<PetStatus>) -> Result<PetId, ApiError> {
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidCursor, message);
    let (cursor_status, after) = parse(text).ok_or_else(|| {
        invalid("cursor must be taken unchanged from the Link of an earlier page.")
    })?;
    if cursor_status != status_byte(status) {
        return Err(invalid(
            "cursor belongs to a list with another status filter.",
        ));
    }
    Ok(after)
}

/// Parses the status byte and the id of a cursor.
fn parse(text: &str) -> Option<(u8, PetId)> {
    let bytes = sealed::decode(text)?;
    // The id is encoded without its first byte, which is always 0.
    let &[VERSION, status, ref id @ ..] = &bytes[..] else {
        return None;
    };
    let after = id.iter().fold(0, |id, &byte| id << 8 | i64::from(byte));
    (id.len() == 7).then_some((status, PetId::new(after)?))
}

/// Returns the byte that stands for a status filter in a cursor.
fn status_byte(status: Option<PetStatus>) -> u8 {
    match status {
        None => b'-',
        Some(PetStatus::Available) => b'a',
        Some(PetStatus::Pending) => b'p',
        Some(PetStatus::Sold) => b's',
    }
}
