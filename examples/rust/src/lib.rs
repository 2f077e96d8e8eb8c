//! Requests with retries, for a service that may be busy or unreachable for a moment.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use reqwest::{Client, Request, Response, StatusCode, header};

const ATTEMPTS: u32 = 6;

/// The number of retries after 429.
pub static WAITS: AtomicU32 = AtomicU32::new(0);

/// Retries a request if its connection broke, and after 429 and 503 when the time in `Retry-After`
/// is over. Use it only for requests that are safe to retry: reads, and creates with an
/// `Idempotency-Key`.
///
/// # Errors
///
/// The error of the last attempt.
pub async fn send_with_retries(client: &Client, request: Request) -> reqwest::Result<Response> {
    let mut attempt = 1;
    // `None` for a body that is a stream, which can be sent only once.
    while let Some(again) = request.try_clone().filter(|_| attempt < ATTEMPTS) {
        let result = client.execute(again).await;
        let mut wait = Duration::from_millis(100) * 2_u32.pow(attempt);
        if let Ok(response) = result {
            match response.status() {
                StatusCode::TOO_MANY_REQUESTS => WAITS.fetch_add(1, Relaxed),
                StatusCode::SERVICE_UNAVAILABLE => 0,
                _ => return Ok(response),
            };
            wait = retry_after(&response).unwrap_or(wait);
        }
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
    client.execute(request).await
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response
        .headers()
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

/// A header field of a response; empty if it is missing.
pub fn field<'a>(headers: &'a header::HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// The target of a page's `Link`.
pub fn next_page(headers: &header::HeaderMap) -> Option<&str> {
    let (target, relation) = field(headers, "link").strip_prefix('<')?.split_once('>')?;
    (relation == r#"; rel="next""#).then_some(target)
}
