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
    /// The function that renders the response.
    pub respond: ExecutionRenderer,
}

/// A request that was decided. Its outcome is valid once the transaction of its group is committed.
pub(super) struct DecidedRequest {
    pub(super) outcome: ExecutionOutcome,
    /// The changes for the log.
    pub(super) entries: Vec<LogEntry>,
}

impl DecidedRequest {
    /// Returns a decided request that appends nothing to the log.
    pub(super) fn without_changes(outcome: ExecutionOutcome) -> Self {
        Self {
            outcome,
            entries: Vec::new(),
        }
    }

    /// Whether the response must wait until the standby has the data that it reports. An earlier attempt
    /// or request may have committed this data without waiting for the standby.
    pub(super) fn needs_confirmation(&self) -> bool {
        matches!(
            self.outcome,
            ExecutionOutcome::Done { .. } | ExecutionOutcome::Replayed(_)
        )
    }
}

impl Execution {
    /// Decides the commands of this request, and merges their changes into the state of the group.
    /// `subjects` are the subjects of the commands, in the same order.
    ///
    /// If one command is refused, the whole request is refused, and the state stays as it is.
    pub(super) fn decide(
        &self,
        group_state: &mut GroupState,
        subjects: &[CommandSubjects],
    ) -> DecidedRequest {
        // The columns store times in milliseconds, and the response must have the same times.
        let now = truncate_to_milliseconds(self.context.now);
        let mut state = group_state.copy_state_for(subjects);
        for (index, (command, command_subjects)) in self.commands.iter().zip(subjects).enumerate() {
            if let Err(refusal) = state.decide(command, command_subjects.new_ids, now) {
                let refused = ExecutionOutcome::Refused { index, refusal };
                return DecidedRequest::without_changes(refused);
            }
        }

        let decisions = mem::take(&mut state.decisions);
        let entries = mem::take(&mut state.entries);
        group_state.merge_changes(state);
        let response = (self.respond)(&decisions);
        let changes = decisions
            .into_iter()
            .flat_map(|decision| decision.changes)
            .collect();
        DecidedRequest {
            outcome: ExecutionOutcome::Done { response, changes },
            entries,
        }
    }

    /// Returns the outcome of this request if the database has no identifier left for it: a refusal
    /// of its first command that needs one.
    pub(super) fn refuse_without_identifiers(&self) -> ExecutionOutcome {
        // Never `None`: only a command that needs an identifier makes the database draw one.
        let index = self.commands.iter().position(needs_identifier);
        ExecutionOutcome::Refused {
            index: index.unwrap_or_default(),
            refusal: Refusal::NoIdentifierLeft,
        }
    }
}

/// Whether a command adds an animal, an order or a note.
fn needs_identifier(command: &Command) -> bool {
    let adds_order_or_note = matches!(command, Command::PlaceOrder(_) | Command::AddNote { .. });
    command.subject() == Subject::New || adds_order_or_note
}
