//! Rejects two deviations in HTTP/1.1 heads that hyper accepts and a proxy may read differently: a
//! line that ends without CR (RFC 9112, section 2.2), and a target with a fragment (section 3.2).
//!
//! A parsed head shows neither. So this code inspects the bytes on their way to hyper, and replaces
//! an invalid one by NUL, which hyper rejects with 400. To find every head it would have to follow
//! all bodies, which takes a second parser. So it inspects only heads that begin while no request
//! is in flight. This excludes pipelined heads, which proxies do not send.

use memchr::{memchr, memchr_iter};

/// The state of the bytes read so far.
#[derive(Default)]
pub(super) struct StrictHeads {
    position: Position,
    /// Whether this is the first head of the connection. A later head may not begin with this read,
    /// so its first line is recognized only when it is complete.
    is_first: bool,
    /// How many bytes of the current line were read before.
    line_length: usize,
    /// The last byte read.
    last: u8,
}

/// The position in the connection.
#[derive(Default, Clone, Copy, PartialEq)]
enum Position {
    #[default]
    Start,
    /// In a head: in its first line, or after it.
    Head { first_line: bool },
    /// After a head, in the body or before the next head.
    Body,
    /// In HTTP/2 frames, which have no lines.
    Frames,
}

impl StrictHeads {
    /// Inspects the bytes of a read.
    pub(super) fn inspect(&mut self, bytes: &mut [u8], nothing_in_flight: bool) {
        let Some(&last) = bytes.last() else { return };
        match self.position {
            Position::Start if is_preface(bytes) => {
                self.position = Position::Frames;
            }
            Position::Body if !nothing_in_flight => {}
            Position::Start | Position::Body => {
                let is_first = self.position == Position::Start;
                let position = Position::Head { first_line: true };
                *self = Self {
                    position,
                    is_first,
                    line_length: 0,
                    last: 0,
                };
            }
            Position::Head { .. } | Position::Frames => {}
        }
        if let Position::Head { first_line } = self.position
            && let Some(index) = self.find_invalid_byte(bytes, first_line)
        {
            bytes[index] = 0;
        }
        self.last = last;
    }

    /// Returns the index of the first invalid byte before the end of the head.
    fn find_invalid_byte(&mut self, bytes: &[u8], mut first_line: bool) -> Option<usize> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', bytes) {
            if end.checked_sub(1).map_or(self.last, |before| bytes[before]) != b'\r' {
                return Some(end);
            }
            let line = &bytes[begin..end];
            // `line` includes CR.
            let is_empty = self.line_length + line.len() == 1;
            self.line_length = 0;
            if first_line {
                // Empty lines before it are allowed (RFC 9112, section 2.2).
                first_line = is_empty;
                let is_request = self.is_first
                    || line.ends_with(b" HTTP/1.1\r")
                    || line.ends_with(b" HTTP/1.0\r");
                if is_request && let Some(offset) = memchr(b'#', line) {
                    return Some(begin + offset);
                }
            } else if is_empty {
                self.position = Position::Body;
                return None;
            }
            begin = end + 1;
        }
        if first_line
            && self.is_first
            && let Some(offset) = memchr(b'#', &bytes[begin..])
        {
            return Some(begin + offset);
        }
        self.position = Position::Head { first_line };
        self.line_length += bytes.len() - begin;
        None
    }
}

/// Whether the first bytes of a connection begin the HTTP/2 preface, `PRI`. No HTTP method begins like this.
fn is_preface(bytes: &[u8]) -> bool {
    bytes[0] == b'P' && bytes.get(1).is_none_or(|&byte| byte == b'R')
}

#[cfg(test)]
mod tests {
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
            (
                "GET / HTTP/1.1\nHost: x\r\n\r\n",
                "GET / HTTP/1.1\0Host: x\r\n\r\n",
            ),
            (
                "GET / HTTP/1.1\r\nHost: x\n\r\n",
                "GET / HTTP/1.1\r\nHost: x\0\r\n",
            ),
            (
                "GET / HTTP/1.1\r\nHost: x\r\n\n",
                "GET / HTTP/1.1\r\nHost: x\r\n\0",
            ),
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
            assert_eq!(
                read(&[begin, end, head]),
                [head, head].concat(),
                "{begin:?}"
            );
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
}
