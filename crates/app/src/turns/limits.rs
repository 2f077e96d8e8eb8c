//! The limits of turns.

use std::time::Duration;

/// The numbers of turns, and of requests that wait for them.
#[derive(Debug, Clone, Copy)]
pub struct TurnLimits {
    /// The maximum number of turns at once that all callers share.
    pub turns: usize,
    /// The number of further turns, which only known browsers have.
    pub turns_of_known: usize,
    /// The maximum number of turns of one caller at once.
    pub turns_of_caller: usize,
    /// The maximum number of requests that wait, without the requests of known browsers.
    pub waiting: usize,
    /// The maximum number of requests of one caller that wait.
    pub waiting_of_caller: usize,
    /// The maximum number of requests that wait of clients that share an address.
    pub waiting_of_shared: usize,
    /// The longest wait for a turn.
    pub wait: Duration,
    /// The time for which a turn of a caller counts at least; it counts for at most twice as long. With zero, the callers
    /// that wait have turns in the order in which they came.
    pub memory: Duration,
}

/// The reason why a request has no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTurn {
    /// The queue has no place for it, or another caller has taken its place.
    #[error("too many requests wait")]
    Full,
    /// It has waited for the longest time.
    #[error("no turn came in time")]
    Late,
}
