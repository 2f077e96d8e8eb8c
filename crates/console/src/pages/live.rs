//! Tells open pages that something changed, or that another day has begun in the store, while somebody looks at them.

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

use crate::{
    desk::Desk,
    reply::Reply,
    visit::{Form, Visit},
};

/// The time that a stream waits after an event. All changes in this time are one event.
const PAUSE_AFTER_EVENT: Duration = Duration::from_secs(1);

/// The time after which a stream sends a comment, which keeps its connection open, if nothing changes. Before
/// each part, the stream checks that its session goes on.
const COMMENT_INTERVAL: Duration = Duration::from_secs(5);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// The number of animals that an event names. More animals are `*`.
const MAX_NAMED_PETS: usize = 50;

/// The events that an open page receives.
struct Stream {
    watcher: Watcher,
    store: Arc<dyn Store>,
    reading: ReadingParts,
    facts: Arc<KnownFacts>,
    options: StoreOptions,
    session: TokenDigest,
    /// The day that the page shows.
    shown_day: StoreDay,
    has_just_sent: bool,
}

/// A day of the store in its time zone. In another zone it is another day, because all times are other ones.
#[derive(PartialEq, Eq)]
struct StoreDay {
    date: Date,
    zone: Option<StoreTimeZone>,
}

impl StoreDay {
    /// Returns the day at a time.
    fn at(time: Timestamp, facts: &StoreFacts) -> Self {
        Self {
            date: facts.day_of(time),
            zone: facts.time_zone().value.cloned(),
        }
    }

    /// Returns the day that a page says that it shows; `None` if it says none.
    fn from_query(query: &Form) -> Option<Self> {
        Some(Self {
            date: query.get("day").parse().ok()?,
            zone: StoreTimeZone::from_name(query.get("zone")),
        })
    }
}

/// Sends an event for each moment in which something changed, with the numbers of the animals.
pub(super) async fn follow(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let app = desk.app();
    // The stream also has the changes since the page was made, which can be long before the stream begins.
    let Visit {
        query,
        facts,
        console,
        now,
        ..
    } = &desk.visit;
    let after = query.integer("after").unwrap_or(desk.position);
    let shown_day = StoreDay::from_query(query).unwrap_or_else(|| StoreDay::at(*now, facts));
    let stream = Stream {
        watcher: app
            .journal
            .watch(Actor::Staff(desk.session.member.id), after)?,
        store: Arc::clone(&app.store),
        reading: app.reading.clone(),
        facts: Arc::clone(&console.facts),
        options: console.settings.store.clone(),
        session: desk.session.record.digest,
        shown_day,
        has_just_sent: false,
    };
    let pieces = stream::unfold(stream, async |mut stream| {
        Some((stream.next().await?, stream))
    });
    Ok(Reply::Events(Body::Stream(Box::pin(pieces))))
}

impl Stream {
    /// Returns the next part; `None` at the end of the session or of the service.
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.has_just_sent) {
            time::sleep(PAUSE_AFTER_EVENT).await;
        }
        let part = self.wait_for_part().await?;
        if self.has_session().await? {
            return Some(part);
        }
        None
    }

    /// Waits for a change, or until a comment is due; `None` at the end of the service. Waits for nothing if the page shows
    /// another day than the present one.
    async fn wait_for_part(&mut self) -> Option<Bytes> {
        let current_day = self.today().await?;
        if current_day != self.shown_day {
            self.shown_day = current_day;
            self.has_just_sent = true;
            return Some(event(None));
        }

        let change = pin!(self.watcher.changed());
        let timeout = pin!(time::sleep(COMMENT_INTERVAL));
        match select(change, timeout).await {
            Either::Left((change, _)) => {
                let pets = change?;
                self.has_just_sent = true;
                Some(event(pets.as_deref()))
            }
            Either::Right(_) => Some(COMMENT),
        }
    }

    /// Returns the present day of the store. `None` if the store does not know it.
    async fn today(&self) -> Option<StoreDay> {
        let ReadingParts { store, clock, .. } = &self.reading;
        let facts = self.facts.read(store, &**clock, &self.options).await.ok()?;
        Some(StoreDay::at(clock.now(), &facts))
    }

    /// Whether the session goes on. `None` if the store does not know it.
    async fn has_session(&self) -> Option<bool> {
        let (record, member) = self.store.find_session(self.session).await.ok()??;
        Some(record.is_alive_at(self.reading.clock.now()) && member.disabled_at.is_none())
    }
}

/// Returns the event for changes of animals: `data: 7 12`, or `data: *` for many or unknown ones.
fn event(pets: Option<&[i64]>) -> Bytes {
    let data = match pets {
        Some(pets) if pets.len() <= MAX_NAMED_PETS => pets
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
        _ => "*".to_owned(),
    };
    format!("data: {data}\n\n").into()
}
