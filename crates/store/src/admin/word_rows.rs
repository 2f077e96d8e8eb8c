//! The binary format of a row of `word_blocks`: a sequence of words, each with the offsets of its
//! animals in their block.
//!
//! Words are front-coded: a word does not repeat the first bytes that it shares with the previous
//! word. It has these parts:
//!
//! - the number of shared bytes (1 byte)
//! - the number of remaining bytes (2 bytes), and these bytes
//! - the number of offsets (2 bytes), and the offsets
//!
//! Numbers of two bytes are little-endian. An offset is stored as its difference from the previous
//! one, in a varint: 7 bits in each byte, the lowest first, with the high bit set if another byte
//! follows.
//!
//! For example, after the word `car`, the word `cat` with the offsets 3 and 300 is
//! `02 | 01 00 | 74 | 02 00 | 03 | A9 02`: it shares 2 bytes, has 1 more byte, which is `t`, and
//! 2 offsets, stored as 3 and 297.

use std::collections::BTreeMap;

use crate::columns::Columns;

/// The words of a row, each with the offsets of its animals in ascending order.
pub(super) type Words = BTreeMap<Vec<u8>, Vec<u16>>;

/// Returns the entry for one animal that has a word: the word, then the offset in big-endian, so
/// that entries sort by word and then by offset.
pub(super) fn encode_entry(word: &[u8], offset: u16) -> Vec<u8> {
    [word, &offset.to_be_bytes()].concat()
}

/// A row of packed words.
pub(super) struct PackedRow {
    /// The first entry of the row, which is part of its key.
    pub(super) first: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

/// Packs words into rows of about `max_bytes` bytes. The offsets of one word may continue in the
/// next row.
pub(super) fn pack(words: &Words, max_bytes: usize) -> Vec<PackedRow> {
    let mut rows: Vec<PackedRow> = Vec::new();
    let mut previous_word: &[u8] = &[];
    for (word, offsets) in words {
        let mut unpacked_offsets = &offsets[..];
        while let Some(&first_offset) = unpacked_offsets.first() {
            let needs_row = match rows.last() {
                Some(row) => row.bytes.len() + word.len() > max_bytes,
                None => true,
            };
            if needs_row {
                rows.push(PackedRow {
                    first: encode_entry(word, first_offset),
                    bytes: Vec::new(),
                });
                // The first word of a row shares no bytes, so that a row can be read without the
                // rows before it.
                previous_word = &[];
            }
            let Some(row) = rows.last_mut() else {
                // This does not happen: there is a row now.
                break;
            };
            pack_word(&mut row.bytes, word, previous_word);
            let packed_count = pack_offsets(&mut row.bytes, unpacked_offsets, max_bytes);
            unpacked_offsets = &unpacked_offsets[packed_count..];
            previous_word = word;
        }
    }
    rows
}

/// Appends a word to a row, without its offsets.
fn pack_word(row: &mut Vec<u8>, word: &[u8], previous_word: &[u8]) {
    let shared_length = previous_word
        .iter()
        .zip(word)
        .take_while(|(previous_byte, byte)| previous_byte == byte)
        .count();
    // The row has one byte for this length. A word may share fewer bytes than it could.
    let shared_length = u8::try_from(shared_length).unwrap_or(u8::MAX);
    let other_bytes = &word[shared_length.into()..];
    let other_length = u16::try_from(other_bytes.len()).unwrap_or(u16::MAX);

    row.push(shared_length);
    row.extend(other_length.to_le_bytes());
    row.extend(other_bytes);
}

/// Appends the number of offsets to a row, and then the offsets, until the row has `max_bytes`.
/// Returns how many offsets were appended: at least 1.
fn pack_offsets(row: &mut Vec<u8>, offsets: &[u16], max_bytes: usize) -> usize {
    let count_position = row.len();
    row.extend([0; 2]);
    let mut count = 0_u16;
    let mut previous_offset = 0;
    for &offset in offsets {
        if count > 0 && row.len() >= max_bytes {
            break;
        }
        pack_difference(row, offset - previous_offset);
        previous_offset = offset;
        count += 1;
    }
    row[count_position..count_position + 2].copy_from_slice(&count.to_le_bytes());
    count.into()
}

/// Appends the difference between two offsets to a row, as a varint.
fn pack_difference(row: &mut Vec<u8>, difference: u16) {
    let mut unpacked_bits = difference;
    while unpacked_bits > 0x7F {
        row.push(0x80 | unpacked_bits.to_le_bytes()[0]);
        unpacked_bits >>= 7;
    }
    row.push(unpacked_bits.to_le_bytes()[0]);
}

/// Calls `visitor` with each word in a column of packed words, and with the offsets of its animals.
pub(crate) fn read_words<R: Columns>(
    row: &R,
    column: usize,
    visitor: impl FnMut(&[u8], &[u16]),
) -> Result<(), R::Error> {
    row.optional_decoded(column, |bytes| unpack_words(bytes, visitor))?;
    Ok(())
}

/// Calls `visitor` with each packed word, and with the offsets of its animals. Returns `None` if
/// the bytes are invalid.
fn unpack_words(bytes: &[u8], mut visitor: impl FnMut(&[u8], &[u16])) -> Option<()> {
    let mut unread = bytes;
    let mut word = Vec::new();
    let mut offsets = Vec::new();
    while let Some((&[shared_length, low_byte, high_byte], after_lengths)) =
        unread.split_first_chunk()
    {
        let other_length = u16::from_le_bytes([low_byte, high_byte]);
        let (other_bytes, after_word) = after_lengths.split_at_checked(other_length.into())?;
        word.truncate(shared_length.into());
        word.extend_from_slice(other_bytes);

        let (&count, after_count) = after_word.split_first_chunk()?;
        unread = unpack_offsets(after_count, u16::from_le_bytes(count), &mut offsets)?;
        visitor(&word, &offsets);
    }
    if unread.is_empty() { Some(()) } else { None }
}

/// Decodes the `count` offsets at the beginning of `bytes`, each stored as a varint of its
/// difference from the previous one. `offsets` then has these offsets instead of its former
/// content. Returns the bytes after them, or `None` if the bytes are invalid.
fn unpack_offsets<'b>(bytes: &'b [u8], count: u16, offsets: &mut Vec<u16>) -> Option<&'b [u8]> {
    offsets.clear();
    let mut unread = bytes;
    let mut offset = 0;
    for _ in 0..count {
        let mut difference = 0;
        // A difference has at most three bytes.
        for shift in [0, 7, 14] {
            let (&byte, after_byte) = unread.split_first()?;
            unread = after_byte;
            difference |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        offset += difference;
        offsets.push(u16::try_from(offset).ok()?);
    }
    Some(unread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_form_that_the_documentation_shows() {
        let words = Words::from([(b"car".to_vec(), vec![1]), (b"cat".to_vec(), vec![3, 300])]);
        let rows = pack(&words, 900);
        let car = [0, 3, 0, b'c', b'a', b'r', 1, 0, 1];
        let cat = [2, 1, 0, b't', 2, 0, 3, 0xA9, 2];
        assert_eq!(rows[0].bytes, [car, cat].concat());
        let mut unpacked = Words::new();
        let visit =
            |word: &[u8], offsets: &[u16]| _ = unpacked.insert(word.to_vec(), offsets.to_vec());
        unpack_words(&rows[0].bytes, visit).unwrap();
        assert_eq!(unpacked, words);
    }
}
