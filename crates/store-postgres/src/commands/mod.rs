//! Carries out commands of the store area, with optimistic concurrency control.
//!
//! A group of requests takes two round trips. The first reads a consistent state, without locks. The
//! second writes all changes in one transaction, which fails if a row no longer has the version that
//! was read. Queued requests with a single command share both round trips.

mod execute;
mod execution;
mod fields;
mod group;
mod group_writes;
mod state;
mod write;

use petstore_store::ExecutionOutcome;

pub(super) use self::{
    execute::{carry_out, run_worker},
    execution::Execution,
};
use super::queue::Queue;

/// The queue of requests with a single command.
pub(super) type Commands = Queue<Execution, ExecutionOutcome>;
