//! Decides a single request of the store area.

use std::mem;

use petstore_domain::{
    WriteContext,
    clock::truncate_to_milliseconds,
    store_area::{Command, Refusal, Subject},
};
use petstore_store::{ExecutionOutcome, ExecutionRenderer, journal_rows::LogEntry};

use super::state::{CommandSubjects, GroupState};

/// A request to carry out: its commands, which take effect together or not at all.
pub(crate) struct Execution {
    pub commands: Vec<Command>,
    pub context: WriteContext,
    pub respond: ExecutionRenderer,
}

/// The outcome of a request, which is valid once the transaction of its group is committed.
pub(super) struct Outcome {
    pub(super) execution_outcome: ExecutionOutcome,
    /// The changes for the log.
    pub(super) entries: Vec<LogEntry>,
}

impl Outcome {
    /// Returns the outcome of a request that appends nothing to the log.
    pub(super) fn without_changes(execution_outcome: ExecutionOutcome) -> Self {
        Self {
            execution_outcome,
            entries: Vec::new(),
        }
    }

    /// Whether the response reports what an earlier attempt or request may have committed, so that the
    /// standby must have it first.
    pub(super) fn needs_confirmation(&self) -> bool {
        matches!(
            self.execution_outcome,
            ExecutionOutcome::Done { .. } | ExecutionOutcome::Replayed(_)
        )
    }
}

impl Execution {
    /// Decides the commands of this request, and merges their changes into the state of the group. If
    /// one of them is refused, the whole request is, and the state stays as it is.
    pub(super) fn decide(
        &self,
        group_state: &mut GroupState,
        subjects: &[CommandSubjects],
    ) -> Outcome {
        // Columns store times in milliseconds.
        let now = truncate_to_milliseconds(self.context.now);
        let mut state = group_state.state_of(subjects);
        for (index, (command, subjects)) in self.commands.iter().zip(subjects).enumerate() {
            if let Err(refusal) = state.decide(command, subjects.new_ids, now) {
                return Outcome::without_changes(ExecutionOutcome::Refused { index, refusal });
            }
        }

        let decisions = mem::take(&mut state.decisions);
        let entries = mem::take(&mut state.entries);
        group_state.merge(state);
        let response = (self.respond)(&decisions);
        let changes = decisions
            .into_iter()
            .flat_map(|decision| decision.changes)
            .collect();
        Outcome {
            execution_outcome: ExecutionOutcome::Done { response, changes },
            entries,
        }
    }

    /// Returns the outcome of a request for which no identifier is left: its first command that needs
    /// one is refused.
    pub(super) fn refuse_without_identifiers(&self) -> ExecutionOutcome {
        let index = self.commands.iter().position(needs_identifier);
        ExecutionOutcome::Refused {
            index: index.unwrap_or_default(),
            refusal: Refusal::NoIdentifierLeft,
        }
    }
}

/// Whether a command adds an animal, an order or a note.
fn needs_identifier(command: &Command) -> bool {
    let is_addition = matches!(command, Command::PlaceOrder(_) | Command::AddNote { .. });
    command.subject() == Subject::New || is_addition
}
