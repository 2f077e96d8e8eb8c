//! Commands on animals, orders and categories.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tracing::info;

use crate::{
    confirmed_clock::ConfirmedClock,
    domain::{
        Actor, WriteContext, clock,
        store_area::{Change, Command, Resource},
    },
    observe::{
        log,
        metrics::{ChangeMetrics, Exposition},
    },
    store::{Executed, RespondTo, Store, StoreError},
};

/// Carries out commands, and counts and logs what they change.
pub(crate) struct Commands {
    store: Arc<dyn Store>,
    clock: Arc<ConfirmedClock>,
    pub(super) metrics: ChangeMetrics,
    /// How long a reservation lasts by default.
    reservation: Duration,
}

impl Commands {
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<ConfirmedClock>,
        reservation: Duration,
    ) -> Self {
        Self { store, clock, metrics: ChangeMetrics::default(), reservation }
    }

    /// Carries out commands in one transaction. See [`crate::store::StoreArea::execute`].
    pub(crate) async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, StoreError> {
        let (actor, request_id) = (context.actor.actor, context.request_id.clone());
        let executed = self.store.execute(commands, context, respond).await?;
        if let Executed::Done { changes, .. } = &executed {
            self.metrics.count(changes);
            for change in changes {
                log(change, actor, request_id.as_deref());
            }
        }
        Ok(executed)
    }

    /// When a reservation ends that is made now without another end. If the clock is behind the time
    /// that was confirmed last, it counts from that time, or the reservation would end when the clock
    /// is corrected.
    pub(crate) fn default_end(&self, now: Timestamp) -> Timestamp {
        let doubt = self.clock.doubt();
        let from = doubt.map_or(now, |doubt| now.max(doubt.confirmed));
        clock::to_milliseconds(from.checked_add(self.reservation).unwrap_or(from))
    }

    pub(super) fn expose(&self, page: &mut Exposition) {
        self.metrics.expose(page, self.clock.machine().now());
    }
}

/// Writes the line of a change that is committed. It has no names or notes.
fn log(Change { kind, before, after }: &Change, actor: Actor, request_id: Option<&str>) {
    let Some(resource) = after.as_ref().or(before.as_ref()) else {
        return;
    };
    let (subject, id) = match resource {
        Resource::Pet(pet) => ("pet", pet.id.get()),
        Resource::Order(order) => ("order", order.id.get()),
        Resource::Category(category) => ("category", category.id),
    };
    info!(
        target: log::CHANGES,
        principal = actor.to_string(),
        request_id,
        r#type = kind.as_str(),
        subject = format!("{subject}:{id}"),
        version = resource.version(),
        "change"
    );
}
