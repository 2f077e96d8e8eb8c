//! `followChanges`: `GET /v1/store/changes`.
//!
//! The journal of the store has the changes of animals, orders, categories and notes. They are numbered
//! without gaps, and the oldest are deleted after a while.
//!
//! A client reads the journal page by page or as a stream, from a position on. The position is the number of
//! the last change that the client has. A cursor contains a position and the epoch of the journal, so that
//! the cursor is not valid after the database was restored.

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
    page::{self, ElementRenderer},
    shared::StoreArea,
};
use crate::{accept, access::auth, context::Call, query};

/// The path of the operation below the base address.
const PATH: &str = "/store/changes";

/// The longest time that a client can ask the service to wait for a change.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

/// The maximum number of changes in a page.
const MAX_LIMIT: u32 = 1000;

/// The number of changes in a page if the client does not choose one.
const DEFAULT_LIMIT: u32 = 100;

/// An upper bound of the number of changes that are deleted during one request. A deletion step removes fewer
/// changes than this.
const MAX_DELETED_CHANGES: i64 = 10_000;

/// The value of the parameter `after` that stands for the position before the oldest change.
const START: &str = "start";

/// The header with the cursor at which a client resumes a stream of Server-Sent Events.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The parsed parameters of a request.
struct FeedParameters<'r> {
    /// The cursor, or [`START`]. It is `None` if the query has no such parameter.
    after: Option<Cow<'r, str>>,
    /// The type of the changes. It is `None` for changes of all types.
    kind: Option<ChangeType>,
    /// The maximum number of changes in a page.
    limit: u32,
    /// How long to wait for a change if the page would be empty.
    wait: Duration,
    /// Whether the client asks for a stream of Server-Sent Events.
    is_stream: bool,
}

/// Responds with the changes after a position, as a page or as a stream of Server-Sent Events.
pub(crate) async fn follow_changes(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let parameters = FeedParameters::parse(request)?;
    let state = area.app.store.journal_state().await?;
    let last_event_id = read_last_event_id(request)?;
    let position = find_start_position(&parameters, last_event_id, &state)?;
    let key = caller.ok_or_else(auth::missing_key)?.key_id();
    let follower = Follower::new(area, key, &state, parameters.kind, position);

    if parameters.is_stream {
        let begins_at_end = last_event_id.is_none() && parameters.after.is_none();
        let preamble = if begins_at_end {
            Some(render_preamble(&state))
        } else {
            None
        };
        let guard = area.app.journal.streams.open(Actor::Key(key))?;
        return Ok(response::events(follower.into_body(guard, preamble)));
    }

    let page = read_page(area, &parameters, follower).await?;
    reject_gap(area, position, &state).await?;
    let next_cursor = journal::encode(state.epoch, page.read_to.max(position));
    respond_with_page(area, &parameters, page, &next_cursor).await
}

/// Checks a page that was read from `position` on. Fails with 410 if changes after the position may
/// have been deleted while the page was read, so that the page has a gap. `earlier_state` is the
/// state before the read.
async fn reject_gap(
    area: &StoreArea,
    position: i64,
    earlier_state: &JournalState,
) -> Result<(), ApiError> {
    // Only the oldest changes are deleted, and fewer than this while the page is read. After a
    // later position, every change still exists, so the state need not be read again.
    if position >= earlier_state.first + MAX_DELETED_CHANGES {
        return Ok(());
    }
    let later_state = area.app.store.journal_state().await?;
    // The page begins with the change after the position.
    if position + 1 < later_state.first {
        return Err(expired_cursor());
    }
    Ok(())
}

/// Renders the beginning of a stream that starts at the end of the journal: a comment, and the cursor of the
/// end.
///
/// With the cursor, the client can resume at this position even if it is disconnected before the first event.
fn render_preamble(state: &JournalState) -> Bytes {
    let cursor = journal::encode(state.epoch, state.last);
    Bytes::from(format!(": the changes from now on\nid: {cursor}\n\n"))
}

/// Returns the position after which the client wants the changes. It is the cursor in `Last-Event-ID`, or
/// else in `after`, or else the end of the journal.
fn find_start_position(
    parameters: &FeedParameters<'_>,
    last_event_id: Option<&str>,
    state: &JournalState,
) -> Result<i64, ApiError> {
    match (last_event_id, parameters.after.as_deref()) {
        (Some(cursor), _) => decode_cursor(cursor, "Last-Event-ID", state),
        (None, Some(START)) => Ok(state.first - 1),
        (None, Some(cursor)) => decode_cursor(cursor, "after", state),
        (None, None) => Ok(state.last),
    }
}

impl<'r> FeedParameters<'r> {
    /// Parses the query and the `Accept` header. Fails with 400 if a parameter is invalid.
    fn parse(request: &'r Parts) -> Result<Self, ApiError> {
        let names = ["after", "type", "limit", "wait"];
        let [after, kind, limit, wait] = query::parameters(request.uri.query(), names)?;
        let parsed_kind = query::parse_parameter(
            "type",
            kind.as_ref(),
            |text| text.parse().ok(),
            "a type of change, such as pet.changed",
        )?;
        let parsed_limit = parse_limit(limit.as_ref())?;
        let parsed_wait = query::parse_parameter(
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

/// Reads the page after the position of `follower`. If the page would be empty, waits for a change, but no
/// longer than the client asks for (long polling).
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
    let next_page = follower.wait_for_page(parameters.limit);
    let Ok(result) = time::timeout(parameters.wait, next_page).await else {
        // No change of the requested type was made in time.
        return Ok(empty_page(&follower));
    };
    match result {
        Ok(page) => Ok(page),
        Err(PageError::Store(error)) => Err(error.into()),
        Err(PageError::Ended(EndReason::InvalidKey)) => Err(auth::invalid_key()),
        Err(PageError::Ended(EndReason::OtherJournal)) => Err(expired_cursor()),
        Err(PageError::Ended(EndReason::ShuttingDown)) => Ok(empty_page(&follower)),
    }
}

/// Returns a page without changes. The client continues after it with its next request.
fn empty_page(follower: &Follower) -> ChangePage {
    ChangePage {
        changes: Vec::new(),
        read_to: follower.position,
    }
}

/// Responds with a page, and with a link to the changes after `next_cursor`.
async fn respond_with_page(
    area: &StoreArea,
    parameters: &FeedParameters<'_>,
    page: ChangePage,
    next_cursor: &str,
) -> Result<Response, ApiError> {
    area.app.journal.metrics.sent.add(page.changes.len());
    let renderer: ElementRenderer<JournalEntry> = ElementRenderer {
        texts_length: JournalEntry::length,
        write: json::write_change,
    };
    let body = page::render_array(page.changes, renderer, |body| body).await?;
    let mut response = response::json(StatusCode::OK, area.http.memory.hold(body)?);
    let limit = parameters.limit.to_string();
    let link_parameters = [
        ("limit", Some(&*limit)),
        ("type", parameters.kind.map(ChangeType::as_str)),
        ("after", Some(next_cursor)),
    ];
    if let Some(link) = page::link(area, PATH, "next", link_parameters) {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// Adds a link with `rel="changes"` to the response of a list. A client that has read the list follows the
/// link to receive the changes after the end of the journal.
///
/// The caller must read `state` before the list. Then a change that is missing in the list comes after the
/// end.
pub(super) fn add_changes_link(area: &StoreArea, state: &JournalState, response: &mut Response) {
    let cursor = journal::encode(state.epoch, state.last);
    let Some(changes_link) = page::link(area, PATH, "changes", [("after", Some(&*cursor))]) else {
        return;
    };
    // Merge both links into one header, because some clients read only the first one.
    let links = match response.headers().get(header::LINK) {
        Some(next_link) => HeaderValue::from_bytes(
            &[next_link.as_bytes(), changes_link.as_bytes()].join(&b", "[..]),
        ),
        None => Ok(changes_link),
    };
    // Two valid header values with a comma in between are a valid value.
    if let Ok(links) = links {
        response.headers_mut().insert(header::LINK, links);
    }
}

/// Parses `limit`. Returns the default if it is absent.
fn parse_limit(text: Option<&Cow<'_, str>>) -> Result<u32, ApiError> {
    let Some(text) = text else {
        return Ok(DEFAULT_LIMIT);
    };
    let number = parse_integer(text).and_then(|number| u32::try_from(number).ok());
    match number {
        Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        _ => Err(query::out_of_range("limit", 1, MAX_LIMIT, text)),
    }
}

/// Parses `wait`, such as `30s`. Returns `None` if it is invalid, or longer than [`MAX_WAIT`].
fn parse_wait(text: &str) -> Option<Duration> {
    let seconds = parse_integer(text.strip_suffix('s')?)?;
    let wait = Duration::from_secs(u64::try_from(seconds).ok()?);
    (wait <= MAX_WAIT).then_some(wait)
}

/// Reads the header `Last-Event-ID`. Returns `None` if the request does not have it. Fails with 400 if the
/// request has several.
fn read_last_event_id(request: &Parts) -> Result<Option<&str>, ApiError> {
    let mut values = request.headers.get_all(LAST_EVENT_ID).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        let message = "Last-Event-ID is given more than once.";
        return Err(ApiError::new(Problem::InvalidParameter, message));
    }
    // A value that is not ASCII text becomes an empty cursor, which is rejected as invalid.
    Ok(Some(value.to_str().unwrap_or_default()))
}

/// Decodes a cursor and returns its position. `name` is the parameter or header that contains it. Fails
/// with 400 if the cursor is invalid, and with 410 if it has expired.
fn decode_cursor(text: &str, name: &str, state: &JournalState) -> Result<i64, ApiError> {
    journal::decode(text, state).map_err(|error| match error {
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

/// Returns the error 410 for a cursor whose next changes are not available.
fn expired_cursor() -> ApiError {
    let message = "The changes after this position are not available: they are no longer kept, or \
                   the database was restored or copied. List everything again, and follow from the \
                   link of that list.";
    ApiError::new(Problem::CursorExpired, message)
}
