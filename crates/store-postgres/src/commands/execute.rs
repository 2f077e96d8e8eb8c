//! Carries out requests in groups: reads what the commands of all are about, decides about each
//! after those before it, and writes the changes of all.

use std::{collections::HashSet, mem, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, try_join},
};
use petstore_domain::{
    IdempotentRequest, WriteContext,
    clock::to_milliseconds,
    store_area::{Command, Refusal, Subject},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer, StoreError,
    drivers::postgres::{Failure, Remedy},
    journal_rows::LogEntry,
    request_rows::KnownRequest,
};
use tokio::time;
use tokio_postgres::{Client, Row, Statement, error::SqlState};

use super::{
    fields::{self, FieldWrites},
    state::{self, About, READ, Read},
    write,
};
use crate::{
    append::append,
    pool::{Access, Connection},
    queue::{Caller, GROUP_BYTES, Groups},
    requests::{self, RECALL_ALL},
    runner::Runner,
    writes::{Write, columns, in_transaction, parameters, prepare},
};

/// How often a single request is decided again at once because another transaction was faster.
const MAX_ATTEMPTS: u32 = 5;

/// After so many failed attempts, a group is split.
const MAX_ATTEMPTS_OF_GROUP: u32 = 2;

/// How long a group holds up the next one. It can wait longer for a standby, or for a lock.
const PATIENCE: Duration = Duration::from_millis(50);

/// Several requests do not wait for a lock that one of them needs: they are split, and then only
/// this one waits.
const BEGIN_GROUP: &str = "BEGIN; SET LOCAL lock_timeout = '100ms'";

/// The commands of a request.
pub(crate) struct Execution {
    pub commands: Vec<Command>,
    pub context: WriteContext,
    pub respond: ExecutionRenderer,
}

/// Requests that are carried out together, each until its caller got a response.
struct Group(Vec<(Execution, Caller<ExecutionOutcome>)>);

/// The outcome of a request, if the transaction of its group is committed.
struct Outcome {
    executed: ExecutionOutcome,
    /// For the log.
    entries: Vec<LogEntry>,
}

/// Carries out the requests that wait, until there will be no more.
pub(crate) async fn work(mut waiting: Groups<Execution, ExecutionOutcome>, runner: Arc<Runner>) {
    // `Group::decide` limits the bytes, because most of them are in the rows.
    while let Some(requests) = waiting.next(|_| 0).await {
        begin(&runner, requests).await;
    }
}

/// Begins to carry out requests, and waits for this unless it takes too long.
async fn begin(runner: &Arc<Runner>, requests: Vec<(Execution, Caller<ExecutionOutcome>)>) {
    let done = tokio::spawn(carry_out(Arc::clone(runner), Access::Command, requests));
    let _ = time::timeout(PATIENCE, done).await;
}

/// Carries out requests. If another process, or a lock, gets in the way of several, then each half of
/// them, and so on, so that one animal cannot hold up the others.
pub(crate) fn carry_out(
    runner: Arc<Runner>,
    access: Access,
    requests: Vec<(Execution, Caller<ExecutionOutcome>)>,
) -> BoxFuture<'static, ()> {
    async move {
        let mut group = Group(requests);
        let done = runner
            .run(access, &mut group, |on, group| group.attempt(on).boxed())
            .await;
        let mut rest = group.0;
        match done {
            Ok(()) if rest.is_empty() => {}
            Ok(()) => {
                let second_half = rest.split_off(rest.len() / 2);
                begin(&runner, rest).await;
                begin(&runner, second_half).await;
            }
            Err(error) => {
                for (_, caller) in rest {
                    let _ = caller.send(Err(error.clone()));
                }
            }
        }
    }
    .boxed()
}

impl Group {
    /// Carries out the requests, unless they were seen before. Those that remain after success are to
    /// be split.
    async fn attempt(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut attempts = 0;
        while !self.0.is_empty() {
            let Err(failure) = self.once(connection).await else {
                continue;
            };
            attempts += 1;
            let may_be_of_one = failure.is_certain() && failure.remedy() != Remedy::Reconnect;
            match self.0.len() {
                // Nobody waits for a repetition.
                0 => {}
                1 if attempts < MAX_ATTEMPTS && matches!(failure, Failure::Raced) => {}
                2.. if attempts < MAX_ATTEMPTS_OF_GROUP && may_be_of_one => {}
                2.. if may_be_of_one => return Ok(()),
                _ => return Err(failure),
            }
        }
        Ok(())
    }

    /// Carries out the requests, or the first ones of them.
    ///
    /// Nothing is locked before the transaction that writes. It fails if one of its rows has another
    /// version than the one that was read, or if an order already holds the animal. Each decision
    /// writes or locks every row that it depends on, so it is as good as one behind locks. Also a
    /// refusal can depend on what other requests of the group change, so it is sent after the commit.
    async fn once(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let (rows, seen) = match (self.read(connection).await, &self.0[..]) {
            (Err(failure), [(one, _)])
                if failure.has_code(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) =>
            {
                let refused = one.without_identifiers();
                self.respond([refused]);
                return Ok(());
            }
            (read, _) => read?,
        };
        let (mut read, about) = self.gather(&rows)?;
        let commands: Vec<&Command> = self.requests().flat_map(|one| &one.commands).collect();
        if commands
            .iter()
            .any(|command| read.state.needs_fields(command))
        {
            fields::read(connection, &mut read, &commands).await?;
        }
        let outcomes = self.decide(&mut read, about, seen);
        let is_batch = self.requests().any(|one| one.commands.len() > 1);
        let carried_out = self.requests().take(outcomes.len());
        let of_fields = FieldWrites::of(&mut read.state, carried_out.flat_map(|one| &one.commands));
        let differences = write::differences(read, is_batch);
        let mut writes = write::writes(&differences)
            .chain(self.notes(&outcomes))
            .collect::<Vec<_>>();
        if !writes.is_empty() {
            writes.splice(0..0, of_fields.writes());
        }
        if !writes.is_empty() {
            if let Err(failure) = self.commit(connection, &writes).await {
                drop(writes);
                return Err(self.after(failure, &outcomes));
            }
        } else if outcomes.iter().any(Outcome::needs_confirmation) {
            connection.confirm().await?;
        }
        drop(writes);
        self.respond(outcomes.into_iter().map(|outcome| outcome.executed));
        Ok(())
    }

    fn requests(&self) -> impl Iterator<Item = &Execution> + Clone {
        self.0.iter().map(|(one, _)| one)
    }

    fn idempotent(&self) -> impl Iterator<Item = Option<&IdempotentRequest>> + Clone {
        self.requests().map(|one| one.context.idempotency.as_ref())
    }

    /// Responds to the first requests.
    fn respond(&mut self, executed: impl IntoIterator<Item = ExecutionOutcome>) {
        let mut rest = mem::take(&mut self.0).into_iter();
        for (executed, (_, caller)) in executed.into_iter().zip(&mut rest) {
            let _ = caller.send(Ok(executed));
        }
        self.0 = rest.collect();
    }

    /// Returns the present state, and then what is remembered of the requests: if that is nothing,
    /// nobody has carried out a request before the state was read.
    async fn read(
        &self,
        connection: &mut Connection,
    ) -> Result<(Vec<Row>, Vec<Option<KnownRequest>>), Failure> {
        let read = connection.prepared(&READ).await?;
        let recall = connection.prepared(RECALL_ALL).await?;
        let client: &Client = connection;
        if self.idempotent().all(|request| request.is_none()) {
            return Ok((
                self.present(client, &read).await?,
                self.0.iter().map(|_| None).collect(),
            ));
        }
        // The first one is sent first.
        let recalled = requests::recall(client, &recall, self.idempotent());
        try_join(self.present(client, &read), recalled).await
    }

    async fn present(&self, client: &Client, read: &Statement) -> Result<Vec<Row>, Failure> {
        let commands = self.requests().flat_map(|one| {
            let request = one.context.idempotency.as_ref();
            one.commands
                .iter()
                .map(move |command| state::parameters(command, request))
        });
        let commands = columns(commands);
        Ok(client.query(read, &parameters(&commands)).await?)
    }

    /// Returns the subjects of the commands of each request.
    fn gather(&self, rows: &[Row]) -> Result<(Read, Vec<Vec<About>>), Failure> {
        let mut read = Read::default();
        let mut rows = rows.iter();
        let mut about = Vec::with_capacity(self.0.len());
        for one in self.requests() {
            let commands = one.commands.iter().zip(&mut rows);
            let of_one = commands.map(|(command, row)| read.add(row, command));
            about.push(of_one.collect::<Result<Vec<_>, _>>()?);
        }
        Ok((read, about))
    }

    /// Decides about the requests, each after those before it, up to one that repeats one of them, or
    /// until there is much to write.
    fn decide(
        &self,
        read: &mut Read,
        about: Vec<Vec<About>>,
        seen: Vec<Option<KnownRequest>>,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut keys = HashSet::new();
        let mut bytes = 0;
        for ((one, about), seen) in self.requests().zip(about).zip(seen) {
            let request = one.context.idempotency.as_ref();
            let is_new = request.is_none_or(|one| keys.insert((one.lineage, &one.key)));
            if !is_new || bytes >= GROUP_BYTES {
                break;
            }
            let outcome = match seen {
                Some(seen) => Outcome {
                    executed: seen.into(),
                    entries: Vec::new(),
                },
                None => one.decide(read, &about),
            };
            bytes += outcome.entries.iter().map(LogEntry::length).sum::<usize>();
            outcomes.push(outcome);
        }
        outcomes
    }

    /// Returns the statements that remember the requests and log the changes.
    fn notes<'v>(&'v self, outcomes: &'v [Outcome]) -> impl Iterator<Item = Write<'v>> {
        let mut remembered = Vec::new();
        let mut entries = Vec::new();
        for (one, outcome) in self.requests().zip(outcomes) {
            if let (Some(request), ExecutionOutcome::Done { response, .. }) =
                (&one.context.idempotency, &outcome.executed)
            {
                remembered.push((request, response, to_milliseconds(one.context.now)));
            }
            entries.extend(
                outcome
                    .entries
                    .iter()
                    .map(|entry| (entry, (&one.context).into())),
            );
        }
        let remembered = requests::remember(remembered);
        remembered.into_iter().chain(append(entries))
    }

    async fn commit(
        &self,
        connection: &mut Connection,
        writes: &[Write<'_>],
    ) -> Result<(), Failure> {
        let prepared = prepare(connection, writes).await?;
        let begin = if self.0.len() > 1 {
            BEGIN_GROUP
        } else {
            "BEGIN"
        };
        in_transaction(connection, begin, writes, &prepared)
            .await
            .map_err(Failure::from)
    }

    /// What is to be done after a failed commit. If its outcome is unknown, only a request that is
    /// remembered can be repeated: it finds out whether it was carried out. The others end here.
    fn after(&mut self, failure: Failure, outcomes: &[Outcome]) -> Failure {
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
        let mut outcomes = outcomes.iter();
        let cannot_repeat = |(one, _): &mut (Execution, Caller<ExecutionOutcome>)| {
            let has_changed = outcomes
                .next()
                .is_some_and(|outcome| !outcome.entries.is_empty());
            has_changed && one.context.idempotency.is_none()
        };
        for (_, caller) in self.0.extract_if(.., cannot_repeat) {
            let unknown = Arc::new(Failure::Unknown(Arc::clone(&error)));
            let _ = caller.send(Err(StoreError::OutcomeUnknown(unknown)));
        }
        Failure::Unknown(error)
    }
}

impl Outcome {
    /// Whether the response is due to an earlier request, perhaps one with a lost response.
    fn needs_confirmation(&self) -> bool {
        matches!(
            self.executed,
            ExecutionOutcome::Done { .. } | ExecutionOutcome::Replayed(_)
        )
    }
}

impl Execution {
    /// Decides about the commands, and keeps what they change, unless one is refused.
    fn decide(&self, read: &mut Read, about: &[About]) -> Outcome {
        // As the rows will have it.
        let now = to_milliseconds(self.context.now);
        let mut state = read.present(about);
        for (index, (command, about)) in self.commands.iter().zip(about).enumerate() {
            if let Err(refusal) = state.decide(command, about.new, now) {
                let executed = ExecutionOutcome::Refused { index, refusal };
                return Outcome {
                    executed,
                    entries: Vec::new(),
                };
            }
        }
        let decisions = mem::take(&mut state.decisions);
        let entries = mem::take(&mut state.entries);
        read.keep(state);
        let response = (self.respond)(&decisions);
        let changes = decisions
            .into_iter()
            .flat_map(|decision| decision.changes)
            .collect();
        Outcome {
            executed: ExecutionOutcome::Done { response, changes },
            entries,
        }
    }

    /// Returns all identifiers of animals or orders were given.
    fn without_identifiers(&self) -> ExecutionOutcome {
        let needs_one = |command: &Command| {
            command.subject() == Subject::New || matches!(command, Command::PlaceOrder(_))
        };
        let index = self.commands.iter().position(needs_one).unwrap_or_default();
        ExecutionOutcome::Refused {
            index,
            refusal: Refusal::NoIdentifierLeft,
        }
    }
}
