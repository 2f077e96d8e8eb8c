//! The limits of turns.

use std::time::Duration;

/// The limits on turns in progress and on waiting requests.
#[derive(Debug, Clone, Copy)]
pub struct TurnLimits {
    /// The maximum number of concurrent turns that all callers share.
    pub turns: usize,
    /// The maximum number of additional concurrent turns that are reserved for known browsers.
    pub turns_of_known: usize,
    /// The maximum number of concurrent turns of one caller.
    pub turns_of_caller: usize,
    /// The maximum number of waiting requests, excluding known browsers.
    pub waiting: usize,
    /// The maximum number of waiting requests of one caller.
    pub waiting_of_caller: usize,
    /// The maximum number of waiting requests of [`Caller::Shared`](super::Caller::Shared), which
    /// stands for many clients.
    pub waiting_of_shared: usize,
    /// How long a request waits for a turn at most.
    pub wait: Duration,
    /// How long a turn counts against its caller: at least this long, and at most twice as long.
    /// With zero, past turns do not count, and callers have turns in the order of their arrival.
    pub memory: Duration,
}

/// Why a request gets no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTurn {
    /// The queue is full, or a caller that was served less has taken its place.
    #[error("too many requests wait")]
    Full,
    /// The wait has timed out.
    #[error("no turn came in time")]
    Late,
}
