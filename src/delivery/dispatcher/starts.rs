//! The attempts that start: who is next, and with what.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tracing::warn;

use super::{Dispatcher, Served};
use crate::{
    delivery::{
        message::{self, Content},
        places::{PLACES, Places, Share, Standing, is_quick, loser},
        sending::{Sending, note_test, signature},
    },
    domain::store_area::{Attempt, Epoch, StoredWebhook},
    observe::log::chain,
    store::StoreError,
};

/// How many test messages may be in flight, with the messages.
const IN_FLIGHT_WITH_TESTS: usize = 2 * PLACES;

/// The number of a message, that of the message before it, and its content if it is in memory.
type Next = (i64, Option<i64>, Option<Content>);

impl Served {
    fn share(&self, now: Instant) -> Share {
        let is_late = |(_, since): &(_, Instant)| !is_quick(now.saturating_duration_since(*since));
        Share {
            standing: self.standing,
            in_flight: self.endpoint.in_flight(),
            is_late: self.running.values().any(is_late),
            started: self.started,
        }
    }
}

impl Dispatcher {
    /// Notes what an attempt has shown of its endpoint.
    pub(super) fn note_standing(&mut self, webhook: i64, attempt: &Attempt) {
        let is_kept = |served: &&Served| served.standing == Standing::Kept;
        let kept = self.served.values().filter(is_kept).count();
        let Some(served) = self.served.get_mut(&webhook) else { return };
        let took = Duration::from_millis(attempt.duration_ms.unsigned_abs());
        served.standing = served.standing.after(is_quick(took), attempt.error.is_none(), kept);
    }

    /// Starts attempts until there is nothing to send or no place, and not more than there are
    /// places, because each may read its change from the store.
    pub(super) async fn start_attempts(&mut self) -> Result<(), StoreError> {
        let Some(epoch) = self.epoch else { return Ok(()) };
        for _ in 0..PLACES {
            let Some((id, next)) = self.next_message() else {
                if self.take_place() {
                    continue;
                }
                break;
            };
            self.start(epoch, id, next).await?;
        }
        Ok(())
    }

    /// Ends an attempt for an endpoint that has a message and may take a place. Returns whether a
    /// place became free.
    fn take_place(&mut self) -> bool {
        let now = self.clock.instant();
        let waits = |served: &Served| served.share(now).is_waiting() && served.endpoint.is_ready();
        if !self.served.values().any(waits) {
            return false;
        }
        let without_place =
            self.served.iter().filter(|(_, served)| served.standing != Standing::Kept);
        let running = without_place.flat_map(|(id, served)| {
            let attempts = served.running.iter();
            attempts.map(|(seq, (_, since))| (now.saturating_duration_since(*since), (*id, *seq)))
        });
        let Some((id, seq)) = loser(running) else { return false };
        let Some(served) = self.served.get_mut(&id) else { return false };
        if let Some((attempt, _)) = served.running.remove(&seq) {
            attempt.abort();
        }
        served.endpoint.put_back(seq);
        served.standing = Standing::Slow;
        true
    }

    /// The webhook whose turn it is, with its message.
    fn next_message(&mut self) -> Option<(i64, Next)> {
        let (now, instant) = (self.clock.now(), self.clock.instant());
        let places = Places::among(self.served.values().map(|served| served.share(instant)));
        let mut turns: Vec<_> = self
            .served
            .iter_mut()
            .map(|(id, served)| (served.share(instant), *id, served))
            .filter(|(share, ..)| places.allow(*share))
            .collect();
        turns.sort_by_key(|(share, id, _)| (share.order(), *id));
        turns.into_iter().find_map(|(_, id, served)| Some((id, served.endpoint.next(now)?)))
    }

    async fn start(
        &mut self,
        epoch: Epoch,
        id: i64,
        (seq, previous, content): Next,
    ) -> Result<(), StoreError> {
        let Some(served) = self.served.get_mut(&id) else { return Ok(()) };
        let content = match content {
            Some(content) => content,
            None => match self.store.changes_after(seq - 1, None, 1).await {
                Ok(page) => {
                    let Some(change) = page.changes.iter().find(|change| change.seq == seq) else {
                        warn!(webhook = id, seq, "a message is dropped: its change is gone");
                        served.endpoint.give_up(seq);
                        return Ok(());
                    };
                    let previous = previous.map(|seq| message::id_of(epoch, id, seq));
                    message::content_of(change, previous.as_deref())
                }
                Err(error) => {
                    served.endpoint.put_back(seq);
                    return Err(error);
                }
            },
        };
        let now = self.clock.now();
        let message_id = message::id_of(epoch, id, seq);
        let attempt = Sending {
            webhook: id,
            generation: served.generation,
            seq: Some(seq),
            url: served.endpoint.webhook.url.clone(),
            signature: signature(&served.secrets, &message_id, now, &content.body),
            message_id,
            now,
            content,
        };
        let connector = Arc::clone(&self.connector);
        let running = self.running.spawn(attempt.send(connector, Arc::clone(&self.clock)));
        served.running.insert(seq, (running, self.clock.instant()));
        self.turn += 1;
        served.started = self.turn;
        Ok(())
    }

    /// Sends the test messages that wait, also to webhooks that are disabled or that other processes
    /// serve. They take no place of the others.
    pub(super) async fn start_tests(
        &mut self,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        for test in self.store.waiting_tests().await? {
            if self.running.len() >= IN_FLIGHT_WITH_TESTS {
                break;
            }
            let (now, webhook) = (self.clock.now(), test.webhook);
            let stored = webhooks.iter().find(|stored| stored.webhook.id == webhook);
            // Without its secret, another process must send it.
            let test = stored.and_then(|stored| Sending::test(stored, &self.vault, now, test).ok());
            if let Some(test) = test
                && self.store.take_test(test.message_id.clone()).await?
            {
                let (connector, clock) = (Arc::clone(&self.connector), Arc::clone(&self.clock));
                let store = Arc::clone(&self.store);
                self.running.spawn(async move {
                    let ended = test.send(connector, clock).await;
                    let noted = note_test(store.as_ref(), webhook, &ended.outcome.attempt).await;
                    if let Err(error) = noted {
                        warn!(webhook, cause = chain(&error), "an attempt could not be noted");
                    }
                    ended
                });
            }
        }
        Ok(())
    }
}
