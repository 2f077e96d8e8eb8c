//! Sending requests to a service that may be busy or out of reach for a moment.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use reqwest::{Client, Request, Response, StatusCode, header};

const TRIES: u32 = 6;

/// How often a 429 was waited for.
pub static WAITS: AtomicU32 = AtomicU32::new(0);

/// Sends a request again if its connection broke, and after 429 and 503 as soon as `Retry-After`
/// allows. Give it only what may be repeated: reading, and adding with an `Idempotency-Key`.
///
/// # Errors
///
/// The error of the last try.
pub async fn send_patiently(client: &Client, request: Request) -> reqwest::Result<Response> {
    let mut tried = 1;
    // `None` for a body that is a stream, which can be sent once.
    while let Some(again) = request.try_clone().filter(|_| tried < TRIES) {
        let answer = client.execute(again).await;
        let mut wait = Duration::from_millis(100) * 2_u32.pow(tried);
        if let Ok(response) = answer {
            match response.status() {
                StatusCode::TOO_MANY_REQUESTS => WAITS.fetch_add(1, Relaxed),
                StatusCode::SERVICE_UNAVAILABLE => 0,
                _ => return Ok(response),
            };
            wait = retry_after(&response).unwrap_or(wait);
        }
        tokio::time::sleep(wait).await;
        tried += 1;
    }
    client.execute(request).await
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// A header field of an answer; empty if it has none.
pub fn field<'a>(headers: &'a header::HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Where a page's `Link` leads.
pub fn next_page(headers: &header::HeaderMap) -> Option<&str> {
    let (target, relation) = field(headers, "link").strip_prefix('<')?.split_once('>')?;
    (relation == r#"; rel="next""#).then_some(target)
}
