//! Carries out commands: reads what they are about, decides, and writes the changes.

use std::mem;

use futures_util::future::try_join;
use tokio_postgres::{Client, Row, Statement, error::SqlState, types::ToSql};

use super::{
    state::{Parameters, READ_ALL, READ_ONE, Read},
    write,
};
use crate::{
    domain::{
        WriteContext,
        clock::to_milliseconds,
        store_area::{Change, Command, Refusal, Subject},
    },
    store::{
        Executed, RespondTo,
        postgres::{
            errors::Failure,
            journal,
            pool::Connection,
            requests,
            writes::{Write, in_transaction, prepare},
        },
        request_rows::{RECALL, Seen},
    },
};

/// How often the commands are decided again at once because another transaction was faster.
const MAX_ATTEMPTS: u32 = 5;

pub(super) struct Execution {
    pub(super) commands: Vec<Command>,
    pub(super) context: WriteContext,
    pub(super) respond: RespondTo,
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
        let now = to_milliseconds(self.context.now);
        let mut read = Read::from_rows(&rows)?;
        for (index, (command, &new)) in self.commands.iter().zip(&read.new).enumerate() {
            if let Err(refusal) = read.state.decide(command, new, now) {
                return Ok(Executed::Refused { index, refusal });
            }
        }
        let decisions = mem::take(&mut read.state.decisions);
        let entries = mem::take(&mut read.state.entries);
        let response = (self.respond)(&decisions);
        let mut writes = write::changes(read, self.commands.len() > 1);
        if let Some(request) = &self.context.idempotency {
            writes.push(requests::remember(request, &response, now));
        }
        if !entries.is_empty() {
            writes.push(journal::append(&entries, (&self.context).into()));
        }
        let changes: Vec<Change> =
            decisions.into_iter().flat_map(|decision| decision.changes).collect();
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

    /// The present state, and then what is remembered of the request: if that is nothing, nobody
    /// has carried out the request before the state was read.
    async fn read(&self, connection: &mut Connection) -> Result<(Vec<Row>, Option<Seen>), Failure> {
        let read = if self.commands.len() == 1 { &READ_ONE } else { &READ_ALL };
        let read = connection.prepared(read).await?;
        let Some(request) = &self.context.idempotency else {
            return Ok((self.present(connection, &read).await?, None));
        };
        let recall = connection.prepared(RECALL).await?;
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
