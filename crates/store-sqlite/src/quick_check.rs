//! The checks whenever a database is opened.

use std::sync::OnceLock;

use petstore_domain::PetStatus;

use super::{connection::Connection, migrations, rows::of_status};

/// The problem if the WAL lacks transactions that were committed to it.
pub(super) const LOST_TRANSACTIONS: &str = "the write-ahead log was truncated or removed, and transactions \
     that were committed to it are not in the database";

/// Reads a few pages of each table and index. This takes well below a millisecond, whatever the
/// size of the database. Returns the first problem.
pub(super) fn quick_check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(problem) = schema(connection)?.into_iter().next() {
        return Ok(Some(problem));
    }
    for edge in [
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
    ] {
        connection.prepare(edge)?.query([])?.next()?;
    }
    if let Some(problem) = etag_key(connection)? {
        return Ok(Some(problem));
    }
    for (status, order) in PetStatus::ALL
        .into_iter()
        .flat_map(|of| [(of, "ASC"), (of, "DESC")])
    {
        let pets = of_status(status);
        let edge = format!("SELECT id, name FROM pets {pets} ORDER BY id {order} LIMIT 1");
        connection.prepare(&edge)?.query([])?.next()?;
    }
    Ok(None)
}

/// The name and the statement of each table, index, view and trigger.
type Objects = Vec<(String, String)>;

/// Compares tables and indexes with those that the migrations create. Ignores additional ones.
pub(super) fn schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let found = objects(connection)?;
    let problem = |(name, sql): &(String, String)| match found.iter().find(|(of, _)| of == name) {
        None => Some(format!("{name} is missing")),
        Some((_, other)) if other != sql => Some(format!("{name} is not as petstore made it")),
        Some(_) => None,
    };
    Ok(created()?.iter().filter_map(problem).collect())
}

/// Returns the objects that the migrations create. They run for this only once in a process.
fn created() -> rusqlite::Result<&'static Objects> {
    static CREATED: OnceLock<Objects> = OnceLock::new();
    if let Some(created) = CREATED.get() {
        return Ok(created);
    }
    let fresh = Connection::open_in_memory()?;
    migrations::create(&fresh)?;
    let created = objects(&fresh)?;
    Ok(CREATED.get_or_init(|| created))
}

fn objects(connection: &Connection) -> rusqlite::Result<Objects> {
    connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Without the key, the service cannot compute an `ETag`.
pub(super) fn etag_key(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let is_there = connection.prepare("SELECT key FROM etag_key")?.exists([])?;
    Ok((!is_there).then(|| "the row of etag_key is missing".to_owned()))
}
