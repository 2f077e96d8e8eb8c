//! What the console uses of the interface, which shares its edge and its state with it.

use bytes::Bytes;
use hyper::http::request::Parts;
use jiff::Timestamp;

use super::{
    App, Reservation,
    body::{self, UnreadBody},
    error::ApiError,
    routes::Label,
    store_area::{self, Watcher},
};
use crate::{
    delivery::{Registrar, Vault},
    domain::{
        Actor, StaffId, WriteContext, clock,
        staff::StaffSession,
        store_area::{Command, Inventory},
    },
    store::{Executed, RespondTo, StoreError},
};

impl App {
    /// Carries out commands, and counts and logs their changes.
    pub(crate) async fn carry_out(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, ApiError> {
        let (actor, request_id) = (context.actor.actor, context.request_id.clone());
        let executed = self.store.execute(commands, context, respond).await?;
        if let Executed::Done { changes, .. } = &executed {
            store_area::record_changes(
                &self.store_area.metrics,
                changes,
                actor,
                request_id.as_deref(),
            );
        }
        Ok(executed)
    }

    /// When a reservation ends that is made now without another end. If the clock is behind the time
    /// that was confirmed last, it counts from that time, or the reservation would end when the clock
    /// is corrected.
    pub(crate) fn default_end(&self, now: Timestamp) -> Timestamp {
        let doubt = self.confirmed_clock.doubt();
        let from = doubt.map_or(now, |doubt| now.max(doubt.confirmed));
        clock::to_milliseconds(from.checked_add(self.store_area.reservation).unwrap_or(from))
    }

    /// What judges the URLs of webhooks and makes their secrets.
    pub(crate) fn registrar(&self) -> &Registrar {
        &self.store_area.registrar
    }

    /// How many animals there are, at most some seconds ago.
    pub(crate) async fn inventory(&self) -> Result<Inventory, ApiError> {
        store_area::read_inventory(self).await
    }

    /// One that learns when something changes, for this member. Fails with 429 if the member has too
    /// many.
    pub(crate) fn watch(&self, member: StaffId) -> Result<Watcher, ApiError> {
        self.store_area.feed.watch(Actor::Staff(member))
    }

    /// Ends the sessions of staff that are too old, and returns whether there is more to do. Called
    /// periodically, outside of requests.
    pub async fn forget_old_sessions(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else { return Ok(false) };
        let before = |seconds: i64| {
            Timestamp::from_second(now.as_second() - seconds).unwrap_or(Timestamp::MIN)
        };
        let (idle, longest) = (before(StaffSession::IDLE), before(StaffSession::LONGEST));
        self.store.forget_sessions(idle, longest).await?;
        Ok(false)
    }

    /// The key file for secrets in the database.
    pub(crate) fn vault(&self) -> &Vault {
        self.store_area.registrar.vault()
    }

    /// Also counts the requests for these routes of another interface.
    pub(crate) fn count_routes(&mut self, labels: impl Iterator<Item = Label>) {
        self.edge.metrics.add_routes(labels);
    }

    /// Reads a body that is a form, up to `max` bytes. A client that is not signed in can use only a
    /// part of the memory. Fails like [`body::read`], and with 503 if there is not enough memory.
    pub(crate) async fn read_form(
        &self,
        request: &Parts,
        body: UnreadBody<'_>,
        max: usize,
        is_signed_in: bool,
    ) -> Result<(Bytes, Option<Reservation>), ApiError> {
        let (memory, size) = (&self.edge.response_memory, body::max_length_within(&body, max));
        let room = if is_signed_in {
            Some(memory.reserve(size)?)
        } else {
            memory.reserve_for_stranger(size)?
        };
        let form = body::read_form(&request.headers, body, max, self.body_timeout).await?;
        Ok((form, room))
    }
}
