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

/// Parses the conditions of a request on the present version. Fails with 400 if one is malformed.
pub(super) fn from_headers(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    Ok(Preconditions {
        if_match: if_match(headers)?,
        if_absent: false,
    })
}

/// Parses the conditions of a request that creates something if it does not exist. Fails with 400 if a condition
/// is malformed.
pub(super) fn from_put(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    let mut fields = headers.get_all(header::IF_NONE_MATCH).iter();
    let if_absent = match (fields.next(), fields.next()) {
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

/// Parses `If-Match`, if the request has it.
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

/// Parses the value of `If-Match`. Returns `None` if it is malformed.
///
/// Example: `"3", "7"` has the versions 3 and 7.
pub(super) fn parse(value: &[u8]) -> Option<IfMatch> {
    if value.trim_ascii() == b"*" {
        Some(IfMatch::Any)
    } else {
        versions(value).map(IfMatch::Versions)
    }
}

/// Returns the versions in a list of tags. A weak tag equals none in the strong comparison, and a tag of
/// another form is not the tag of a version. Returns `None` if the value is not a list of tags, or has none.
fn versions(list: &[u8]) -> Option<Vec<i64>> {
    let mut versions = Vec::new();
    let mut has_tags = false;
    let mut remaining = list.trim_ascii();
    while let Some((&first, after_first)) = remaining.split_first() {
        if first == b',' {
            remaining = after_first.trim_ascii_start();
            continue;
        }

        let (is_weak, quoted_tag) = match remaining.strip_prefix(b"W/") {
            Some(quoted_tag) => (true, quoted_tag),
            None => (false, remaining),
        };
        let tag_and_end = quoted_tag.strip_prefix(b"\"")?;
        let tag_length = tag_and_end.iter().position(|&byte| byte == b'"')?;
        let (tag, end) = tag_and_end.split_at(tag_length);
        if tag.iter().any(|&byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        has_tags = true;
        let version = str::from_utf8(tag).ok().and_then(text::parse_integer);
        versions.extend(version.filter(|&version| !is_weak && version > 0));

        remaining = end[1..].trim_ascii_start();
        if !remaining.is_empty() && !remaining.starts_with(b",") {
            return None;
        }
    }
    if has_tags { Some(versions) } else { None }
}

fn invalid(message: &'static str) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
