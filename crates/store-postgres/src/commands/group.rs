//! A group of requests that are carried out together: reads the rows that the requests need, and decides
//! each request. `group_writes.rs` writes the changes.

use std::{collections::HashSet, mem, sync::LazyLock};

use futures_util::future::try_join;
use petstore_domain::{
    IdempotentRequest,
    store_area::{Category, Command, Label},
};
use petstore_store::{
    ExecutionOutcome,
    drivers::postgres::{Failure, Remedy},
    journal_rows::LogEntry,
    request_rows::KnownRequest,
    state::MAX_COMPARED_CATEGORIES,
    tables::{Record, Table},
};
use tokio_postgres::{Client, Row, Statement, error::SqlState};

use super::{
    execution::{DecidedRequest, Execution},
    fields::read_fields_and_owners,
    state::{CommandSubjects, GroupState, READ_SUBJECTS, subject_parameters},
};
use crate::{
    connection::Connection,
    queue::{CalledWork, MAX_GROUP_BYTES},
    requests::{self, RECALL_ALL},
    writes::{parameters, transpose},
};

/// The maximum number of attempts of a single request that conflicts with other transactions.
const MAX_ATTEMPTS: u32 = 5;

/// The maximum number of attempts of a group of several requests. After that, the group is split.
const MAX_ATTEMPTS_OF_GROUP: u32 = 2;

/// The query for the $1 categories with the lowest identifiers.
static FIRST_CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Categories.selected_columns();
    format!("SELECT {columns} FROM categories ORDER BY id LIMIT $1")
});

/// A request, with the channel to its caller.
pub(crate) type CalledExecution = CalledWork<Execution, ExecutionOutcome>;

/// How a group continues after a failed attempt.
enum NextStep {
    /// Attempt the remaining requests again.
    Retry,
    /// Split the group, because a single request may make all of them fail.
    Split,
    /// Fail all remaining requests.
    Fail,
}

/// Requests that are carried out together. Each leaves the group once its caller has got a response.
pub(super) struct Group {
    pub(super) requests: Vec<CalledExecution>,
}

/// The rows that were read for the requests of a group.
struct GroupRows {
    /// A row of [`READ_SUBJECTS`] for each command.
    subject_rows: Vec<Row>,
    /// For each request, what is remembered under its idempotency key.
    known_requests: Vec<Option<KnownRequest>>,
}

impl Group {
    /// Carries out the requests, and sends the responses to the callers. If an earlier attempt has
    /// carried out a request already, recalls its response.
    ///
    /// If this returns `Ok`, but requests remain in the group, the caller must split the group.
    pub(super) async fn attempt(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut failed_attempts = 0;
        while !self.requests.is_empty() {
            let failure = match self.carry_out_first(connection).await {
                // At least one request has left the group. Carry out the next ones.
                Ok(()) => continue,
                Err(failure) => failure,
            };
            failed_attempts += 1;
            match self.next_step(&failure, failed_attempts) {
                NextStep::Retry => {}
                NextStep::Split => return Ok(()),
                NextStep::Fail => return Err(failure),
            }
        }
        Ok(())
    }

    /// Decides how to continue after a failed attempt.
    fn next_step(&self, failure: &Failure, failed_attempts: u32) -> NextStep {
        match self.requests.len() {
            // All callers have got an error already. With no requests left, `attempt` ends.
            0 => NextStep::Retry,
            1 => {
                let is_conflict = matches!(failure, Failure::Raced);
                if is_conflict && failed_attempts < MAX_ATTEMPTS {
                    NextStep::Retry
                } else {
                    NextStep::Fail
                }
            }
            2.. => {
                // A failure that had no effect, and is not a failure of the connection, may be due to a
                // single request.
                let may_concern_one_request =
                    failure.had_no_effect() && failure.remedy() != Remedy::Reconnect;
                if !may_concern_one_request {
                    NextStep::Fail
                } else if failed_attempts < MAX_ATTEMPTS_OF_GROUP {
                    NextStep::Retry
                } else {
                    NextStep::Split
                }
            }
        }
    }

    /// Carries out the first requests: as many as [`Self::decide`] takes, usually all.
    ///
    /// No row is locked before the transaction that writes. The transaction writes or locks every
    /// row on which a decision depends. It fails if such a row no longer has the version that was
    /// read, or if an order already holds the animal. So the decisions are as safe as if the rows
    /// had been locked first.
    ///
    /// Even a refusal can depend on the changes of other requests in the group, so all outcomes are sent
    /// only after the commit.
    async fn carry_out_first(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let rows = match self.read_rows(connection).await {
            Ok(rows) => rows,
            Err(failure) => return self.handle_failed_read(failure),
        };
        let mut group_state = GroupState::default();
        let subjects = self.add_subjects(&rows.subject_rows, &mut group_state)?;
        self.read_needed_fields(connection, &mut group_state)
            .await?;
        self.read_namesakes(connection, &mut group_state).await?;

        let decided_requests = self.decide(&mut group_state, subjects, rows.known_requests);
        self.save(connection, group_state, &decided_requests)
            .await?;
        self.respond(decided_requests.into_iter().map(|decided| decided.outcome));
        Ok(())
    }

    /// Handles a failure to read the rows. If the group is a single request for which no identifier is
    /// left, responds with the refusal of the request, and succeeds. Returns any other failure.
    ///
    /// A group of several requests is split after this failure, until the request that needs the
    /// identifier is on its own.
    fn handle_failed_read(&mut self, failure: Failure) -> Result<(), Failure> {
        let [request] = &self.requests[..] else {
            return Err(failure);
        };
        if !failure.has_code(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) {
            return Err(failure);
        }
        let refusal = request.work.refuse_without_identifiers();
        self.respond([refusal]);
        Ok(())
    }

    /// Reads the field definitions and the owners of unique values, if a command needs them.
    async fn read_needed_fields(
        &self,
        connection: &mut Connection,
        group_state: &mut GroupState,
    ) -> Result<(), Failure> {
        let commands: Vec<&Command> = self
            .executions()
            .flat_map(|execution| &execution.commands)
            .collect();
        let needs_fields = commands
            .iter()
            .any(|command| group_state.state.needs_fields(command));
        if needs_fields {
            read_fields_and_owners(connection, group_state, &commands).await?;
        }
        Ok(())
    }

    /// Reads the categories that already have a label which a command gives to another category, and
    /// adds them to the state. The decision needs them, because no two categories may have the same
    /// label.
    ///
    /// Nothing is locked here, so two processes can still give the same label at the same time.
    /// `petstore check` then reports both categories.
    async fn read_namesakes(
        &self,
        connection: &mut Connection,
        group_state: &mut GroupState,
    ) -> Result<(), Failure> {
        let labels: Vec<&Label> = self
            .executions()
            .flat_map(|execution| &execution.commands)
            .filter_map(Command::new_label)
            .collect();
        if labels.is_empty() {
            return Ok(());
        }
        let statement = connection.prepare_once(&FIRST_CATEGORIES).await?;
        let client: &Client = connection;
        let rows = client
            .query(&statement, &[&MAX_COMPARED_CATEGORIES])
            .await?;
        let categories: Vec<Category> = rows
            .iter()
            .map(|row| Category::read(row, 0))
            .collect::<Result<_, _>>()?;
        for label in labels {
            group_state
                .state
                .add_namesakes(label, categories.iter().cloned());
        }
        Ok(())
    }

    /// Returns the requests, without the channels to their callers.
    pub(super) fn executions(&self) -> impl Iterator<Item = &Execution> + Clone {
        self.requests.iter().map(|request| &request.work)
    }

    /// Returns the idempotency key of each request, with its context; `None` for a request without a key.
    fn idempotent_requests(&self) -> impl Iterator<Item = Option<&IdempotentRequest>> + Clone {
        self.executions()
            .map(|execution| execution.context.idempotency.as_ref())
    }

    /// Sends the outcomes to the callers of the first requests, and removes these from the group.
    fn respond(&mut self, outcomes: impl IntoIterator<Item = ExecutionOutcome>) {
        let mut requests = mem::take(&mut self.requests).into_iter();
        for (outcome, request) in outcomes.into_iter().zip(&mut requests) {
            // If the caller is gone, nobody needs the outcome.
            let _ = request.caller.send(Ok(outcome));
        }
        self.requests = requests.collect();
    }

    /// Reads the rows that the commands need, and the remembered requests.
    ///
    /// The rows must be read first. In the other order, a request that another process commits between
    /// the two reads would be carried out twice: it would not be found as remembered, although the rows
    /// already have its changes.
    async fn read_rows(&self, connection: &mut Connection) -> Result<GroupRows, Failure> {
        let subjects_statement = connection.prepare_once(&READ_SUBJECTS).await?;
        let recall_statement = connection.prepare_once(RECALL_ALL).await?;
        let client: &Client = connection;
        let subjects_query = self.query_subjects(client, &subjects_statement);
        let has_keys = self.idempotent_requests().any(|request| request.is_some());
        if !has_keys {
            return Ok(GroupRows {
                subject_rows: subjects_query.await?,
                known_requests: self.requests.iter().map(|_| None).collect(),
            });
        }

        // `try_join` polls its first future first, so both statements are sent at once, in this order.
        let requests_query =
            requests::recall_all(client, &recall_statement, self.idempotent_requests());
        let (subject_rows, known_requests) = try_join(subjects_query, requests_query).await?;
        Ok(GroupRows {
            subject_rows,
            known_requests,
        })
    }

    /// Reads one row for each command, with `statement`, which is the prepared [`READ_SUBJECTS`].
    async fn query_subjects(
        &self,
        client: &Client,
        statement: &Statement,
    ) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        for execution in self.executions() {
            let request = execution.context.idempotency.as_ref();
            for command in &execution.commands {
                rows.push(subject_parameters(command, request));
            }
        }
        let parameter_columns = transpose(rows);
        Ok(client
            .query(statement, &parameters(&parameter_columns))
            .await?)
    }

    /// Adds the rows of [`READ_SUBJECTS`] to the state of the group. Returns, for each request, the
    /// subjects of its commands.
    fn add_subjects(
        &self,
        rows: &[Row],
        group_state: &mut GroupState,
    ) -> Result<Vec<Vec<CommandSubjects>>, Failure> {
        let mut rows = rows.iter();
        let mut subjects = Vec::with_capacity(self.requests.len());
        for execution in self.executions() {
            let mut subjects_of_request = Vec::with_capacity(execution.commands.len());
            for (command, row) in execution.commands.iter().zip(&mut rows) {
                subjects_of_request.push(group_state.add_subjects(row, command)?);
            }
            subjects.push(subjects_of_request);
        }
        Ok(subjects)
    }

    /// Decides the requests, each on top of the changes of the requests before it. Returns the
    /// decided requests.
    ///
    /// Stops before a request that repeats the idempotency key of an earlier request of the group,
    /// because the earlier request must be remembered first. Stops, too, once the changes reach
    /// [`MAX_GROUP_BYTES`].
    fn decide(
        &self,
        group_state: &mut GroupState,
        subjects: Vec<Vec<CommandSubjects>>,
        known_requests: Vec<Option<KnownRequest>>,
    ) -> Vec<DecidedRequest> {
        let mut decided_requests = Vec::new();
        let mut keys = HashSet::new();
        let mut change_bytes = 0;
        for ((execution, subjects), known_request) in
            self.executions().zip(subjects).zip(known_requests)
        {
            let is_repeated = match &execution.context.idempotency {
                Some(request) => !keys.insert((request.lineage, &request.key)),
                None => false,
            };
            if is_repeated || change_bytes >= MAX_GROUP_BYTES {
                break;
            }
            let decided = match known_request {
                Some(known_request) => DecidedRequest::without_changes(known_request.into()),
                None => execution.decide(group_state, &subjects),
            };
            change_bytes += decided.entries.iter().map(LogEntry::length).sum::<usize>();
            decided_requests.push(decided);
        }
        decided_requests
    }
}
