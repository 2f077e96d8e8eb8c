//! Cursors into the journal of changes, as opaque texts with a checksum.
//!
//! A cursor has the [`Epoch`] of its database and the sequence number of a change. Its first byte
//! is a version, so the format can change.

use petstore_domain::{
    store_area::{Epoch, JournalState},
    text::sealed,
};

/// The version of the format. The cursors of lists begin with other bytes, so neither kind is
/// mistaken for the other.
const VERSION: u8 = 16;

/// Encodes the position after the change `seq` in the journal of the database with this epoch.
pub fn encode(Epoch(epoch): Epoch, seq: i64) -> String {
    sealed::encode(&[&[VERSION], &epoch, &seq.to_be_bytes()])
}

/// A reason to reject a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorError {
    /// This service did not issue the cursor.
    Invalid,
    /// The cursor belongs to another database, or the journal no longer has all changes after it.
    Expired,
}

/// Decodes a cursor, and returns the sequence number after which its reader continues. `journal` is
/// the present state of the journal.
pub fn decode(text: &str, journal: &JournalState) -> Result<i64, CursorError> {
    let (epoch, seq) = parse(text).ok_or(CursorError::Invalid)?;
    // The first position is the one before the oldest change. A cursor ahead of the journal was
    // made before the database lost its newest changes, for example when a backup was restored.
    let positions = journal.first - 1..=journal.last;
    if epoch != journal.epoch || !positions.contains(&seq) {
        return Err(CursorError::Expired);
    }
    Ok(seq)
}

/// Parses the epoch and the sequence number of a cursor. Returns `None` if the text is no cursor.
fn parse(text: &str) -> Option<(Epoch, i64)> {
    let bytes = sealed::decode(text)?;
    let (&[VERSION], position) = bytes.split_first_chunk()? else {
        return None;
    };
    let (epoch, seq) = position.split_first_chunk()?;
    Some((Epoch(*epoch), i64::from_be_bytes(seq.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn journal(epoch: [u8; 16], first: i64, last: i64) -> JournalState {
        JournalState {
            epoch: Epoch(epoch),
            first,
            last,
        }
    }

    proptest! {
        #[test]
        fn a_cursor_leads_back_to_its_position(epoch: [u8; 16], seq in 0..i64::MAX) {
            let cursor = encode(Epoch(epoch), seq);
            prop_assert!(cursor.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
            prop_assert_eq!(decode(&cursor, &journal(epoch, 1, i64::MAX)).ok(), Some(seq));
        }

        #[test]
        fn any_other_text_is_not_a_cursor(text: String) {
            prop_assert!(decode(&text, &journal([0; 16], 1, i64::MAX)).is_err());
        }
    }

    #[test]
    fn a_cursor_is_valid_where_the_log_of_its_database_continues() {
        let error = |seq, journal| decode(&encode(Epoch([1; 16]), seq), &journal).err();
        for seq in [4, 5, 9] {
            assert!(error(seq, journal([1; 16], 5, 9)).is_none(), "{seq}");
        }
        // Changes 1 to 4 are no longer kept, and 10 never was.
        for (seq, epoch) in [(3, 1), (10, 1), (7, 2)] {
            assert_eq!(
                error(seq, journal([epoch; 16], 5, 9)),
                Some(CursorError::Expired),
                "{seq}"
            );
        }
        // Nothing is kept.
        assert!(error(9, journal([1; 16], 10, 9)).is_none());
    }
}
