//! Pages of animals. Each is read from one position of an index for each status.

use std::sync::LazyLock;

use tokio_postgres::{Row, types::ToSql};

use super::super::name_keys::{set_keys, without_words};
use crate::{
    domain::{
        Limit, PetId, PetStatus,
        store_area::{NAME_KEY_LENGTH, NamePrefix, PetPosition, PetQuery, StorePet},
    },
    store::{
        admin::field_search,
        postgres::{errors::Failure, pool::Connection},
        tables::{PET_WIDTH, Table, pet_with_order},
    },
};

/// The first key of a name, as the indexes have it: made here of a name that is its own key.
const KEY: &str = r#"coalesce(name_key, lower(substr(name, 1, 64) COLLATE "C"))"#;
const _: () = assert!(NAME_KEY_LENGTH == 64);

/// NULLS FIRST is the order of only the index `pets_without_words`.
const WITHOUT_WORDS: &str = concat!(
    "SELECT id, left(name, 256) FROM pets WHERE ",
    without_words!(),
    " ORDER BY id NULLS FIRST LIMIT 100"
);

/// The open order of an animal. Only a pending animal can have one.
const ORDER: &str = "CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders
    WHERE pet_id = page.id AND holds AND orders.status = 'reserved') END";

/// See [`field_search::find`].
pub(super) static PETS_OF: LazyLock<[[String; 2]; 2]> = LazyLock::new(|| {
    let ids: Vec<_> = (1..=field_search::PAGE).map(|number| format!("${number}")).collect();
    let values = "json_strip_nulls(json_build_object($1::text, fields::json -> $1,
        $2::text, fields::json -> $2, $3::text, fields::json -> $3))::text";
    [Table::Pets, Table::WithdrawnPets].map(|table| {
        let (columns, ids) = (table.selected(), ids.join(", "));
        let pets = format!(
            "SELECT page.*, {ORDER} FROM (SELECT {columns} FROM {table} WHERE id IN ({ids})) AS page"
        );
        [pets, field_search::changed(table, values)]
    })
});

/// The maximum key: no key has so many characters.
static ABOVE_ALL_KEYS: LazyLock<String> = LazyLock::new(|| "\u{10FFFF}".repeat(65));

/// What a list is of, and its filters: the sum of those that it has. A list with a category has a
/// name, too. Only a name that is not empty is looked for among the words.
const WITHDRAWN: usize = 1;
const STATUS: usize = 2;
const CATEGORY: usize = 4;
const NAME: usize = 8;
const WORDS: usize = 16;

/// The statement for each sum of filters.
static STATEMENTS: LazyLock<Vec<String>> = LazyLock::new(|| (0..32).map(statement).collect());

/// Its parameters are the length of the page, the position, the length of the name, and the category,
/// as far as there are such; then one status, or all three.
///
/// Each order is that of one index only, so that no plan walks along another index and filters. To
/// PostgreSQL, the collations "C" and "POSIX" have different orders, although they are the same. The
/// constant limits let it keep one plan. See `LIST` in `pets.rs`.
fn statement(filters: usize) -> String {
    let has = |filter| filters & filter != 0;
    let table = if has(WITHDRAWN) { Table::WithdrawnPets } else { Table::Pets };
    let columns = table.selected();
    let collation = if has(CATEGORY) { "POSIX" } else { "C" };
    let key = has(NAME).then(|| format!("{KEY} COLLATE \"{collation}\""));
    let nulls = if filters & !WITHDRAWN == STATUS { " NULLS FIRST" } else { "" };
    let mut parameters = (3..).map(|number| format!("${number}"));
    let mut next = || parameters.next().unwrap_or_default();
    let behind = |key: &str, id: &str, from: &str, until: &str| {
        format!("({key}, {id}) > ({from}, $2) AND {key} < {until}")
    };
    let (from, until) = if has(NAME) { (next(), next()) } else { Default::default() };
    let length = if has(WORDS) { next() } else { String::new() };
    let position = match &key {
        None => "id > $2".to_owned(),
        Some(key) => behind(key, "id", &from, &until),
    };
    let category =
        if has(CATEGORY) { format!(" AND category_id = {}", next()) } else { String::new() };
    let by_key = key.as_ref().map_or_else(String::new, |key| format!("{key}, "));
    let key = key.unwrap_or_else(|| "NULL::text".to_owned());
    let by_first_key = |status: &str| {
        format!(
            "(SELECT {columns}, {key} AS key FROM {table}
            WHERE {position}{category}{status} ORDER BY {by_key}id{nulls} LIMIT 101)"
        )
    };
    // The words are read first, and then each animal by its identifier, whatever the statistics are.
    let word = format!("key COLLATE \"{collation}\"");
    let by_words = |status: &str| {
        format!(
            "(SELECT pet.*, word.key FROM (
                SELECT pet_id, {word} AS key FROM pet_words
                WHERE withdrawn = {} AND {} AND shared < {length}{category}{status}
                ORDER BY {word}, pet_id LIMIT 101) AS word
            CROSS JOIN LATERAL (SELECT {columns} FROM {table} WHERE id = word.pet_id LIMIT 1) AS pet)",
            has(WITHDRAWN),
            behind(&word, "pet_id", &from, &until)
        )
    };
    let shape = filters & !WITHDRAWN;
    let ranges: Vec<String> = if shape == 0 {
        vec![by_first_key("")]
    } else {
        let count = if has(STATUS) { 1 } else { PetStatus::ALL.len() };
        let statuses = (0..count).map(|_| format!(" AND status = {}", next()));
        let ranges = statuses.flat_map(|status| {
            [Some(by_first_key(&status)), has(WORDS).then(|| by_words(&status))]
        });
        ranges.flatten().collect()
    };
    let by_key = if has(NAME) { "key, " } else { "" };
    format!(
        "SELECT {}, {ORDER}, key FROM ({}) AS page ORDER BY {by_key}id{nulls} LIMIT $1",
        Table::WithdrawnPets.selected(),
        ranges.join(" UNION ALL ")
    )
}
const _: () = assert!(Limit::MAX == 100);

pub(super) async fn list(
    connection: &mut Connection,
    query: &PetQuery,
) -> Result<(Vec<StorePet>, Option<PetPosition>), Failure> {
    let prefix = query.prefix();
    if prefix.is_some() && !query.withdrawn {
        // The search must find them.
        while set_some_keys(connection).await? {}
    }
    let filters = [
        query.withdrawn.then_some(WITHDRAWN),
        query.status.map(|_| STATUS),
        query.category_id.map(|_| CATEGORY),
        prefix.as_ref().map(|_| NAME),
        prefix.as_ref().filter(|prefix| !prefix.is_empty()).map(|_| WORDS),
    ];
    let filters: usize = filters.into_iter().flatten().sum();
    let limit = usize::from(query.limit.get());
    // One more than requested shows whether a page follows.
    let fetched = i64::from(query.limit.get()) + 1;
    let after = query.after.as_ref().map_or(0, |after| after.id.get());
    let after_key = query.after.as_ref().and_then(|after| after.key.as_deref());
    let (from, until) = match &prefix {
        None => (String::new(), String::new()),
        Some(name) => (
            after_key.unwrap_or(name.as_str()).to_owned(),
            name.end().unwrap_or_else(|| ABOVE_ALL_KEYS.clone()),
        ),
    };
    let all = PetStatus::ALL.map(PetStatus::as_str);
    let one = query.status.map(PetStatus::as_str);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&fetched, &after];
    if prefix.is_some() {
        parameters.push(&from);
        parameters.push(&until);
    }
    let length = prefix.as_ref().map_or(0, NamePrefix::length);
    let length = i16::try_from(length).unwrap_or(i16::MAX);
    if length > 0 {
        parameters.push(&length);
    }
    if let Some(category) = &query.category_id {
        parameters.push(category);
    }
    if let Some(status) = &one {
        parameters.push(status);
    } else if prefix.is_some() {
        parameters.extend(all.iter().map(|status| status as &(dyn ToSql + Sync)));
    }
    let statement = connection.prepared(&STATEMENTS[filters]).await?;
    let rows = connection.query(&statement, &parameters).await?;
    let page = rows.iter().take(limit).map(pet_with_order).collect::<Result<Vec<_>, _>>()?;
    let last = (rows.len() > limit).then(|| rows.get(limit - 1)).flatten();
    let position = |row: &Row| -> Result<PetPosition, Failure> {
        let id: PetId = page.last().map(|pet| pet.id).ok_or(Failure::Row("id"))?;
        Ok(PetPosition { key: row.try_get(PET_WIDTH + 1)?, id })
    };
    let next = last.map(position).transpose()?;
    Ok((page, next))
}

/// Sets the keys of some names that a service of the previous release added since the migration.
/// Returns whether there were any.
pub(super) async fn set_some_keys(connection: &mut Connection) -> Result<bool, Failure> {
    let statement = connection.prepared(WITHOUT_WORDS).await?;
    let rows = connection.query(&statement, &[]).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    set_keys(connection, "pets", &rows).await?;
    Ok(true)
}
