//! Carries out the commands of a request, as one job of the writer.
//!
//! The rows that the commands need are read into a [`State`]. Each command is decided on this state,
//! which then has the changes of the command. At the end, all changes are written.

use petstore_domain::{
    PetId, PetStatus, WriteContext,
    clock::truncate_to_milliseconds,
    store_area::{Command, NoteId, OrderId, OrderStatus, Subject},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer,
    admin::WorkOutcome,
    state::{NewIds, State},
};

use super::{
    super::{journal, newest::Newest, requests},
    changes, fields,
    rows::{self, OrderWithPet},
};
use crate::connection::Connection;

/// The query for the highest identifier that a note ever had.
const LAST_NOTE: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'notes'";
/// The query for the number of notes on an animal.
const COUNT_NOTES: &str = "SELECT count(*) FROM notes WHERE pet_id = ?1";
/// The query for the highest identifier that an animal ever had.
const LAST_PET: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'pets'";

/// Carries out the commands of a request, like [`petstore_store::StoreArea::execute`]. Decides all of
/// them before it writes anything, so that a refusal has nothing to undo.
pub(super) fn execute(
    connection: &Connection,
    newest: &mut Newest,
    commands: &[Command],
    context: &WriteContext,
    respond: ExecutionRenderer,
) -> rusqlite::Result<ExecutionOutcome> {
    let request = context.idempotency.as_ref();
    // `remember` finds a repeated request only under its lineage. With a rotated key, a request may be
    // remembered under that key instead, so look it up first.
    let is_of_rotated_key = request.is_some_and(|request| request.caller != request.lineage);
    if is_of_rotated_key && let Some(outcome) = recall(connection, context)? {
        return Ok(outcome);
    }
    let state = match decide(connection, newest, commands, context)? {
        WorkOutcome::Done(state) => state,
        WorkOutcome::Refused(refusal) => {
            // The first execution of a repeated request may be the reason for the refusal.
            return Ok(recall(connection, context)?.unwrap_or(refusal));
        }
    };
    let response = respond(&state.decisions);
    // Remember the request before anything else is written. If the request was carried out before, this
    // writes no row, so there is nothing to undo. A separate look-up would cost as much as this
    // statement, and most requests are not repeated.
    if let Some(request) = request {
        let row_count = requests::remember(connection, newest, request, context.now, &response)?;
        let is_repeated = row_count == 0;
        if is_repeated {
            return recall(connection, context)?.ok_or(rusqlite::Error::QueryReturnedNoRows);
        }
    }
    write_state(connection, newest, commands, context, &state)?;
    let changes = state
        .decisions
        .into_iter()
        .flat_map(|decision| decision.changes)
        .collect();
    Ok(ExecutionOutcome::Done { response, changes })
}

/// Writes the decisions about the commands, and logs their changes.
fn write_state(
    connection: &Connection,
    newest: &mut Newest,
    commands: &[Command],
    context: &WriteContext,
    state: &State,
) -> rusqlite::Result<()> {
    for decision in &state.decisions {
        changes::write_decision(connection, decision)?;
    }
    let has_read_fields = state.fields.version > 0;
    if has_read_fields {
        let examined_fields = state.examined_fields(commands.iter());
        fields::write_owners(connection, state, &examined_fields)?;
        // The cached fields would still say that the examinations are running.
        if !examined_fields.is_empty() {
            newest.clear();
        }
    }
    for entry in &state.entries {
        journal::append(connection, newest, entry, context.into())?;
    }
    if let Some((id, _)) = state.orders.last_key_value() {
        newest.note_order(id.get());
    }
    Ok(())
}

/// Returns the refusal of the commands in the current state. Returns `None` if they would be
/// accepted, or if the request was already carried out. Only reads.
pub(super) fn find_refusal(
    connection: &Connection,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<Option<ExecutionOutcome>> {
    if recall(connection, context)?.is_some() {
        return Ok(None);
    }
    match decide(connection, &mut Newest::default(), commands, context)? {
        WorkOutcome::Done(_) => Ok(None),
        WorkOutcome::Refused(refusal) => Ok(Some(refusal)),
    }
}

/// Returns the outcome that is remembered under the idempotency key of the request, if it has one.
fn recall(
    connection: &Connection,
    context: &WriteContext,
) -> rusqlite::Result<Option<ExecutionOutcome>> {
    let Some(request) = &context.idempotency else {
        return Ok(None);
    };
    Ok(requests::recall(connection, request)?.map(ExecutionOutcome::from))
}

/// Reads the rows that the commands need, and decides the commands one after the other. Returns the
/// state with their decisions, or the first refusal. Writes nothing.
fn decide(
    connection: &Connection,
    newest: &mut Newest,
    commands: &[Command],
    context: &WriteContext,
) -> rusqlite::Result<WorkOutcome<State, ExecutionOutcome>> {
    // Columns store times in milliseconds.
    let now = truncate_to_milliseconds(context.now);
    let mut state = State::default();
    for (index, command) in commands.iter().enumerate() {
        read_needed_rows(connection, newest, command, &mut state)?;
        let new_ids = read_new_ids(connection, newest, command, &state)?;
        if let Err(refusal) = state.decide(command, new_ids, now) {
            let refusal = ExecutionOutcome::Refused { index, refusal };
            return Ok(WorkOutcome::Refused(refusal));
        }
    }
    Ok(WorkOutcome::Done(state))
}

/// Reads the rows that a command needs into `state`, unless the state already contains them.
fn read_needed_rows(
    connection: &Connection,
    newest: &mut Newest,
    command: &Command,
    state: &mut State,
) -> rusqlite::Result<()> {
    match command.subject() {
        Subject::New | Subject::Nothing => {}
        Subject::Pet(id) => read_pet(connection, id, state)?,
        Subject::Order(id) => read_order(connection, id, state)?,
        Subject::Category(id) => read_category(connection, id, state)?,
        Subject::Note(id) => read_note(connection, id, state)?,
    }
    if let Some(label) = command.new_label() {
        state.add_namesakes(label, rows::read_first_categories(connection)?);
    }
    if state.needs_fields(command) {
        state.fields = newest.fields(|| fields::read_definitions(connection))?;
        read_owners(connection, command, state)?;
    }
    Ok(())
}

/// Returns the identifier for the row that a command may add. For a note, also returns how many
/// notes its animal has.
fn read_new_ids(
    connection: &Connection,
    newest: &mut Newest,
    command: &Command,
    state: &State,
) -> rusqlite::Result<NewIds> {
    let mut new_ids = NewIds::default();
    match command {
        Command::AddPet(..) => new_ids.pet = PetId::new(next_pet_id(connection, state)?),
        Command::PlaceOrder(_) => {
            new_ids.order = OrderId::new(next_order_id(connection, newest, state)?);
        }
        Command::AddNote { pet_id, .. } => {
            new_ids.note = NoteId::new(next_note_id(connection, state)?);
            new_ids.note_count = count_notes(connection, *pet_id)?;
        }
        _ => {}
    }
    Ok(new_ids)
}

/// Returns the next identifier for an animal, also counting the animals that earlier commands of the
/// batch add.
fn next_pet_id(connection: &Connection, state: &State) -> rusqlite::Result<i64> {
    let last_id = connection
        .prepare_cached(LAST_PET)?
        .query_row([], |row| row.get(0))?;
    let last_in_state = state.pets.keys().next_back().map(|id| id.get());
    Ok(id_after(last_id, last_in_state))
}

/// Returns the next identifier for an order, also counting the orders that earlier commands of the
/// batch place.
fn next_order_id(
    connection: &Connection,
    newest: &mut Newest,
    state: &State,
) -> rusqlite::Result<i64> {
    let last_id = newest.last_order(connection)?;
    let last_in_state = state.orders.keys().next_back().map(|id| id.get());
    Ok(id_after(last_id, last_in_state))
}

/// Reads a category into `state`, if it exists and was not read yet.
fn read_category(connection: &Connection, id: i64, state: &mut State) -> rusqlite::Result<()> {
    if !state.categories.contains_key(&id)
        && let Some(category) = rows::get_category(connection, id)?
    {
        state.add(category);
    }
    Ok(())
}

/// Reads a note into `state`, if it exists and was not read yet.
fn read_note(connection: &Connection, id: NoteId, state: &mut State) -> rusqlite::Result<()> {
    if !state.notes.contains_key(&id)
        && let Some(note) = rows::get_note(connection, id)?
    {
        state.add(note);
    }
    Ok(())
}

/// Counts the notes on an animal.
fn count_notes(connection: &Connection, pet: PetId) -> rusqlite::Result<i64> {
    let mut count = connection.prepare_cached(COUNT_NOTES)?;
    count.query_row([pet.get()], |row| row.get(0))
}

/// Returns the next identifier for a note, also counting the notes that earlier commands of the batch
/// add.
fn next_note_id(connection: &Connection, state: &State) -> rusqlite::Result<i64> {
    let last_id = connection
        .prepare_cached(LAST_NOTE)?
        .query_row([], |row| row.get(0))?;
    let last_in_state = state.notes.keys().next_back().map(|id| id.get());
    Ok(id_after(last_id, last_in_state))
}

/// Returns the identifier after the last one that was ever given, and after the last one in the
/// state.
fn id_after(last_id: i64, last_in_state: Option<i64>) -> i64 {
    match last_in_state {
        Some(id) => last_id.max(id) + 1,
        None => last_id + 1,
    }
}

/// Reads an order, its animal, and the order that holds this animal into `state`.
fn read_order(connection: &Connection, id: OrderId, state: &mut State) -> rusqlite::Result<()> {
    if state.orders.contains_key(&id) {
        return Ok(());
    }
    let Some(OrderWithPet { order, pet }) = rows::get_order_with_pet(connection, id)? else {
        return Ok(());
    };
    match pet {
        // This order holds the animal, and only one can, so there is no other holder to read.
        Some(mut pet) if order.holds => {
            if order.status == OrderStatus::Reserved {
                pet.order_id = Some(id);
            }
            state.add(pet);
        }
        _ => read_pet(connection, order.pet_id, state)?,
    }
    state.add(order);
    Ok(())
}

/// Reads the animals that own the unique values in a command into `state`.
fn read_owners(
    connection: &Connection,
    command: &Command,
    state: &mut State,
) -> rusqlite::Result<()> {
    for key in state.keys_to_read(command) {
        for owner in fields::find_owners(connection, &key)? {
            read_pet(connection, owner, state)?;
            state.add_owner(key.clone(), owner);
        }
    }
    Ok(())
}

/// Reads an animal, and the order that holds it, into `state`.
fn read_pet(connection: &Connection, id: PetId, state: &mut State) -> rusqlite::Result<()> {
    if state.pets.contains_key(&id) {
        return Ok(());
    }
    let Some(pet) = rows::get_pet(connection, id)? else {
        return Ok(());
    };
    // No order holds an available animal, so save a query.
    if pet.status != PetStatus::Available
        && let Some(holder) = rows::get_holder(connection, id)?
    {
        state.add(holder);
    }
    state.add(pet);
    Ok(())
}
