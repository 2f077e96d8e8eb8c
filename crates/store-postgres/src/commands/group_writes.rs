//! Writes the changes that a group has decided, in one transaction.

use std::{mem, sync::Arc};

use petstore_domain::clock::truncate_to_milliseconds;
use petstore_store::{
    ExecutionOutcome, StoreError, drivers::postgres::Failure, journal_rows::Origin,
};

use super::{
    execution::DecidedRequest,
    fields::FieldWrites,
    group::Group,
    state::GroupState,
    write::{build_row_writes, build_writes},
};
use crate::{
    append::build_append_write,
    connection::Connection,
    requests::{self, NewResponse},
    writes::{Write, prepare, send_transaction},
};

/// The beginning of a transaction of several requests.
///
/// The group must not wait long for a lock that only one of its requests needs. So the transaction
/// fails instead, and the group is split until that request waits on its own.
const BEGIN_GROUP: &str = "BEGIN; SET LOCAL lock_timeout = '100ms'";

impl Group {
    /// Writes the changes of the first requests, which were decided, in one transaction.
    ///
    /// If there is nothing to write, waits until the standby has the rows on which the responses are
    /// based.
    pub(super) async fn save(
        &mut self,
        connection: &mut Connection,
        mut group_state: GroupState,
        decided_requests: &[DecidedRequest],
    ) -> Result<(), Failure> {
        let is_batch = self
            .executions()
            .any(|execution| execution.commands.len() > 1);
        let commands = self
            .executions()
            .take(decided_requests.len())
            .flat_map(|execution| &execution.commands);
        let field_writes = FieldWrites::take_from(&mut group_state.state, commands);
        let rows = build_row_writes(group_state, is_batch);
        let mut statements: Vec<_> = build_writes(&rows)
            .chain(self.build_request_and_log_writes(decided_requests))
            .collect();
        if statements.is_empty() {
            let needs_confirmation = decided_requests
                .iter()
                .any(DecidedRequest::needs_confirmation);
            if needs_confirmation {
                connection.confirm().await?;
            }
            return Ok(());
        }

        // The writes of the fields are only needed together with other writes. They come first, for
        // the reason given at `FieldWrites::build_writes`.
        statements.splice(0..0, field_writes.build_writes());
        if let Err(failure) = self.commit(connection, &statements).await {
            // The statements borrow the group, which the next call changes.
            drop(statements);
            return Err(self.handle_failed_commit(failure, decided_requests));
        }
        Ok(())
    }

    /// Builds the writes that remember the requests with their responses, and log the changes.
    fn build_request_and_log_writes<'v>(
        &'v self,
        decided_requests: &'v [DecidedRequest],
    ) -> impl Iterator<Item = Write<'v>> {
        let mut responses = Vec::new();
        let mut entries = Vec::new();
        for (execution, decided) in self.executions().zip(decided_requests) {
            let context = &execution.context;
            if let Some(request) = &context.idempotency
                && let ExecutionOutcome::Done { response, .. } = &decided.outcome
            {
                responses.push(NewResponse {
                    request,
                    response,
                    time: truncate_to_milliseconds(context.now),
                });
            }
            for entry in &decided.entries {
                entries.push((entry, Origin::from(context)));
            }
        }
        requests::build_remember_write(responses)
            .into_iter()
            .chain(build_append_write(entries))
    }

    /// Runs the statements in one transaction. The transaction of several requests does not wait
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
    /// If the outcome of the commit is unknown, a request with changes can be retried only if it
    /// has an idempotency key: by the key, the retry finds out whether the request was carried out.
    /// A request with changes, but without a key, leaves the group here, with an error that says
    /// that its outcome is unknown.
    fn handle_failed_commit(
        &mut self,
        failure: Failure,
        decided_requests: &[DecidedRequest],
    ) -> Failure {
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
            let has_changed = decided_requests
                .get(index)
                .is_some_and(|decided| !decided.entries.is_empty());
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
