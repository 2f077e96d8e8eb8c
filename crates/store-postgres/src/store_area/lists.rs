//! Lists, with the plans of this store.

use std::sync::LazyLock;

use petstore_domain::{PetId, PetStatus, store_area::StorePet};
use petstore_store::{
    admin::plans::{OrderFilter, Plans, Search},
    drivers::postgres::Failure,
    tables::{Table, read_pet_with_order},
};

use crate::pool::Connection;

static GET_PET: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT pet.*, (SELECT id FROM orders
            WHERE pet_id = pet.id AND holds AND orders.status = 'reserved')
        FROM (SELECT {} FROM pets WHERE id = $1
            UNION ALL SELECT {} FROM withdrawn_pets WHERE id = $1) AS pet",
        Table::Pets.selected_columns(),
        Table::WithdrawnPets.selected_columns()
    )
});
/// The open order of an animal. Only a pending animal can have one.
const ORDER: &str = "CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders
    WHERE pet_id = page.id AND holds AND orders.status = 'reserved') END";
/// See [`petstore_store::admin::Sql::plans`]. The constant limits are for one plan, as in
/// `LIST_BY_STATUS` of `pets.rs`, and so is the order of nulls, backwards and forwards.
pub(crate) static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans {
    pets: Plans::pets(|table, statuses, newest_first| {
        let (behind, order) = match (statuses, newest_first) {
            ([], false) => (">", "id"),
            ([], true) => ("<", "id DESC"),
            (_, false) => (">", "id NULLS FIRST"),
            (_, true) => ("<", "id DESC NULLS LAST"),
        };
        let conditions = match statuses {
            [] => vec![String::new()],
            _ => statuses
                .iter()
                .map(|status| format!(" AND status = '{status}'"))
                .collect(),
        };
        let of = |condition| {
            format!(
                "(SELECT {} FROM {table} WHERE id {behind} $1{condition} ORDER BY {order} LIMIT 101)",
                table.selected_columns()
            )
        };
        let ranges: Vec<_> = conditions.iter().map(of).collect();
        let ranges = ranges.join(" UNION ALL ");
        format!("SELECT page.*, {ORDER} FROM ({ranges}) AS page ORDER BY {order} LIMIT $2")
    }),
    search: [Table::Pets, Table::WithdrawnPets].map(|table| {
        let page = format!(
            "(SELECT {} FROM {table} WHERE {{}}) AS page",
            table.selected_columns()
        );
        Search::new(table, &format!("SELECT page.*, {ORDER} FROM {page}"))
    }),
    on_offer: [("<", "DESC NULLS LAST"), (">", "NULLS FIRST")].map(|(behind, order)| {
        let of = |status| {
            format!(
                "(SELECT {} FROM pets WHERE status = '{status}' AND id {behind} $1
                ORDER BY id {order} LIMIT 101)",
                Table::Pets.selected_columns()
            )
        };
        let available = of(PetStatus::Available);
        let pending = of(PetStatus::Pending);
        format!(
            "SELECT * FROM ({available} UNION ALL {pending}) AS page ORDER BY id {order} LIMIT $2"
        )
    }),
    count_on_offer: "SELECT count(*) FROM (
            SELECT FROM pets WHERE status IN ('available', 'pending') LIMIT $1
        ) AS counted"
        .to_owned(),
    orders: Plans::orders(|filter, newest_first| {
        // NULLS FIRST is the order of only the index on the status.
        let orders = if filter == OrderFilter::Status {
            ["id NULLS FIRST", "id DESC NULLS LAST"]
        } else {
            ["id", "id DESC"]
        };
        let (behind, order) = if newest_first {
            ("<", orders[1])
        } else {
            (">", orders[0])
        };
        format!(
            "SELECT * FROM (SELECT {} FROM orders WHERE id {behind} $1{}
                ORDER BY {order} LIMIT 101) AS page ORDER BY {order} LIMIT $2",
            Table::Orders.selected_columns(),
            filter.condition()
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
pub(crate) fn select_all(table: Table) -> String {
    let columns = table.selected_columns();
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
    row.as_ref().map(read_pet_with_order).transpose()
}
