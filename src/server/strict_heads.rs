//! What hyper takes of an HTTP/1.1 head and a proxy may read otherwise: a line that
//! ends without CR (RFC 9112, section 2.2), and a target with a fragment (section 3.2).
//!
//! hyper does not say of a parsed head how its lines ended, and drops a fragment. So
//! the bytes are looked at on their way to it, and one that is not taken becomes
//! NUL, which hyper refuses with 400. To follow every body, so as to know where each
//! head begins, would be a second parser. So a head is looked at if it begins while
//! no request is in flight: all heads but those that were sent ahead (pipelined),
//! which proxies do not do.

use memchr::{memchr, memchr_iter};

/// What is read of a connection.
#[derive(Default)]
pub(super) struct StrictHeads {
    position: Position,
    /// Whether the head is the first. Of another it is not certain that it began
    /// with a read, so only a whole line tells that it is the first of its head.
    is_first: bool,
    /// How many bytes of the line were read before.
    of_line: usize,
    /// The last byte that was read.
    last: u8,
}

/// Where in the connection its reader is.
#[derive(Default, Clone, Copy, PartialEq)]
enum Position {
    #[default]
    Start,
    /// In a head, in the line that begins it or behind that.
    Head { first_line: bool },
    /// Behind a head.
    Body,
    /// In frames of HTTP/2, which have no lines.
    Frames,
}

impl StrictHeads {
    /// Looks at what was read, while no request was in flight or while one was.
    pub(super) fn inspect(&mut self, bytes: &mut [u8], nothing_in_flight: bool) {
        let Some(&last) = bytes.last() else { return };
        match self.position {
            // The preface of HTTP/2 begins so, and no method that there is.
            Position::Start if bytes[0] == b'P' && bytes.get(1).is_none_or(|&b| b == b'R') => {
                self.position = Position::Frames;
            }
            Position::Body if !nothing_in_flight => {}
            Position::Start | Position::Body => {
                let is_first = self.position == Position::Start;
                let position = Position::Head { first_line: true };
                *self = Self { position, is_first, of_line: 0, last: 0 };
            }
            Position::Head { .. } | Position::Frames => {}
        }
        if let Position::Head { first_line } = self.position
            && let Some(at) = self.find_invalid_byte(bytes, first_line)
        {
            bytes[at] = 0;
        }
        self.last = last;
    }

    /// Where something is that is not taken, up to the end of the head.
    fn find_invalid_byte(&mut self, bytes: &[u8], mut first_line: bool) -> Option<usize> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', bytes) {
            if end.checked_sub(1).map_or(self.last, |before| bytes[before]) != b'\r' {
                return Some(end);
            }
            let line = &bytes[begin..end];
            // But for its end.
            let is_empty = self.of_line + line.len() == 1;
            self.of_line = 0;
            if first_line {
                // Empty lines before it do no harm (RFC 9112, section 2.2).
                first_line = is_empty;
                let is_request = self.is_first
                    || line.ends_with(b" HTTP/1.1\r")
                    || line.ends_with(b" HTTP/1.0\r");
                if let Some(at) = memchr(b'#', line).filter(|_| is_request) {
                    return Some(begin + at);
                }
            } else if is_empty {
                self.position = Position::Body;
                return None;
            }
            begin = end + 1;
        }
        if first_line
            && self.is_first
            && let Some(at) = memchr(b'#', &bytes[begin..])
        {
            return Some(begin + at);
        }
        self.position = Position::Head { first_line };
        self.of_line += bytes.len() - begin;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a connection that is read in these parts while nothing is in
    /// flight.
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
}
