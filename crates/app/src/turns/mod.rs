//! Fair queueing for scarce work, such as requests to the identity provider.
//!
//! A request may do the work while it has a turn, and only a few requests have a turn at once. The
//! next turn goes to the caller with the fewest recent turns, so newcomers come before callers that
//! have already been served. This keeps the service usable while many addresses flood it.

mod caller;
mod limits;
mod queues;
mod served;

use std::sync::Arc;

use parking_lot::Mutex;
use petstore_domain::Clock;
use tokio::time::timeout;

use self::queues::{Queues, TurnKind};
pub use self::{
    caller::Caller,
    limits::{NoTurn, TurnLimits},
};

/// Allots turns to the callers of one kind of work.
pub struct Turns {
    limits: TurnLimits,
    clock: Arc<dyn Clock>,
    queues: Mutex<Queues<Turn>>,
}

/// A turn, which lasts until it is dropped. Dropping it starts the turns of waiting requests.
pub struct Turn {
    turns: Arc<Turns>,
    caller: Caller,
    kind: TurnKind,
}

impl Turns {
    /// Returns the turns of one kind of work, within these limits.
    pub fn new(limits: TurnLimits, clock: Arc<dyn Clock>) -> Arc<Self> {
        let queues = Mutex::new(Queues::new(limits, clock.instant()));
        Arc::new(Self {
            limits,
            clock,
            queues,
        })
    }

    /// Waits for a turn of the caller.
    ///
    /// Fails at once if too many requests wait. Fails later if the wait times out, or if another
    /// caller, which was served less, takes the place of this request in the queue.
    pub async fn take(self: &Arc<Self>, caller: Caller) -> Result<Turn, NoTurn> {
        let caller = caller.of_site();
        let now = self.clock.instant();
        let assigned_turn = {
            let mut queues = self.queues.lock();
            if let Some(kind) = queues.try_begin(caller, now) {
                return Ok(Turn {
                    turns: Arc::clone(self),
                    caller,
                    kind,
                });
            }
            queues.enqueue(caller, now)?
        };
        match timeout(self.limits.wait, assigned_turn).await {
            // The sender is dropped if another request takes the place of this one in the queue.
            Ok(turn) => turn.map_err(|_displaced| NoTurn::Full),
            Err(_elapsed) => Err(NoTurn::Late),
        }
    }

    /// Starts turns for waiting requests while turns are free.
    fn start_waiting(self: &Arc<Self>) {
        loop {
            // Release the lock before sending the turn. If the client has just disconnected, the
            // turn is dropped here, and its `drop` takes the lock again.
            let next = self.queues.lock().begin_next(self.clock.instant());
            let Some(next) = next else { return };
            let turn = Turn {
                turns: Arc::clone(self),
                caller: next.caller,
                kind: next.kind,
            };
            drop(next.request.send(turn));
        }
    }
}

impl Drop for Turn {
    /// Ends the turn, and starts the turns of waiting requests.
    fn drop(&mut self) {
        self.turns.queues.lock().end(self.caller, self.kind);
        self.turns.start_waiting();
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
