//! Forms with files (RFC 7578), read part by part.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{HeaderMap, header};
use memchr::memmem;

use super::{ApiError, Problem, body::UnreadBody};

/// The largest head of a part, in bytes.
const MAX_HEAD: usize = 8 << 10;

/// A form with files that arrives.
pub(crate) struct Multipart<'r> {
    body: UnreadBody<'r>,
    timeout: Duration,
    /// What has arrived and was not read yet.
    rest: Vec<u8>,
    /// What stands before each part, with the line end before it.
    delimiter: Vec<u8>,
}

/// A field of a form, or a file.
pub(crate) struct Part {
    pub(crate) name: String,
    /// The name of the file.
    pub(crate) file: Option<String>,
    /// `None` if it is too long.
    pub(crate) content: Option<Bytes>,
}

impl<'r> Multipart<'r> {
    /// A form whose parts arrive within `timeout` each. Fails with 415 for another body.
    pub(crate) fn of(
        headers: &HeaderMap,
        body: UnreadBody<'r>,
        timeout: Duration,
    ) -> Result<Self, ApiError> {
        let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
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
        Ok(Self { body, timeout, rest: b"\r\n".to_vec(), delimiter })
    }

    /// The next part, of at most `max` bytes. A longer one is skipped, and has no content. Fails with 400
    /// or 408 if the form is not complete.
    pub(crate) async fn next(&mut self, max: usize) -> Result<Option<Part>, ApiError> {
        let (timeout, part) = (self.timeout, self.read(max));
        match tokio::time::timeout(timeout, part).await {
            Ok(part) => part,
            Err(_) => Err(ApiError::new(Problem::BodyTimeout, "The body did not arrive in time.")),
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
        let head = self.until(b"\r\n\r\n", MAX_HEAD).await?.ok_or_else(invalid)?;
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

    /// What comes before `end`, without it; `None` if that is longer than `max`, and was skipped.
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
        let frame = self.body.frame().await.ok_or_else(invalid)?.map_err(|_| invalid())?;
        if let Ok(data) = frame.into_data() {
            self.rest.extend_from_slice(&data);
        }
        Ok(())
    }
}

fn invalid() -> ApiError {
    ApiError::new(Problem::InvalidBody, "The form ended too early, or is not complete.")
}

/// The value of a field in the head of a part.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The value of a parameter in quotes. Browsers escape a quote in it as `%22`.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut parameters = value.split(';').filter_map(|part| part.trim().split_once('='));
    let (_, value) = parameters.find(|(of, _)| *of == name)?;
    Some(value.trim_matches('"').replace("%22", "\""))
}
