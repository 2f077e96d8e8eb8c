//! Rejects two deviations in HTTP/1.1 heads that hyper accepts and a proxy may read differently: a
//! line that ends without CR (RFC 9112, section 2.2), and a target with a fragment (section 3.2).
//!
//! Neither is visible in a parsed head. So this code inspects the bytes on their way to hyper, and
//! replaces an invalid byte by NUL, which hyper rejects with 400.
//!
//! Finding the beginning of every head would require following all bodies, which takes a second
//! parser. So only heads that begin while no request is in flight are inspected. This excludes
//! pipelined heads, which proxies do not send.

use memchr::{memchr, memchr_iter};

/// The first line of an HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE_LINE: &[u8] = b"PRI * HTTP/2.0\r\n";

/// The state of the inspection after the bytes read so far.
#[derive(Default)]
pub(super) struct StrictHeads {
    position: Position,
    /// Whether this is the first head of the connection. A read can begin with the end of a body,
    /// so the first line of a later head is recognized only by its end, once it is complete.
    is_first_head: bool,
    /// How many bytes of the current line previous reads contained. At the start of a connection,
    /// all of them equal the beginning of [`PREFACE_LINE`].
    line_length: usize,
    /// The last byte of the previous read.
    last_byte: u8,
}

/// Where in the connection the next byte belongs.
#[derive(Default, Clone, Copy, PartialEq)]
enum Position {
    #[default]
    Start,
    /// In a head: in its first line, or after it.
    Head { in_first_line: bool },
    /// After a head, in the body or before the next head.
    Body,
    /// In HTTP/2 frames, which have no lines.
    Frames,
}

impl StrictHeads {
    /// Inspects the bytes of a read, and replaces the first invalid one by NUL.
    pub(super) fn inspect(&mut self, bytes: &mut [u8], nothing_in_flight: bool) {
        let Some(&last_byte) = bytes.last() else {
            return;
        };
        self.begin_read(bytes, nothing_in_flight);
        if let Position::Head { in_first_line } = self.position
            && let Some(index) = self.advance_in_head(bytes, in_first_line)
        {
            bytes[index] = 0;
        }
        self.last_byte = last_byte;
    }

    /// Updates the position before a read is inspected: recognizes the preface of HTTP/2, and the
    /// beginning of a head.
    fn begin_read(&mut self, bytes: &[u8], nothing_in_flight: bool) {
        match self.position {
            Position::Start if self.continues_preface(bytes) => {
                self.line_length += bytes.len();
                if self.line_length >= PREFACE_LINE.len() {
                    self.position = Position::Frames;
                }
            }
            Position::Start => {
                self.is_first_head = true;
                self.position = Position::Head {
                    in_first_line: true,
                };
            }
            Position::Body if !nothing_in_flight => {}
            Position::Body => {
                // These bytes begin the next head, because no request is in flight.
                *self = Self {
                    position: Position::Head {
                        in_first_line: true,
                    },
                    ..Self::default()
                };
            }
            Position::Head { .. } | Position::Frames => {}
        }
    }

    /// Whether the bytes of the connection, with `bytes` as the next ones, equal [`PREFACE_LINE`]
    /// as far as both go.
    fn continues_preface(&self, bytes: &[u8]) -> bool {
        let expected = &PREFACE_LINE[self.line_length..];
        let length = expected.len().min(bytes.len());
        bytes[..length] == expected[..length]
    }

    /// Advances the state past `bytes`, which begin in a head, or to the end of that head.
    ///
    /// Returns the index of the first invalid byte. If there is one, the state no longer matters,
    /// because hyper closes the connection.
    fn advance_in_head(&mut self, bytes: &[u8], mut in_first_line: bool) -> Option<usize> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', bytes) {
            let preceding_byte = if end == 0 {
                self.last_byte
            } else {
                bytes[end - 1]
            };
            if preceding_byte != b'\r' {
                return Some(end);
            }
            // What this read has of the line. The line includes its CR, so an empty one has one
            // byte.
            let line = &bytes[begin..end];
            let is_empty = self.line_length + line.len() == 1;
            self.line_length = 0;
            if in_first_line {
                // Empty lines before the request line are allowed (RFC 9112, section 2.2).
                in_first_line = is_empty;
                if let Some(offset) = self.find_fragment(line) {
                    return Some(begin + offset);
                }
            } else if is_empty {
                self.position = Position::Body;
                return None;
            }
            begin = end + 1;
        }
        // The first line of the first head is not complete yet, but a fragment in it is certain.
        if in_first_line
            && self.is_first_head
            && let Some(offset) = memchr(b'#', &bytes[begin..])
        {
            return Some(begin + offset);
        }
        self.position = Position::Head { in_first_line };
        self.line_length += bytes.len() - begin;
        None
    }

    /// Returns the offset of a fragment in the first line of a head. The line ends with its CR.
    fn find_fragment(&self, line: &[u8]) -> Option<usize> {
        // What follows the first head may be the end of a body. It is a head only if it looks like
        // one.
        let is_request_line =
            self.is_first_head || line.ends_with(b" HTTP/1.1\r") || line.ends_with(b" HTTP/1.0\r");
        if is_request_line {
            memchr(b'#', line)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what hyper sees if a connection is read in these parts while no request is in
    /// flight.
    fn inspect_parts(parts: &[&str]) -> String {
        let mut heads = StrictHeads::default();
        let mut inspected_bytes = Vec::new();
        for part in parts {
            let mut part = part.as_bytes().to_vec();
            heads.inspect(&mut part, true);
            inspected_bytes.extend(part);
        }
        String::from_utf8(inspected_bytes).unwrap()
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
            assert_eq!(inspect_parts(&[given]), expected);
            for length in 1..given.len() {
                let (begin, end) = given.split_at(length);
                assert!(
                    inspect_parts(&[begin, end]).contains('\0'),
                    "{begin:?} {end:?}"
                );
            }
        }
    }

    #[test]
    fn a_head_that_begins_like_the_preface_of_http_2_is_inspected_however_it_is_split() {
        for method in ["POST", "PROPFIND", "PRI"] {
            let head = format!("{method} / HTTP/1.1\nHost: x\r\n\r\n");
            for length in 1..head.len() {
                let (begin, end) = head.split_at(length);
                assert!(
                    inspect_parts(&[begin, end]).contains('\0'),
                    "{begin:?} {end:?}"
                );
            }
        }
        let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n#\n\n";
        for length in 1..preface.len() {
            let (begin, end) = preface.split_at(length);
            assert_eq!(inspect_parts(&[begin, end]), preface, "{begin:?}");
        }
    }

    #[test]
    fn a_fragment_is_made_invalid() {
        let head = "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n";
        for length in 1..head.len() {
            let (begin, end) = head.split_at(length);
            assert!(
                inspect_parts(&[begin, end]).contains('\0'),
                "{begin:?} {end:?}"
            );
        }
        assert!(inspect_parts(&["\r\nGET /#b HTTP/1.0\r\n\r\n"]).contains('\0'));
    }

    #[test]
    fn everything_else_is_unchanged_however_it_is_split() {
        let request = "\r\nPOST /a HTTP/1.1\r\nHost: #\r\n\r\n{\n#\n}";
        for whole in [request, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n#\n\n", "GET /"] {
            assert_eq!(inspect_parts(&[whole]), whole);
        }
        let head = "\r\nPUT /a HTTP/1.1\r\nHost: #\r\n\r\n";
        for length in 1..head.len() {
            let (begin, end) = head.split_at(length);
            assert_eq!(
                inspect_parts(&[begin, end, head]),
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
