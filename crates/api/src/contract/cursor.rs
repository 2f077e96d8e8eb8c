//! The pagination cursors of `listPets`, which appear in `rel="next"` links.
//!
//! A cursor contains the id after which the next page begins, and the status filter of the list. It is valid
//! only for the same filter. A checksum detects altered cursors. A cursor grants no access, so it needs no
//! signature. Its first byte is a version, so the format can change.

use petstore_domain::{PetId, PetStatus, Problem, text::sealed};
use petstore_web::edge::ApiError;

/// The first byte of each cursor.
const VERSION: u8 = 1;

/// The number of bytes of an id in a cursor. An id is below 2^53, so its first byte is always 0 and left out.
const ID_BYTES: usize = 7;

/// A parsed cursor.
struct Cursor {
    status_byte: u8,
    /// The id after which the page begins.
    after: PetId,
}

/// Encodes the position after the animal `after`, in the list of the animals with `status`.
pub(crate) fn encode(status: Option<PetStatus>, after: PetId) -> String {
    let [_, id @ ..] = &after.get().to_be_bytes();
    sealed::encode(&[&[VERSION, status_byte(status)], id])
}

/// Decodes a cursor, and returns the id after which the page begins. Fails with 400 if the cursor is
/// invalid, or belongs to a list with another status filter.
pub(crate) fn decode(text: &str, status: Option<PetStatus>) -> Result<PetId, ApiError> {
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidCursor, message);
    let cursor = parse(text).ok_or_else(|| {
        invalid("cursor must be taken unchanged from the Link of an earlier page.")
    })?;
    if cursor.status_byte != status_byte(status) {
        return Err(invalid(
            "cursor belongs to a list with another status filter.",
        ));
    }
    Ok(cursor.after)
}

/// Parses a cursor. Returns `None` if it is malformed.
fn parse(text: &str) -> Option<Cursor> {
    let bytes = sealed::decode(text)?;
    let &[VERSION, status_byte, ref id_bytes @ ..] = &bytes[..] else {
        return None;
    };
    if id_bytes.len() != ID_BYTES {
        return None;
    }
    let id = id_bytes
        .iter()
        .fold(0, |id, &byte| id << 8 | i64::from(byte));
    let after = PetId::new(id)?;
    Some(Cursor { status_byte, after })
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
