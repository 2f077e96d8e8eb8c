//! The `cursor` of a `rel="next"` link: the position of a walk.
//!
//! It contains the id after which the next page begins, and the status of the walk. A checksum
//! detects altered cursors; a cursor grants no access, so it needs no secret. The format can
//! change, because its first byte is a version.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    domain::{PetId, PetStatus},
    edge::{ApiError, Problem},
};

const VERSION: u8 = 1;

/// Version, status, and the lower seven bytes of the id, big-endian.
const CHECKED: usize = 9;

/// Plus their CRC-32.
const LENGTH: usize = CHECKED + 4;

/// Encodes the position `after` in a walk over animals with `status`.
pub(crate) fn encode(status: Option<PetStatus>, after: PetId) -> String {
    let mut bytes = [0; LENGTH];
    bytes[0] = VERSION;
    bytes[1] = status_byte(status);
    bytes[2..CHECKED].copy_from_slice(&after.get().to_be_bytes()[1..]);
    let check = crc32fast::hash(&bytes[..CHECKED]);
    bytes[CHECKED..].copy_from_slice(&check.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a position. Fails with 400 if the cursor is invalid, or belongs to a walk with another
/// status.
pub(crate) fn decode(text: &str, status: Option<PetStatus>) -> Result<PetId, ApiError> {
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidCursor, message);
    let (made_for, after) = read(text).ok_or_else(|| {
        invalid("cursor must be taken unchanged from the Link of an earlier page.")
    })?;
    if made_for != status_byte(status) {
        return Err(invalid("cursor belongs to a list with another status filter."));
    }
    Ok(after)
}

fn read(text: &str) -> Option<(u8, PetId)> {
    // The decoder needs space for whole groups of three bytes.
    let mut bytes = [0; LENGTH.next_multiple_of(3)];
    let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
    let (fields, check) = bytes[..length].split_at_checked(CHECKED)?;
    if fields[0] != VERSION || crc32fast::hash(fields).to_be_bytes() != check {
        return None;
    }
    let after = fields[2..].iter().fold(0, |id, &byte| id << 8 | i64::from(byte));
    Some((fields[1], PetId::new(after)?))
}

fn status_byte(status: Option<PetStatus>) -> u8 {
    match status {
        None => b'-',
        Some(PetStatus::Available) => b'a',
        Some(PetStatus::Pending) => b'p',
        Some(PetStatus::Sold) => b's',
    }
}
