//! `If-Match` and `If-None-Match` of a change (RFC 9110, section 13.1).

use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};
use petstore_domain::{
    Problem,
    store_area::{IfMatch, Preconditions},
    text,
};
use petstore_web::edge::ApiError;

/// The conditions of the request on the present version. Fails with 400 if one is malformed.
pub(super) fn of(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    Ok(Preconditions {
        if_match: if_match(headers)?,
        if_absent: false,
    })
}

/// The same for a request that may create what it changes. Fails with 400 if a condition is
/// malformed.
pub(super) fn of_put(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    let mut absent = headers.get_all(header::IF_NONE_MATCH).iter();
    let if_absent = match (absent.next(), absent.next()) {
        (None, _) => false,
        (Some(value), None) if value == "*" => true,
        _ => {
            return Err(invalid(
                "If-None-Match must be *, to create what does not exist yet.",
            ));
        }
    };
    Ok(Preconditions {
        if_match: if_match(headers)?,
        if_absent,
    })
}

fn if_match(headers: &HeaderMap) -> Result<Option<IfMatch>, ApiError> {
    let fields: Vec<&[u8]> = headers
        .get_all(header::IF_MATCH)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if fields.is_empty() {
        return Ok(None);
    }
    parse(&fields.join(&b',')).map(Some).ok_or_else(|| {
        invalid(
            "If-Match must be * or a list of ETags of the resource, such as \"7\" with its double \
             quotes.",
        )
    })
}

/// The value of `If-Match`. `None` if it is malformed.
pub(super) fn parse(value: &[u8]) -> Option<IfMatch> {
    if value.trim_ascii() == b"*" {
        Some(IfMatch::Any)
    } else {
        versions(value).map(IfMatch::Versions)
    }
}

/// The versions in a list of tags. A weak tag equals none in the strong comparison, and a tag of
/// another form is not that of a version. `None` if it is not a list of tags, or has none.
fn versions(list: &[u8]) -> Option<Vec<i64>> {
    let mut versions = Vec::new();
    let mut has_tags = false;
    let mut rest = list.trim_ascii();
    while let Some((&first, after)) = rest.split_first() {
        if first == b',' {
            rest = after.trim_ascii_start();
            continue;
        }
        let (is_weak, tag) = match rest.strip_prefix(b"W/") {
            Some(tag) => (true, tag),
            None => (false, rest),
        };
        let tag = tag.strip_prefix(b"\"")?;
        let (tag, after) = tag.split_at(tag.iter().position(|&byte| byte == b'"')?);
        if tag.iter().any(|&byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        has_tags = true;
        let version = str::from_utf8(tag).ok().and_then(text::integer);
        versions.extend(version.filter(|&version| !is_weak && version > 0));
        rest = after[1..].trim_ascii_start();
        if !rest.is_empty() && !rest.starts_with(b",") {
            return None;
        }
    }
    has_tags.then_some(versions)
}

fn invalid(message: &'static str) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
