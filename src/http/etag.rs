//! `ETag` and `If-None-Match`: who has an answer already is spared its body
//! (RFC 9110, sections 8.8.3 and 13.1.2).

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::FixedState;
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use super::Response;

/// The tag of an answer with this body, and this link to the page that follows.
///
/// It is made of the answer alone, so every process over one database gives the
/// same. Weak, since it does not change when the body is compressed.
pub(super) fn of(body: &[u8], next: Option<&HeaderValue>) -> HeaderValue {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(body);
    // A page to which another was added has a link that it did not have.
    hasher.write(next.map_or(b"", HeaderValue::as_bytes));
    let mut tag = *b"W/\"0123456789abcdef\"";
    for (digits, byte) in tag[3..19].chunks_exact_mut(2).zip(hasher.finish().to_be_bytes()) {
        digits[0] = HEX[usize::from(byte >> 4)];
        digits[1] = HEX[usize::from(byte & 15)];
    }
    HeaderValue::from_bytes(&tag).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// The answer with its tag; 304 in its place if the request says that the client
/// has it. What else stands in its header is still true, but for the type of a
/// body.
pub(super) fn answer(request: &HeaderMap, mut response: Response, tag: HeaderValue) -> Response {
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
    fn a_tag_is_found_in_any_list_weak_or_strong() {
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
    fn another_body_or_another_link_has_another_tag() {
        let link = HeaderValue::from_static("</v1/pets>");
        let tags = [of(b"[]", None), of(b"[]", Some(&link)), of(b"[1]", None)];
        assert_eq!(tags[0], of(b"[]", None));
        assert!(tags[0] != tags[1] && tags[0] != tags[2] && tags[1] != tags[2]);
        for tag in tags {
            assert!(tag.to_str().unwrap().starts_with("W/\"") && tag.len() == 20, "{tag:?}");
        }
    }
}
