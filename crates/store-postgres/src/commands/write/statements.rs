//! The SQL that writes rows of animals, orders, categories and notes.

use std::sync::LazyLock;

use petstore_domain::store_area::Resource;
use petstore_store::tables::Table;

use crate::writes::unnest_rows;

/// The statements for rows of one table.
///
/// Each parameter is an array with one element for each row. There is one array for each column,
/// beginning with the identifiers (`$1`), and one with the versions that were read. For orders, another
/// array tells whether each order held its animal.
///
/// Every statement except `insert` fails unless it finds all of its rows as they were read. It
/// fails by a division by zero, which aborts the transaction without another round trip.
pub(super) struct Statements {
    pub(super) insert: String,
    pub(super) update: String,
    /// The statement that moves animals into this table from the other table of animals: `pets` or
    /// `withdrawn_pets`. Unused for the tables of other resources.
    pub(super) move_in: String,
    pub(super) delete: String,
    /// The statement that locks rows which a batch has read but does not write, so that they are still
    /// unchanged at its commit.
    pub(super) lock: String,
}

/// The statements for each table, in the order of [`Table::ALL`].
static STATEMENTS: LazyLock<[Statements; 5]> = LazyLock::new(|| Table::ALL.map(Statements::new));

/// Returns the statements for the table of a resource.
pub(super) fn statements_of(resource: &Resource) -> &'static Statements {
    &STATEMENTS[Table::from_resource(resource) as usize]
}

impl Statements {
    /// Builds the statements for a table.
    fn new(table: Table) -> Self {
        let names = table.columns();
        let columns = names.join(", ");
        let values = format!("new.{}", names.join(", new."));
        let assignment_list = assignments(&names);
        let rows = rows_with_read_state(table);
        let is_unchanged = has_version_read(table);
        let holds_as_before = match table {
            Table::Orders => " AND orders.holds = held",
            Table::Pets | Table::WithdrawnPets | Table::Categories | Table::Notes => "",
        };
        let source = other_table(table);
        let is_unchanged_source = has_version_read(source);
        let check = "SELECT 1 / (count(*) = cardinality($1))::integer FROM written";
        Self {
            insert: format!("INSERT INTO {table} ({columns}) SELECT {values} FROM {rows}"),
            update: format!(
                "WITH written AS (UPDATE {table} SET {assignment_list} FROM {rows}
                WHERE {is_unchanged}{holds_as_before} RETURNING 1) {check}"
            ),
            move_in: format!(
                "WITH gone AS (
                    DELETE FROM {source} USING {rows} WHERE {is_unchanged_source} RETURNING {values}, token
                ), written AS (
                    INSERT INTO {table} ({columns}, token) SELECT * FROM gone RETURNING 1) {check}"
            ),
            delete: format!(
                "WITH written AS (DELETE FROM {table} USING {rows} WHERE {is_unchanged} RETURNING 1) {check}"
            ),
            lock: format!(
                "WITH written AS (SELECT FROM {rows} CROSS JOIN LATERAL (
                    SELECT FROM {table} WHERE {is_unchanged} FOR SHARE) AS found) {check}"
            ),
        }
    }
}

/// Returns the SQL expression that turns the parameters of a statement into rows of a table `new`. It has
/// the columns of `table`, and the state in which each row was read.
fn rows_with_read_state(table: Table) -> String {
    let mut parameters: Vec<_> = table.columns_and_types().collect();
    parameters.push(("version_read", "bigint"));
    if table == Table::Orders {
        parameters.push(("held", "boolean"));
    }
    unnest_rows(&parameters)
}

/// Returns the other table of animals: for `pets`, `withdrawn_pets`, and the other way round. For other
/// resources, returns the same table.
fn other_table(table: Table) -> Table {
    match table {
        Table::Pets => Table::WithdrawnPets,
        Table::WithdrawnPets => Table::Pets,
        Table::Orders | Table::Categories | Table::Notes => table,
    }
}

/// Returns the assignments of an UPDATE to all columns but the first, which is the identifier:
/// `name = new.name, …`.
fn assignments(names: &[&str]) -> String {
    let assignments: Vec<_> = names
        .iter()
        .skip(1)
        .map(|name| format!("{name} = new.{name}"))
        .collect();
    assignments.join(", ")
}

/// Returns the SQL condition that a row of the table has the id of the row in `new`, and still has the
/// version that was read.
fn has_version_read(table: Table) -> String {
    format!("{table}.id = new.id AND {table}.version = version_read")
}

/// The statement that saves the responses of the previous release to the requests that added these
/// animals. That release stores no responses: for a repeated request, it renders the response from the row
/// of the animal. So the response must be saved before that row changes.
pub(super) const KEEP_RESPONSES: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests
    WHERE (caller, key) IN (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = ANY($1))
    ON CONFLICT (caller, key) DO NOTHING";

/// The statement that sets the contacts of orders.
pub(super) const SET_CONTACTS: &str = "
    INSERT INTO order_contacts (order_id, contact) SELECT * FROM unnest($1::bigint[], $2::text[])
    ON CONFLICT (order_id) DO UPDATE SET contact = excluded.contact";
/// The statement that deletes the contacts of orders.
pub(super) const ERASE_CONTACTS: &str = "DELETE FROM order_contacts WHERE order_id = ANY($1)";

/// The statement that adds photos to animals.
pub(super) const ADD_PHOTOS: &str =
    "INSERT INTO photos (pet_id, id) SELECT * FROM unnest($1::bigint[], $2::text[])";
/// The statement that removes photos from animals, and records which animal lost each of them.
pub(super) const DROP_PHOTOS: &str = "WITH dropped AS (
        DELETE FROM photos USING unnest($1::bigint[], $2::text[]) AS old (pet_id, id)
        WHERE photos.pet_id = old.pet_id AND photos.id = old.id
        RETURNING photos.id, photos.pet_id
    )
    INSERT INTO lost_photos (id, pet_id) SELECT id, pet_id FROM dropped
    ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id";
