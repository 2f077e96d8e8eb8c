//! The `cursor` of a `rel="next"` link: the position of a walk.
//!
//! It contains the id after which the next page begins, and the status of the walk. A checksum
//! detects altered cursors; a cursor grants no access, so it needs no secret. The format can
//! change, because its first byte is a version.

use petstore_domain::{PetId, PetStatus, Problem, text::sealed};
use petstore_web::edge::ApiError;

const VERSION: u8 = 1;

/// Encodes the position `after` in a walk over animals with `status`.
pub(crate) fn encode(status: Option<PetStatus>, after: PetId) -> String {
    sealed::encode(&[
        &[VERSION, status_byte(status)],
        &after.get().to_be_bytes()[1..],
    ])
}

/// Decodes a position. Fails with 400 if the cursor is invalid, or belongs to a walk with another
/// status.
pub(crate) fn decode(text: &str, status: Option<PetStatus>) -> Result<PetId, ApiError> {
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidCursor, message);
    let (made_for, after) = read(text).ok_or_else(|| {
        invalid("cursor must be taken unchanged from the Link of an earlier page.")
    })?;
    if made_for != status_byte(status) {
        return Err(invalid(
            "cursor belongs to a list with another status filter.",
        ));
    }
    Ok(after)
}

fn read(text: &str) -> Option<(u8, PetId)> {
    let bytes = sealed::decode(text)?;
    // The id without its first byte, which is 0.
    let &[VERSION, status, ref id @ ..] = &bytes[..] else {
        return None;
    };
    let after = id.iter().fold(0, |id, &byte| id << 8 | i64::from(byte));
    (id.len() == 7).then_some((status, PetId::new(after)?))
}

fn status_byte(status: Option<PetStatus>) -> u8 {
    match status {
        None => b'-',
        Some(PetStatus::Available) => b'a',
        Some(PetStatus::Pending) => b'p',
        Some(PetStatus::Sold) => b's',
    }
}
