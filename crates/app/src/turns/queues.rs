//! The state behind [`Turns`](super::Turns): a queue of waiting requests for each caller, and the
//! numbers of turns in progress.

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

/// Which limit a turn counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnKind {
    /// One of the turns that all callers share.
    General,
    /// One of the additional turns that are reserved for known browsers.
    Reserved,
}

/// A waiting request whose turn begins now.
pub(super) struct NextRequest<T> {
    /// Sends the turn to the waiting request.
    pub(super) request: oneshot::Sender<T>,
    pub(super) caller: Caller,
    pub(super) kind: TurnKind,
}

/// The waiting requests and the turns in progress. `T` is the turn that a waiting request receives.
pub(super) struct Queues<T> {
    limits: TurnLimits,
    /// The number of turns in progress of each caller that has any.
    turns_by_caller: HashMap<Caller, usize>,
    /// The number of turns in progress of the kind [`TurnKind::General`].
    general_turns: usize,
    /// The number of turns in progress of the kind [`TurnKind::Reserved`].
    reserved_turns: usize,
    /// The waiting callers, each with its queue. Of callers that were served equally often, the
    /// first one is next.
    callers: VecDeque<CallerQueue<T>>,
    /// The recent turns of each caller.
    served: Served,
}

/// The waiting requests of one caller, oldest first. It is never empty.
struct CallerQueue<T> {
    caller: Caller,
    requests: VecDeque<oneshot::Sender<T>>,
}

impl<T> Queues<T> {
    pub(super) fn new(limits: TurnLimits, now: Instant) -> Self {
        Self {
            limits,
            turns_by_caller: HashMap::new(),
            general_turns: 0,
            reserved_turns: 0,
            callers: VecDeque::new(),
            served: Served::new(limits.memory, now),
        }
    }

    /// Begins a turn for the caller. Returns `None` if no turn is free for it.
    ///
    /// The caller overtakes nobody: a free turn goes to a waiting request first, so while a turn is
    /// free, no waiting request could have it.
    pub(super) fn try_begin(&mut self, caller: Caller, now: Instant) -> Option<TurnKind> {
        let kind = self.find_free_turn(caller)?;
        match kind {
            TurnKind::General => self.general_turns += 1,
            TurnKind::Reserved => self.reserved_turns += 1,
        }
        *self.turns_by_caller.entry(caller).or_default() += 1;
        self.served.count(caller, now);
        Some(kind)
    }

    /// Ends a turn of the caller.
    pub(super) fn end(&mut self, caller: Caller, kind: TurnKind) {
        match kind {
            TurnKind::General => self.general_turns -= 1,
            TurnKind::Reserved => self.reserved_turns -= 1,
        }
        if let Some(turns) = self.turns_by_caller.get_mut(&caller) {
            *turns -= 1;
            if *turns == 0 {
                self.turns_by_caller.remove(&caller);
            }
        }
    }

    /// Returns the kind of turn that the caller could begin now, if any.
    fn find_free_turn(&self, caller: Caller) -> Option<TurnKind> {
        let own_turns = self.turns_by_caller.get(&caller).copied();
        if own_turns.unwrap_or(0) >= self.limits.turns_of_caller {
            return None;
        }
        if self.general_turns < self.limits.turns {
            return Some(TurnKind::General);
        }
        if caller.is_known() && self.reserved_turns < self.limits.turns_of_known {
            return Some(TurnKind::Reserved);
        }
        None
    }

    /// Appends a request to the queue of its caller, and returns the receiver of its turn.
    ///
    /// If the queues are full, the request may take the place of another one. Fails if it may not,
    /// or if the queue of its caller is full.
    pub(super) fn enqueue(
        &mut self,
        caller: Caller,
        now: Instant,
    ) -> Result<oneshot::Receiver<T>, NoTurn> {
        self.served.rotate(now);
        self.remove_abandoned();
        let own_queue = self.callers.iter().find(|queue| queue.caller == caller);
        let own_length = own_queue.map_or(0, |queue| queue.requests.len());
        let max_length = match caller {
            Caller::Shared => self.limits.waiting_of_shared,
            Caller::Known(_) | Caller::Stranger(_) => self.limits.waiting_of_caller,
        };
        if own_length >= max_length {
            return Err(NoTurn::Full);
        }
        let is_full = !caller.is_known() && self.count_waiting() >= self.limits.waiting;
        if is_full {
            let has_room = self.make_room_for(caller, own_length);
            if !has_room {
                return Err(NoTurn::Full);
            }
        }

        let (sender, receiver) = oneshot::channel();
        match self.callers.iter_mut().find(|queue| queue.caller == caller) {
            Some(queue) => queue.requests.push_back(sender),
            None => self.callers.push_back(CallerQueue {
                caller,
                requests: [sender].into(),
            }),
        }
        Ok(receiver)
    }

    /// Removes a request of another stranger to make room for a request of `caller`, if this is
    /// fair. Returns whether a request was removed. `own_length` is the number of waiting requests
    /// of `caller`.
    ///
    /// The victim is the stranger that was served most. Among equals, this is the one with the
    /// longest queue. The victim loses its last request if it was served more often than `caller`.
    /// If both were served equally often, the victim loses its last request if its queue is longer
    /// than the queue of `caller` with the new request.
    fn make_room_for(&mut self, caller: Caller, own_length: usize) -> bool {
        let served = &self.served;
        let strangers = self
            .callers
            .iter_mut()
            .filter(|queue| !queue.caller.is_known());
        let victim =
            strangers.max_by_key(|queue| (served.turns(queue.caller), queue.requests.len()));
        let Some(victim) = victim else { return false };
        let victim_rank = (served.turns(victim.caller), victim.requests.len());
        let own_rank = (served.turns(caller), own_length + 1);
        if victim_rank <= own_rank {
            return false;
        }
        victim.requests.pop_back();
        self.callers.retain(|queue| !queue.requests.is_empty());
        true
    }

    /// Counts the waiting requests to which the limit applies: all except the requests of known
    /// browsers.
    pub(super) fn count_waiting(&self) -> usize {
        let strangers = self.callers.iter().filter(|queue| !queue.caller.is_known());
        strangers.map(|queue| queue.requests.len()).sum()
    }

    /// Removes the waiting requests whose clients have disconnected.
    fn remove_abandoned(&mut self) {
        for queue in &mut self.callers {
            queue.requests.retain(|request| !request.is_closed());
        }
        self.callers.retain(|queue| !queue.requests.is_empty());
    }

    /// Begins the turn of the next waiting request. Returns `None` if no turn is free for any of
    /// them.
    ///
    /// Of the callers that may have a turn now, the one that was served least is next. If it has
    /// further requests, its queue goes to the end.
    pub(super) fn begin_next(&mut self, now: Instant) -> Option<NextRequest<T>> {
        self.remove_abandoned();
        let waiting = self.callers.iter().enumerate();
        let ready = waiting.filter(|(_, queue)| self.find_free_turn(queue.caller).is_some());
        let (index, _) = ready.min_by_key(|(_, queue)| self.served.turns(queue.caller))?;

        let mut queue = self.callers.remove(index)?;
        let caller = queue.caller;
        let request = queue.requests.pop_front()?;
        if !queue.requests.is_empty() {
            self.callers.push_back(queue);
        }
        let kind = self.try_begin(caller, now)?;
        Some(NextRequest {
            request,
            caller,
            kind,
        })
    }

    /// Returns how many recent turns the caller has had.
    #[cfg(test)]
    pub(super) fn count_served(&self, caller: Caller) -> usize {
        self.served.turns(caller)
    }

    /// Returns the number of turns in progress.
    #[cfg(test)]
    pub(super) fn count_in_progress(&self) -> usize {
        self.general_turns + self.reserved_turns
    }
}
