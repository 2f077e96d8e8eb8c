//! Reads `multipart/form-data` bodies (RFC 7578), which are forms with files, part by part.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{HeaderMap, header};
use memchr::memmem;
use petstore_domain::Problem;
use tokio::time::{self, Instant};

use super::{
    ApiError,
    body::{UnreadBody, late_body_error},
};

/// The largest head of a part, in bytes.
const MAX_HEAD: usize = 8 << 10;

/// The maximum number of parts of a form.
const MAX_PARTS: u32 = 100;

/// The maximum length of a boundary, in characters (RFC 2046, section 5.1.1).
const MAX_BOUNDARY: usize = 70;

/// How many times the timeout of one part a whole form may take.
const WHOLE_FORM_FACTOR: u32 = 10;

/// A reader of a form that is still arriving.
pub struct Multipart<'r> {
    body: UnreadBody<'r>,
    timeout: Duration,
    /// When the whole form must have arrived.
    deadline: Instant,
    /// How many more parts are accepted.
    remaining_parts: u32,
    /// How many more bytes are accepted.
    remaining_bytes: usize,
    /// Bytes that have arrived but are not consumed yet.
    buffer: Vec<u8>,
    /// What precedes each part and follows the last one: CRLF, `--` and the boundary.
    delimiter: Vec<u8>,
}

/// A field or file of a form.
pub struct Part {
    /// The name of the input.
    pub name: String,
    /// The file name, if the part is a file input.
    pub file: Option<String>,
    /// The value, or the content of the file. It is `None` if it exceeds the limit.
    pub content: Option<Bytes>,
}

impl<'r> Multipart<'r> {
    /// Creates a reader of a form of at most `max_bytes`. Each part must arrive within `timeout`,
    /// and the whole form within ten times as long. Fails with 415 if the body is not such a form.
    pub fn new(
        headers: &HeaderMap,
        body: UnreadBody<'r>,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<Self, ApiError> {
        let Some(boundary) = find_boundary(headers) else {
            let message = "The body must be a form with files, as a browser sends it.";
            return Err(ApiError::new(Problem::UnsupportedMediaType, message));
        };
        // The timer is created only for its deadline, because reading the clock is banned
        // (`clippy.toml`).
        let deadline = time::sleep(timeout * WHOLE_FORM_FACTOR).deadline();
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Ok(Self {
            body,
            timeout,
            deadline,
            remaining_parts: MAX_PARTS,
            remaining_bytes: max_bytes,
            // Nothing precedes the first delimiter, so this supplies the CRLF with which it begins.
            buffer: b"\r\n".to_vec(),
            delimiter,
        })
    }

    /// Reads the next part. Returns `None` after the last one. A part of more than `max` bytes is
    /// returned without its content.
    ///
    /// Fails with 400 if the form is malformed or ends early, 408 if it does not arrive in time,
    /// and 413 if it is too large or has too many parts.
    pub async fn next(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        let deadline = self.deadline;
        let timeout = self.timeout;
        match time::timeout_at(deadline, time::timeout(timeout, self.read_part(max))).await {
            Ok(Ok(result)) => result,
            // The part or the whole form took too long.
            Ok(Err(_)) | Err(_) => Err(late_body_error()),
        }
    }

    /// Reads the next part, without a time limit.
    async fn read_part(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        let delimiter = self.delimiter.clone();
        // Skips to the delimiter. A preamble may precede the first one.
        self.read_until(&delimiter, MAX_HEAD).await?;
        // Two more bytes tell whether a part follows, or the form ends with `--`.
        while self.buffer.len() < 2 {
            self.read_frame().await?;
        }
        if self.buffer.starts_with(b"--") {
            return Ok(None);
        }
        self.remaining_parts = self
            .remaining_parts
            .checked_sub(1)
            .ok_or_else(too_large_error)?;

        let Some(head) = self.read_until(b"\r\n\r\n", MAX_HEAD).await? else {
            return Err(invalid_form_error());
        };
        let head = String::from_utf8_lossy(&head).into_owned();
        let content = self.read_until(&delimiter, max).await?;
        // Puts the delimiter back, because the next call expects it before its part.
        self.buffer.splice(0..0, delimiter);

        let disposition = find_part_header(&head, "content-disposition").unwrap_or_default();
        Ok(Some(Part {
            // No input of a form has an empty name, so it stands for a missing name.
            name: find_parameter(disposition, "name").unwrap_or_default(),
            file: find_parameter(disposition, "filename"),
            content: content.map(Bytes::from),
        }))
    }

    /// Consumes all bytes up to and including `end`, and returns the bytes before `end`.
    ///
    /// Returns `None` if there are more than `max` bytes. They are dropped as they arrive, so that
    /// the buffer stays small.
    async fn read_until(&mut self, end: &[u8], max: usize) -> Result<Option<Vec<u8>>, ApiError> {
        // `end` does not begin anywhere before this position of the buffer.
        let mut search_start = 0;
        let mut has_dropped_bytes = false;
        loop {
            if let Some(offset) = memmem::find(&self.buffer[search_start..], end) {
                let length = search_start + offset;
                let mut bytes: Vec<u8> = self.buffer.drain(..length + end.len()).collect();
                bytes.truncate(length);
                if has_dropped_bytes || length > max {
                    return Ok(None);
                }
                return Ok(Some(bytes));
            }

            // The first bytes of `end` may have arrived already.
            search_start = self.buffer.len().saturating_sub(end.len());
            if search_start > max {
                // Drop the bytes before this position, so that it becomes the start of the buffer.
                self.buffer.drain(..search_start);
                search_start = 0;
                has_dropped_bytes = true;
            }
            self.read_frame().await?;
        }
    }

    /// Appends the next frame of the body to the buffer.
    async fn read_frame(&mut self) -> Result<(), ApiError> {
        let frame = self.body.frame().await.ok_or_else(invalid_form_error)?;
        let frame = frame.map_err(|_| invalid_form_error())?;
        // Trailers, the only other kind of frame, are ignored.
        if let Ok(data) = frame.into_data() {
            self.remaining_bytes = self
                .remaining_bytes
                .checked_sub(data.len())
                .ok_or_else(too_large_error)?;
            self.buffer.extend_from_slice(&data);
        }
        Ok(())
    }
}

/// Returns the boundary between the parts from `Content-Type`, if this is `multipart/form-data`
/// with a boundary of valid length.
///
/// Example: `multipart/form-data; boundary=abc` has the boundary `abc`.
fn find_boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let (media_type, _) = content_type.split_once(';')?;
    if !media_type
        .trim()
        .eq_ignore_ascii_case("multipart/form-data")
    {
        return None;
    }
    let boundary = find_parameter(content_type, "boundary")?;
    if (1..=MAX_BOUNDARY).contains(&boundary.len()) {
        Some(boundary)
    } else {
        None
    }
}

/// Returns the 413 for a form that exceeds a limit.
fn too_large_error() -> ApiError {
    ApiError::new(
        Problem::BodyTooLarge,
        "The form is too large, or has too many parts. Send less.",
    )
}

/// Returns the 400 for a form that is malformed or ends early.
fn invalid_form_error() -> ApiError {
    ApiError::new(
        Problem::InvalidBody,
        "The form ended too early, or is not complete.",
    )
}

/// Returns the value of a header field of a part, if its head has the field.
fn find_part_header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(field_name, _)| field_name.eq_ignore_ascii_case(name))?;
    Some(value.trim())
}

/// Returns the value of a parameter of a header field (RFC 9110, section 5.6.6), without its
/// quotes.
///
/// Example: in `form-data; name="photo"`, the parameter `name` has the value `photo`.
fn find_parameter(value: &str, name: &str) -> Option<String> {
    let (_, mut remaining) = value.split_once(';')?;
    loop {
        let (parameter_name, value_and_end) = remaining.split_once('=')?;
        let (parameter_value, end) = split_parameter_value(value_and_end.trim_start());
        if parameter_name.trim().eq_ignore_ascii_case(name) {
            return Some(parameter_value);
        }
        (_, remaining) = end.split_once(';')?;
    }
}

/// Splits a text into the value of a parameter, with which it begins, and what follows the value.
///
/// In a quoted value, browsers write a quote as `%22`, and other clients as `\"`. Other backslashes
/// stand for themselves, because browsers do not escape them.
///
/// Example: `"a;b.jpg"; x=y` is split into `a;b.jpg` and `; x=y`.
fn split_parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let closing_quote = quoted
        .match_indices('"')
        .find(|&(index, _)| !quoted[..index].ends_with('\\'));
    let end = match closing_quote {
        Some((index, _)) => index,
        None => quoted.len(),
    };
    let value = quoted[..end].replace("%22", "\"").replace("\\\"", "\"");
    (value, &quoted[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary_in(content_type: &'static str) -> Option<String> {
        let mut headers = HeaderMap::new();
        let content_type = header::HeaderValue::from_static(content_type);
        headers.insert(header::CONTENT_TYPE, content_type);
        find_boundary(&headers)
    }

    #[test]
    fn a_boundary_is_read_in_upper_and_lower_case_and_with_other_parameters() {
        for content_type in [
            "multipart/form-data; boundary=a-b",
            "multipart/form-data;boundary=\"a-b\"",
            "Multipart/Form-Data; charset=utf-8; Boundary=a-b",
            "multipart/form-data ; boundary=a-b ; charset=utf-8",
            "multipart/form-data; note=\"; boundary=x\"; boundary=a-b",
        ] {
            assert_eq!(
                boundary_in(content_type).as_deref(),
                Some("a-b"),
                "{content_type}"
            );
        }
        for content_type in [
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data-x; boundary=a",
            "text/plain; boundary=a",
        ] {
            assert_eq!(boundary_in(content_type), None, "{content_type}");
        }
    }

    #[test]
    fn the_name_of_a_file_may_have_semicolons_quotes_and_backslashes() {
        for (sent, expected) in [
            ("\"a;b.jpg\"", "a;b.jpg"),
            ("\"a%22b.jpg\"", "a\"b.jpg"),
            ("\"a\\\"b;c.jpg\"", "a\"b;c.jpg"),
            ("\"C:\\d\\a.jpg\"", "C:\\d\\a.jpg"),
            ("a.jpg", "a.jpg"),
            ("\"\"", ""),
        ] {
            let disposition = format!("form-data; name=\"photo\"; filename={sent}");
            assert_eq!(
                find_parameter(&disposition, "filename").as_deref(),
                Some(expected),
                "{sent}"
            );
            assert_eq!(
                find_parameter(&disposition, "name").as_deref(),
                Some("photo"),
                "{sent}"
            );
        }
    }
}
