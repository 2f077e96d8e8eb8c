//! Turns of callers that ask for the same scarce thing: few at once, and the next one for the caller that was served
//! least. So callers that have had a turn come after newcomers, however many callers there are.

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

/// Turns for the callers of one kind of work.
pub struct Turns {
    limits: TurnLimits,
    clock: Arc<dyn Clock>,
    queues: Mutex<Queues<Turn>>,
}

/// A turn, which lasts until it is dropped.
pub struct Turn {
    turns: Arc<Turns>,
    caller: Caller,
    kind: TurnKind,
}

impl Turns {
    pub fn new(limits: TurnLimits, clock: Arc<dyn Clock>) -> Arc<Self> {
        let queues = Mutex::new(Queues::new(limits, clock.instant()));
        Arc::new(Self {
            limits,
            clock,
            queues,
        })
    }

    /// Waits for a turn of this caller. Fails at once if too many requests wait, and later if it takes too long or a
    /// caller that was served less has taken the place.
    pub async fn take(self: &Arc<Self>, caller: Caller) -> Result<Turn, NoTurn> {
        let caller = caller.of_site();
        let now = self.clock.instant();
        let call = {
            let mut queues = self.queues.lock();
            if let Some(kind) = queues.begin(caller, now) {
                return Ok(Turn {
                    turns: Arc::clone(self),
                    caller,
                    kind,
                });
            }
            queues.wait(caller, now)?
        };
        match timeout(self.limits.wait, call).await {
            Ok(turn) => turn.map_err(|_| NoTurn::Full),
            Err(_) => Err(NoTurn::Late),
        }
    }

    /// Begins the turns that requests in the queue can have now.
    fn call_next(self: &Arc<Self>) {
        loop {
            // The lock ends before a turn is sent: if its client has just left, the turn is dropped here, and passes on.
            let next = self.queues.lock().next(self.clock.instant());
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
    fn drop(&mut self) {
        self.turns.queues.lock().end(self.caller, self.kind);
        self.turns.call_next();
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
