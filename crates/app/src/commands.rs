//! Commands on animals, orders and categories.

use std::{
    sync::{Arc, atomic::AtomicUsize, atomic::Ordering::Relaxed},
    time::Duration,
};

use jiff::Timestamp;
use petstore_domain::{
    Actor, WriteContext, clock,
    store_area::{Change, Command, JournalSubject},
};
use petstore_observe::{
    log,
    metrics::{ChangeMetrics, Exposition},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer, Store, StoreError, confirmed_clock::ConfirmedClock,
};
use tracing::info;

/// After so many commands, or times 512 bytes of responses, the next one does a step of the work that
/// merges changes into the search, if more than `BEHIND` wait. So no client can keep the search away.
const OFTEN: usize = 1_024;
const BEHIND: u64 = 2_048;

/// Carries out commands, and counts and logs what they change.
pub struct Commands {
    store: Arc<dyn Store>,
    clock: Arc<ConfirmedClock>,
    pub(super) metrics: ChangeMetrics,
    /// How long a reservation lasts by default.
    reservation: Duration,
    /// Since the last check of the search.
    unchecked: AtomicUsize,
}

impl Commands {
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<ConfirmedClock>,
        reservation: Duration,
    ) -> Self {
        let metrics = ChangeMetrics::default();
        let unchecked = AtomicUsize::default();
        Self {
            store,
            clock,
            metrics,
            reservation,
            unchecked,
        }
    }

    /// Carries out commands in one transaction. See [`petstore_store::StoreArea::execute`].
    pub async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        let actor = context.actor.actor;
        let request_id = context.request_id.clone();
        if self.unchecked.fetch_add(commands.len(), Relaxed) >= OFTEN {
            self.unchecked.store(0, Relaxed);
            // The commands do not depend on it.
            let _ = self.store.tend_search(BEHIND).await;
        }
        let executed = self.store.execute(commands, context, respond).await?;
        if let ExecutionOutcome::Done { changes, response } = &executed {
            self.metrics.count(changes);
            self.unchecked.fetch_add(response.body.len() >> 9, Relaxed);
            for change in changes {
                log(change, actor, request_id.as_deref());
            }
        }
        Ok(executed)
    }

    /// When a reservation ends that is made now without another end. If the clock is behind the time
    /// that was confirmed last, it counts from that time, or the reservation would end when the clock
    /// is corrected.
    pub fn default_end(&self, now: Timestamp) -> Timestamp {
        let doubt = self.clock.doubt();
        let from = doubt.map_or(now, |doubt| now.max(doubt.confirmed));
        clock::to_milliseconds(from.checked_add(self.reservation).unwrap_or(from))
    }

    pub(super) fn expose(&self, page: &mut Exposition) {
        self.metrics.expose(page, self.clock.machine().now());
    }
}

/// Writes the line of a change that is committed. It has no names or notes.
fn log(
    Change {
        kind,
        before,
        after,
    }: &Change,
    actor: Actor,
    request_id: Option<&str>,
) {
    let Some(resource) = after.as_ref().or(before.as_ref()) else {
        return;
    };
    let subject = JournalSubject::of_type(kind.as_str(), Some(resource.id()));
    info!(
        target: log::CHANGES,
        principal = actor.to_string(),
        request_id,
        r#type = kind.as_str(),
        subject = subject.map(|subject| subject.to_string()),
        version = resource.version(),
        "change"
    );
}
