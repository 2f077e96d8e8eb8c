//! Enforces the rate limit of a key with 429, and announces it in the `RateLimit` headers.

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use petstore_domain::{Problem, rate_limit::MeterReading};
use petstore_web::edge::ApiError;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Checks that a request is within the rate limit of its key. Fails with 429 if it is not.
///
/// `reading` is `None` if the key has no limit.
pub(crate) fn check(reading: Option<MeterReading>) -> Result<(), ApiError> {
    let no_explanation = None;
    check_with_explanation(reading, no_explanation)
}

/// Checks that a batch of `command_count` commands is within the rate limit of its key. Fails with 429 if it
/// is not. Fails with 400 if the batch is larger than the whole quota: a retry could never succeed.
pub(crate) fn check_commands(
    reading: Option<MeterReading>,
    command_count: u32,
) -> Result<(), ApiError> {
    const EACH_COUNTS: &str = "Each command of a batch counts as one.";
    if let Some(MeterReading { limit, .. }) = reading
        && command_count > limit.quota()
    {
        let limit_text = limit.in_words();
        let quota = limit.quota();
        let message = format!(
            "This API key allows {limit_text}. {EACH_COUNTS} Send at most {quota} commands in a batch."
        );
        return Err(ApiError::new(Problem::InvalidBody, message));
    }
    check_with_explanation(reading, Some(EACH_COUNTS))
}

/// Checks the rate limit like [`check`]. The message of the error contains the additional sentence
/// `explanation`.
fn check_with_explanation(
    reading: Option<MeterReading>,
    explanation: Option<&str>,
) -> Result<(), ApiError> {
    let Some(reading) = reading else {
        return Ok(());
    };
    if reading.is_within_limit {
        return Ok(());
    }
    let refill_seconds = reading.refill_seconds;
    let limit_text = reading.limit.in_words();
    let explanation = match explanation {
        Some(sentence) => format!("{sentence} "),
        None => String::new(),
    };
    let plural = if refill_seconds == 1 { "" } else { "s" };
    let message = format!(
        "Rate limit exceeded: this API key allows {limit_text}. {explanation}Retry after \
         {refill_seconds} second{plural}."
    );
    Err(ApiError::rate_limited(message, refill_seconds))
}

/// Adds the headers that announce the quota of a key and what is left of it
/// (draft-ietf-httpapi-ratelimit-headers), such as `RateLimit: "default";r=59;t=1`.
pub(crate) fn announce(headers: &mut HeaderMap, reading: MeterReading) {
    let MeterReading {
        limit,
        remaining,
        refill_seconds,
        ..
    } = reading;
    let rate_limit = format!(r#""default";r={remaining};t={refill_seconds}"#);
    let policy = format!(
        r#""default";q={quota};w={window}"#,
        quota = limit.quota(),
        window = limit.window()
    );
    // Both texts are printable ASCII, so they are valid in a header.
    if let Ok(rate_limit) = HeaderValue::try_from(rate_limit) {
        headers.insert(RATE_LIMIT, rate_limit);
    }
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(RATE_LIMIT_POLICY, policy);
    }
}
