//! The API key. The first byte of the input selects what the rest is: a whole `Authorization`
//! field, a key after `Bearer`, changes to the valid key, or a key without its checksum, which a
//! fuzzer would not find.

use hyper::StatusCode;

use super::service::{SERVICE, send_with};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    let field = match choice & 3 {
        0 => rest.to_owned(),
        1 => [b"Bearer ", rest].concat(),
        2 => {
            let changes = rest.iter().chain(std::iter::repeat(&0));
            let near = SERVICE
                .key
                .bytes()
                .zip(changes)
                .map(|(byte, change)| byte ^ change);
            [&b"Bearer "[..], &near.collect::<Vec<u8>>()].concat()
        }
        _ => [
            b"Bearer pets_live_",
            rest,
            &checksum(&[b"pets_live_", rest].concat()),
        ]
        .concat(),
    };
    let Some(response) = send_with("GET", "/v1/pets", &field, b"") else {
        return;
    };
    if is_good(&field) {
        assert_eq!(response.status, StatusCode::OK);
    } else {
        assert_eq!(response.status, StatusCode::UNAUTHORIZED);
        assert!(response.headers.contains_key("www-authenticate"));
    }
}

/// Whether the field contains the valid key.
fn is_good(field: &[u8]) -> bool {
    let Some((scheme, key)) = field.split_at_checked(7) else {
        return false;
    };
    scheme.eq_ignore_ascii_case(b"bearer ") && key.trim_ascii() == SERVICE.key.as_bytes()
}

fn checksum(text: &[u8]) -> [u8; 6] {
    let mut rest = crc32fast::hash(text) as usize;
    let mut digits = [0; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits
}
