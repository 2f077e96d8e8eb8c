//! `ETag` and `If-None-Match`: who has an answer already is spared its body
//! (RFC 9110, sections 8.8.3 and 13.1.2).

use highway::{HighwayHash, HighwayHasher, Key};
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use super::Response;

/// A client may keep the response for itself, and asks before it uses it again
/// whether it still holds, which its `ETag` makes cheap. A cache that others share
/// may not keep it (RFC 9111, section 5.2.2).
pub(super) const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Makes tags with the key of the database, so that every process on it makes the
/// same.
///
/// A client that knows no key can neither compute tags nor choose animals for them:
/// `HighwayHash` is a pseudorandom function. 64 bits of it are enough, since what
/// must not meet by chance are the states of one address, and an address has no
/// more than some hundred: an animal gets its identifier once, and stays.
#[derive(Clone, Copy)]
pub(super) struct Tags(Key);

impl Tags {
    /// With this key, of 32 random bytes.
    pub(super) fn new(key: [u8; 32]) -> Self {
        let (words, _) = key.as_chunks();
        let word = |at: usize| words.get(at).copied().map_or(0, u64::from_le_bytes);
        Self(Key([word(0), word(1), word(2), word(3)]))
    }

    /// The tag of a response with this body. Weak, since it does not change when
    /// the body is compressed.
    pub(super) fn of(&self, body: &[u8]) -> HeaderValue {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let hash = HighwayHasher::new(self.0).hash64(body);
        let mut tag = *b"W/\"0123456789abcdef\"";
        for (digits, byte) in tag[3..19].chunks_exact_mut(2).zip(hash.to_be_bytes()) {
            digits[0] = HEX[usize::from(byte >> 4)];
            digits[1] = HEX[usize::from(byte & 15)];
        }
        HeaderValue::from_bytes(&tag).unwrap_or(HeaderValue::from_static("W/\"\""))
    }

    /// The tag of a page. One to which another was added has a link that it did
    /// not have: the hash is then of an array that does not end. Where the link
    /// leads, the last animal and the address of the page say.
    pub(super) fn of_page(&self, body: &[u8], is_last: bool) -> HeaderValue {
        self.of(&body[..body.len() - usize::from(!is_last)])
    }
}

/// The answer with its tag; 304 in its place if the request says that the client
/// has it. What else stands in its header is still true, but for the type of a
/// body.
pub(super) fn respond(request: &HeaderMap, mut response: Response, tag: HeaderValue) -> Response {
    if is_known(request, &tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Full::default();
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    response.headers_mut().insert(header::ETAG, tag);
    response
}

/// Whether `If-None-Match` has the tag, or `*`. Weak and strong ones are compared
/// alike (RFC 9110, section 13.1.2).
fn is_known(request: &HeaderMap, tag: &HeaderValue) -> bool {
    let Some(first) = request.get(header::IF_NONE_MATCH) else {
        return false;
    };
    if first == "*" {
        return true;
    }
    let Some(ours) = opaque_tags(tag).next() else {
        return false;
    };
    let given = request.get_all(header::IF_NONE_MATCH).into_iter();
    given.flat_map(opaque_tags).any(|tag| tag == ours)
}

/// What stands in quotes. No quote is a part of a tag.
fn opaque_tags(list: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    list.as_bytes().split(|&byte| byte == b'"').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows(given: &[&str], tag: &str) -> bool {
        let mut request = HeaderMap::new();
        for value in given {
            request.append(header::IF_NONE_MATCH, value.parse().unwrap());
        }
        is_known(&request, &tag.parse().unwrap())
    }

    #[test]
    fn a_tag_is_found_in_any_list_whether_weak_or_strong() {
        for given in [
            &[r#"W/"ab""#][..],
            &[r#""ab""#],
            &[r#""x", W/"y,z" ,W/"ab""#],
            &[r#""x""#, r#""ab""#],
            &["*"],
        ] {
            assert!(knows(given, r#"W/"ab""#), "{given:?}");
        }
        for given in [&[][..], &[""], &["ab"], &[r#""abc""#], &[r#""x", "y""#], &[r#""x"ab""#]] {
            assert!(!knows(given, r#"W/"ab""#), "{given:?}");
        }
    }

    #[test]
    fn a_different_body_or_link_has_a_different_tag() {
        let tags = Tags::new([7; 32]);
        let made = [tags.of(b"[]"), tags.of_page(b"[]", false), tags.of(b"[1]")];
        assert_eq!(made[0], tags.of_page(b"[]", true));
        assert!(made[0] != made[1] && made[0] != made[2] && made[1] != made[2]);
        for tag in made {
            assert!(tag.to_str().unwrap().starts_with("W/\"") && tag.len() == 20, "{tag:?}");
        }
    }

    #[test]
    fn every_part_of_the_key_changes_the_tag() {
        let tag = |key: [u8; 32]| Tags::new(key).of(b"[]");
        for at in [0, 7, 8, 15, 16, 23, 24, 31] {
            let mut other = [7; 32];
            other[at] = 8;
            assert_ne!(tag(other), tag([7; 32]), "{at}");
        }
    }
}
