//! The event stream (server-sent events) that tells open pages that something changed, or that a
//! new day has begun in the store.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    future::{Either, select},
    stream,
};
use jiff::{Timestamp, civil::Date};
use petstore_app::{KnownFacts, ReadingParts, StoreFacts, StoreOptions, journal::Watcher};
use petstore_domain::{Actor, staff::TokenDigest, store_area::StoreTimeZone};
use petstore_store::Store;
use petstore_web::edge::{ApiError, Body};
use tokio::time;

use crate::{desk::Desk, reply::Reply, visit::Form};

/// How long a stream pauses after an event. The changes during the pause are combined into the next
/// event.
const PAUSE_AFTER_EVENT: Duration = Duration::from_secs(1);

/// How long a stream waits for a change before it sends a comment, which keeps the connection open.
/// The session is checked before each event and each comment, so this also limits how long a stream
/// outlives its session.
const COMMENT_INTERVAL: Duration = Duration::from_secs(5);

/// A comment in the format of server-sent events. The page ignores it.
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// The event about a change that can concern any animal. It also reports a new day, because every
/// page can then show something else.
const EVENT_ABOUT_ANY_PET: Bytes = Bytes::from_static(b"data: *\n\n");

/// The maximum number of animals that an event names. A change of more animals is reported as
/// [`EVENT_ABOUT_ANY_PET`].
const MAX_NAMED_PETS: usize = 50;

/// The stream of events for one open page.
struct EventStream {
    watcher: Watcher,
    /// The store, in which the session is looked up.
    store: Arc<dyn Store>,
    /// The clock, and the reader of the store that updates `facts`.
    reading: ReadingParts,
    /// The facts about the store as the console last read them, from which the current day follows.
    facts: Arc<KnownFacts>,
    options: StoreOptions,
    session: TokenDigest,
    /// The day that the page shows: the day for which it was rendered, until an event tells it that
    /// a new day has begun.
    shown_day: StoreDay,
    /// Whether the last chunk was an event. If so, the stream pauses before the next chunk: see
    /// [`PAUSE_AFTER_EVENT`].
    must_pause: bool,
}

/// A day in the time zone of the store. A change of the zone counts as a new day, because all times
/// on a page are then displayed differently.
#[derive(PartialEq, Eq)]
struct StoreDay {
    date: Date,
    zone: Option<StoreTimeZone>,
}

impl StoreDay {
    /// Returns the day of the store at this time.
    fn at(time: Timestamp, facts: &StoreFacts) -> Self {
        Self {
            date: facts.day_of(time),
            zone: facts.time_zone().value.cloned(),
        }
    }

    /// Parses the query of the stream, which states the day that the open page shows. Returns
    /// `None` if the query has no day. A missing or unknown zone counts as no zone.
    fn from_query(query: &Form) -> Option<Self> {
        Some(Self {
            date: query.get("day").parse().ok()?,
            zone: StoreTimeZone::from_name(query.get("zone")),
        })
    }
}

/// Handles `GET /live`: streams an event whenever something changes, with the ids of the animals
/// concerned, and an event when a new day has begun.
pub(super) async fn follow(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let app = desk.app();
    let visit = &desk.visit;
    let query = &visit.query;
    // The stream also reports the changes between the rendering of the page and the start of the
    // stream, which can be far apart.
    let after = query.integer("after").unwrap_or(desk.journal_position);
    let shown_day = match StoreDay::from_query(query) {
        Some(day) => day,
        None => StoreDay::at(visit.now, &visit.facts),
    };
    let stream = EventStream {
        watcher: app
            .journal
            .watch(Actor::Staff(desk.session.member.id), after)?,
        store: Arc::clone(&app.store),
        reading: app.reading.clone(),
        facts: Arc::clone(&visit.console.facts),
        options: visit.console.settings.store.clone(),
        session: desk.session.record.digest,
        shown_day,
        must_pause: false,
    };
    let chunks = stream::unfold(stream, async |mut stream| {
        let chunk = stream.next_chunk().await?;
        Some((chunk, stream))
    });
    Ok(Reply::Events(Body::Stream(Box::pin(chunks))))
}

impl EventStream {
    /// Waits for the next event or comment, and returns it.
    ///
    /// Returns `None`, which ends the stream, if the session has ended, if the store cannot be
    /// read, or when the service shuts down.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if self.must_pause {
            self.must_pause = false;
            time::sleep(PAUSE_AFTER_EVENT).await;
        }
        let chunk = self.wait_for_chunk().await?;
        // The session can have ended while the stream waited.
        if !self.has_session().await {
            return None;
        }
        Some(chunk)
    }

    /// Waits for a change, and returns its event. Returns a comment if nothing changes for
    /// [`COMMENT_INTERVAL`], and an event immediately if a new day has begun.
    ///
    /// After an event, sets `must_pause`. Returns `None` when the service shuts down, or if the
    /// store cannot be read.
    async fn wait_for_chunk(&mut self) -> Option<Bytes> {
        let current_day = self.load_current_day().await?;
        if current_day != self.shown_day {
            self.shown_day = current_day;
            self.must_pause = true;
            return Some(EVENT_ABOUT_ANY_PET);
        }

        // A timeout loses no change: the watcher moves on only when it returns a report.
        let next_report = pin!(self.watcher.next_report());
        let timeout = pin!(time::sleep(COMMENT_INTERVAL));
        match select(next_report, timeout).await {
            Either::Left((report, _)) => {
                let report = report?;
                self.must_pause = true;
                match report.pets {
                    Some(pet_ids) => Some(event_about(&pet_ids)),
                    None => Some(EVENT_ABOUT_ANY_PET),
                }
            }
            Either::Right(_) => Some(COMMENT),
        }
    }

    /// Returns the current day of the store. Reads the facts from which it follows, and returns
    /// `None` if the store cannot be read.
    async fn load_current_day(&self) -> Option<StoreDay> {
        let ReadingParts { store, clock, .. } = &self.reading;
        let facts = self.facts.read(store, &**clock, &self.options).await.ok()?;
        Some(StoreDay::at(clock.now(), &facts))
    }

    /// Whether the session is still valid. If the store cannot be read, it counts as invalid,
    /// because nobody may read changes without a session.
    async fn has_session(&self) -> bool {
        match self.store.find_session(self.session).await {
            Ok(Some((record, member))) => {
                record.is_alive_at(self.reading.clock.now()) && member.disabled_at.is_none()
            }
            Ok(None) | Err(_) => false,
        }
    }
}

/// Returns the event about a change of the animals with these ids, such as `data: 7 12`.
fn event_about(pet_ids: &[i64]) -> Bytes {
    if pet_ids.len() > MAX_NAMED_PETS {
        return EVENT_ABOUT_ANY_PET;
    }
    let ids: Vec<String> = pet_ids.iter().map(ToString::to_string).collect();
    format!("data: {}\n\n", ids.join(" ")).into()
}
