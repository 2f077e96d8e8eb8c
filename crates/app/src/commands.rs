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

/// The units of work after which a command also merges waiting changes into the search, so that commands cannot come
/// faster than the search can follow. A command is one unit, and so are each [`RESPONSE_BYTES_PER_UNIT`] of its response.
const UNITS_PER_SEARCH_STEP: usize = 1_024;

/// The bytes of a response that count as one unit of work.
const RESPONSE_BYTES_PER_UNIT: usize = 512;

/// The maximum number of changes that wait to be merged into the search after a step.
const MAX_UNMERGED_CHANGES: u64 = 2_048;

/// Carries out commands, and counts and logs what they change.
pub struct Commands {
    store: Arc<dyn Store>,
    clock: Arc<ConfirmedClock>,
    pub(super) metrics: ChangeMetrics,
    /// The duration of a reservation without a given end.
    reservation: Duration,
    /// The units of work since the last step of the search. The count is not exact, which does no harm.
    unmerged_work: AtomicUsize,
}

impl Commands {
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<ConfirmedClock>,
        reservation: Duration,
    ) -> Self {
        Self {
            store,
            clock,
            metrics: ChangeMetrics::default(),
            reservation,
            unmerged_work: AtomicUsize::default(),
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
        let earlier_work = self.unmerged_work.fetch_add(commands.len(), Relaxed);
        if earlier_work >= UNITS_PER_SEARCH_STEP {
            self.unmerged_work.store(0, Relaxed);
            // The commands do not depend on the search, so they go on after an error.
            let _ = self.store.tend_search(MAX_UNMERGED_CHANGES).await;
        }

        let outcome = self.store.execute(commands, context, respond).await?;
        if let ExecutionOutcome::Done { changes, response } = &outcome {
            self.metrics.count(changes);
            self.unmerged_work
                .fetch_add(response.body.len() / RESPONSE_BYTES_PER_UNIT, Relaxed);
            for change in changes {
                log_change(change, actor, request_id.as_deref());
            }
        }
        Ok(outcome)
    }

    /// Returns the end of a reservation that is made now without a given end. If the clock is behind the time
    /// that was confirmed last, the reservation counts from that time: a reservation that counts from a clock that
    /// is behind would end as soon as the clock is corrected.
    pub fn default_end(&self, now: Timestamp) -> Timestamp {
        let doubt = self.clock.doubt();
        let start = doubt.map_or(now, |doubt| now.max(doubt.confirmed));
        clock::truncate_to_milliseconds(start.checked_add(self.reservation).unwrap_or(start))
    }

    pub(super) fn expose(&self, exposition: &mut Exposition) {
        self.metrics.expose(exposition, self.clock.machine().now());
    }
}

/// Logs a change that is committed, without names and notes.
fn log_change(change: &Change, actor: Actor, request_id: Option<&str>) {
    let Some(resource) = change.after.as_ref().or(change.before.as_ref()) else {
        return;
    };
    let kind = change.kind;
    let subject = JournalSubject::from_type(kind.as_str(), Some(resource.id()));
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
