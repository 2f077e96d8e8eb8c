//! Turns the changes of commands into the statements that write them.

mod statements;

use petstore_domain::store_area::{Contact, Order, Resource};
use petstore_store::{
    columns::Value,
    state::Versions,
    tables::{self, Table},
};

use self::statements::{
    ADD_PHOTOS, DROP_PHOTOS, ERASE_CONTACTS, KEEP_RESPONSES, SET_CONTACTS, statements_of,
};
use super::state::GroupState;
use crate::{rows::integer_or_null, writes::Write};

/// What happens to a row that the commands leave as it was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnchangedRow {
    Skip,
    /// Lock the row, so that no other transaction changes it until the commit.
    Lock,
}

/// A row to write, or to lock as it was read.
pub(super) struct RowWrite {
    /// The statement for the row.
    sql: &'static str,
    /// The new values of the row, or the values that were read if the row is deleted or only locked.
    resource: Resource,
    /// The state in which the row was read; `None` if it is new.
    read_state: Option<ReadState>,
    /// Whether the response to the create must be saved before the row changes. See [`KEEP_RESPONSES`].
    keeps_response: bool,
    /// Whether the contact of an order is set, changed or erased.
    changes_contact: bool,
    removed_photos: Vec<String>,
    added_photos: Vec<String>,
}

/// The values by which the statement for a row detects whether the row has changed since it was read.
#[derive(Clone, Copy)]
struct ReadState {
    version: i64,
    /// Whether the order held its animal. This can change without a new version of the order.
    is_holding: bool,
}

impl ReadState {
    /// Returns the state of a row that was read as this resource.
    fn new(resource: &Resource) -> Self {
        Self {
            version: resource.version(),
            is_holding: resource.order().is_some_and(|order| order.holds),
        }
    }
}

impl RowWrite {
    /// Creates the write for a row. Returns `None` if there is nothing to do.
    fn new<T: Into<Resource>>(versions: Versions<T>, unchanged_row: UnchangedRow) -> Option<Self> {
        let read: Option<Resource> = versions.read.map(Into::into);
        let now: Option<Resource> = versions.now.map(Into::into);
        let sql = choose_statement(read.as_ref(), now.as_ref(), unchanged_row)?;

        let photos_read = tables::photos_of(read.as_ref());
        let photos_now = tables::photos_of(now.as_ref());
        let removed_photos = photos_read.missing_in(photos_now);
        let added_photos = photos_now.missing_in(photos_read);
        Some(Self {
            sql,
            read_state: read.as_ref().map(ReadState::new),
            keeps_response: false,
            changes_contact: contact_of(read.as_ref()) != contact_of(now.as_ref()),
            removed_photos: removed_photos.map(|id| id.to_string()).collect(),
            added_photos: added_photos.map(|id| id.to_string()).collect(),
            resource: now.or(read)?,
        })
    }

    /// Returns the parameters of the statement for this row: the columns, then the state in which
    /// the row was read.
    fn values(&self) -> Vec<Value<'_>> {
        let mut values = tables::column_values(&self.resource);
        let version = self.read_state.map(|state| state.version);
        values.push(integer_or_null(version));
        if let Resource::Order(_) = self.resource {
            let is_holding = self.read_state.map(|state| state.is_holding);
            values.push(is_holding.map_or(Value::Null, Value::Boolean));
        }
        values
    }

    /// Returns the identifier of the row, which is its first value.
    fn id_value(&self) -> Value<'_> {
        tables::column_values(&self.resource)[0]
    }
}

/// Builds the writes that turn the rows that were read into the rows that the commands leave.
///
/// Animals come first, then orders, categories and notes, each in the order of their identifiers (orders
/// that release an animal first). Because of this fixed order, concurrent transactions cannot deadlock.
///
/// In a batch, a command that changes nothing may depend on rows that the batch does not write. These
/// rows are locked: if they could change before the other rows are written, the batch would not be
/// atomic.
pub(super) fn build_row_writes(group_state: GroupState, is_batch: bool) -> Vec<RowWrite> {
    let GroupState {
        state,
        added_by_requests,
    } = group_state;
    let unchanged_row = if is_batch && state.is_changed() {
        UnchangedRow::Lock
    } else {
        UnchangedRow::Skip
    };
    let mut writes = Vec::new();
    for (id, versions) in state.pets {
        // An animal has version 1 until its first change.
        let is_first_change = versions.read != versions.now
            && versions.read.as_ref().is_some_and(|pet| pet.version == 1);
        if let Some(mut write) = RowWrite::new(versions, unchanged_row) {
            write.keeps_response = is_first_change && added_by_requests.contains(&id);
            writes.push(write);
        }
    }

    // An order that releases an animal must be written before the one that takes it, because a unique
    // index allows only one order to hold an animal.
    let mut orders: Vec<_> = state.orders.into_values().collect();
    orders.sort_by_key(takes_animal);
    for order in orders {
        writes.extend(RowWrite::new(order, unchanged_row));
    }
    for category in state.categories.into_values() {
        writes.extend(RowWrite::new(category, unchanged_row));
    }
    for note in state.notes.into_values() {
        writes.extend(RowWrite::new(note, unchanged_row));
    }
    writes
}

/// Whether an order begins to hold its animal.
fn takes_animal(order: &Versions<Order>) -> bool {
    is_holding(order.now.as_ref()) && !is_holding(order.read.as_ref())
}

/// Whether an order exists and holds its animal.
fn is_holding(order: Option<&Order>) -> bool {
    order.is_some_and(|order| order.holds)
}

/// Builds the statements for `rows`, in the order in which they must run. Consecutive rows with the
/// same SQL text share one statement, which locks the rows in their order.
pub(super) fn build_writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
    let pets_with_response = rows
        .iter()
        .filter(|row| row.keeps_response)
        .map(|row| vec![row.id_value()]);
    let kept_responses = Write::from_rows(KEEP_RESPONSES, pets_with_response);
    // The texts come from `statements_of`, and exist once. So the same text has the same address.
    let changed_rows = rows
        .chunk_by(|row, next_row| std::ptr::eq(row.sql, next_row.sql))
        // A chunk is never empty, so it has a first row.
        .filter_map(|chunk| Write::from_rows(chunk[0].sql, chunk.iter().map(RowWrite::values)));
    kept_responses
        .into_iter()
        .chain(changed_rows)
        .chain(build_contact_writes(rows))
        .chain(build_photo_writes(rows))
}

/// Builds the statements for the contacts of the orders in `rows`. They need no locks of their own,
/// because the statements before them have locked the rows of the orders.
fn build_contact_writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
    let mut new_contacts = Vec::new();
    let mut erased_contacts = Vec::new();
    for row in rows.iter().filter(|row| row.changes_contact) {
        let Some(order) = row.resource.order() else {
            continue;
        };
        match &order.contact {
            Some(contact) => {
                new_contacts.push(vec![row.id_value(), Value::Text(contact.as_str())]);
            }
            None => erased_contacts.push(vec![row.id_value()]),
        }
    }
    let set_write = Write::from_rows(SET_CONTACTS, new_contacts);
    let erase_write = Write::from_rows(ERASE_CONTACTS, erased_contacts);
    set_write.into_iter().chain(erase_write)
}

/// Builds the statements that remove and add the photos of the animals in `rows`.
fn build_photo_writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
    let mut removed_photos = Vec::new();
    let mut added_photos = Vec::new();
    for row in rows {
        let pet_id = row.id_value();
        for photo in &row.removed_photos {
            removed_photos.push(vec![pet_id, Value::Text(photo)]);
        }
        for photo in &row.added_photos {
            added_photos.push(vec![pet_id, Value::Text(photo)]);
        }
    }
    let drop_write = Write::from_rows(DROP_PHOTOS, removed_photos);
    let add_write = Write::from_rows(ADD_PHOTOS, added_photos);
    drop_write.into_iter().chain(add_write)
}

/// Returns the statement that turns the row `read` into the row `now`; `None` if there is nothing to do.
fn choose_statement(
    read: Option<&Resource>,
    now: Option<&Resource>,
    unchanged_row: UnchangedRow,
) -> Option<&'static str> {
    let sql = match (read, now) {
        (None, None) => return None,
        (None, Some(now)) => &statements_of(now).insert,
        (Some(read), None) => &statements_of(read).delete,
        (Some(read), Some(now)) if read == now => match unchanged_row {
            UnchangedRow::Skip => return None,
            UnchangedRow::Lock => &statements_of(read).lock,
        },
        (Some(read), Some(now)) if Table::from_resource(read) == Table::from_resource(now) => {
            &statements_of(now).update
        }
        // A withdrawn animal has a table of its own.
        (Some(_), Some(now)) => &statements_of(now).move_in,
    };
    Some(sql)
}

/// Returns the contact of an order; `None` for any other resource, and for an order without one.
fn contact_of(resource: Option<&Resource>) -> Option<&Contact> {
    resource?.order()?.contact.as_ref()
}
