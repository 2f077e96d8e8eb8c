//! Carries out commands, as one job of the writer.

use rusqlite::Connection;

use super::{
    super::{journal, requests},
    changes, rows,
};
use crate::{
    domain::{
        PetId, PetStatus, WriteContext,
        clock::to_milliseconds,
        store_area::{Command, OrderId, Subject},
    },
    store::{
        Executed, RespondTo,
        state::{NewIds, State},
    },
};

const LAST_ID: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";

/// See [`crate::store::StoreArea::execute`]. Nothing is written before everything is decided.
pub(super) fn execute(
    connection: &Connection,
    commands: &[Command],
    context: &WriteContext,
    respond: RespondTo,
) -> rusqlite::Result<Executed> {
    if let Some(request) = &context.idempotency
        && let Some(seen) = requests::recall(connection, request)?
    {
        return Ok(seen.into());
    }
    let state = match decide(connection, commands, context)? {
        Ok(state) => state,
        Err(refused) => return Ok(refused),
    };
    let response = respond(&state.decisions);
    for decision in &state.decisions {
        changes::write(connection, decision)?;
    }
    for entry in &state.entries {
        journal::append(connection, entry, context.into())?;
    }
    if let Some(request) = &context.idempotency {
        requests::remember(connection, request, context.now, &response)?;
    }
    let changes = state.decisions.into_iter().flat_map(|decision| decision.changes).collect();
    Ok(Executed::Done { response, changes })
}

/// The refusal of commands in the present state, unless they were carried out before. Writes
/// nothing.
pub(super) fn refused(
    connection: &Connection,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<Option<Executed>> {
    if let Some(request) = &context.idempotency
        && requests::recall(connection, request)?.is_some()
    {
        return Ok(None);
    }
    Ok(decide(connection, commands, context)?.err())
}

/// What the commands change, or their refusal.
fn decide(
    connection: &Connection,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<Result<State, Executed>> {
    // As the rows will have it.
    let now = to_milliseconds(context.now);
    let mut state = State::default();
    for (index, command) in commands.iter().enumerate() {
        let new = read(connection, command, &mut state)?;
        if let Err(refusal) = state.decide(command, new, now) {
            return Ok(Err(Executed::Refused { index, refusal }));
        }
    }
    Ok(Ok(state))
}

/// Reads what a command is about, unless an earlier one was about the same.
fn read(connection: &Connection, command: &Command, state: &mut State) -> rusqlite::Result<NewIds> {
    let mut new = NewIds::default();
    match command.subject() {
        Subject::New => {
            let added = state.pets.last_key_value().map(|(id, _)| id.get());
            new.pet = PetId::new(next_id(connection, "pets", added)?);
        }
        Subject::Pet(id) => read_pet(connection, id, state)?,
        Subject::Order(id) => {
            if !state.orders.contains_key(&id)
                && let Some(order) = rows::get_order(connection, id)?
            {
                read_pet(connection, order.pet_id, state)?;
                state.add(order);
            }
        }
        Subject::Category(id) => {
            if !state.categories.contains_key(&id)
                && let Some(category) = rows::get_category(connection, id)?
            {
                state.add(category);
            }
        }
    }
    if matches!(command, Command::PlaceOrder(_)) {
        let added = state.orders.last_key_value().map(|(id, _)| id.get());
        new.order = OrderId::new(next_id(connection, "orders", added)?);
    }
    Ok(new)
}

/// Reads an animal, and the order that holds it.
fn read_pet(connection: &Connection, id: PetId, state: &mut State) -> rusqlite::Result<()> {
    if !state.pets.contains_key(&id)
        && let Some(pet) = rows::get_pet(connection, id)?
    {
        // None holds an available animal.
        if pet.status != PetStatus::Available
            && let Some(holder) = rows::get_holder(connection, id)?
        {
            state.add(holder);
        }
        state.add(pet);
    }
    Ok(())
}

/// Higher than every identifier that the rows of this table ever had, and than `added`.
fn next_id(connection: &Connection, table: &str, added: Option<i64>) -> rusqlite::Result<i64> {
    let last: i64 = connection.prepare_cached(LAST_ID)?.query_row([table], |row| row.get(0))?;
    Ok(added.map_or(last, |added| added.max(last)) + 1)
}
