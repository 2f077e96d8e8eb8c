//! The state of a group: the rows that its commands need, with the changes that the commands make.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use petstore_domain::{
    IdempotentRequest, PetId,
    store_area::{
        Category, Command, NoteId, OrderId, OrderStatus, PetNote, Resource, Subject,
        UniqueValueOwner,
    },
};
use petstore_store::{
    columns::Value,
    drivers::postgres::Failure,
    state::{NewIds, State, Versions},
    tables::{self, ORDER_WIDTH, PET_WIDTH, Record, Table},
};
use tokio_postgres::Row;

use crate::requests;

/// The statement that reads the rows that commands need. Because it is a single statement, all rows come
/// from one consistent state. It returns one row for each command, in the order of the commands, with:
///
/// - the order of the command, its animal (or the animal of its order), and the order that holds this
///   animal;
/// - the category and the note of the command;
/// - identifiers for a new animal, order or note, unless the request is remembered (as in `RECALL_ALL`);
/// - whether the animal was added by a request with an idempotency key;
/// - the number of notes on the animal, if the command adds one.
pub(super) static READ_SUBJECTS: LazyLock<String> = LazyLock::new(|| {
    let [pets, withdrawn_pets, orders, categories, notes] = Table::ALL.map(Table::selected_columns);
    format!(
        "SELECT own.*, pet.*, holder.*, category.*, note.*,
            CASE WHEN new_pet AND {IS_NEW} THEN nextval('pets_ids') END,
            CASE WHEN new_order AND {IS_NEW} THEN nextval('orders_ids') END,
            EXISTS (SELECT FROM idempotency_keys WHERE idempotency_keys.pet_id = pet.id),
            CASE WHEN new_note AND {IS_NEW} THEN nextval('notes_ids') END,
            CASE WHEN new_note THEN (SELECT count(*) FROM notes WHERE notes.pet_id = pet.id) END
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[],
            $6::boolean[], $7::boolean[], $8::bigint[], $9::text[], $10::bigint[]) WITH ORDINALITY
            AS subject (pet_id, order_id, category_id, note_id, new_pet, new_order, new_note, lineage,
            key, caller, number)
        LEFT JOIN (SELECT {orders} FROM orders) AS own ON own.id = subject.order_id
        LEFT JOIN LATERAL (
            SELECT {pets} FROM pets WHERE id = coalesce(own.pet_id, subject.pet_id)
            UNION ALL SELECT {withdrawn_pets} FROM withdrawn_pets
                WHERE id = coalesce(own.pet_id, subject.pet_id)
        ) AS pet ON TRUE
        LEFT JOIN (SELECT {orders} FROM orders) AS holder
            ON holder.pet_id = pet.id AND holder.holds
        LEFT JOIN (SELECT {categories} FROM categories) AS category
            ON category.id = subject.category_id
        LEFT JOIN (SELECT {notes} FROM notes) AS note ON note.id = subject.note_id
        ORDER BY number"
    )
});
/// The condition that the request of a command is not remembered.
const IS_NEW: &str = "NOT EXISTS (SELECT FROM requests
    WHERE requests.caller IN (subject.lineage, subject.caller) AND requests.key = subject.key)";

// The first column of each part of a row of `READ_SUBJECTS`.
const OWN_ORDER_COLUMN: usize = 0;
const PET_COLUMN: usize = OWN_ORDER_COLUMN + ORDER_WIDTH;
const HOLDER_COLUMN: usize = PET_COLUMN + PET_WIDTH;
const CATEGORY_COLUMN: usize = HOLDER_COLUMN + ORDER_WIDTH;
const NOTE_COLUMN: usize = CATEGORY_COLUMN + Category::COLUMNS.len();
const NEW_PET_COLUMN: usize = NOTE_COLUMN + PetNote::COLUMNS.len();
const NEW_ORDER_COLUMN: usize = NEW_PET_COLUMN + 1;
const ADDED_BY_REQUEST_COLUMN: usize = NEW_PET_COLUMN + 2;
const NEW_NOTE_COLUMN: usize = NEW_PET_COLUMN + 3;
const NOTE_COUNT_COLUMN: usize = NEW_PET_COLUMN + 4;

/// Returns the parameters of [`READ_SUBJECTS`] for a command of `request`.
pub(super) fn subject_parameters<'v>(
    command: &Command,
    request: Option<&'v IdempotentRequest>,
) -> Vec<Value<'v>> {
    let subject = command.subject();
    let mut pet_id = Value::Null;
    let mut order_id = Value::Null;
    let mut category_id = Value::Null;
    let mut note_id = Value::Null;
    match subject {
        Subject::New | Subject::Nothing => {}
        Subject::Pet(id) => pet_id = Value::Integer(id.get()),
        Subject::Order(id) => order_id = Value::Integer(id.get()),
        Subject::Category(id) => category_id = Value::Integer(id),
        Subject::Note(id) => note_id = Value::Integer(id.get()),
    }
    // Whether the command needs an identifier for a new animal, order and note.
    let needs_new_ids = [
        subject == Subject::New,
        matches!(command, Command::PlaceOrder(_)),
        matches!(command, Command::AddNote { .. }),
    ];
    [pet_id, order_id, category_id, note_id]
        .into_iter()
        .chain(needs_new_ids.map(Value::Boolean))
        .chain(requests::identity_values(request))
        .collect()
}

/// Returns the parameters of [`READ_SUBJECTS`] that read one animal, independently of a command.
pub(super) fn pet_parameters<'v>(id: PetId) -> Vec<Value<'v>> {
    let pet_id = Value::Integer(id.get());
    let needs_new_ids = [Value::Boolean(false); 3];
    [pet_id, Value::Null, Value::Null, Value::Null]
        .into_iter()
        .chain(needs_new_ids)
        .chain(requests::identity_values(None))
        .collect()
}

/// The rows that were read for the commands of a group, with the changes of the commands that have been
/// decided so far.
#[derive(Default)]
pub(super) struct GroupState {
    /// The resources in the rows, as they were read and as the commands leave them.
    pub(super) state: State,
    /// The animals that were added by a request with an idempotency key.
    pub(super) added_by_requests: BTreeSet<PetId>,
}

/// The identifiers of the existing resources that a command concerns, and identifiers for the resources
/// that it may add.
pub(super) struct CommandSubjects {
    pet: Option<PetId>,
    order: Option<OrderId>,
    category: Option<i64>,
    note: Option<NoteId>,
    pub(super) new_ids: NewIds,
}

impl GroupState {
    /// Adds the resources in the row of [`READ_SUBJECTS`] that was read for `command`, and returns their
    /// identifiers.
    pub(super) fn add_subjects(
        &mut self,
        row: &Row,
        command: &Command,
    ) -> Result<CommandSubjects, Failure> {
        let pet = self.add_pet_and_holder(row)?;
        let order = tables::read_order(row, OWN_ORDER_COLUMN)?;
        let note = PetNote::read_optional(row, NOTE_COLUMN)?;
        let subjects = CommandSubjects {
            pet,
            order: order.as_ref().map(|order| order.id),
            // Unlike the other resources, a category need not exist yet: the command may create it with
            // this identifier.
            category: match command.subject() {
                Subject::Category(id) => Some(id),
                _ => None,
            },
            note: note.as_ref().map(|note| note.id),
            new_ids: read_new_ids(row)?,
        };
        if let Some(order) = order {
            self.state.add(order);
        }
        if let Some(category) = Category::read_optional(row, CATEGORY_COLUMN)? {
            self.state.add(category);
        }
        if let Some(note) = note {
            self.state.add(note);
        }
        Ok(subjects)
    }

    /// Adds the animal in a row of [`READ_SUBJECTS`], and the order that holds the animal. Returns the
    /// identifier of the animal; `None` if the row has no animal.
    pub(super) fn add_pet_and_holder(&mut self, row: &Row) -> Result<Option<PetId>, Failure> {
        let holder = tables::read_order(row, HOLDER_COLUMN)?;
        let Some(mut pet) = tables::read_pet(row, PET_COLUMN)? else {
            return Ok(None);
        };
        pet.order_id = match &holder {
            Some(order) if order.status == OrderStatus::Reserved => Some(order.id),
            _ => None,
        };
        let id = pet.id;
        if row.try_get(ADDED_BY_REQUEST_COLUMN)? {
            self.added_by_requests.insert(id);
        }
        self.state.add(pet);
        if let Some(holder) = holder {
            self.state.add(holder);
        }
        Ok(Some(id))
    }

    /// Returns a copy of the part of the state that the commands of the next request need: their
    /// subjects, as the earlier requests leave them.
    ///
    /// The caller decides the request on this copy, and drops the copy if the request is refused.
    pub(super) fn copy_state_for(&self, subjects: &[CommandSubjects]) -> State {
        let mut current = State::default();
        current.fields = Arc::clone(&self.state.fields);
        for (UniqueValueOwner { key, pet }, versions) in &self.state.owners {
            if versions.now.is_none() {
                continue;
            }
            current.add_owner(key.clone(), *pet);
            add_current(&mut current, self.state.pets.get(pet));
        }
        for ids in subjects {
            if let Some(id) = ids.pet {
                add_current(&mut current, self.state.pets.get(&id));
                if let Some(holder) = self.state.find_holder(id) {
                    current.add(holder.clone());
                }
            }
            if let Some(id) = ids.order {
                add_current(&mut current, self.state.orders.get(&id));
            }
            if let Some(id) = ids.note {
                add_current(&mut current, self.state.notes.get(&id));
            }
            if ids.category.is_some() {
                // All categories are needed, because another one may have the label that the
                // command gives.
                for category in self.state.categories.values() {
                    add_current(&mut current, Some(category));
                }
            }
        }
        current
    }

    /// Merges the changes of an accepted request into the state of the group.
    pub(super) fn merge_changes(&mut self, changed_state: State) {
        merge_versions(&mut self.state.pets, changed_state.pets);
        merge_versions(&mut self.state.orders, changed_state.orders);
        merge_versions(&mut self.state.categories, changed_state.categories);
        merge_versions(&mut self.state.notes, changed_state.notes);
        merge_versions(&mut self.state.owners, changed_state.owners);
    }
}

/// Reads the identifiers for new resources, and the number of notes, from a row of [`READ_SUBJECTS`].
/// They are null for a command that does not need them.
fn read_new_ids(row: &Row) -> Result<NewIds, Failure> {
    let pet: Option<i64> = row.try_get(NEW_PET_COLUMN)?;
    let order: Option<i64> = row.try_get(NEW_ORDER_COLUMN)?;
    let note: Option<i64> = row.try_get(NEW_NOTE_COLUMN)?;
    let note_count: Option<i64> = row.try_get(NOTE_COUNT_COLUMN)?;
    Ok(NewIds {
        pet: pet.and_then(PetId::new),
        order: order.and_then(OrderId::new),
        note: note.and_then(NoteId::new),
        note_count: note_count.unwrap_or_default(),
    })
}

/// Adds the current version of a resource to `current`, unless the commands so far have deleted it.
fn add_current<T: Clone + Into<Resource>>(current: &mut State, versions: Option<&Versions<T>>) {
    if let Some(Versions { now: Some(now), .. }) = versions {
        current.add(now.clone());
    }
}

/// Updates the current version of each changed resource. Keeps the version that was read from the
/// database, because the statement that writes the row compares the row with that version.
fn merge_versions<K: Ord, T>(
    versions: &mut BTreeMap<K, Versions<T>>,
    changed: BTreeMap<K, Versions<T>>,
) {
    for (id, Versions { read, now }) in changed {
        let entry = versions.entry(id).or_insert(Versions { read, now: None });
        entry.now = now;
    }
}
