//! Executes commands on animals, orders and categories.

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

/// The number of units of work after which a command first merges pending changes into the search
/// index. This is backpressure: commands cannot outpace the index.
///
/// The work is the estimated work of merging. Each command is one unit. A command that writes long
/// texts is more: its response shows what it wrote, so each [`RESPONSE_BYTES_PER_UNIT`] of the
/// response are another unit.
const UNITS_PER_MERGE: usize = 1_024;

/// How many bytes of a response count as one unit of work.
const RESPONSE_BYTES_PER_UNIT: usize = 512;

/// The number of pending changes up to which a merge does nothing, because searches are still fast,
/// unless the changes are very long.
const MAX_UNMERGED_CHANGES: u64 = 2_048;

/// Executes commands, and counts and logs the changes that they make.
pub struct Commands {
    store: Arc<dyn Store>,
    clock: Arc<ConfirmedClock>,
    pub(super) metrics: ChangeMetrics,
    /// How long a reservation lasts if the request names no end.
    reservation: Duration,
    /// The units of work since the last merge into the search index. Concurrent commands may make
    /// the number slightly inexact, which does no harm.
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

    /// Executes commands in one transaction, and counts and logs the changes that they make. See
    /// [`petstore_store::StoreArea::execute`].
    ///
    /// If there was much work since the last merge, first merges pending changes into the search
    /// index.
    pub async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        let actor = context.actor.actor;
        let request_id = context.request_id.clone();
        self.merge_if_due(commands.len()).await;

        let outcome = self.store.execute(commands, context, respond).await?;
        if let ExecutionOutcome::Done { changes, response } = &outcome {
            self.metrics.count(changes);
            let response_units = response.body.len() / RESPONSE_BYTES_PER_UNIT;
            self.unmerged_work.fetch_add(response_units, Relaxed);
            for change in changes {
                log_change(change, actor, request_id.as_deref());
            }
        }
        Ok(outcome)
    }

    /// Counts the work of new commands, and merges pending changes into the search index if there
    /// was much work since the last merge.
    async fn merge_if_due(&self, command_count: usize) {
        let earlier_work = self.unmerged_work.fetch_add(command_count, Relaxed);
        if earlier_work < UNITS_PER_MERGE {
            return;
        }
        self.unmerged_work.store(0, Relaxed);
        // Ignore an error: the commands do not depend on the search index.
        let _ = self.store.tend_search(MAX_UNMERGED_CHANGES).await;
    }

    /// Returns the end of a reservation that is made at `now` by a request that names no end.
    ///
    /// If the clock is behind the last confirmed time, counts from the confirmed time instead. A
    /// reservation that counts from `now` could expire as soon as the clock is corrected.
    pub fn default_end(&self, now: Timestamp) -> Timestamp {
        let start = match self.clock.doubt() {
            Some(doubt) => now.max(doubt.confirmed),
            None => now,
        };
        // The sum is out of range only if the clock shows a time near the year 10,000.
        let end = start.checked_add(self.reservation).unwrap_or(start);
        clock::truncate_to_milliseconds(end)
    }

    pub(super) fn expose(&self, exposition: &mut Exposition) {
        self.metrics.expose(exposition, self.clock.machine().now());
    }
}

/// Logs a committed change, without personal data such as names and notes.
fn log_change(change: &Change, actor: Actor, request_id: Option<&str>) {
    let Some(resource) = change.after.as_ref().or(change.before.as_ref()) else {
        // Every change has a state before it or after it.
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
