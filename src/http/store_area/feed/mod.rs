//! `followChanges`: `GET /v1/store/changes`.
//!
//! One reader follows the log for all streams and waiting requests of this process, and only while
//! there are any.

mod cursor;
mod follower;
mod recent;
mod streams;
mod watcher;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use tokio::{
    sync::{Notify, watch},
    time,
};

pub(crate) use self::watcher::Watcher;
use self::{
    follower::Follower,
    recent::{End, Recent},
    streams::Streams,
};
use super::page::{self, Element};
use crate::{
    domain::{
        Actor, Clock, KeyId,
        store_area::{ChangePage, ChangeType, LogState, LoggedChange},
    },
    http::{
        App, Response, accept,
        access::auth,
        error::{ApiError, Problem},
        query, response,
        routes::{Call, MAX_WAIT},
    },
    json,
    observe::metrics::{Counter, Exposition, Histogram},
    store::{Store, StoreError},
    text,
};

/// How long the reader waits after it has read the log.
const PAUSE: Duration = Duration::from_millis(100);

/// How often it looks for keys that became invalid.
const KEYS_EVERY: Duration = Duration::from_secs(1);

/// How many changes it reads at once.
const STEP: u32 = 100;

const MAX_LIMIT: u32 = 1000;
const DEFAULT_LIMIT: u32 = 100;

/// After the oldest change of the log, deletions may be near. They are made in smaller steps.
const NEAR_THE_OLDEST: i64 = 10_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What all that follow the log share.
#[derive(Default)]
pub(crate) struct Feed {
    recent: watch::Sender<Recent>,
    joined: Notify,
    keys_read: Mutex<Option<Instant>>,
    metrics: Arc<FeedMetrics>,
    streams: Arc<Streams>,
}

/// What is counted of the feed.
struct FeedMetrics {
    sent: Counter,
    delay: Histogram,
}

impl Default for FeedMetrics {
    fn default() -> Self {
        Self { sent: Counter::default(), delay: Histogram::of_durations() }
    }
}

/// Responds with the changes after a position: a page, or a stream of events.
pub(crate) async fn follow_changes(
    app: &App,
    Call { request, caller, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = ["after", "type", "limit", "wait"];
    let [after, kind, limit, wait] = query::parameters(request.uri.query(), names)?;
    let of_name = |text: &str| text.parse().ok();
    let kind =
        query::filter("type", kind.as_ref(), of_name, "a type of change, such as pet.changed")?;
    let size = parse_limit(limit.as_ref())?;
    let waits =
        query::filter("wait", wait.as_ref(), parse_wait, "a number of seconds from 0s to 60s")?;
    let is_stream =
        accept::prefers(&request.headers, &[response::EVENT_STREAM], &["application/json"]);
    if is_stream && (limit.is_some() || wait.is_some()) {
        let message = "limit and wait are only for pages; leave them out to receive a stream.";
        return Err(ApiError::new(Problem::InvalidParameter, message));
    }
    let log = app.store.log_state().await?;
    let given = last_event_id(request)?;
    let position = match (given, after.as_deref()) {
        (Some(id), _) => cursor::decode(id, "Last-Event-ID", &log)?,
        (None, Some("start")) => log.first - 1,
        (None, Some(after)) => cursor::decode(after, "after", &log)?,
        (None, None) => log.last,
    };
    let key = caller.ok_or_else(auth::missing_key)?.key_id();
    let mut follower = app.store_area.feed.follower(app, key, &log, kind, position);
    if is_stream {
        // A client that began at the end can continue here before it has received an event.
        let beginning = if given.is_none() && after.is_none() {
            format!(": the changes from now on\nid: {}\n\n", cursor::encode(log.epoch, position))
        } else {
            String::new()
        };
        let share = app.store_area.feed.streams.open(Actor::Key(key))?;
        return Ok(response::events(follower.into_body(share, Bytes::from(beginning))));
    }
    let mut page = app.store.changes_after(position, kind, size).await?;
    if page.changes.is_empty()
        && let Some(waits) = waits.filter(|waits| !waits.is_zero())
    {
        follower.position = page.read_to.max(position);
        page = match time::timeout(waits, follower.page(size)).await {
            Ok(Ok(page)) => page?,
            Ok(Err(End::InvalidKey)) => return Err(auth::invalid_key()),
            Ok(Err(End::OtherLog)) => return Err(cursor::expired()),
            Ok(Err(End::Over)) | Err(_) => {
                ChangePage { changes: Vec::new(), read_to: follower.position }
            }
        };
    }
    if position < log.first + NEAR_THE_OLDEST && position < app.store.log_state().await?.first - 1 {
        // What follows was deleted meanwhile.
        return Err(cursor::expired());
    }
    let next = cursor::encode(log.epoch, page.read_to.max(position));
    app.store_area.feed.metrics.sent.add(page.changes.len());
    let element: Element<LoggedChange> =
        Element { length: LoggedChange::length, write: json::write_change };
    let body = page::render(page.changes, element, |body| body).await?;
    let mut response = response::json(StatusCode::OK, app.edge.response_memory.hold(body)?);
    let kind = kind.map(ChangeType::as_str);
    let size = size.to_string();
    let parameters = [("limit", Some(&*size)), ("type", kind), ("after", Some(&*next))];
    if let Some(next) = page::link(app, PATH, "next", parameters) {
        response.headers_mut().insert(header::LINK, next);
    }
    Ok(response)
}

const PATH: &str = "/store/changes";

/// Adds the link to the changes after `log`, which was read before the page, to the response.
pub(super) fn add_link(app: &App, log: &LogState, response: &mut Response) {
    let cursor = cursor::encode(log.epoch, log.last);
    let Some(changes) = page::link(app, PATH, "changes", [("after", Some(&*cursor))]) else {
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
        let limit = text::integer(given).and_then(|limit| u32::try_from(limit).ok());
        limit
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| query::out_of_range("limit", 1, MAX_LIMIT, given))
    })
}

fn parse_wait(given: &str) -> Option<Duration> {
    let seconds = text::integer(given.strip_suffix('s')?)?;
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

impl Feed {
    fn follower(
        &self,
        app: &App,
        key: KeyId,
        log: &LogState,
        kind: Option<ChangeType>,
        position: i64,
    ) -> Follower {
        let recent = self.recent.subscribe();
        self.joined.notify_one();
        let ticket = recent.borrow().ticket(key);
        Follower {
            recent,
            ticket,
            store: Arc::clone(&app.store),
            clock: Arc::clone(&app.clock),
            memory: app.edge.response_memory.clone(),
            metrics: Arc::clone(&self.metrics),
            epoch: log.epoch,
            kind,
            position,
            step: follower::STEP,
        }
    }

    /// One that only wants to know that something changed. Fails with 429 if the client has too many
    /// streams.
    pub(crate) fn watch(&self, client: Actor) -> Result<Watcher, ApiError> {
        let share = self.streams.open(client)?;
        let recent = self.recent.subscribe();
        self.joined.notify_one();
        Ok(Watcher::new(recent, share))
    }

    /// Waits until somebody follows, and then for the next time to read the log.
    pub(crate) async fn due(&self) {
        while self.recent.receiver_count() == 0 {
            self.joined.notified().await;
        }
        time::sleep(PAUSE).await;
    }

    /// Reads what is new in the log, or as much of it as leaves followers time to read, and which
    /// keys became invalid.
    pub(crate) async fn read(
        &self,
        store: &dyn Store,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        let log = store.log_state().await?;
        self.recent.send_if_modified(|recent| recent.begin(&log));
        let (mut read_to, mut room) = (self.recent.borrow().last, recent::MAX_PART);
        while read_to < log.last && room > 0 {
            let page = store.changes_after(read_to, None, STEP).await?;
            let mut batches = recent::batches(log.epoch, &page.changes);
            let Some(to) = recent::fit(&mut batches, &mut room) else { break };
            read_to = to;
            if let Some(newest) = page.changes.iter().rfind(|change| change.seq == read_to) {
                let delay = clock.now().duration_since(newest.at);
                self.metrics.delay.observe(delay.try_into().unwrap_or_default());
            }
            self.recent.send_modify(|recent| recent.push(batches, read_to));
        }
        self.look_for_invalid_keys(store, clock).await
    }

    async fn look_for_invalid_keys(
        &self,
        store: &dyn Store,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        let instant = clock.instant();
        let is_due = |last: Instant| instant.saturating_duration_since(last) >= KEYS_EVERY;
        let last = *self.keys_read.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(is_due) {
            let (keys, now) = (store.list_keys().await?, clock.now());
            let invalid =
                keys.iter().filter(|key| !key.is_valid_at(now)).map(|key| key.id).collect();
            self.recent.send_if_modified(|recent| recent.set_invalid_keys(invalid));
            *self.keys_read.lock().unwrap_or_else(PoisonError::into_inner) = Some(instant);
        }
        Ok(())
    }

    /// See [`App::end_following`].
    pub(crate) fn end(&self) {
        self.recent.send_modify(Recent::end_all);
    }

    pub(crate) fn expose(&self, page: &mut Exposition) {
        let help = "Streams of changes, and requests that wait for a change.";
        page.number("petstore_feed_followers", help, self.recent.receiver_count());
        let FeedMetrics { sent, delay } = &*self.metrics;
        let help = "Changes that were sent to clients.";
        page.counter("petstore_feed_changes_sent_total", help, sent);
        self.streams.expose(page);
        let help = "From a change to its arrival at the followers of this process.";
        page.histogram("petstore_feed_delay_seconds", help, delay);
    }
}
