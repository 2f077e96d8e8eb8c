//! Tests of `src/edge/compression.rs`.

use super::*;
use crate::edge::Body;

#[test]
fn a_response_with_a_strong_tag_or_that_must_not_be_stored_stays_as_it_is() {
    let memory = ResponseMemory::new(1 << 20);
    let request = HeaderMap::from_iter([(header::ACCEPT_ENCODING, "gzip".parse().unwrap())]);
    for (tag, control, is_compressed) in [
        ("W/\"7\"", "private, no-cache", true),
        ("\"7\"", "private, no-cache", false),
        ("W/\"7\"", "no-store", false),
    ] {
        let mut response = Response::new(Body::Whole(vec![b' '; 4 << 10].into()));
        response.headers_mut().insert(header::ETAG, tag.parse().unwrap());
        response.headers_mut().insert(header::CACHE_CONTROL, control.parse().unwrap());
        apply(&memory, || Reader::Known, &request, &mut response);
        let is_shorter = response.body().size_hint().exact().unwrap() < 4 << 10;
        assert_eq!(is_shorter, is_compressed, "{tag} {control}");
        for field in [header::CONTENT_ENCODING, header::VARY] {
            assert_eq!(response.headers().contains_key(&field), is_compressed, "{field}");
        }
    }
}
