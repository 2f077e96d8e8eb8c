//! The requests that wait for a turn, in a queue of each caller, and the turns that last.

use std::{
    collections::{HashMap, VecDeque},
    time::Instant,
};

use tokio::sync::oneshot;

use super::{
    caller::Caller,
    limits::{NoTurn, TurnLimits},
    served::Served,
};

/// The kind of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnKind {
    /// All callers share it.
    Shared,
    /// Only known browsers have it.
    OfKnown,
}

/// A request whose turn begins.
pub(super) struct NextRequest<T> {
    pub(super) request: oneshot::Sender<T>,
    pub(super) caller: Caller,
    pub(super) kind: TurnKind,
}

/// The requests that wait for a turn of the type `T`, and the turns that last.
pub(super) struct Queues<T> {
    limits: TurnLimits,
    /// The number of turns of each caller that has one.
    turns: HashMap<Caller, usize>,
    /// The number of turns that all callers share, and that last.
    shared: usize,
    /// The number of turns that only known browsers have, and that last.
    of_known: usize,
    /// The callers that wait. Of callers that were served equally, the first one is next.
    callers: VecDeque<Queue<T>>,
    served: Served,
}

/// The requests of a caller that wait, the oldest first. It is never empty.
struct Queue<T> {
    caller: Caller,
    requests: VecDeque<oneshot::Sender<T>>,
}

impl<T> Queues<T> {
    pub(super) fn new(limits: TurnLimits, now: Instant) -> Self {
        Self {
            limits,
            turns: HashMap::new(),
            shared: 0,
            of_known: 0,
            callers: VecDeque::new(),
            served: Served::new(limits.memory, now),
        }
    }

    /// Begins a turn of the caller, if one is free. Then nobody waits who could have it.
    pub(super) fn begin(&mut self, caller: Caller, now: Instant) -> Option<TurnKind> {
        let kind = self.free_turn(caller)?;
        match kind {
            TurnKind::Shared => self.shared += 1,
            TurnKind::OfKnown => self.of_known += 1,
        }
        *self.turns.entry(caller).or_default() += 1;
        self.served.note(caller, now);
        Some(kind)
    }

    /// Ends a turn of the caller.
    pub(super) fn end(&mut self, caller: Caller, kind: TurnKind) {
        match kind {
            TurnKind::Shared => self.shared -= 1,
            TurnKind::OfKnown => self.of_known -= 1,
        }
        if let Some(turns) = self.turns.get_mut(&caller) {
            *turns -= 1;
            if *turns == 0 {
                self.turns.remove(&caller);
            }
        }
    }

    /// Returns the kind of turn that the caller could begin now.
    fn free_turn(&self, caller: Caller) -> Option<TurnKind> {
        let own_turns = self.turns.get(&caller).copied().unwrap_or_default();
        if own_turns >= self.limits.turns_of_caller {
            None
        } else if self.shared < self.limits.turns {
            Some(TurnKind::Shared)
        } else if caller.is_known() && self.of_known < self.limits.turns_of_known {
            Some(TurnKind::OfKnown)
        } else {
            None
        }
    }

    /// Adds a request to the queue of its caller.
    pub(super) fn wait(
        &mut self,
        caller: Caller,
        now: Instant,
    ) -> Result<oneshot::Receiver<T>, NoTurn> {
        self.served.forget_old(now);
        self.forget_abandoned();
        let own_queue = self.callers.iter().find(|queue| queue.caller == caller);
        let own_length = own_queue.map_or(0, |queue| queue.requests.len());
        let longest = match caller {
            Caller::Shared => self.limits.waiting_of_shared,
            Caller::Known(_) | Caller::Stranger(_) => self.limits.waiting_of_caller,
        };
        if own_length >= longest {
            return Err(NoTurn::Full);
        }
        let is_full = !caller.is_known() && self.waiting() >= self.limits.waiting;
        if is_full && !self.displace(caller, own_length) {
            return Err(NoTurn::Full);
        }

        let (sender, receiver) = oneshot::channel();
        match self.callers.iter_mut().find(|queue| queue.caller == caller) {
            Some(queue) => queue.requests.push_back(sender),
            None => self.callers.push_back(Queue {
                caller,
                requests: [sender].into(),
            }),
        }
        Ok(receiver)
    }

    /// Takes the place of the last request of the caller that was served most, and among equals has the longest queue:
    /// if that one was served more than this caller, or as much and has at least two requests more. Returns whether it did.
    fn displace(&mut self, caller: Caller, own_length: usize) -> bool {
        let served = &self.served;
        let strangers = self
            .callers
            .iter_mut()
            .filter(|queue| !queue.caller.is_known());
        let last = strangers.max_by_key(|queue| (served.turns(queue.caller), queue.requests.len()));
        let Some(last) = last else { return false };
        if (served.turns(last.caller), last.requests.len())
            <= (served.turns(caller), own_length + 1)
        {
            return false;
        }
        last.requests.pop_back();
        self.callers.retain(|queue| !queue.requests.is_empty());
        true
    }

    /// Returns the number of requests that wait, without the requests of known browsers.
    pub(super) fn waiting(&self) -> usize {
        let strangers = self.callers.iter().filter(|queue| !queue.caller.is_known());
        strangers.map(|queue| queue.requests.len()).sum()
    }

    /// Removes the requests whose clients have left.
    fn forget_abandoned(&mut self) {
        for queue in &mut self.callers {
            queue.requests.retain(|request| !request.is_closed());
        }
        self.callers.retain(|queue| !queue.requests.is_empty());
    }

    /// Begins the turn of the next request: the request of the caller that was served least and may have a turn now.
    pub(super) fn next(&mut self, now: Instant) -> Option<NextRequest<T>> {
        self.forget_abandoned();
        let waiting = self.callers.iter().enumerate();
        let ready = waiting.filter(|(_, queue)| self.free_turn(queue.caller).is_some());
        let (index, _) = ready.min_by_key(|(_, queue)| self.served.turns(queue.caller))?;

        let mut queue = self.callers.remove(index)?;
        let caller = queue.caller;
        let request = queue.requests.pop_front()?;
        if !queue.requests.is_empty() {
            self.callers.push_back(queue);
        }
        let kind = self.begin(caller, now)?;
        Some(NextRequest {
            request,
            caller,
            kind,
        })
    }

    /// Returns how many turns the caller has had lately.
    #[cfg(test)]
    pub(super) fn served(&self, caller: Caller) -> usize {
        self.served.turns(caller)
    }

    /// Returns how many turns last.
    #[cfg(test)]
    pub(super) fn lasting(&self) -> usize {
        self.shared + self.of_known
    }
}
