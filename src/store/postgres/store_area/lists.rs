//! Lists, with the plans of this store.

use std::sync::LazyLock;

use tokio_postgres::types::ToSql;

use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{PetQuery, StorePet},
    },
    store::{
        admin::{plans::Plans, search::Reads},
        postgres::{errors::Failure, pool::Connection},
        tables::{Table, pet_with_order},
    },
};

static GET_PET: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT pet.*, (SELECT id FROM orders
            WHERE pet_id = pet.id AND holds AND orders.status = 'reserved')
        FROM (SELECT {} FROM pets WHERE id = $1
            UNION ALL SELECT {} FROM withdrawn_pets WHERE id = $1) AS pet",
        Table::Pets.selected(),
        Table::WithdrawnPets.selected()
    )
});
/// The open order of an animal. Only a pending animal can have one.
const ORDER: &str = "CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders
    WHERE pet_id = page.id AND holds AND orders.status = 'reserved') END";
/// The search in the animals that are not withdrawn, and in those that are.
pub(super) static READS: LazyLock<[Reads; 2]> = LazyLock::new(|| {
    [Table::Pets, Table::WithdrawnPets].map(|table| {
        let columns = table.selected();
        let page = format!("(SELECT {columns} FROM {table} WHERE {{}}) AS page");
        Reads::of(table, &format!("SELECT page.*, {ORDER} FROM {page}"))
    })
});
/// The pages of animals without a search: of both tables, with all animals, those of one status, and those
/// of two; the oldest first, and the newest first. The limits and orders are as in [`PLANS`].
static PETS: LazyLock<[[[String; 2]; 3]; 2]> = LazyLock::new(|| {
    [Table::Pets, Table::WithdrawnPets].map(|table| {
        [0, 1, 2].map(|statuses| {
            let nulls = if statuses == 0 { ["", ""] } else { [" NULLS FIRST", " NULLS LAST"] };
            [(">", "ASC", nulls[0]), ("<", "DESC", nulls[1])].map(|(behind, order, nulls)| {
                let conditions = match statuses {
                    0 => vec![String::new()],
                    _ => (3..3 + statuses).map(|at| format!(" AND status = ${at}")).collect(),
                };
                let of = |condition| {
                    format!(
                        "(SELECT {} FROM {table} WHERE id {behind} $1{condition}
                        ORDER BY id {order}{nulls} LIMIT 101)",
                        table.selected()
                    )
                };
                let ranges: Vec<_> = conditions.iter().map(of).collect();
                format!(
                    "SELECT page.*, {ORDER} FROM ({}) AS page ORDER BY id {order}{nulls} LIMIT $2",
                    ranges.join(" UNION ALL ")
                )
            })
        })
    })
});
/// See [`crate::store::admin::Sql::plans`]. The constant limits are for one plan, as in
/// `LIST_BY_STATUS` of `pets.rs`, and so is the order of nulls, backwards and forwards.
pub(in crate::store::postgres) static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans {
    on_offer: [("<", "DESC NULLS LAST"), (">", "NULLS FIRST")].map(|(behind, order)| {
        let of = |status| {
            format!(
                "(SELECT {} FROM pets WHERE status = '{status}' AND id {behind} $1
                ORDER BY id {order} LIMIT 101)",
                Table::Pets.selected()
            )
        };
        let (available, pending) = (of(PetStatus::Available), of(PetStatus::Pending));
        format!(
            "SELECT * FROM ({available} UNION ALL {pending}) AS page ORDER BY id {order} LIMIT $2"
        )
    }),
    count_on_offer: "SELECT count(*) FROM (
            SELECT FROM pets WHERE status IN ('available', 'pending') LIMIT $1
        ) AS counted"
        .to_owned(),
    orders: Plans::orders(|by, filter, newest_first| {
        // NULLS FIRST is the order of only the index on the status.
        let orders =
            if by == 1 { ["id NULLS FIRST", "id DESC NULLS LAST"] } else { ["id", "id DESC"] };
        let (behind, order) = if newest_first { ("<", orders[1]) } else { (">", orders[0]) };
        format!(
            "SELECT * FROM (SELECT {} FROM orders WHERE id {behind} $1{filter}
                ORDER BY {order} LIMIT 101) AS page ORDER BY {order} LIMIT $2",
            Table::Orders.selected()
        )
    }),
    due: Plans::due("orders"),
    reservations: Plans::reservations("orders"),
    contacts_until: Plans::contacts_until("JOIN"),
    inventory: "SELECT status, count(*) FROM pets GROUP BY status
        UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets"
        .to_owned(),
    has_values: "SELECT EXISTS (SELECT FROM pets WHERE strpos(fields, $1) > 0)
        OR EXISTS (SELECT FROM withdrawn_pets WHERE strpos(fields, $1) > 0)",
});

/// Reads everything in a table, for [`Table::read`].
pub(in crate::store::postgres) fn everything(table: Table) -> String {
    let columns = table.selected();
    match table {
        Table::Pets => format!(
            "SELECT pet.*, orders.id FROM (SELECT {columns} FROM pets) AS pet
            LEFT JOIN orders ON pet_id = pet.id AND holds AND orders.status = 'reserved'
            ORDER BY pet.id"
        ),
        Table::WithdrawnPets => {
            format!("SELECT {columns}, NULL::bigint FROM withdrawn_pets ORDER BY id")
        }
        Table::Orders | Table::Categories => format!("SELECT {columns} FROM {table} ORDER BY id"),
    }
}

pub(super) async fn get_pet(
    connection: &mut Connection,
    id: PetId,
) -> Result<Option<StorePet>, Failure> {
    let statement = connection.prepared(&GET_PET).await?;
    // Between the two tables, the statement sees one moment.
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    row.as_ref().map(pet_with_order).transpose()
}

/// The animals of a page without a search.
pub(super) async fn pets(
    connection: &mut Connection,
    query: &PetQuery,
) -> Result<(Vec<StorePet>, Option<PetId>), Failure> {
    let statuses = match query.status {
        Some(status) => vec![status.as_str()],
        None if query.on_offer => vec![PetStatus::Available.as_str(), PetStatus::Pending.as_str()],
        None => Vec::new(),
    };
    let after = query.after.map_or(if query.newest_first { i64::MAX } else { 0 }, PetId::get);
    // One more than requested shows whether a page follows.
    let fetched = i64::from(query.limit.get()) + 1;
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&after, &fetched];
    parameters.extend(statuses.iter().map(|status| status as &(dyn ToSql + Sync)));
    let statements = &PETS[usize::from(query.withdrawn)][statuses.len()];
    let statement = connection.prepared(&statements[usize::from(query.newest_first)]).await?;
    let rows = connection.query(&statement, &parameters).await?;
    let pets: Result<Vec<_>, _> = rows.iter().map(pet_with_order).collect();
    Ok(query.limit.page(pets?, |pet| pet.id))
}
