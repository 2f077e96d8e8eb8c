//! Parses the preconditions `If-Match` and `If-None-Match` of a change (RFC 9110, section 13.1).

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

/// The suffixes that proxies append to the ETag of a response when they compress it. Apache and Caddy use
/// one hyphen, Jetty uses two.
const CODING_SUFFIXES: [&str; 6] = ["--gzip", "-gzip", "-br", "-zstd", "-deflate", ";gzip"];

/// Parses the preconditions of a request that changes an existing resource. Fails with 400 if `If-Match` is
/// malformed.
pub(super) fn from_headers(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    Ok(Preconditions {
        if_match: parse_if_match(headers)?,
        if_absent: false,
    })
}

/// Parses the preconditions of a `PUT`, which creates the resource if it does not exist. Fails with 400 if
/// one is malformed.
pub(super) fn from_put(headers: &HeaderMap) -> Result<Preconditions, ApiError> {
    let mut values = headers.get_all(header::IF_NONE_MATCH).iter();
    let if_absent = match (values.next(), values.next()) {
        (None, _) => false,
        (Some(value), None) if value == "*" => true,
        _ => {
            return Err(invalid(
                "If-None-Match must be *, to create what does not exist yet.",
            ));
        }
    };
    Ok(Preconditions {
        if_match: parse_if_match(headers)?,
        if_absent,
    })
}

/// Parses `If-Match`, if the request has it.
fn parse_if_match(headers: &HeaderMap) -> Result<Option<IfMatch>, ApiError> {
    let values: Vec<&[u8]> = headers
        .get_all(header::IF_MATCH)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if values.is_empty() {
        return Ok(None);
    }
    // Several header lines form one list (RFC 9110, section 5.3).
    match parse(&values.join(&b',')) {
        Some(if_match) => Ok(Some(if_match)),
        None => Err(invalid(
            "If-Match must be * or a list of ETags of the resource, such as \"7\" with its double \
             quotes.",
        )),
    }
}

/// Parses the value of `If-Match`. Returns `None` if it is malformed.
///
/// Example: `"3", "7"` has the versions 3 and 7.
pub(super) fn parse(value: &[u8]) -> Option<IfMatch> {
    if value.trim_ascii() == b"*" {
        Some(IfMatch::Any)
    } else {
        parse_versions(value).map(IfMatch::Versions)
    }
}

/// Parses the versions in a list of ETags. Skips ETags that are not versions. Returns `None` if the
/// value is not a list of ETags, or is empty.
///
/// A proxy that compresses responses makes weak or extended ETags. They are accepted too: `W/"7"` and
/// `"7-gzip"` are the version 7. This is safe, because a version identifies the content in any encoding.
fn parse_versions(list: &[u8]) -> Option<Vec<i64>> {
    let mut versions = Vec::new();
    let mut has_tag = false;
    let mut remaining = list.trim_ascii();
    while !remaining.is_empty() {
        // Empty elements of a list are ignored (RFC 9110, section 5.6.1.2).
        if let Some(after_comma) = remaining.strip_prefix(b",") {
            remaining = after_comma.trim_ascii_start();
            continue;
        }
        let (tag, after_tag) = split_tag(remaining)?;
        has_tag = true;
        if let Some(version) = version_of_tag(tag) {
            versions.push(version);
        }
        if !after_tag.is_empty() && !after_tag.starts_with(b",") {
            return None;
        }
        remaining = after_tag;
    }
    has_tag.then_some(versions)
}

/// Splits a list of ETags into the first one, without its quotes, and what follows it, without the
/// spaces before it. Returns `None` if the list does not begin with an ETag.
///
/// Example: `"3" , "7"` is split into `3` and `, "7"`.
fn split_tag(list: &[u8]) -> Option<(&[u8], &[u8])> {
    let quoted_tag = list.strip_prefix(b"W/").unwrap_or(list);
    let after_opening_quote = quoted_tag.strip_prefix(b"\"")?;
    let mut parts = after_opening_quote.splitn(2, |&byte| byte == b'"');
    let tag = parts.next()?;
    let after_closing_quote = parts.next()?;
    // An ETag has no spaces or control characters (RFC 9110, section 8.8.3).
    if tag.iter().any(|&byte| byte <= b' ' || byte == 0x7f) {
        return None;
    }
    Some((tag, after_closing_quote.trim_ascii_start()))
}

/// Parses the version from an ETag without its quotes. Returns `None` if it is not a version.
///
/// Examples: `7` and `7-gzip` are the version 7.
fn version_of_tag(tag: &[u8]) -> Option<i64> {
    let text = str::from_utf8(tag).ok()?;
    let digits = CODING_SUFFIXES
        .iter()
        .find_map(|suffix| text.strip_suffix(suffix))
        .unwrap_or(text);
    let version = text::parse_integer(digits)?;
    (version > 0).then_some(version)
}

/// Returns the 400 for an invalid precondition.
fn invalid(message: &'static str) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
