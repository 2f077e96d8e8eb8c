//! Bytes as text for a URL, with a checksum, by which an altered or truncated text is detected. Cursors are such texts: a
//! cursor grants no access, so it needs no secret.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// Encodes the parts, one after the other, and their CRC-32: see [`decode`].
pub fn encode(parts: &[&[u8]]) -> String {
    let mut bytes = parts.concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the bytes in a text that [`encode`] made; `None` for any other text.
///
/// ```
/// use petstore_domain::text::sealed::{decode, encode};
///
/// let text = encode(&[b"pets", b"7"]);
/// assert_eq!(decode(&text), Some(b"pets7".to_vec()));
/// assert_eq!(decode(&text[1..]), None);
/// ```
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let checksum = bytes.split_off(bytes.len().checked_sub(4)?);
    let is_intact = crc32fast::hash(&bytes).to_be_bytes() == *checksum;
    is_intact.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_with_one_changed_character_has_no_bytes(
            bytes: [u8; 25],
            at in 0..38_usize,
            to in "[A-Za-z0-9_=-]",
        ) {
            let text = encode(&[&bytes[..9], &bytes[9..]]);
            prop_assert_eq!(decode(&text), Some(bytes.to_vec()));
            let mut altered = text.clone();
            altered.replace_range(at..=at, &to);
            prop_assume!(altered != text);
            prop_assert_eq!(decode(&altered), None);
        }
    }
}
