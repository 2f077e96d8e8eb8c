//! The statements for lists, searches and counts, in a form for which PostgreSQL finds good plans.

use std::sync::LazyLock;

use petstore_domain::{PetId, PetStatus, store_area::StorePet};
use petstore_store::{
    admin::plans::{BothOrders, OrderFilter, Plans, Search},
    drivers::postgres::Failure,
    tables::{Table, read_pet_with_order},
};

use crate::connection::Connection;

/// The query for one animal, withdrawn or not, with its open order.
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
/// The SQL expression for the id of the open order of an animal in `page`. Only a pending animal can have
/// an open order, so the subquery runs only for those.
const OPEN_ORDER: &str = "CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders
    WHERE pet_id = page.id AND holds AND orders.status = 'reserved') END";

/// The statements that [`petstore_store::admin::Sql::plans`] describes.
///
/// They have constant limits, and those with a status sort nulls in the order that only the index
/// on the status has. The docs of `LIST` and `LIST_BY_STATUS` in `pets.rs` give the reasons.
pub(crate) static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans {
    pets: Plans::select_pets(list_pets),
    search: [Table::Pets, Table::WithdrawnPets].map(build_search),
    on_offer: BothOrders {
        ascending: list_on_offer("id > $1", "NULLS FIRST"),
        descending: list_on_offer("id < $1", "DESC NULLS LAST"),
    },
    count_on_offer: count_on_offer(""),
    in_window: BothOrders {
        ascending: list_on_offer("id > $1 AND listed", "NULLS FIRST"),
        descending: list_on_offer("id < $1 AND listed", "DESC NULLS LAST"),
    },
    // The index on the status does not cover `listed`. Subtracting the unlisted animals by id keeps this
    // an index-only scan.
    count_in_window: count_on_offer(" AND id NOT IN (SELECT id FROM pets WHERE NOT listed)"),
    orders: Plans::select_orders(list_orders),
    due: Plans::select_due("orders"),
    reservations: Plans::select_reservations("orders"),
    orders_with_contact: Plans::select_orders_with_contact("JOIN"),
    inventory: "SELECT status, count(*) FROM pets GROUP BY status
        UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets"
        .to_owned(),
    has_values: "SELECT EXISTS (SELECT FROM pets WHERE strpos(fields, $1) > 0)
        OR EXISTS (SELECT FROM withdrawn_pets WHERE strpos(fields, $1) > 0)",
});

/// Returns the statement for a page of animals with one of `statuses`. If `statuses` is empty, the
/// animals have any status. The statement reads a page of each status, and merges these pages.
fn list_pets(table: Table, statuses: &[PetStatus], newest_first: bool) -> String {
    let (operator, order) = match (statuses, newest_first) {
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
    let columns = table.selected_columns();
    let mut pages = Vec::with_capacity(conditions.len());
    for condition in conditions {
        pages.push(format!(
            "(SELECT {columns} FROM {table} WHERE id {operator} $1{condition} ORDER BY {order} LIMIT 101)"
        ));
    }
    let all_pages = pages.join(" UNION ALL ");
    format!("SELECT page.*, {OPEN_ORDER} FROM ({all_pages}) AS page ORDER BY {order} LIMIT $2")
}

/// Builds the statements that search one table of animals. Their rows end with the open order.
fn build_search(table: Table) -> Search {
    let columns = table.selected_columns();
    // `{{}}` becomes `{}`, the placeholder in which `Search::new` inserts conditions.
    let page = format!("(SELECT {columns} FROM {table} WHERE {{}}) AS page");
    let select = format!("SELECT page.*, {OPEN_ORDER} FROM {page}");
    Search::new(table, &select, table.as_str())
}

/// Returns the statement for a page of the animals on offer, which are available or pending. The
/// statement reads a page of each of the two statuses, and merges the two pages.
fn list_on_offer(condition: &str, order: &str) -> String {
    let columns = Table::Pets.selected_columns();
    let page_of = |status: PetStatus| {
        format!(
            "(SELECT {columns} FROM pets WHERE status = '{status}' AND {condition}
                ORDER BY id {order} LIMIT 101)"
        )
    };
    let available = page_of(PetStatus::Available);
    let pending = page_of(PetStatus::Pending);
    format!("SELECT * FROM ({available} UNION ALL {pending}) AS page ORDER BY id {order} LIMIT $2")
}

/// Returns the statement that counts the animals on offer that meet `condition`. The statement
/// stops counting at $1.
fn count_on_offer(condition: &str) -> String {
    format!(
        "SELECT count(*) FROM (
            SELECT FROM pets WHERE status IN ('available', 'pending'){condition} LIMIT $1
        ) AS counted"
    )
}

/// Returns the statement for a page of orders.
fn list_orders(filter: OrderFilter, newest_first: bool) -> String {
    // Only the index on the status is sorted with NULLS FIRST. See `LIST_BY_STATUS` of `pets.rs`.
    let is_by_status = filter == OrderFilter::Status;
    let (operator, order) = match (is_by_status, newest_first) {
        (true, false) => (">", "id NULLS FIRST"),
        (true, true) => ("<", "id DESC NULLS LAST"),
        (false, false) => (">", "id"),
        (false, true) => ("<", "id DESC"),
    };
    let columns = Table::Orders.selected_columns();
    let condition = filter.condition();
    format!(
        "SELECT * FROM (SELECT {columns} FROM orders WHERE id {operator} $1{condition}
                ORDER BY {order} LIMIT 101) AS page ORDER BY {order} LIMIT $2"
    )
}

/// Returns the statement that reads all rows of a table, in the form that [`Table::read`] parses.
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
        Table::Orders | Table::Categories | Table::Notes => {
            format!("SELECT {columns} FROM {table} ORDER BY id")
        }
    }
}

/// Reads an animal, withdrawn or not, with its open order.
pub(super) async fn read_pet(
    connection: &mut Connection,
    id: PetId,
) -> Result<Option<StorePet>, Failure> {
    let statement = connection.prepare_once(&GET_PET).await?;
    // A single statement reads both tables, so it cannot miss an animal that is moving between them.
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    row.as_ref().map(read_pet_with_order).transpose()
}
