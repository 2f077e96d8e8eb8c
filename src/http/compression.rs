//! Content codings: zstd and gzip, for clients that ask for one (RFC 9110,
//! sections 8.4.1 and 12.5.3; RFC 8878).

use std::io::{self, Write};

use flate2::{Compression, write::GzEncoder};
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    body::Body,
    header::{self, HeaderValue},
};

use super::{Response, response_memory::ResponseMemory};

/// The smallest body that is compressed, in bytes. Pages become a fifth of what
/// they were, so from here on a whole packet (some 1,450 bytes) is saved.
const SMALLEST: u64 = 2 << 10;

/// The largest body that is compressed, in bytes: a tenth of a millisecond of
/// work, and below one for text without any pattern, which a thread does on its way.
const LARGEST: u64 = 64 << 10;

/// How much work is put into compressing, which both codings count alike.
pub(super) type Level = u8;

/// For each response: the next ones save little, for twice the time.
const FASTEST: Level = 1;

/// For what is compressed once, and sent often.
pub(super) const BEST: Level = 9;

/// Says that another request may get the body in another coding.
pub(super) const VARY: HeaderValue = HeaderValue::from_static("Accept-Encoding");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    pub(super) fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// Compresses the answer, if its size is worth it and the request asks for a
/// coding. Otherwise it stays as it is; no request is refused because of that. A
/// document that says `Vary` has seen to its coding itself.
pub(super) fn apply(memory: &ResponseMemory, request: &HeaderMap, response: &mut Response) {
    let size = response.body().size_hint().exact().unwrap_or_default();
    // It has the `Vary` of the 200 (RFC 9110, section 15.4.5), whatever its size.
    let known = response.status() == StatusCode::NOT_MODIFIED;
    if !known && !(SMALLEST..=LARGEST).contains(&size)
        || response.headers().contains_key(header::VARY)
    {
        return;
    }
    response.headers_mut().insert(header::VARY, VARY);
    let (Some(coding), Some(body)) = (preferred(request), response.body().clone().into_inner())
    else {
        return;
    };
    // Without memory for both, what is there already is sent.
    let compressed = compress(coding, FASTEST, &body).ok().and_then(|copy| memory.hold_copy(copy));
    let Some(compressed) = compressed else {
        return;
    };
    *response.body_mut() = Full::new(compressed);
    response.headers_mut().insert(header::CONTENT_ENCODING, coding.name());
}

/// The coding that the request likes best; zstd, which is smaller, if it likes
/// both alike. None without the field, and if it prefers none.
pub(super) fn preferred(request: &HeaderMap) -> Option<Coding> {
    let (mut zstd, mut gzip, mut identity, mut others) = (None, None, None, None);
    for field in request.get_all(header::ACCEPT_ENCODING) {
        for element in field.to_str().unwrap_or_default().to_ascii_lowercase().split(',') {
            let (name, parameter) = element.split_once(';').unwrap_or((element, "q=1"));
            let q = match name.trim() {
                "zstd" => &mut zstd,
                // The second is an old name of the same (RFC 9110, section 8.4.1.3).
                "gzip" | "x-gzip" => &mut gzip,
                "identity" => &mut identity,
                "*" => &mut others,
                _ => continue,
            };
            // What cannot be read is not asked for.
            *q = Some(weight(parameter).unwrap_or_default());
        }
    }
    let others = others.unwrap_or_default();
    // Who accepts just anything knows gzip, but perhaps no zstd.
    let (zstd, gzip) = (zstd.unwrap_or_default(), gzip.unwrap_or(others));
    let (coding, q) = if zstd >= gzip { (Coding::Zstd, zstd) } else { (Coding::Gzip, gzip) };
    (q > 0.0 && q >= identity.unwrap_or(others)).then_some(coding)
}

/// A `q=` from 0 to 1 (RFC 9110, section 12.4.2).
pub(super) fn weight(parameter: &str) -> Option<f32> {
    let q = parameter.trim().strip_prefix("q=")?;
    q.parse().ok().filter(|weight| (0.0..=1.0).contains(weight))
}

pub(super) fn compress(coding: Coding, level: Level, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressed = match coding {
        Coding::Gzip => {
            let room = Vec::with_capacity(body.len() / 2);
            let mut encoder = GzEncoder::new(room, Compression::new(level.into()));
            encoder.write_all(body)?;
            encoder.finish()?
        }
        Coding::Zstd => zstd::bulk::compress(body, level.into())?,
    };
    compressed.shrink_to_fit();
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_is_the_one_that_the_request_prefers() {
        let of = |fields: &[&str]| {
            let mut request = HeaderMap::new();
            for field in fields {
                request.append(header::ACCEPT_ENCODING, field.parse().unwrap());
            }
            preferred(&request)
        };
        for fields in [
            &["gzip"][..],
            &["GZIP;Q=0.001"],
            &["x-gzip"],
            &["br, deflate , gzip ; q=0.5"],
            &["zstd;q=0.5", "gzip;q=0.6"],
            &["gzip, zstd;q=0"],
            &["*"],
            &["zstd;q=0, *;q=0.1"],
            &["gzip, *;q=0"],
            &["identity;q=0.5, gzip;q=0.5"],
            &["gzip, zstd;q=much"],
        ] {
            assert_eq!(of(fields), Some(Coding::Gzip), "{fields:?}");
        }
        for fields in [&["zstd"][..], &["gzip, deflate, br, zstd"], &["gzip;q=0.9", "*, zstd"]] {
            assert_eq!(of(fields), Some(Coding::Zstd), "{fields:?}");
        }
        for fields in [
            &[][..],
            &[""],
            &["identity"],
            &["br"],
            &["gzip;q=0"],
            &["gzip;q=0.000, *"],
            &["*;q=0"],
            &["identity;q=0"],
            &["identity, gzip;q=0.5"],
            &["gzip;q=2", "zstd;q=-1", "gzip;q=NaN", "gzip;level=9"],
        ] {
            assert_eq!(of(fields), None, "{fields:?}");
        }
    }
}
