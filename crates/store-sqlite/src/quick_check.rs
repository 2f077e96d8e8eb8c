//! Quickly checks a database whenever it is opened for writing.

use std::sync::OnceLock;

use petstore_domain::PetStatus;

use super::{connection::Connection, migrations, rows::status_clause};

/// The problem of a WAL from which committed transactions are missing.
pub(super) const LOST_TRANSACTIONS: &str = "the write-ahead log was truncated or removed, and transactions \
     that were committed to it are not in the database";

/// Statements that read the first or the last page of the tables and indexes that change often. Damage
/// is most likely there.
const FIRST_AND_LAST_ROWS: [&str; 11] = [
    "SELECT id, name FROM pets ORDER BY id LIMIT 1",
    "SELECT id, name FROM pets ORDER BY id DESC LIMIT 1",
    "SELECT digest, name FROM api_keys ORDER BY id DESC LIMIT 1",
    "SELECT key, fingerprint FROM idempotency_keys ORDER BY created_at LIMIT 1",
    "SELECT key, body FROM requests ORDER BY id DESC LIMIT 1",
    "SELECT key, body FROM requests ORDER BY mark LIMIT 1",
    "SELECT id, name FROM withdrawn_pets ORDER BY id DESC LIMIT 1",
    "SELECT id, reference FROM orders ORDER BY id DESC LIMIT 1",
    "SELECT id, label FROM categories ORDER BY id DESC LIMIT 1",
    "SELECT first, words FROM word_blocks ORDER BY block DESC LIMIT 1",
    "SELECT merged FROM search_state",
];

/// Checks the schema, and reads a few pages of the most important tables and indexes. Returns the first
/// problem; `None` if there is none. Fails if SQLite finds a damaged page.
///
/// This takes well below a millisecond, whatever the size of the database.
pub(super) fn quick_check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(problem) = check_schema(connection)?.into_iter().next() {
        return Ok(Some(problem));
    }
    for sql in FIRST_AND_LAST_ROWS {
        read_first_row(connection, sql)?;
    }
    if let Some(problem) = check_etag_key(connection)? {
        return Ok(Some(problem));
    }
    for status in PetStatus::ALL {
        let clause = status_clause(status);
        for order in ["ASC", "DESC"] {
            let sql = format!("SELECT id, name FROM pets {clause} ORDER BY id {order} LIMIT 1");
            read_first_row(connection, &sql)?;
        }
    }
    Ok(None)
}

/// Reads the first row of a result. Fails if a page that SQLite reads for it is damaged.
fn read_first_row(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare(sql)?.query([])?.next()?;
    Ok(())
}

/// A table, index, view or trigger, with the statement that created it.
struct SchemaObject {
    name: String,
    sql: String,
}

/// Compares the schema with the one that the migrations create. Returns a problem for each object that is
/// missing or different. Ignores additional objects, such as an index that the operator has added.
pub(super) fn check_schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let objects = read_objects(connection)?;
    let mut problems = Vec::new();
    for expected_object in expected_objects()? {
        let name = &expected_object.name;
        match objects.iter().find(|object| object.name == *name) {
            None => problems.push(format!("{name} is missing")),
            Some(object) if object.sql != expected_object.sql => {
                problems.push(format!("{name} is not as petstore made it"));
            }
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Returns the objects that the migrations create. Computes them once per process, in an in-memory
/// database.
fn expected_objects() -> rusqlite::Result<&'static [SchemaObject]> {
    static OBJECTS: OnceLock<Vec<SchemaObject>> = OnceLock::new();
    if let Some(objects) = OBJECTS.get() {
        return Ok(objects);
    }
    let new_database = Connection::open_in_memory()?;
    migrations::create(&new_database)?;
    let objects = read_objects(&new_database)?;
    Ok(OBJECTS.get_or_init(|| objects))
}

/// Reads the schema objects of a database, sorted by name.
fn read_objects(connection: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let objects = statement.query_map([], |row| {
        Ok(SchemaObject {
            name: row.get(0)?,
            sql: row.get(1)?,
        })
    })?;
    objects.collect()
}

/// Checks that the database has the key with which the service computes `ETag` headers. Returns the
/// problem if not.
pub(super) fn check_etag_key(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if connection.prepare("SELECT key FROM etag_key")?.exists([])? {
        return Ok(None);
    }
    Ok(Some("the row of etag_key is missing".to_owned()))
}
