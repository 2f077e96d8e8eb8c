//! Checks of the head of a request that hyper does not make.

use hyper::{
    Uri, Version,
    header::{self, HeaderValue},
    http::{
        request::Parts,
        uri::{Authority, Scheme},
    },
};
use petstore_domain::Problem;

use super::error::ApiError;

/// The largest accepted size of the request line and header fields together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest accepted number of header fields.
const MAX_FIELDS: usize = 64;

/// What [`check_head`] must know about the header fields of a request.
struct FieldSummary {
    /// The length of all fields in bytes, as HTTP/1.1 would write them.
    length: usize,
    host_count: u32,
    /// The number of `Transfer-Encoding` fields.
    coding_count: u32,
    /// Whether every `Host` and `Transfer-Encoding` is valid.
    are_valid: bool,
}

/// Rejects a head that is larger than any client needs, or that a proxy could interpret
/// differently. With such a difference, a client could hide a request from the proxy (request
/// smuggling).
///
/// Fails with 431 above the limits. Fails with 400 if
/// - an HTTP/1.1 request does not have exactly one `Host` (RFC 9112, section 3.2),
/// - the host is invalid,
/// - an HTTP/2 request has a `Host` that differs from `:authority`,
/// - there is a transfer coding other than `chunked` (section 6.1).
pub(super) fn check_head(request: &Parts) -> Result<(), ApiError> {
    let fields = summarize_fields(request);
    let length = request_line_length(request) + fields.length;
    if request.headers.len() > MAX_FIELDS || length > MAX_HEAD {
        return Err(head_too_large());
    }

    let has_host = fields.host_count == 1 || request.version != Version::HTTP_11;
    let is_unambiguous = fields.host_count <= 1 && fields.coding_count <= 1;
    // User information before the host only serves to deceive (RFC 9110, section 4.2.4).
    let authority = request.uri.authority();
    let has_user = authority.is_some_and(|authority| authority.as_str().contains('@'));
    if has_host && is_unambiguous && fields.are_valid && !has_user {
        return Ok(());
    }
    Err(ApiError::new(
        Problem::InvalidRequest,
        "A request must have exactly one Host, equal to the host of its target, and no \
         Transfer-Encoding other than chunked.",
    ))
}

/// Summarizes the header fields of a request.
fn summarize_fields(request: &Parts) -> FieldSummary {
    let uri = &request.uri;
    // An HTTP/2 request can have both `:authority` and `Host`, which must then agree. In HTTP/1.1,
    // an absolute target overrides `Host` (RFC 9112, section 3.2.2).
    let expected_host = if request.version >= Version::HTTP_2 {
        uri.authority().map(Authority::as_str)
    } else {
        None
    };
    let mut fields = FieldSummary {
        length: 0,
        host_count: 0,
        coding_count: 0,
        are_valid: true,
    };
    for (name, value) in &request.headers {
        fields.length += name.as_str().len() + value.len() + ": \r\n".len();
        if name == header::HOST {
            fields.host_count += 1;
            fields.are_valid &= is_valid_host(value);
            fields.are_valid &= expected_host.is_none_or(|host| is_same_host(uri, host, value));
        } else if name == header::TRANSFER_ENCODING {
            fields.coding_count += 1;
            fields.are_valid &= value.as_bytes().eq_ignore_ascii_case(b"chunked");
        }
    }
    fields
}

/// Returns the length of the request line in bytes, as HTTP/1.1 would write it (RFC 9112, section
/// 3): the method, the target and the version, with two spaces between them.
fn request_line_length(request: &Parts) -> usize {
    let authority = request.uri.authority();
    let target = request.uri.path_and_query();
    request.method.as_str().len()
        + "  HTTP/1.1\r\n".len()
        + authority.map_or(0, |authority| authority.as_str().len())
        + target.map_or(0, |target| target.as_str().len())
}

/// Returns the 431 for a head above the limits.
fn head_too_large() -> ApiError {
    let message = format!(
        "The request line and header fields exceed {MAX_HEAD} bytes or {MAX_FIELDS} fields."
    );
    ApiError::new(Problem::HeadTooLarge, message)
}

/// Whether `authority` and `host` name the same host and port (RFC 9113, section 8.3.1). The
/// default port of the scheme may be present in either or absent.
fn is_same_host(uri: &Uri, authority: &str, host: &HeaderValue) -> bool {
    let usual_port: &[u8] = if uri.scheme() == Some(&Scheme::HTTPS) {
        b":443"
    } else {
        b":80"
    };
    let host = host.as_bytes();
    let authority = authority.as_bytes();
    let bare_host = host.strip_suffix(usual_port).unwrap_or(host);
    let bare_authority = authority.strip_suffix(usual_port).unwrap_or(authority);
    bare_authority.eq_ignore_ascii_case(bare_host)
}

/// Whether the value is empty or has only characters that are allowed in a host and port (RFC 9110,
/// section 7.2). More is not checked, because the value is never used in a URL.
fn is_valid_host(value: &HeaderValue) -> bool {
    value
        .as_bytes()
        .iter()
        .all(|&byte| byte.is_ascii_alphanumeric() || is_host_punctuation(byte))
}

/// Whether the character is punctuation that is allowed in a host and port.
fn is_host_punctuation(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b','
    ) || matches!(byte, b';' | b'=' | b':' | b'[' | b']')
}
