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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_status() -> impl Strategy<Value = Option<PetStatus>> {
        proptest::option::of((0..3_usize).prop_map(|at| PetStatus::ALL[at]))
    }

    proptest! {
        #[test]
        fn a_cursor_is_valid_only_for_its_own_status(
            id in 1..=PetId::MAX,
            made_for in any_status(),
            used_for in any_status(),
        ) {
            let id = PetId::new(id).unwrap();
            let read = decode(&encode(made_for, id), used_for).ok();
            prop_assert_eq!(read, (made_for == used_for).then_some(id));
        }

        #[test]
        fn a_cursor_needs_no_escaping_in_a_url(id in 1..=PetId::MAX, status in any_status()) {
            let cursor = encode(status, PetId::new(id).unwrap());
            prop_assert!(cursor.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
        }

        #[test]
        fn a_cursor_with_one_changed_character_is_invalid(
            id in 1..=PetId::MAX,
            at in 0..18_usize,
            to in "[A-Za-z0-9_=-]",
        ) {
            let cursor = encode(None, PetId::new(id).unwrap());
            let mut altered = cursor.clone();
            altered.replace_range(at..=at, &to);
            prop_assume!(altered != cursor);
            prop_assert!(decode(&altered, None).is_err());
        }

        #[test]
        fn any_other_text_is_not_a_cursor(text: String) {
            prop_assert!(decode(&text, None).is_err());
        }
    }
}
