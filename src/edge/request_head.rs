//! Validates the head of a request: its size, and the rules of HTTP that hyper does not enforce.

use hyper::{
    Uri, Version,
    header::{self, HeaderValue},
    http::{
        request::Parts,
        uri::{Authority, Scheme},
    },
};

use super::error::{ApiError, Problem};

/// The largest accepted size of the request line and header fields together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest accepted number of header fields.
const MAX_FIELDS: usize = 64;

/// Rejects a head that is larger than any client needs, or that a proxy could understand
/// differently. Fails with 431 above the limits, and with 400 if an HTTP/1.1 request does not have exactly
/// one `Host` (RFC 9112, section 3.2), or has a transfer coding other than `chunked` (section 6.1).
pub(crate) fn check(request: &Parts) -> Result<(), ApiError> {
    let headers = &request.headers;
    let uri = &request.uri;
    let mut length = request.method.as_str().len()
        + uri.authority().map_or(0, |authority| authority.as_str().len())
        + uri.path_and_query().map_or(0, |target| target.as_str().len());
    let authority = uri.authority().map(Authority::as_str);
    // HTTP/2 states the host twice. In HTTP/1.1, an absolute target overrides `Host` (RFC 9112,
    // section 3.2.2).
    let stated = authority.filter(|_| request.version >= Version::HTTP_2);
    let mut hosts = 0;
    let mut codings = 0;
    let mut is_valid = true;
    for (name, value) in headers {
        length += name.as_str().len() + value.len() + ": \r\n".len();
        if name == header::HOST {
            hosts += 1;
            is_valid &= is_host(value) && stated.is_none_or(|stated| is_same(uri, stated, value));
        } else if name == header::TRANSFER_ENCODING {
            codings += 1;
            is_valid &= value.as_bytes().eq_ignore_ascii_case(b"chunked");
        }
    }
    if headers.len() > MAX_FIELDS || length > MAX_HEAD {
        let message = format!(
            "The request line and header fields exceed {MAX_HEAD} bytes or {MAX_FIELDS} fields."
        );
        return Err(ApiError::new(Problem::HeadTooLarge, message));
    }
    let has_host = hosts == 1 || request.version != Version::HTTP_11;
    // A user before the host is only used to deceive (RFC 9110, section 4.2.4).
    is_valid &= authority.is_none_or(|authority| !authority.contains('@'));
    if is_valid && has_host && hosts <= 1 && codings <= 1 {
        return Ok(());
    }
    Err(ApiError::new(
        Problem::InvalidRequest,
        "A request must have exactly one Host, equal to the host of its target, and no \
         Transfer-Encoding other than chunked.",
    ))
}

/// Whether both name the same host and port (RFC 9113, section 8.3.1).
fn is_same(uri: &Uri, authority: &str, host: &HeaderValue) -> bool {
    let usual_port = if uri.scheme() == Some(&Scheme::HTTPS) { ":443" } else { ":80" };
    let bare = |text| <[u8]>::strip_suffix(text, usual_port.as_bytes()).unwrap_or(text);
    bare(authority.as_bytes()).eq_ignore_ascii_case(bare(host.as_bytes()))
}

/// Whether the value is empty or consists of characters of a host and port (RFC 9110, section 7.2).
/// It is never used in a URL, so no more is checked.
fn is_host(value: &HeaderValue) -> bool {
    let is_mark = |byte| {
        matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b',')
            || matches!(byte, b';' | b'=' | b':' | b'[' | b']')
    };
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || is_mark(*byte);
    value.as_bytes().iter().all(allowed)
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn checked(version: Version, fields: &[(&str, &str)]) -> Result<(), Problem> {
        let mut request = Request::builder().version(version).uri("/v1/pets");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap().into_parts().0).map_err(|error| error.problem())
    }

    #[test]
    fn an_http_1_1_request_has_exactly_one_host() {
        let (old, usual, new) = (Version::HTTP_10, Version::HTTP_11, Version::HTTP_2);
        for host in ["x", "", "x:80", "[::1]:80", "pets.example.com"] {
            assert_eq!(checked(usual, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["a b", "a/b", "u@h", "a\\b", "a, b", "\u{e9}"] {
            assert_eq!(checked(usual, &[("host", host)]), Err(Problem::InvalidRequest), "{host}");
        }
        assert_eq!(checked(usual, &[]), Err(Problem::InvalidRequest));
        assert_eq!(checked(old, &[]), Ok(()));
        assert_eq!(checked(new, &[]), Ok(()));
        for version in [old, usual, new] {
            let twice = [("host", "x"), ("host", "x")];
            assert_eq!(checked(version, &twice), Err(Problem::InvalidRequest));
        }
    }

    #[test]
    fn an_http_2_request_has_the_same_host_in_both_fields() {
        let with = |version, target: &str, host: &str| {
            let request = Request::builder().version(version).uri(target).header("host", host);
            check(&request.body(()).unwrap().into_parts().0).map_err(|error| error.problem())
        };
        let (http_1, http_2) = (Version::HTTP_11, Version::HTTP_2);
        for (target, host) in [
            ("http://a.example/", "A.example"),
            ("http://a.example/", "a.example:80"),
            ("https://a.example:443/", "a.example"),
            ("http://[::1]:81/", "[::1]:81"),
        ] {
            assert_eq!(with(http_2, target, host), Ok(()), "{target} {host}");
        }
        for (target, host) in [
            ("http://a.example/", "b.example"),
            ("http://a.example/", "a.example:81"),
            ("http://a.example/", "a.example:443"),
            ("http://a.example/", ""),
        ] {
            assert_eq!(with(http_2, target, host), Err(Problem::InvalidRequest), "{host}");
            assert_eq!(with(http_1, target, host), Ok(()), "{host}");
        }
        for version in [http_1, http_2] {
            let user = with(version, "http://u@a.example/", "a.example");
            assert_eq!(user, Err(Problem::InvalidRequest));
        }
    }

    #[test]
    fn chunked_is_the_only_transfer_coding() {
        let with = |codings: &[&str]| {
            let mut fields = vec![("host", "x")];
            fields.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
            checked(Version::HTTP_11, &fields)
        };
        assert_eq!(with(&["chunked"]), Ok(()));
        assert_eq!(with(&["Chunked"]), Ok(()));
        for codings in [
            &["gzip, chunked"][..],
            &["gzip", "chunked"],
            &["chunked", "chunked"],
            &["chunked, chunked"],
            &["chunked;q=1"],
            &["identity"],
            &[""],
        ] {
            assert_eq!(with(codings), Err(Problem::InvalidRequest), "{codings:?}");
        }
    }
}
