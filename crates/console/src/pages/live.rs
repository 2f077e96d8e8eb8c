//! Tells open pages that something changed, while somebody looks at them.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    future::{Either, select},
    stream,
};
use petstore_app::journal::Watcher;
use petstore_domain::{Actor, Clock, staff::TokenDigest};
use petstore_store::Store;
use petstore_web::edge::{ApiError, Body};
use tokio::time;

use crate::{desk::Desk, reply::Reply};

/// How long a stream waits after an event. What changes meanwhile is one event.
const PAUSE: Duration = Duration::from_secs(1);

/// How often a stream sends a comment, which keeps its connection open, if nothing changes. Before
/// each part, it looks whether its session goes on.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// More animals than this are told as "many".
const MAX_PETS: usize = 50;

struct Stream {
    watcher: Watcher,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    session: TokenDigest,
    has_just_sent: bool,
}

/// Sends an event for each moment in which something changed, with the numbers of the animals.
pub(super) async fn follow(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let app = desk.app();
    // What changed since the page was made, which can be long before its stream begins.
    let after = desk.visit.query.integer("after").unwrap_or(desk.position);
    let stream = Stream {
        watcher: app
            .journal
            .watch(Actor::Staff(desk.session.member.id), after)?,
        store: Arc::clone(&app.store),
        clock: Arc::clone(&app.clock),
        session: desk.session.record.digest,
        has_just_sent: false,
    };
    let pieces = stream::unfold(stream, async |mut stream| {
        Some((stream.next().await?, stream))
    });
    Ok(Reply::Events(Body::Stream(Box::pin(pieces))))
}

impl Stream {
    /// The next part; `None` at the end of the session or of the service.
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.has_just_sent) {
            time::sleep(PAUSE).await;
        }
        let changed = pin!(self.watcher.changed());
        let look = pin!(time::sleep(LOOK_EVERY));
        let event = match select(changed, look).await {
            Either::Left((changed, _)) => {
                let pets = changed?.filter(|pets| pets.len() <= MAX_PETS);
                self.has_just_sent = true;
                let shown = |pets: Vec<i64>| {
                    pets.iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                let data = pets.map_or_else(|| "*".to_owned(), shown);
                format!("data: {data}\n\n").into()
            }
            Either::Right(_) => COMMENT,
        };
        let (record, member) = self.store.find_session(self.session).await.ok()??;
        let continue_if_ok = record.is_alive_at(self.clock.now()) && member.disabled_at.is_none();
        continue_if_ok.then_some(event)
    }
}
