//! Carries out commands, as one job of the writer.

use petstore_domain::{
    PetId, PetStatus, WriteContext,
    clock::to_milliseconds,
    store_area::{Command, OrderId, OrderStatus, Subject},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer,
    state::{NewIds, State},
};

use super::{
    super::{journal, newest::Newest, requests},
    changes, fields, rows,
};
use crate::connection::Connection;

const LAST_PET: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'pets'";

/// See [`petstore_store::StoreArea::execute`]. Nothing is written before everything is decided.
pub(super) fn execute(
    connection: &Connection,
    newest: &mut Newest,
    commands: &[Command],
    context: &WriteContext,
    respond: ExecutionRenderer,
) -> rusqlite::Result<ExecutionOutcome> {
    let request = context.idempotency.as_ref();
    let is_of_rotated_key = request.is_some_and(|request| request.caller != request.lineage);
    if is_of_rotated_key && let Some(seen) = recall(connection, context)? {
        return Ok(seen);
    }
    let state = match decide(connection, newest, commands, context)? {
        Ok(state) => state,
        Err(refused) => return Ok(recall(connection, context)?.unwrap_or(refused)),
    };
    let response = respond(&state.decisions);
    // The first write, so nothing has to be undone if the request was carried out before. Most
    // requests come once, and to look for them first would cost as much as to remember them.
    if let Some(request) = request
        && requests::remember(connection, newest, request, context.now, &response)? == 0
    {
        return recall(connection, context)?.ok_or(rusqlite::Error::QueryReturnedNoRows);
    }
    for decision in &state.decisions {
        changes::write(connection, decision)?;
    }
    if state.fields.version > 0 {
        let used = state.examined(commands.iter());
        fields::write(connection, &state, &used)?;
        if !used.is_empty() {
            newest.forget();
        }
    }
    for entry in &state.entries {
        journal::append(connection, newest, entry, context.into())?;
    }
    if let Some((id, _)) = state.orders.last_key_value() {
        newest.has_order(id.get());
    }
    let changes = state
        .decisions
        .into_iter()
        .flat_map(|decision| decision.changes)
        .collect();
    Ok(ExecutionOutcome::Done { response, changes })
}

/// Returns the refusal of commands in the present state, unless they were carried out before.
/// Writes nothing.
pub(super) fn refused(
    connection: &Connection,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<Option<ExecutionOutcome>> {
    if recall(connection, context)?.is_some() {
        return Ok(None);
    }
    Ok(decide(connection, &mut Newest::default(), commands, context)?.err())
}

/// Returns the remembered result of the request.
fn recall(
    connection: &Connection,
    context: &WriteContext,
) -> rusqlite::Result<Option<ExecutionOutcome>> {
    let Some(request) = &context.idempotency else {
        return Ok(None);
    };
    Ok(requests::recall(connection, request)?.map(ExecutionOutcome::from))
}

/// Returns the changes of the commands, or their refusal.
fn decide(
    connection: &Connection,
    newest: &mut Newest,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<Result<State, ExecutionOutcome>> {
    // As the rows will have it.
    let now = to_milliseconds(context.now);
    let mut state = State::default();
    for (index, command) in commands.iter().enumerate() {
        let new = read(connection, newest, command, &mut state)?;
        if let Err(refusal) = state.decide(command, new, now) {
            return Ok(Err(ExecutionOutcome::Refused { index, refusal }));
        }
    }
    Ok(Ok(state))
}

/// Reads what a command is about, unless an earlier one was about the same.
fn read(
    connection: &Connection,
    newest: &mut Newest,
    command: &Command,
    state: &mut State,
) -> rusqlite::Result<NewIds> {
    let mut new = NewIds::default();
    match command.subject() {
        Subject::New => {
            let added = state.pets.last_key_value().map(|(id, _)| id.get());
            let last = connection
                .prepare_cached(LAST_PET)?
                .query_row([], |row| row.get(0))?;
            new.pet = PetId::new(added.max(Some(last)).unwrap_or_default() + 1);
        }
        Subject::Pet(id) => read_pet(connection, id, state)?,
        Subject::Order(id) => {
            if !state.orders.contains_key(&id)
                && let Some((order, pet)) = rows::get_order_with_pet(connection, id)?
            {
                match pet {
                    // No other order holds it.
                    Some(mut pet) if order.holds => {
                        pet.order_id = (order.status == OrderStatus::Reserved).then_some(id);
                        state.add(pet);
                    }
                    _ => read_pet(connection, order.pet_id, state)?,
                }
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
    if state.needs_fields(command) {
        state.fields = newest.fields(|| fields::read(connection))?;
        for key in state.keys_to_read(command) {
            for owner in fields::owners(connection, &key)? {
                read_pet(connection, owner, state)?;
                state.add_owner(key.clone(), owner);
            }
        }
    }
    if matches!(command, Command::PlaceOrder(_)) {
        let added = state.orders.last_key_value().map(|(id, _)| id.get());
        new.order = OrderId::new(
            added
                .max(Some(newest.order(connection)?))
                .unwrap_or_default()
                + 1,
        );
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
