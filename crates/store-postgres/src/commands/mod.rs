//! Carries out commands of the store area.
//!
//! This takes no locks and two round trips: the first reads the state of one moment, and the second
//! writes, if each row still has the version that was read. Requests of one command that wait share
//! both.

mod execute;
mod execution;
mod fields;
mod group;
mod group_writes;
mod state;
mod write;

use petstore_store::ExecutionOutcome;

pub(super) use self::{
    execute::{carry_out, work},
    execution::Execution,
};
use super::queue::Queue;

/// The queue of requests with one command, for the task that carries them out.
pub(super) type Commands = Queue<Execution, ExecutionOutcome>;
