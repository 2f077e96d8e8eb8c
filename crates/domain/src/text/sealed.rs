//! An encoding of bytes as URL-safe text with a checksum, which detects altered or truncated text.
//! It is used for cursors. A cursor grants no access, so a checksum without a secret is enough.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// The length of a CRC-32, in bytes.
const CHECKSUM_LENGTH: usize = 4;

/// Encodes the concatenated parts and their CRC-32 as URL-safe Base64.
pub fn encode(parts: &[&[u8]]) -> String {
    let mut bytes = parts.concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes a text that [`encode`] produced; `None` for any other text.
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
    let checksum = bytes.split_off(bytes.len().checked_sub(CHECKSUM_LENGTH)?);
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
            position in 0..38_usize,
            replacement in "[A-Za-z0-9_=-]",
        ) {
            let text = encode(&[&bytes[..9], &bytes[9..]]);
            prop_assert_eq!(decode(&text), Some(bytes.to_vec()));
            let mut altered = text.clone();
            altered.replace_range(position..=position, &replacement);
            prop_assume!(altered != text);
            prop_assert_eq!(decode(&altered), None);
        }
    }
}
