//! Bytes as text for a URL, with a checksum that detects what was altered or cut off. Cursors are such
//! texts: one grants no access, so it needs no secret.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// Encodes all of these bytes, one after the other, and their CRC-32.
pub(crate) fn encode(parts: &[&[u8]]) -> String {
    let mut bytes = parts.concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes in a text that [`encode`] made; `None` for any other.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let check = bytes.split_off(bytes.len().checked_sub(4)?);
    (crc32fast::hash(&bytes).to_be_bytes() == *check).then_some(bytes)
}

#[cfg(test)]
#[path = "../../tests/inside/text/sealed.rs"]
mod tests;
