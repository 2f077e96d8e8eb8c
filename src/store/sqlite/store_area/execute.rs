//! Carries out commands, as one job of the writer.

use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    super::{log, requests, writer},
    changes, rows,
};
use crate::{
    domain::{
        PetId, PetStatus, WriteContext,
        store_area::{Command, Decision, OrderId, Present, Refusal, Subject, decide},
    },
    store::{Executed, RespondTo, log::Entry},
};

const LAST_ID: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";

/// See [`crate::store::StoreArea::execute`]. More than one command needs the savepoint of a job. A
/// single one is refused before it writes anything.
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
    // As the rows will have it.
    let now = Timestamp::from_millisecond(context.now.as_millisecond()).unwrap_or(context.now);
    let mut decisions = Vec::with_capacity(commands.len());
    for (index, command) in commands.iter().enumerate() {
        // Each command sees what those before it wrote.
        if let Some(before) = decisions.last() {
            write(connection, before, context)?;
        }
        match decide(command, &present(connection, command)?, now) {
            Ok(decision) => decisions.push(decision),
            Err(refusal) => return refused(connection, index, index, refusal.undoing(&decisions)),
        }
    }
    let response = match respond(&decisions) {
        Ok(response) => response,
        Err(refusal) => {
            return refused(connection, commands.len(), commands.len().saturating_sub(1), refusal);
        }
    };
    if let Some(last) = decisions.last() {
        write(connection, last, context)?;
    }
    if let Some(request) = &context.idempotency {
        requests::remember(connection, request, context.now, &response)?;
    }
    let changes = decisions.into_iter().flat_map(|decision| decision.changes).collect();
    Ok(Executed::Done { response, changes })
}

fn write(
    connection: &Connection,
    decision: &Decision,
    context: &WriteContext,
) -> rusqlite::Result<()> {
    changes::write(connection, decision)?;
    for change in &decision.changes {
        log::append(connection, &Entry::of(change), context.into())?;
    }
    Ok(())
}

/// Undoes what the first commands wrote, as many as `written`.
fn refused(
    connection: &Connection,
    index: usize,
    written: usize,
    refusal: Refusal,
) -> rusqlite::Result<Executed> {
    if written > 0 {
        writer::undo(connection)?;
    }
    Ok(Executed::Refused { index, refusal })
}

/// What a command needs to know.
fn present(connection: &Connection, command: &Command) -> rusqlite::Result<Present> {
    let mut present = Present::default();
    match command.subject() {
        Subject::New => present.next_pet = PetId::new(last_id(connection, "pets")? + 1),
        Subject::Pet(id) => present.pet = rows::get_pet(connection, id)?,
        Subject::Order(id) => {
            present.order = rows::get_order(connection, id)?;
            if let Some(order) = &present.order {
                present.pet = rows::get_pet(connection, order.pet_id)?;
            }
        }
        Subject::Category(id) => present.category = rows::get_category(connection, id)?,
    }
    match command {
        // Only this command can end the hold of an order, and none holds an available animal.
        Command::PatchPet { id, .. }
            if present.pet.as_ref().is_some_and(|pet| pet.status != PetStatus::Available) =>
        {
            present.holder = rows::get_holder(connection, *id)?;
        }
        Command::PlaceOrder(_) => {
            present.next_order = OrderId::new(last_id(connection, "orders")? + 1);
        }
        _ => {}
    }
    Ok(present)
}

/// The highest identifier that the rows of this table ever had.
fn last_id(connection: &Connection, table: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(LAST_ID)?.query_row([table], |row| row.get(0))
}
