//! Tests of `src/server/strict_heads.rs`.

use super::*;

/// What hyper sees of a connection that is read in these parts while no request is in flight.
fn read(parts: &[&str]) -> String {
    let mut heads = StrictHeads::default();
    let mut read = Vec::new();
    for part in parts {
        let mut part = part.as_bytes().to_vec();
        heads.inspect(&mut part, true);
        read.extend(part);
    }
    String::from_utf8(read).unwrap()
}

#[test]
fn a_line_of_a_head_that_ends_without_cr_is_made_invalid() {
    for (given, expected) in [
        ("GET / HTTP/1.1\nHost: x\r\n\r\n", "GET / HTTP/1.1\0Host: x\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: x\n\r\n", "GET / HTTP/1.1\r\nHost: x\0\r\n"),
        ("GET / HTTP/1.1\r\nHost: x\r\n\n", "GET / HTTP/1.1\r\nHost: x\r\n\0"),
    ] {
        assert_eq!(read(&[given]), expected);
        for at in 1..given.len() {
            let (begin, end) = given.split_at(at);
            assert!(read(&[begin, end]).contains('\0'), "{begin:?} {end:?}");
        }
    }
}

#[test]
fn a_fragment_is_made_invalid() {
    let head = "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n";
    for at in 1..head.len() {
        let (begin, end) = head.split_at(at);
        assert!(read(&[begin, end]).contains('\0'), "{begin:?} {end:?}");
    }
    assert!(read(&["\r\nGET /#b HTTP/1.0\r\n\r\n"]).contains('\0'));
}

#[test]
fn everything_else_is_unchanged_however_it_is_split() {
    let two = "\r\nPOST /a HTTP/1.1\r\nHost: #\r\n\r\n{\n#\n}";
    for whole in [two, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n#\n\n", "GET /"] {
        assert_eq!(read(&[whole]), whole);
    }
    let head = "\r\nPUT /a HTTP/1.1\r\nHost: #\r\n\r\n";
    for at in 1..head.len() {
        let (begin, end) = head.split_at(at);
        assert_eq!(read(&[begin, end, head]), [head, head].concat(), "{begin:?}");
    }
}

#[test]
fn a_body_may_contain_any_lines() {
    let mut heads = StrictHeads::default();
    let mut head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{\n".to_vec();
    heads.inspect(&mut head, true);
    let mut body = b"GET /#a HTTP/1.1\n\n".to_vec();
    heads.inspect(&mut body, false);
    assert!(!head.contains(&0) && !body.contains(&0));
    let mut next = b"GET /#a HTTP/1.1\r\n\r\n".to_vec();
    heads.inspect(&mut next, true);
    assert!(next.contains(&0));
}
