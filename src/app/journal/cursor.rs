//! A cursor: a position in the journal of one database.
//!
//! The format can change, because the first byte says which one it is.

use crate::{
    domain::store_area::{Epoch, JournalState},
    text::sealed,
};

/// The cursors of lists begin with other bytes.
const VERSION: u8 = 16;

/// The position after the change `seq` in the log of the database with this epoch.
pub(crate) fn encode(Epoch(epoch): Epoch, seq: i64) -> String {
    sealed::encode(&[&[VERSION], &epoch, &seq.to_be_bytes()])
}

/// Why a cursor has no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorError {
    /// It was not made by this service.
    Invalid,
    /// The journal does not continue at it.
    Expired,
}

/// The position of a cursor in this journal.
pub(crate) fn decode(text: &str, log: &JournalState) -> Result<i64, CursorError> {
    let (epoch, seq) = read(text).ok_or(CursorError::Invalid)?;
    // A cursor ahead of the journal was made before the database lost its newest changes.
    if epoch == log.epoch && (log.first - 1..=log.last).contains(&seq) {
        Ok(seq)
    } else {
        Err(CursorError::Expired)
    }
}

fn read(text: &str) -> Option<(Epoch, i64)> {
    let bytes = sealed::decode(text)?;
    let (&[VERSION], rest) = bytes.split_first_chunk()? else { return None };
    let (epoch, seq) = rest.split_first_chunk()?;
    Some((Epoch(*epoch), i64::from_be_bytes(seq.try_into().ok()?)))
}

#[cfg(test)]
#[path = "../../../tests/inside/app/journal/cursor.rs"]
mod tests;
