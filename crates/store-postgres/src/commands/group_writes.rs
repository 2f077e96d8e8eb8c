//! Writes the changes that were decided for a group, in one transaction.

use std::{mem, sync::Arc};

use petstore_domain::clock::truncate_to_milliseconds;
use petstore_store::{ExecutionOutcome, StoreError, drivers::postgres::Failure};

use super::{
    execution::Outcome,
    fields::FieldWrites,
    group::Group,
    state::GroupState,
    write::{row_writes, writes},
};
use crate::{
    append::append,
    pool::Connection,
    requests::{self, NewResponse},
    writes::{Write, in_transaction, prepare},
};

/// Several requests do not wait for a lock that one of them needs: they are split, and then only
/// the request that needs the lock waits.
const BEGIN_GROUP: &str = "BEGIN; SET LOCAL lock_timeout = '100ms'";

impl Group {
    /// Writes the changes of the requests with these outcomes in one transaction. Without changes, waits
    /// until a standby has the rows that the responses are due to.
    pub(super) async fn save(
        &mut self,
        connection: &mut Connection,
        mut group_state: GroupState,
        outcomes: &[Outcome],
    ) -> Result<(), Failure> {
        let is_batch = self
            .executions()
            .any(|execution| execution.commands.len() > 1);
        let commands = self
            .executions()
            .take(outcomes.len())
            .flat_map(|execution| &execution.commands);
        let field_writes = FieldWrites::take_from(&mut group_state.state, commands);
        let rows = row_writes(group_state, is_batch);
        let mut statements: Vec<_> = writes(&rows).chain(self.notes(outcomes)).collect();
        if !statements.is_empty() {
            statements.splice(0..0, field_writes.writes());
            if let Err(failure) = self.commit(connection, &statements).await {
                drop(statements);
                return Err(self.handle_failed_commit(failure, outcomes));
            }
        } else if outcomes.iter().any(Outcome::needs_confirmation) {
            connection.confirm().await?;
        }
        Ok(())
    }

    /// Returns the statements that remember the requests and log the changes.
    fn notes<'v>(&'v self, outcomes: &'v [Outcome]) -> impl Iterator<Item = Write<'v>> {
        let mut responses = Vec::new();
        let mut entries = Vec::new();
        for (execution, outcome) in self.executions().zip(outcomes) {
            let context = &execution.context;
            if let Some(request) = &context.idempotency
                && let ExecutionOutcome::Done { response, .. } = &outcome.execution_outcome
            {
                responses.push(NewResponse {
                    request,
                    response,
                    time: truncate_to_milliseconds(context.now),
                });
            }
            for entry in &outcome.entries {
                entries.push((entry, context.into()));
            }
        }
        let remembering = requests::remember(responses);
        remembering.into_iter().chain(append(entries))
    }

    /// Runs the statements in one transaction. The transaction of several requests does not wait long
    /// for locks.
    async fn commit(
        &self,
        connection: &mut Connection,
        writes: &[Write<'_>],
    ) -> Result<(), Failure> {
        let statements = prepare(connection, writes).await?;
        let begin = if self.requests.len() > 1 {
            BEGIN_GROUP
        } else {
            "BEGIN"
        };
        in_transaction(connection, begin, writes, &statements)
            .await
            .map_err(Failure::from)
    }

    /// Decides what happens to the group after its commit failed. Returns the failure by which the caller
    /// tries again or gives up.
    ///
    /// If the outcome of the commit is unknown, only a request that is remembered can be repeated: the
    /// repetition finds out whether the request was carried out. The other requests get an error here.
    fn handle_failed_commit(&mut self, failure: Failure, outcomes: &[Outcome]) -> Failure {
        if failure.is_conflict() {
            return Failure::Raced;
        }
        if failure.is_certain() {
            return failure;
        }
        let Failure::Database(error) = failure else {
            return failure;
        };

        let error = Arc::new(error);
        let mut repeatable_requests = Vec::with_capacity(self.requests.len());
        for (index, request) in mem::take(&mut self.requests).into_iter().enumerate() {
            let has_changed = outcomes
                .get(index)
                .is_some_and(|outcome| !outcome.entries.is_empty());
            let is_remembered = request.work.context.idempotency.is_some();
            if is_remembered || !has_changed {
                repeatable_requests.push(request);
                continue;
            }
            let failure = Arc::new(Failure::Unknown(Arc::clone(&error)));
            let _ = request
                .caller
                .send(Err(StoreError::OutcomeUnknown(failure)));
        }
        self.requests = repeatable_requests;
        Failure::Unknown(error)
    }
}
