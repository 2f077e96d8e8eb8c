//! The cursor of a list. The first byte of the input selects the status, and whether the rest is
//! the text of the cursor, or its bytes without the checksum, which a fuzzer would not find.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::StatusCode;
use petstore_domain::{PetId, PetStatus};

use super::{query::page, service::send};

pub(super) fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    let status = PetStatus::ALL.get(usize::from(choice & 3)).copied();
    let text: String = if choice & 4 == 0 {
        form_urlencoded::byte_serialize(rest).collect()
    } else {
        let check = crc32fast::hash(rest).to_be_bytes();
        URL_SAFE_NO_PAD.encode([rest, &check].concat())
    };
    let filter = status.map_or(String::new(), |status| format!("&status={status}"));
    let target = format!("/v1/pets?limit=100{filter}&cursor={text}");
    let Some(response) = send("GET", &target, b"") else {
        return;
    };
    if let Some(after) = after(&text, status) {
        assert_eq!(response.body, page(status, after, 100));
    } else {
        assert_eq!(response.status, StatusCode::BAD_REQUEST);
        assert_eq!(response.body["code"], "invalid_cursor");
    }
}

/// The id at which a cursor continues: version 1, the status, seven bytes of the id, and the
/// checksum.
fn after(text: &str, status: Option<PetStatus>) -> Option<i64> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (fields, check) = bytes.split_at_checked(9)?;
    let letter = status.map_or(b'-', |status| status.as_str().as_bytes()[0]);
    let id = fields[2..]
        .iter()
        .fold(0, |id, byte| id * 256 + i64::from(*byte));
    let valid = fields[..2] == [1, letter]
        && check == crc32fast::hash(fields).to_be_bytes()
        && (1..=PetId::MAX).contains(&id);
    valid.then_some(id)
}
