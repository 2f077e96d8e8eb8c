//! The statements for what commands changed.

use std::sync::LazyLock;

use petstore_domain::store_area::{Order, Resource};
use petstore_store::{
    columns::Value,
    state::Versions,
    tables::{self, Table},
};

use super::{
    super::writes::{Write, rows_of},
    state::Read,
};

/// The statements for rows of each table. Each has the values of all columns, new or as they were
/// read; the version that was read; and of an order, whether it held its animal, because that can
/// change without a new version. A statement that does not find all of its rows as they were read
/// divides by zero.
struct Statements {
    insert: String,
    update: String,
    /// Moves animals here from the other table of animals.
    take: String,
    delete: String,
    /// For rows that a batch read and does not write, so that they are still the same at the commit.
    same: String,
}

static STATEMENTS: LazyLock<[Statements; 4]> = LazyLock::new(|| Table::ALL.map(Statements::of));

impl Statements {
    fn of(table: Table) -> Self {
        let mut parameters: Vec<_> = table.columns_and_types().collect();
        let names: Vec<_> = parameters.iter().map(|(name, _)| *name).collect();
        let columns = names.join(", ");
        parameters.push(("version_read", "bigint"));
        let (held, other) = match table {
            Table::Orders => {
                parameters.push(("held", "boolean"));
                (" AND orders.holds = held", table)
            }
            Table::Pets => ("", Table::WithdrawnPets),
            Table::WithdrawnPets => ("", Table::Pets),
            Table::Categories => ("", table),
        };
        let of_new = |prefix: &str| {
            let values = names.iter().map(|name| format!("{prefix}new.{name}"));
            values.collect::<Vec<_>>().join(", ")
        };
        let set = names
            .iter()
            .skip(1)
            .map(|name| format!("{name} = new.{name}"));
        let set = set.collect::<Vec<_>>().join(", ");
        let values = of_new("");
        let rows = rows_of(&parameters);
        let as_read =
            |table: Table| format!("{table}.id = new.id AND {table}.version = version_read");
        let here = as_read(table);
        let all = "SELECT 1 / (count(*) = cardinality($1))::integer FROM written";
        Self {
            insert: format!("INSERT INTO {table} ({columns}) SELECT {values} FROM {rows}"),
            update: format!(
                "WITH written AS (UPDATE {table} SET {set} FROM {rows}
                WHERE {here}{held} RETURNING 1) {all}"
            ),
            take: format!(
                "WITH gone AS (
                    DELETE FROM {other} USING {rows} WHERE {} RETURNING {values}, token
                ), written AS (
                    INSERT INTO {table} ({columns}, token) SELECT * FROM gone RETURNING 1) {all}",
                as_read(other)
            ),
            delete: format!(
                "WITH written AS (DELETE FROM {table} USING {rows} WHERE {here} RETURNING 1) {all}"
            ),
            same: format!(
                "WITH written AS (SELECT FROM {rows} CROSS JOIN LATERAL (
                    SELECT FROM {table} WHERE {here} FOR SHARE) AS found) {all}"
            ),
        }
    }
}

/// The response to the request that added an animal in the previous release is made from the
/// animal, so it is kept before the first change.
const KEEP_RESPONSES: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests
    WHERE (caller, key) IN (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = ANY($1))
    ON CONFLICT (caller, key) DO NOTHING";

const SET_CONTACTS: &str = "
    INSERT INTO order_contacts (order_id, contact) SELECT * FROM unnest($1::bigint[], $2::text[])
    ON CONFLICT (order_id) DO UPDATE SET contact = excluded.contact";
const ERASE_CONTACTS: &str = "DELETE FROM order_contacts WHERE order_id = ANY($1)";

const ADD_PHOTOS: &str =
    "INSERT INTO photos (pet_id, id) SELECT * FROM unnest($1::bigint[], $2::text[])";
const DROP_PHOTOS: &str = "DELETE FROM photos USING unnest($1::bigint[], $2::text[])
        AS old (pet_id, id) WHERE photos.pet_id = old.pet_id AND photos.id = old.id";

/// A row that is written, or kept as it is.
pub(super) struct Row {
    sql: &'static str,
    /// With its new values, if it gets any.
    resource: Resource,
    /// As it was read, if it was there.
    read: Option<(i64, bool)>,
    has_response: bool,
    /// Whether the contact of an order changes.
    has_new_contact: bool,
    /// The photos that an animal loses, and those that it gets.
    photos: [Vec<String>; 2],
}

/// The differences between what was read and what the commands left. In ascending order of
/// identifier, animals first, so that two transactions cannot wait for each other.
///
/// A command of a batch that changes nothing depends on rows that the batch does not write. They
/// must not change before the others are written, or the batch would take effect at two moments.
pub(super) fn differences(
    Read {
        state,
        added_by_requests,
    }: Read,
    is_batch: bool,
) -> Vec<Row> {
    let must_stay = is_batch && state.is_changed();
    let pets = state.pets.into_iter().filter_map(|(id, pet)| {
        let is_first_change =
            pet.read != pet.now && pet.read.as_ref().is_some_and(|pet| pet.version == 1);
        let row = Row::of(pet, must_stay)?;
        Some(Row {
            has_response: is_first_change && added_by_requests.contains(&id),
            ..row
        })
    });
    // An order that lets its animal go comes before the one that takes it: at most one holds it.
    let mut orders: Vec<_> = state.orders.into_values().collect();
    orders.sort_by_key(|order| {
        let holds = |order: &Option<Order>| order.as_ref().is_some_and(|order| order.holds);
        holds(&order.now) && !holds(&order.read)
    });
    let orders = orders
        .into_iter()
        .filter_map(|order| Row::of(order, must_stay));
    let categories = state
        .categories
        .into_values()
        .filter_map(|of| Row::of(of, must_stay));
    pets.chain(orders).chain(categories).collect()
}

/// Returns the statements for these rows. Successive rows for which the same is to be done share
/// one, which locks them in their order.
pub(super) fn writes(rows: &[Row]) -> impl Iterator<Item = Write<'_>> {
    let with_response = rows.iter().filter(|row| row.has_response);
    let ids = with_response.map(|row| tables::values(&row.resource)[..1].to_vec());
    let of_rows = rows
        .chunk_by(|one, next| std::ptr::eq(one.sql, next.sql))
        .filter_map(|rows| Write::of_rows(rows[0].sql, rows.iter().map(Row::values)));
    Write::of_rows(KEEP_RESPONSES, ids)
        .into_iter()
        .chain(of_rows)
        .chain(contacts(rows))
        .chain(photos(rows))
}

/// Returns the statements for the contacts of these rows. The rows of their orders are locked
/// before.
fn contacts(rows: &[Row]) -> impl Iterator<Item = Write<'_>> {
    let changed = rows.iter().filter(|row| row.has_new_contact);
    let orders = changed.filter_map(|row| row.resource.order());
    let orders = orders.map(|order| (Value::Integer(order.id.get()), order.contact.as_ref()));
    let set = orders
        .clone()
        .filter_map(|(id, contact)| Some(vec![id, Value::Text(contact?.as_str())]));
    let erased = orders
        .filter(|(_, contact)| contact.is_none())
        .map(|(id, _)| vec![id]);
    [
        Write::of_rows(SET_CONTACTS, set),
        Write::of_rows(ERASE_CONTACTS, erased),
    ]
    .into_iter()
    .flatten()
}

/// Returns the statements for the photos of these rows.
fn photos(rows: &[Row]) -> impl Iterator<Item = Write<'_>> {
    let photos = |at: usize| {
        rows.iter().flat_map(move |row| {
            let id = tables::values(&row.resource)[0];
            row.photos[at]
                .iter()
                .map(move |photo| vec![id, Value::Text(photo)])
        })
    };
    [
        Write::of_rows(DROP_PHOTOS, photos(0)),
        Write::of_rows(ADD_PHOTOS, photos(1)),
    ]
    .into_iter()
    .flatten()
}

impl Row {
    fn of<T: Into<Resource>>(Versions { read, now }: Versions<T>, must_stay: bool) -> Option<Self> {
        let statements = |of: &Resource| &STATEMENTS[Table::from_resource(of) as usize];
        let (read, now): (Option<Resource>, Option<Resource>) =
            (read.map(Into::into), now.map(Into::into));
        let sql = match (&read, &now) {
            (None, None) => return None,
            (None, Some(now)) => &statements(now).insert,
            (Some(read), None) => &statements(read).delete,
            (Some(read), Some(now)) if read == now && must_stay => &statements(read).same,
            (Some(read), Some(now)) if read == now => return None,
            (Some(read), Some(now)) if Table::from_resource(read) == Table::from_resource(now) => {
                &statements(now).update
            }
            (Some(_), Some(now)) => &statements(now).take,
        };
        let as_read = read.as_ref().map(|read| {
            (
                read.version(),
                read.order().is_some_and(|order| order.holds),
            )
        });
        let contact = |of: &Option<Resource>| of.as_ref()?.order()?.contact.clone();
        let has_new_contact = contact(&read) != contact(&now);
        let [(_, before), (_, after)] = [&read, &now].map(|of| tables::photos(of.as_ref()));
        let photos = [(before, after), (after, before)]
            .map(|(of, other)| of.missing_in(other).map(|id| id.to_string()).collect());
        let resource = now.or(read)?;
        let has_response = false;
        Some(Self {
            sql,
            resource,
            read: as_read,
            has_response,
            has_new_contact,
            photos,
        })
    }

    fn values(&self) -> Vec<Value<'_>> {
        let mut values = tables::values(&self.resource);
        let (version, held) = self.read.unzip();
        values.push(version.map_or(Value::Null, Value::Integer));
        if let Resource::Order(_) = self.resource {
            values.push(held.map_or(Value::Null, Value::Boolean));
        }
        values
    }
}
