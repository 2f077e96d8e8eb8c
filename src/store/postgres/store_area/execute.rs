//! Carries out commands: reads what they are about, decides, and writes the changes.

use futures_util::future::try_join;
use jiff::Timestamp;
use tokio_postgres::{Client, Row, Statement, error::SqlState, types::ToSql};

use super::{
    state::{Parameters, READ_ALL, READ_ONE, State},
    write,
};
use crate::{
    domain::{
        WriteContext,
        store_area::{Change, Command, Decision, Refusal, Subject, decide},
    },
    store::{
        Executed, RespondTo,
        log::Entry,
        postgres::{
            errors::Failure,
            log,
            pool::Connection,
            requests,
            writes::{Write, in_transaction, prepare},
        },
        request_rows::Seen,
    },
};

/// How often the commands are decided again at once because another transaction was faster.
const MAX_ATTEMPTS: u32 = 5;

pub(super) struct Execution {
    pub(super) commands: Vec<Command>,
    pub(super) context: WriteContext,
    pub(super) respond: RespondTo,
}

enum Decided {
    Yes(Vec<Decision>, State),
    Refused(Executed),
}

impl Execution {
    /// Carries out the commands, unless the request was seen before.
    pub(super) async fn attempt(&self, connection: &mut Connection) -> Result<Executed, Failure> {
        for _ in 0..MAX_ATTEMPTS {
            match self.once(connection).await {
                Err(Failure::Raced) => {}
                done => return done,
            }
        }
        Err(Failure::Raced)
    }

    /// Nothing is locked before the transaction that writes. It fails if one of its rows has another
    /// version than the one that was read, or if an order already holds the animal. Each decision
    /// writes or locks every row that it depends on, so it is as good as one behind locks.
    async fn once(&self, connection: &mut Connection) -> Result<Executed, Failure> {
        let (rows, seen) = match self.read(connection).await {
            Err(failure) if failure.has_code(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) => {
                return Ok(self.without_identifiers());
            }
            read => read?,
        };
        match seen {
            Some(Seen::Other) => return Ok(Executed::IdempotencyConflict),
            Some(Seen::Same(response)) => {
                connection.confirm().await?;
                return Ok(Executed::Replayed(response));
            }
            None => {}
        }
        // As the rows will have it.
        let now = self.context.now.as_millisecond();
        let now = Timestamp::from_millisecond(now).map_err(|_| Failure::Row("now"))?;
        let (decisions, state) = match self.decide(State::from_rows(&rows)?, now) {
            Decided::Yes(decisions, state) => (decisions, state),
            Decided::Refused(refused) => return Ok(refused),
        };
        let response = match (self.respond)(&decisions) {
            Ok(response) => response,
            Err(refusal) => return Ok(Executed::Refused { index: self.commands.len(), refusal }),
        };
        let mut writes = write::changes(state, self.commands.len() > 1);
        if let Some(request) = &self.context.idempotency {
            writes.push(requests::remember(request, &response, now));
        }
        let changes: Vec<Change> =
            decisions.into_iter().flat_map(|decision| decision.changes).collect();
        if !changes.is_empty() {
            let entries: Vec<_> = changes.iter().map(Entry::of).collect();
            writes.push(log::append(&entries, (&self.context).into()));
        }
        if writes.is_empty() {
            // An earlier request, perhaps with a lost response, made it so.
            connection.confirm().await?;
        } else {
            self.commit(connection, &writes).await?;
        }
        Ok(Executed::Done { response, changes })
    }

    /// All identifiers of animals or orders were given.
    fn without_identifiers(&self) -> Executed {
        let needs_one = |command: &Command| {
            command.subject() == Subject::New || matches!(command, Command::PlaceOrder(_))
        };
        let index = self.commands.iter().position(needs_one).unwrap_or_default();
        Executed::Refused { index, refusal: Refusal::NoIdentifierLeft }
    }

    fn decide(&self, mut state: State, now: Timestamp) -> Decided {
        let mut decisions = Vec::with_capacity(self.commands.len());
        for (index, command) in self.commands.iter().enumerate() {
            match decide(command, &state.present(index, command), now) {
                Ok(decision) => {
                    state.apply(&decision);
                    decisions.push(decision);
                }
                Err(refusal) => {
                    let refusal = refusal.undoing(&decisions);
                    return Decided::Refused(Executed::Refused { index, refusal });
                }
            }
        }
        Decided::Yes(decisions, state)
    }

    /// The present state, and then what is remembered of the request: if that is nothing, nobody
    /// has carried out the request before the state was read.
    async fn read(&self, connection: &mut Connection) -> Result<(Vec<Row>, Option<Seen>), Failure> {
        let read = if self.commands.len() == 1 { READ_ONE } else { READ_ALL };
        let read = connection.prepared(read).await?;
        let Some(request) = &self.context.idempotency else {
            return Ok((self.present(connection, &read).await?, None));
        };
        let recall = connection.prepared(requests::RECALL).await?;
        let client: &Client = connection;
        // The first one is sent first.
        let recalled = requests::recall(client, &recall, request);
        try_join(self.present(client, &read), recalled).await
    }

    async fn present(&self, client: &Client, read: &Statement) -> Result<Vec<Row>, Failure> {
        let request = self.context.idempotency.as_ref();
        let lineage = request.map(|request| request.lineage.number());
        let key = request.map(|request| request.key.as_str());
        let api_key = request.map(|request| request.caller.number());
        let of: Vec<Parameters> = self.commands.iter().map(Parameters::from).collect();
        if let [Parameters { pet, order, category, new_pet, new_order }] = &of[..] {
            let one: [&(dyn ToSql + Sync); 8] =
                [pet, order, category, new_pet, new_order, &lineage, &key, &api_key];
            return Ok(client.query(read, &one).await?);
        }
        let pets: Vec<_> = of.iter().map(|of| of.pet).collect();
        let orders: Vec<_> = of.iter().map(|of| of.order).collect();
        let categories: Vec<_> = of.iter().map(|of| of.category).collect();
        let new_pets: Vec<_> = of.iter().map(|of| of.new_pet).collect();
        let new_orders: Vec<_> = of.iter().map(|of| of.new_order).collect();
        let all: [&(dyn ToSql + Sync); 8] =
            [&pets, &orders, &categories, &new_pets, &new_orders, &lineage, &key, &api_key];
        Ok(client.query(read, &all).await?)
    }

    /// Writes. If the connection breaks meanwhile, only a request that is remembered can be
    /// repeated: it finds out whether it was carried out.
    async fn commit(&self, connection: &mut Connection, writes: &[Write]) -> Result<(), Failure> {
        let prepared = prepare(connection, writes).await?;
        match in_transaction(connection, writes, &prepared).await {
            Err(error) => Err(match Failure::from(error) {
                failure if failure.is_conflict() => Failure::Raced,
                failure if failure.is_certain() || self.context.idempotency.is_some() => failure,
                Failure::Database(error) => Failure::Unknown(error),
                other => other,
            }),
            Ok(()) => Ok(()),
        }
    }
}
