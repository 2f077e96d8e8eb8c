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
    text::parse_integer,
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

/// The path of the operation below the base address.
const PATH: &str = "/store/changes";

/// The longest time that a client can tell the service to wait for a change.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

const MAX_LIMIT: u32 = 1000;
const DEFAULT_LIMIT: u32 = 100;

/// The number of changes after the oldest one among which deletions may be near. They are made in smaller steps.
const NEAR_THE_OLDEST: i64 = 10_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Responds with the changes after a position: a page, or a stream of events.
pub(crate) async fn follow_changes(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let parameters = FeedParameters::parse(request)?;
    let log = area.app.store.journal_state().await?;
    let last_event_id = last_event_id(request)?;
    let position = match (last_event_id, parameters.after.as_deref()) {
        (Some(id), _) => decode(id, "Last-Event-ID", &log)?,
        (None, Some("start")) => log.first - 1,
        (None, Some(after)) => decode(after, "after", &log)?,
        (None, None) => log.last,
    };
    let key = caller.ok_or_else(auth::missing_key)?.key_id();
    let follower = Follower::new(area, key, &log, parameters.kind, position);

    if parameters.is_stream {
        let begins_at_end = last_event_id.is_none() && parameters.after.is_none();
        // A client that began at the end can continue here before it has received an event.
        let beginning = if begins_at_end {
            format!(
                ": the changes from now on\nid: {}\n\n",
                journal::encode(log.epoch, position)
            )
        } else {
            String::new()
        };
        let share = area.app.journal.streams.open(Actor::Key(key))?;
        let body = follower.into_body(share, Bytes::from(beginning));
        return Ok(response::events(body));
    }

    let page = read_page(area, &parameters, follower).await?;
    let may_be_deleted = position < log.first + NEAR_THE_OLDEST;
    if may_be_deleted && position < area.app.store.journal_state().await?.first - 1 {
        // The next changes were deleted while the client read.
        return Err(expired_cursor());
    }
    let next = journal::encode(log.epoch, page.read_to.max(position));
    respond_with_page(area, &parameters, page, &next).await
}

/// The parameters of a request, and whether it asks for a stream.
struct FeedParameters<'r> {
    /// The cursor, or `start`; `None` if the query has none.
    after: Option<Cow<'r, str>>,
    /// The type of the changes; `None` for all changes.
    kind: Option<ChangeType>,
    /// The maximum number of changes of a page.
    limit: u32,
    /// The time to wait for a change, if a page would be empty.
    wait: Duration,
    is_stream: bool,
}

impl<'r> FeedParameters<'r> {
    /// Parses the query and `Accept`. Fails with 400.
    fn parse(request: &'r Parts) -> Result<Self, ApiError> {
        let names = ["after", "type", "limit", "wait"];
        let [after, kind, limit, wait] = query::parameters(request.uri.query(), names)?;
        let parsed_kind = query::filter(
            "type",
            kind.as_ref(),
            |text| text.parse().ok(),
            "a type of change, such as pet.changed",
        )?;
        let parsed_limit = parse_limit(limit.as_ref())?;
        let parsed_wait = query::filter(
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
        Ok(Self {
            after,
            kind: parsed_kind,
            limit: parsed_limit,
            wait: parsed_wait.unwrap_or_default(),
            is_stream,
        })
    }
}

/// Reads the page after the position of `follower`. If it would be empty, waits for a change as long as the client wants.
async fn read_page(
    area: &StoreArea,
    parameters: &FeedParameters<'_>,
    mut follower: Follower,
) -> Result<ChangePage, ApiError> {
    let store = &area.app.store;
    let page = store
        .changes_after(follower.position, parameters.kind, parameters.limit)
        .await?;
    if !page.changes.is_empty() || parameters.wait.is_zero() {
        return Ok(page);
    }

    follower.position = page.read_to.max(follower.position);
    match time::timeout(parameters.wait, follower.page(parameters.limit)).await {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(PageError::Store(error))) => Err(error.into()),
        Ok(Err(PageError::Ended(EndReason::InvalidKey))) => Err(auth::invalid_key()),
        Ok(Err(PageError::Ended(EndReason::OtherLog))) => Err(expired_cursor()),
        Ok(Err(PageError::Ended(EndReason::Over))) | Err(_) => Ok(ChangePage {
            changes: Vec::new(),
            read_to: follower.position,
        }),
    }
}

/// Responds with a page, and with the link to the changes after the cursor `next`.
async fn respond_with_page(
    area: &StoreArea,
    parameters: &FeedParameters<'_>,
    page: ChangePage,
    next: &str,
) -> Result<Response, ApiError> {
    area.app.journal.metrics.sent.add(page.changes.len());
    let element: Element<JournalEntry> = Element {
        length: JournalEntry::length,
        write: json::write_change,
    };
    let body = page::render(page.changes, element, |body| body).await?;
    let mut response = response::json(StatusCode::OK, area.http.memory.hold(body)?);
    let limit = parameters.limit.to_string();
    let link_parameters = [
        ("limit", Some(&*limit)),
        ("type", parameters.kind.map(ChangeType::as_str)),
        ("after", Some(next)),
    ];
    if let Some(link) = page::link(area, PATH, "next", link_parameters) {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

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

/// Parses `limit`. Returns the default without it.
fn parse_limit(text: Option<&Cow<'_, str>>) -> Result<u32, ApiError> {
    let Some(text) = text else {
        return Ok(DEFAULT_LIMIT);
    };
    parse_integer(text)
        .and_then(|limit| u32::try_from(limit).ok())
        .filter(|limit| (1..=MAX_LIMIT).contains(limit))
        .ok_or_else(|| query::out_of_range("limit", 1, MAX_LIMIT, text))
}

/// Parses `wait`, such as `30s`.
fn parse_wait(text: &str) -> Option<Duration> {
    let seconds = parse_integer(text.strip_suffix('s')?)?;
    let wait = Duration::from_secs(u64::try_from(seconds).ok()?);
    (wait <= MAX_WAIT).then_some(wait)
}

/// Returns the cursor with which a client resumes a stream, if the request has one. Fails with 400 if it has several.
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
        CursorError::Expired => expired_cursor(),
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
fn expired_cursor() -> ApiError {
    let message = "The changes after this position are not available: they are no longer kept, or \
                   the database was restored or copied. List everything again, and follow from the \
                   link of that list.";
    ApiError::new(Problem::CursorExpired, message)
}
