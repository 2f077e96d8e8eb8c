//! Forms with files (RFC 7578), read part by part.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{HeaderMap, header};
use memchr::memmem;
use petstore_domain::Problem;
use tokio::time::{self, Instant};

use super::{ApiError, body::UnreadBody};

/// The largest head of a part, in bytes.
const MAX_HEAD: usize = 8 << 10;

/// The maximum number of parts of a form.
const MAX_PARTS: u32 = 100;

/// The factor by which a whole form may take longer than one of its parts.
const WHOLE_FORM_FACTOR: u32 = 10;

/// A form with files that arrives.
pub struct Multipart<'r> {
    body: UnreadBody<'r>,
    timeout: Duration,
    /// The end of the time for the whole form.
    end: Instant,
    /// The number of parts that may still come.
    parts: u32,
    /// The number of bytes that may still come.
    bytes: usize,
    /// The bytes that have arrived and were not read yet.
    buffer: Vec<u8>,
    /// The mark before each part, with the line end before it.
    delimiter: Vec<u8>,
}

/// A field of a form, or a file.
pub struct Part {
    pub name: String,
    /// The name of the file.
    pub file: Option<String>,
    /// `None` if it is too long.
    pub content: Option<Bytes>,
}

impl<'r> Multipart<'r> {
    /// Begins to read a form of at most `bytes` whose parts arrive within `timeout` each, and all of them within ten
    /// times as long. Fails with 415 for another body.
    pub fn new(
        headers: &HeaderMap,
        body: UnreadBody<'r>,
        timeout: Duration,
        bytes: usize,
    ) -> Result<Self, ApiError> {
        let Some(boundary) = boundary(headers) else {
            let message = "The body must be a form with files, as a browser sends it.";
            return Err(ApiError::new(Problem::UnsupportedMediaType, message));
        };
        let end = time::sleep(timeout * WHOLE_FORM_FACTOR).deadline();
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Ok(Self {
            body,
            timeout,
            end,
            parts: MAX_PARTS,
            bytes,
            // The first delimiter then follows a line end, like each other one.
            buffer: b"\r\n".to_vec(),
            delimiter,
        })
    }

    /// Reads the next part, of at most `max` bytes. A longer one is skipped, and has no content. Fails with 400
    /// or 408 if the form is not complete, and with 413 if it is too large or has too many parts.
    pub async fn next(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        self.parts = self.parts.checked_sub(1).ok_or_else(too_large)?;
        let end = self.end;
        let timeout = self.timeout;
        match time::timeout_at(end, time::timeout(timeout, self.read(max))).await {
            Ok(Ok(part)) => part,
            _ => Err(ApiError::new(
                Problem::BodyTimeout,
                "The body did not arrive in time.",
            )),
        }
    }

    /// Reads the next part, without a limit of time.
    async fn read(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        let delimiter = self.delimiter.clone();
        // What precedes the delimiter is the end of the part before.
        self.read_until(&delimiter, MAX_HEAD).await?;
        while self.buffer.len() < 2 {
            self.read_frame().await?;
        }
        if self.buffer.starts_with(b"--") {
            return Ok(None);
        }

        let Some(head) = self.read_until(b"\r\n\r\n", MAX_HEAD).await? else {
            return Err(invalid());
        };
        let head = String::from_utf8_lossy(&head).into_owned();
        let content = self.read_until(&delimiter, max).await?;
        // Back into the buffer, because the delimiter is also the beginning of the next part.
        self.buffer.splice(0..0, delimiter);

        let disposition = field(&head, "content-disposition").unwrap_or_default();
        Ok(Some(Part {
            name: parameter(disposition, "name").unwrap_or_default(),
            file: parameter(disposition, "filename"),
            content: content.map(Bytes::from),
        }))
    }

    /// Reads the bytes before `end`, and skips `end` itself. Returns `None` if there were more than `max` bytes.
    async fn read_until(&mut self, end: &[u8], max: usize) -> Result<Option<Vec<u8>>, ApiError> {
        // The buffer has no `end` that begins before this position.
        let mut search_start = 0;
        let mut is_too_long = false;
        loop {
            if let Some(offset) = memmem::find(&self.buffer[search_start..], end) {
                let length = search_start + offset;
                let mut bytes: Vec<u8> = self.buffer.drain(..length + end.len()).collect();
                bytes.truncate(length);
                if is_too_long || length > max {
                    return Ok(None);
                }
                return Ok(Some(bytes));
            }

            // The first bytes of the end may have arrived.
            search_start = self.buffer.len().saturating_sub(end.len());
            if search_start > max {
                self.buffer.drain(..search_start);
                search_start = 0;
                is_too_long = true;
            }
            self.read_frame().await?;
        }
    }

    /// Reads what arrives next.
    async fn read_frame(&mut self) -> Result<(), ApiError> {
        let frame = self.body.frame().await.ok_or_else(invalid)?;
        let frame = frame.map_err(|_| invalid())?;
        if let Ok(data) = frame.into_data() {
            self.bytes = self.bytes.checked_sub(data.len()).ok_or_else(too_large)?;
            self.buffer.extend_from_slice(&data);
        }
        Ok(())
    }
}

/// Returns the text between the parts of a form, if the body is one (RFC 2046, section 5.1.1).
///
/// Example: `multipart/form-data; boundary=abc` has the boundary `abc`.
fn boundary(headers: &HeaderMap) -> Option<&str> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let parameters = content_type.strip_prefix("multipart/form-data")?;
    let (_, boundary) = parameters.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    if (1..=70).contains(&boundary.len()) {
        Some(boundary)
    } else {
        None
    }
}

fn too_large() -> ApiError {
    ApiError::new(
        Problem::BodyTooLarge,
        "The form is too large, or has too many parts. Send less.",
    )
}

fn invalid() -> ApiError {
    ApiError::new(
        Problem::InvalidBody,
        "The form ended too early, or is not complete.",
    )
}

/// Returns the value of a field in the head of a part.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(field_name, _)| field_name.eq_ignore_ascii_case(name))?;
    Some(value.trim())
}

/// Returns the value of a parameter in quotes. Browsers escape a quote in it as `%22`.
///
/// Example: in `form-data; name="photo"`, the parameter `name` has the value `photo`.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut parameters = value
        .split(';')
        .filter_map(|part| part.trim().split_once('='));
    let (_, value) = parameters.find(|(parameter_name, _)| *parameter_name == name)?;
    Some(value.trim_matches('"').replace("%22", "\""))
}
