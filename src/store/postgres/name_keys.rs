//! The column `name_key`, by which the search finds names.

use tokio_postgres::{Client, Error, Row};

use crate::domain::store_area::{COMPARED_LENGTH, name_key};

const _: () = assert!(COMPARED_LENGTH == 256);
pub(super) const SET_KEYS: &str = "UPDATE pets SET name_key = new.name_key
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (id, name, name_key)
    WHERE pets.id = new.id AND left(pets.name, 256) = new.name";

/// The key of a name as the column `name_key` has it: null where the database can make it of the
/// name.
pub(super) fn stored_name_key(name: &str) -> Option<String> {
    (!name.is_ascii()).then(|| name_key(name))
}

/// Sets the keys of the names in these rows, which have the identifier and the first 256 characters
/// of the name.
pub(super) async fn set_keys(client: &Client, rows: &[Row]) -> Result<(), Error> {
    let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let names: Vec<&str> = rows.iter().map(|row| row.try_get(1)).collect::<Result<_, _>>()?;
    let keys: Vec<String> = names.iter().map(|name| name_key(name)).collect();
    client.execute(SET_KEYS, &[&ids, &names, &keys]).await?;
    Ok(())
}
