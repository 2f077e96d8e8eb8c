//! The columns `name_key` and `words`, by which the search finds names. `0016_words.sql` describes
//! them.

use tokio_postgres::{Client, Error, Row};

use crate::{
    domain::store_area::{COMPARED_LENGTH, NameKeys, is_word},
    store::columns::Value,
};

const _: () = assert!(COMPARED_LENGTH == 256);

/// The names whose keys are not set, as in the index `pets_without_words`.
macro_rules! without_words {
    () => {
        "words IS NULL AND name ~ '[^0-9A-Za-z]'"
    };
}
pub(super) use without_words;

/// The keys of a name, as the columns have them.
#[derive(Debug, Clone, Default)]
pub(super) struct StoredKeys {
    /// `None` if the name is its own key.
    pub(super) name_key: Option<String>,
    /// Empty if the name has no other key.
    pub(super) words: String,
}

impl StoredKeys {
    pub(super) fn of(name: &str) -> Self {
        if is_word(name) {
            return Self::default();
        }
        let NameKeys { first, more } = NameKeys::of(name);
        let lines: Vec<_> = more.iter().map(|(key, shared)| format!("{shared:02}{key}")).collect();
        Self { name_key: Some(first), words: lines.join("\n") }
    }

    /// The values of the columns, in the order of their names in this file.
    pub(super) fn values(&self) -> [Value<'_>; 2] {
        let name_key = self.name_key.as_deref().map_or(Value::Null, Value::Text);
        [name_key, Value::Text(&self.words)]
    }
}

/// Sets the keys of the names in these rows of `table`, which have the identifier and the first 256
/// characters of the name.
pub(super) async fn set_keys(client: &Client, table: &str, rows: &[Row]) -> Result<(), Error> {
    let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let names: Vec<&str> = rows.iter().map(|row| row.try_get(1)).collect::<Result<_, _>>()?;
    let (keys, words): (Vec<_>, Vec<_>) = names
        .iter()
        .map(|name| StoredKeys::of(name))
        .map(|StoredKeys { name_key, words }| (name_key, words))
        .unzip();
    let set = format!(
        "UPDATE {table} SET name_key = new.name_key, words = new.words
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS new (id, name, name_key, words)
        WHERE {table}.id = new.id AND left({table}.name, 256) = new.name"
    );
    client.execute(&set, &[&ids, &names, &keys, &words]).await?;
    Ok(())
}
