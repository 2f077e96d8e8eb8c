//! A group of requests that are carried out together: what it reads, and what is decided about each request.

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
    execution::{Execution, Outcome},
    fields::read_fields,
    state::{self, CommandSubjects, GroupState, READ_SUBJECTS},
};
use crate::{
    pool::Connection,
    queue::{CalledWork, MAX_GROUP_BYTES},
    requests::{self, RECALL_ALL},
    writes::{columns, parameters},
};

/// The number of times that a single request is decided again at once because another transaction was
/// faster.
const MAX_ATTEMPTS: u32 = 5;

/// The number of failed attempts after which a group is split.
const MAX_ATTEMPTS_OF_GROUP: u32 = 2;

/// Reads the categories with the lowest identifiers.
static FIRST_CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Categories.selected_columns();
    format!("SELECT {columns} FROM categories ORDER BY id LIMIT $1")
});

/// A request with the channel to its caller.
pub(crate) type CalledExecution = CalledWork<Execution, ExecutionOutcome>;

/// Requests that are carried out together, each until its caller got a response.
pub(super) struct Group {
    pub(super) requests: Vec<CalledExecution>,
}

impl Group {
    /// Carries out the requests, unless they were seen before. The requests that remain after success
    /// must be split.
    pub(super) async fn attempt(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut failed_attempts = 0;
        while !self.requests.is_empty() {
            let Err(failure) = self.carry_out_first(connection).await else {
                continue;
            };
            failed_attempts += 1;
            let may_concern_one_request =
                failure.is_certain() && failure.remedy() != Remedy::Reconnect;
            match self.requests.len() {
                // Nobody waits for a repetition.
                0 => {}
                1 if failed_attempts < MAX_ATTEMPTS && matches!(failure, Failure::Raced) => {}
                2.. if failed_attempts < MAX_ATTEMPTS_OF_GROUP && may_concern_one_request => {}
                2.. if may_concern_one_request => return Ok(()),
                _ => return Err(failure),
            }
        }
        Ok(())
    }

    /// Carries out the requests at the beginning of the group, or all.
    ///
    /// Nothing is locked before the transaction that writes. It fails if one of its rows has another
    /// version than the one that was read, or if an order already holds the animal. Each decision
    /// writes or locks every row that it depends on, so it is as safe as a decision after locks. Also a
    /// refusal can depend on the changes of other requests of the group, so it is sent after the commit.
    async fn carry_out_first(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let rows = match (self.read(connection).await, &self.requests[..]) {
            (Err(failure), [request])
                if failure.has_code(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) =>
            {
                let refusal = request.work.refuse_without_identifiers();
                self.respond([refusal]);
                return Ok(());
            }
            (rows, _) => rows?,
        };
        let (mut group_state, subjects) = self.collect_state(&rows.subjects)?;
        self.read_needed_fields(connection, &mut group_state)
            .await?;
        self.read_namesakes(connection, &mut group_state).await?;

        let outcomes = self.decide(&mut group_state, subjects, rows.known_requests);
        self.save(connection, group_state, &outcomes).await?;
        self.respond(
            outcomes
                .into_iter()
                .map(|outcome| outcome.execution_outcome),
        );
        Ok(())
    }

    /// Reads the fields and the owners of unique values, if a command needs them.
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
            read_fields(connection, group_state, &commands).await?;
        }
        Ok(())
    }

    /// Reads the categories that have a label which a command gives. Two processes at the same moment can still give the
    /// same label; a check names both.
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

    /// Returns the requests without their channels.
    pub(super) fn executions(&self) -> impl Iterator<Item = &Execution> + Clone {
        self.requests.iter().map(|request| &request.work)
    }

    /// Returns the idempotent request of each request, if it has one.
    fn idempotent_requests(&self) -> impl Iterator<Item = Option<&IdempotentRequest>> + Clone {
        self.executions()
            .map(|execution| execution.context.idempotency.as_ref())
    }

    /// Responds to the first requests, and removes them from the group.
    fn respond(&mut self, outcomes: impl IntoIterator<Item = ExecutionOutcome>) {
        let mut requests = mem::take(&mut self.requests).into_iter();
        for (outcome, request) in outcomes.into_iter().zip(&mut requests) {
            let _ = request.caller.send(Ok(outcome));
        }
        self.requests = requests.collect();
    }

    /// Reads the present state, and then the remembered requests: if a request is not remembered, nobody
    /// had carried it out before the state was read.
    async fn read(&self, connection: &mut Connection) -> Result<GroupRows, Failure> {
        let read_subjects = connection.prepare_once(&READ_SUBJECTS).await?;
        let recall_all = connection.prepare_once(RECALL_ALL).await?;
        let client: &Client = connection;
        let reading = self.read_subjects(client, &read_subjects);
        if self.idempotent_requests().all(|request| request.is_none()) {
            return Ok(GroupRows {
                subjects: reading.await?,
                known_requests: self.requests.iter().map(|_| None).collect(),
            });
        }

        // The first statement is sent first.
        let recalling = requests::recall_all(client, &recall_all, self.idempotent_requests());
        let (subjects, known_requests) = try_join(reading, recalling).await?;
        Ok(GroupRows {
            subjects,
            known_requests,
        })
    }

    /// Reads a row for each command, with the prepared [`READ_SUBJECTS`].
    async fn read_subjects(
        &self,
        client: &Client,
        read_subjects: &Statement,
    ) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        for execution in self.executions() {
            let request = execution.context.idempotency.as_ref();
            for command in &execution.commands {
                rows.push(state::parameters(command, request));
            }
        }
        let parameter_columns = columns(rows);
        Ok(client
            .query(read_subjects, &parameters(&parameter_columns))
            .await?)
    }

    /// Returns the state of the group, and the subjects of the commands of each request.
    fn collect_state(
        &self,
        rows: &[Row],
    ) -> Result<(GroupState, Vec<Vec<CommandSubjects>>), Failure> {
        let mut group_state = GroupState::default();
        let mut rows = rows.iter();
        let mut subjects = Vec::with_capacity(self.requests.len());
        for execution in self.executions() {
            let mut subjects_of_request = Vec::with_capacity(execution.commands.len());
            for (command, row) in execution.commands.iter().zip(&mut rows) {
                subjects_of_request.push(group_state.add(row, command)?);
            }
            subjects.push(subjects_of_request);
        }
        Ok((group_state, subjects))
    }

    /// Decides about the requests, each after the requests before it, up to a request that repeats one of
    /// them, or until there is much to write.
    fn decide(
        &self,
        group_state: &mut GroupState,
        subjects: Vec<Vec<CommandSubjects>>,
        known_requests: Vec<Option<KnownRequest>>,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut keys = HashSet::new();
        let mut bytes = 0;
        for ((execution, subjects), known_request) in
            self.executions().zip(subjects).zip(known_requests)
        {
            let is_repeated = match &execution.context.idempotency {
                Some(request) => !keys.insert((request.lineage, &request.key)),
                None => false,
            };
            if is_repeated || bytes >= MAX_GROUP_BYTES {
                break;
            }
            let outcome = match known_request {
                Some(known_request) => Outcome::without_changes(known_request.into()),
                None => execution.decide(group_state, &subjects),
            };
            bytes += outcome.entries.iter().map(LogEntry::length).sum::<usize>();
            outcomes.push(outcome);
        }
        outcomes
    }
}

/// The rows that were read for the requests of a group.
struct GroupRows {
    /// A row of [`READ_SUBJECTS`] for each command.
    subjects: Vec<Row>,
    /// For each request, the request that is remembered under its key.
    known_requests: Vec<Option<KnownRequest>>,
}
