//! The tables of animals, orders and categories as PostgreSQL has them: an animal also has the keys of
//! its name.

use std::sync::LazyLock;

use super::name_keys::StoredKeys;
use crate::{
    domain::store_area::Resource,
    store::{
        columns::Value,
        tables::{Table, values},
    },
};

/// The columns of each table, in the order of [`with_values`].
pub(super) static COLUMNS: LazyLock<[String; 4]> = LazyLock::new(|| {
    Table::ALL.map(|table| {
        let mut columns = table.columns();
        if let Table::Pets | Table::WithdrawnPets = table {
            columns.extend(["name_key", "words"]);
        }
        columns.join(", ")
    })
});

/// The type of a column.
pub(super) fn column_type(column: &str) -> &'static str {
    match column {
        "name" | "name_key" | "words" | "status" | "reason" | "note" | "reference" | "label"
        | "price" | "fields" | "photos" => "text",
        "holds" => "boolean",
        "id" | "category_id" | "version" | "created_at" | "updated_at" | "withdrawn_at"
        | "pet_id" | "expires_at" | "closed_at" => "bigint",
        // No statement with such a type can be prepared.
        _ => "type_of_a_column_that_column_type_does_not_know",
    }
}

/// Calls `with` with the table of a resource, and the values of its columns.
pub(super) fn with_values<T>(
    resource: &Resource,
    with: impl FnOnce(Table, &[Value<'_>]) -> T,
) -> T {
    let keys = match resource {
        Resource::Pet(pet) => Some(StoredKeys::of(pet.name.as_str())),
        Resource::Order(_) | Resource::Category(_) => None,
    };
    let mut values = values(resource);
    values.extend(keys.iter().flat_map(StoredKeys::values));
    with(Table::of(resource), &values)
}
