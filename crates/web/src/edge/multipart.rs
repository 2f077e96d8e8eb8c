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

/// The most parts of a form.
const MAX_PARTS: u32 = 100;

/// How much longer a whole form may take than one of its parts.
const WHOLE: u32 = 10;

/// A form with files that arrives.
pub struct Multipart<'r> {
    body: UnreadBody<'r>,
    timeout: Duration,
    /// The end of the time for the whole form.
    end: Instant,
    /// How many parts and bytes may still come.
    parts: u32,
    bytes: usize,
    /// The bytes that have arrived and were not read yet.
    rest: Vec<u8>,
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
    /// A form of at most `bytes` whose parts arrive within `timeout` each, and all of them within ten
    /// times as long. Fails with 415 for another body.
    pub fn new(
        headers: &HeaderMap,
        body: UnreadBody<'r>,
        timeout: Duration,
        bytes: usize,
    ) -> Result<Self, ApiError> {
        let value = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let boundary = value.and_then(|value| {
            let rest = value.strip_prefix("multipart/form-data")?;
            let (_, boundary) = rest.split_once("boundary=")?;
            let boundary = boundary.split(';').next()?.trim().trim_matches('"');
            (1..=70).contains(&boundary.len()).then_some(boundary)
        });
        let Some(boundary) = boundary else {
            let message = "The body must be a form with files, as a browser sends it.";
            return Err(ApiError::new(Problem::UnsupportedMediaType, message));
        };
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        // As if a line came before the first delimiter.
        let (end, rest) = (time::sleep(timeout * WHOLE).deadline(), b"\r\n".to_vec());
        Ok(Self {
            body,
            timeout,
            end,
            parts: MAX_PARTS,
            bytes,
            rest,
            delimiter,
        })
    }

    /// The next part, of at most `max` bytes. A longer one is skipped, and has no content. Fails with 400
    /// or 408 if the form is not complete, and with 413 if it is too large or has too many parts.
    pub async fn next(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        self.parts = self.parts.checked_sub(1).ok_or_else(too_large)?;
        let (end, timeout) = (self.end, self.timeout);
        match time::timeout_at(end, time::timeout(timeout, self.read(max))).await {
            Ok(Ok(part)) => part,
            _ => Err(ApiError::new(
                Problem::BodyTimeout,
                "The body did not arrive in time.",
            )),
        }
    }

    async fn read(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        let delimiter = self.delimiter.clone();
        // The end of the part before.
        self.until(&delimiter, MAX_HEAD).await?;
        while self.rest.len() < 2 {
            self.more().await?;
        }
        if self.rest.starts_with(b"--") {
            return Ok(None);
        }
        let head = self
            .until(b"\r\n\r\n", MAX_HEAD)
            .await?
            .ok_or_else(invalid)?;
        let head = String::from_utf8_lossy(&head).into_owned();
        // The delimiter is found again as the beginning of the next part.
        let content = self.until(&delimiter, max).await?;
        self.rest.splice(0..0, delimiter);
        let disposition = field(&head, "content-disposition").unwrap_or_default();
        Ok(Some(Part {
            name: parameter(disposition, "name").unwrap_or_default(),
            file: parameter(disposition, "filename"),
            content: content.map(Bytes::from),
        }))
    }

    /// The bytes before `end`, without it; `None` if that is longer than `max`, and was skipped.
    async fn until(&mut self, end: &[u8], max: usize) -> Result<Option<Vec<u8>>, ApiError> {
        let (mut searched, mut is_skipped) = (0, false);
        loop {
            if let Some(at) = memmem::find(&self.rest[searched..], end) {
                let mut before: Vec<u8> = self.rest.drain(..searched + at + end.len()).collect();
                before.truncate(before.len() - end.len());
                return Ok((!is_skipped && before.len() <= max).then_some(before));
            }
            // The end may have arrived in part.
            searched = self.rest.len().saturating_sub(end.len());
            if searched > max {
                self.rest.drain(..searched);
                (searched, is_skipped) = (0, true);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), ApiError> {
        let frame = self
            .body
            .frame()
            .await
            .ok_or_else(invalid)?
            .map_err(|_| invalid())?;
        if let Ok(data) = frame.into_data() {
            self.bytes = self.bytes.checked_sub(data.len()).ok_or_else(too_large)?;
            self.rest.extend_from_slice(&data);
        }
        Ok(())
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

/// The value of a field in the head of a part.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines
        .find(|(of, _)| of.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// The value of a parameter in quotes. Browsers escape a quote in it as `%22`.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut parameters = value
        .split(';')
        .filter_map(|part| part.trim().split_once('='));
    let (_, value) = parameters.find(|(of, _)| *of == name)?;
    Some(value.trim_matches('"').replace("%22", "\""))
}
