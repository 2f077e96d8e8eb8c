//! `followChanges`: `GET /v1/store/changes`.

mod follower;

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use petstore_app::journal::{self, CursorError, EndReason};
use petstore_domain::{
    Actor, Problem,
    store_area::{ChangePage, ChangeType, JournalEntry, JournalState},
    text,
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, response};
use tokio::time;

use self::follower::{Follower, PageError};
use super::{
    page::{self, Element},
    shared::StoreArea,
};
use crate::{accept, access::auth, context::Call, query};

/// The longest time that a client can tell the service to wait for a change.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

const MAX_LIMIT: u32 = 1000;
const DEFAULT_LIMIT: u32 = 100;

/// After the oldest change of the log, deletions may be near. They are made in smaller steps.
const NEAR_THE_OLDEST: i64 = 10_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Responds with the changes after a position: a page, or a stream of events.
pub(crate) async fn follow_changes(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = ["after", "type", "limit", "wait"];
    let [after, kind, limit, wait] = query::parameters(request.uri.query(), names)?;
    let of_name = |text: &str| text.parse().ok();
    let kind = query::filter(
        "type",
        kind.as_ref(),
        of_name,
        "a type of change, such as pet.changed",
    )?;
    let size = parse_limit(limit.as_ref())?;
    let waits = query::filter(
        "wait",
        wait.as_ref(),
        parse_wait,
        "a number of seconds from 0s to 60s",
    )?;
    let is_stream = accept::prefers(
        &request.headers,
        &[response::EVENT_STREAM],
        &["application/json"],
    );
    if is_stream && (limit.is_some() || wait.is_some()) {
        let message = "limit and wait are only for pages; leave them out to receive a stream.";
        return Err(ApiError::new(Problem::InvalidParameter, message));
    }
    let log = area.app.store.journal_state().await?;
    let given = last_event_id(request)?;
    let position = match (given, after.as_deref()) {
        (Some(id), _) => decode(id, "Last-Event-ID", &log)?,
        (None, Some("start")) => log.first - 1,
        (None, Some(after)) => decode(after, "after", &log)?,
        (None, None) => log.last,
    };
    let key = caller.ok_or_else(auth::missing_key)?.key_id();
    let mut follower = Follower::new(area, key, &log, kind, position);
    if is_stream {
        // A client that began at the end can continue here before it has received an event.
        let beginning = if given.is_none() && after.is_none() {
            format!(
                ": the changes from now on\nid: {}\n\n",
                journal::encode(log.epoch, position)
            )
        } else {
            String::new()
        };
        let share = area.app.journal.streams.open(Actor::Key(key))?;
        return Ok(response::events(
            follower.into_body(share, Bytes::from(beginning)),
        ));
    }
    let mut page = area.app.store.changes_after(position, kind, size).await?;
    if page.changes.is_empty()
        && let Some(waits) = waits.filter(|waits| !waits.is_zero())
    {
        follower.position = page.read_to.max(position);
        page = match time::timeout(waits, follower.page(size)).await {
            Ok(Ok(page)) => page,
            Ok(Err(PageError::Store(error))) => return Err(error.into()),
            Ok(Err(PageError::Ended(EndReason::InvalidKey))) => return Err(auth::invalid_key()),
            Ok(Err(PageError::Ended(EndReason::OtherLog))) => return Err(expired()),
            Ok(Err(PageError::Ended(EndReason::Over))) | Err(_) => ChangePage {
                changes: Vec::new(),
                read_to: follower.position,
            },
        };
    }
    if position < log.first + NEAR_THE_OLDEST
        && position < area.app.store.journal_state().await?.first - 1
    {
        // The next changes were deleted while the client read.
        return Err(expired());
    }
    let next = journal::encode(log.epoch, page.read_to.max(position));
    area.app.journal.metrics.sent.add(page.changes.len());
    let element: Element<JournalEntry> = Element {
        length: JournalEntry::length,
        write: json::write_change,
    };
    let body = page::render(page.changes, element, |body| body).await?;
    let mut response = response::json(StatusCode::OK, area.http.memory.hold(body)?);
    let kind = kind.map(ChangeType::as_str);
    let size = size.to_string();
    let parameters = [
        ("limit", Some(&*size)),
        ("type", kind),
        ("after", Some(&*next)),
    ];
    if let Some(next) = page::link(area, PATH, "next", parameters) {
        response.headers_mut().insert(header::LINK, next);
    }
    Ok(response)
}

const PATH: &str = "/store/changes";

/// Adds the link to the changes after `log`, which was read before the page, to the response.
pub(super) fn add_link(area: &StoreArea, log: &JournalState, response: &mut Response) {
    let cursor = journal::encode(log.epoch, log.last);
    let Some(changes) = page::link(area, PATH, "changes", [("after", Some(&*cursor))]) else {
        return;
    };
    // One field, because some clients read only the first.
    let links = match response.headers().get(header::LINK) {
        Some(next) => {
            HeaderValue::from_bytes(&[next.as_bytes(), changes.as_bytes()].join(&b", "[..]))
        }
        None => Ok(changes),
    };
    if let Ok(links) = links {
        response.headers_mut().insert(header::LINK, links);
    }
}

fn parse_limit(given: Option<&Cow<'_, str>>) -> Result<u32, ApiError> {
    given.map_or(Ok(DEFAULT_LIMIT), |given| {
        let limit = text::parse_integer(given).and_then(|limit| u32::try_from(limit).ok());
        limit
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| query::out_of_range("limit", 1, MAX_LIMIT, given))
    })
}

fn parse_wait(given: &str) -> Option<Duration> {
    let seconds = text::parse_integer(given.strip_suffix('s')?)?;
    let wait = Duration::from_secs(u64::try_from(seconds).ok()?);
    (wait <= MAX_WAIT).then_some(wait)
}

fn last_event_id(request: &Parts) -> Result<Option<&str>, ApiError> {
    let mut fields = request.headers.get_all(LAST_EVENT_ID).iter();
    let Some(field) = fields.next() else {
        return Ok(None);
    };
    if fields.next().is_some() {
        let message = "Last-Event-ID is given more than once.";
        return Err(ApiError::new(Problem::InvalidParameter, message));
    }
    // Other bytes are in no cursor.
    Ok(Some(field.to_str().unwrap_or_default()))
}

/// Returns the position of a cursor. Fails with 400 if the cursor is invalid, 410 if the journal does not
/// continue at it.
fn decode(text: &str, name: &str, log: &JournalState) -> Result<i64, ApiError> {
    journal::decode(text, log).map_err(|error| match error {
        CursorError::Expired => expired(),
        CursorError::Invalid => {
            let message = format!(
                "{name} must be taken unchanged from the Link of an earlier page or from the id of \
                 an event, or be left out."
            );
            ApiError::new(Problem::InvalidCursor, message)
        }
    })
}

/// Returns the 410 for a position at which the journal does not continue.
fn expired() -> ApiError {
    let message = "The changes after this position are not available: they are no longer kept, or \
                   the database was restored or copied. List everything again, and follow from the \
                   link of that list.";
    ApiError::new(Problem::CursorExpired, message)
}
