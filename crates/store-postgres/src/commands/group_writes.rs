//! Writes the changes that a group has decided, in one transaction.

use std::{mem, sync::Arc};

use petstore_domain::clock::truncate_to_milliseconds;
use petstore_store::{
    ExecutionOutcome, StoreError, drivers::postgres::Failure, journal_rows::Origin,
};

use super::{
    execution::Outcome,
    fields::FieldWrites,
    group::Group,
    state::GroupState,
    write::{row_writes, write_statements},
};
use crate::{
    append::append_statement,
    pool::Connection,
    requests::{self, NewResponse},
    writes::{Write, prepare, send_transaction},
};

/// The beginning of a transaction of several requests.
///
/// The group must not wait long for a lock that only one of its requests needs. The group fails instead,
/// and is split until that request waits on its own.
const BEGIN_GROUP: &str = "BEGIN; SET LOCAL lock_timeout = '100ms'";

impl Group {
    /// Writes the changes of the first requests in one transaction. `outcomes` are the outcomes of
    /// the requests, in order.
    ///
    /// If there is nothing to write, waits until the standby has the rows on which the responses are
    /// based.
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
        let mut statements: Vec<_> = write_statements(&rows)
            .chain(self.request_and_log_writes(outcomes))
            .collect();
        if !statements.is_empty() {
            // Without other writes, the writes of the fields are not needed. They must come first:
            // see `FieldWrites::writes`.
            statements.splice(0..0, field_writes.writes());
            if let Err(failure) = self.commit(connection, &statements).await {
                // The statements borrow the group, which the next call changes.
                drop(statements);
                return Err(self.handle_failed_commit(failure, outcomes));
            }
        } else if outcomes.iter().any(Outcome::needs_confirmation) {
            connection.confirm().await?;
        }
        Ok(())
    }

    /// Returns the writes that remember the requests with their responses, and log the changes.
    fn request_and_log_writes<'v>(
        &'v self,
        outcomes: &'v [Outcome],
    ) -> impl Iterator<Item = Write<'v>> {
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
                entries.push((entry, Origin::from(context)));
            }
        }
        requests::remember_statement(responses)
            .into_iter()
            .chain(append_statement(entries))
    }

    /// Runs the statements in one transaction. If the group has several requests, it does not wait
    /// long for locks.
    async fn commit(
        &self,
        connection: &mut Connection,
        writes: &[Write<'_>],
    ) -> Result<(), Failure> {
        let prepared_writes = prepare(connection, writes).await?;
        let begin = if self.requests.len() > 1 {
            BEGIN_GROUP
        } else {
            "BEGIN"
        };
        send_transaction(connection, begin, &prepared_writes)
            .await
            .map_err(Failure::from)
    }

    /// Handles a failed commit, and returns the failure by which the caller decides whether to retry.
    ///
    /// If the outcome of the commit is unknown, a request with changes can be retried only if it has an
    /// idempotency key, by which the retry finds out whether the request was carried out. Requests with
    /// changes, but without a key, leave the group here: they get an error that says that their outcome
    /// is unknown.
    fn handle_failed_commit(&mut self, failure: Failure, outcomes: &[Outcome]) -> Failure {
        if failure.is_conflict() {
            return Failure::Raced;
        }
        if failure.had_no_effect() {
            return failure;
        }
        let Failure::Database(error) = failure else {
            return failure;
        };

        let error = Arc::new(error);
        let mut retryable_requests = Vec::with_capacity(self.requests.len());
        for (index, request) in mem::take(&mut self.requests).into_iter().enumerate() {
            let has_changed = outcomes
                .get(index)
                .is_some_and(|outcome| !outcome.entries.is_empty());
            let is_remembered = request.work.context.idempotency.is_some();
            if is_remembered || !has_changed {
                retryable_requests.push(request);
                continue;
            }
            let failure = Arc::new(Failure::CommitOutcomeUnknown(Arc::clone(&error)));
            // If the caller is gone, nobody needs the error.
            let _ = request
                .caller
                .send(Err(StoreError::OutcomeUnknown(failure)));
        }
        self.requests = retryable_requests;
        Failure::CommitOutcomeUnknown(error)
    }
}
