//! The statements for the changes of commands.

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

/// A row that is written, or that must stay as it was read.
pub(super) struct RowWrite {
    sql: &'static str,
    /// The new values of the row, or its values as they were read, if it gets no new ones.
    resource: Resource,
    /// The state in which the row was read; `None` if there was no such row.
    read: Option<ReadState>,
    /// Whether the response of the previous release must be kept before the row changes.
    has_response: bool,
    /// Whether the contact of an order changes.
    has_new_contact: bool,
    removed_photos: Vec<String>,
    added_photos: Vec<String>,
}

/// The state in which a row was read, with which the statement for the row compares it.
#[derive(Clone, Copy)]
struct ReadState {
    version: i64,
    /// Whether an order held its animal, because that can change without a new version.
    is_holding: bool,
}

impl ReadState {
    fn new(resource: &Resource) -> Self {
        Self {
            version: resource.version(),
            is_holding: resource.order().is_some_and(|order| order.holds),
        }
    }
}

/// Returns the differences between the rows that were read and the rows that the commands left, in
/// ascending order of identifier, animals first, so that two transactions cannot wait for each other.
///
/// A command of a batch that changes nothing depends on rows that the batch does not write. They
/// must not change before the other rows are written, or the batch would take effect at two moments.
pub(super) fn row_writes(group_state: GroupState, is_batch: bool) -> Vec<RowWrite> {
    let GroupState {
        state,
        added_by_requests,
    } = group_state;
    let must_stay = is_batch && state.is_changed();
    let mut writes = Vec::new();
    for (id, pet) in state.pets {
        let is_first_change =
            pet.read != pet.now && pet.read.as_ref().is_some_and(|pet| pet.version == 1);
        if let Some(mut write) = RowWrite::new(pet, must_stay) {
            write.has_response = is_first_change && added_by_requests.contains(&id);
            writes.push(write);
        }
    }

    // An order that lets its animal go comes before the order that takes the animal: at most one
    // order holds it.
    let mut orders: Vec<_> = state.orders.into_values().collect();
    orders.sort_by_key(takes_animal);
    writes.extend(
        orders
            .into_iter()
            .filter_map(|order| RowWrite::new(order, must_stay)),
    );
    writes.extend(
        state
            .categories
            .into_values()
            .filter_map(|category| RowWrite::new(category, must_stay)),
    );
    writes.extend(
        state
            .notes
            .into_values()
            .filter_map(|note| RowWrite::new(note, must_stay)),
    );
    writes
}

/// Whether an order holds its animal now, and did not before.
fn takes_animal(order: &Versions<Order>) -> bool {
    is_holding(order.now.as_ref()) && !is_holding(order.read.as_ref())
}

fn is_holding(order: Option<&Order>) -> bool {
    order.is_some_and(|order| order.holds)
}

/// Returns the statements for `rows`. Successive rows with the same statement share it, and it locks
/// them in this order.
pub(super) fn writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
    let pets_with_response = rows
        .iter()
        .filter(|row| row.has_response)
        .map(|row| vec![row.id_value()]);
    let kept_responses = Write::from_rows(KEEP_RESPONSES, pets_with_response);
    let changed_rows = rows
        .chunk_by(|row, next_row| std::ptr::eq(row.sql, next_row.sql))
        .filter_map(|rows| Write::from_rows(rows[0].sql, rows.iter().map(RowWrite::values)));
    kept_responses
        .into_iter()
        .chain(changed_rows)
        .chain(contact_writes(rows))
        .chain(photo_writes(rows))
}

/// Returns the statements for the contacts of `rows`. The rows of their orders are locked
/// before.
fn contact_writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
    let mut new_contacts = Vec::new();
    let mut erased_contacts = Vec::new();
    for row in rows.iter().filter(|row| row.has_new_contact) {
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
    let setting = Write::from_rows(SET_CONTACTS, new_contacts);
    let erasing = Write::from_rows(ERASE_CONTACTS, erased_contacts);
    setting.into_iter().chain(erasing)
}

/// Returns the statements for the photos of `rows`.
fn photo_writes(rows: &[RowWrite]) -> impl Iterator<Item = Write<'_>> {
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
    let dropping = Write::from_rows(DROP_PHOTOS, removed_photos);
    let adding = Write::from_rows(ADD_PHOTOS, added_photos);
    dropping.into_iter().chain(adding)
}

impl RowWrite {
    /// Returns the write for a row; `None` if the row stays as it is. If `must_stay`, such a row is
    /// locked instead, so that no other transaction changes it until the commit.
    fn new<T: Into<Resource>>(versions: Versions<T>, must_stay: bool) -> Option<Self> {
        let read: Option<Resource> = versions.read.map(Into::into);
        let now: Option<Resource> = versions.now.map(Into::into);
        let sql = statement(read.as_ref(), now.as_ref(), must_stay)?;

        let (_, photos_read) = tables::photos(read.as_ref());
        let (_, photos_now) = tables::photos(now.as_ref());
        let removed_photos = photos_read.missing_in(photos_now);
        let added_photos = photos_now.missing_in(photos_read);
        Some(Self {
            sql,
            read: read.as_ref().map(ReadState::new),
            has_response: false,
            has_new_contact: contact(read.as_ref()) != contact(now.as_ref()),
            removed_photos: removed_photos.map(|id| id.to_string()).collect(),
            added_photos: added_photos.map(|id| id.to_string()).collect(),
            resource: now.or(read)?,
        })
    }

    /// Returns the values for the statement of this row, in the order of its columns.
    fn values(&self) -> Vec<Value<'_>> {
        let mut values = tables::values(&self.resource);
        let version = self.read.map(|read| read.version);
        values.push(integer_or_null(version));
        if let Resource::Order(_) = self.resource {
            let is_holding = self.read.map(|read| read.is_holding);
            values.push(is_holding.map_or(Value::Null, Value::Boolean));
        }
        values
    }

    fn id_value(&self) -> Value<'_> {
        tables::values(&self.resource)[0]
    }
}

/// Returns the statement that turns the row that was read into the row as it is now; `None` if there is
/// nothing to do.
fn statement(
    read: Option<&Resource>,
    now: Option<&Resource>,
    must_stay: bool,
) -> Option<&'static str> {
    let sql = match (read, now) {
        (None, None) => return None,
        (None, Some(now)) => &statements_of(now).insert,
        (Some(read), None) => &statements_of(read).delete,
        (Some(read), Some(now)) if read == now => {
            if !must_stay {
                return None;
            }
            &statements_of(read).lock
        }
        (Some(read), Some(now)) if Table::from_resource(read) == Table::from_resource(now) => {
            &statements_of(now).update
        }
        (Some(_), Some(now)) => &statements_of(now).take,
    };
    Some(sql)
}

fn contact(resource: Option<&Resource>) -> Option<&Contact> {
    resource?.order()?.contact.as_ref()
}
