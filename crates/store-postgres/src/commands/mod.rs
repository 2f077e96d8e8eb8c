//! Carries out commands of the store area.
//!
//! This takes no locks and two round trips: the first reads the state of one moment, and the second
//! writes, if each row still has the version that was read. Requests of one command that wait share
//! both.

mod execute;
mod fields;
mod state;
mod write;

use petstore_store::ExecutionOutcome;

pub(super) use self::execute::{Execution, carry_out, work};
use super::queue::Queue;

/// Takes requests of one command to the task that carries them out.
pub(super) type Commands = Queue<Execution, ExecutionOutcome>;
