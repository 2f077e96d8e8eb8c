//! The statements of lists, searches and counts, in the form that SQLite plans well.

use std::sync::LazyLock;

use petstore_domain::{PetStatus, store_area::Order};
use petstore_store::{
    admin::plans::{BothOrders, OrderFilter, Plans, Search},
    tables::{Record, Table},
};

use super::rows::status_clause;

/// The table of orders, with the index on the end of reservations.
const ORDERS_BY_END: &str = "orders INDEXED BY orders_by_end";

/// The results of [`select`] for each table, in the order of [`Table::ALL`].
static SELECT: LazyLock<[String; Table::ALL.len()]> = LazyLock::new(|| {
    Table::ALL.map(|table| {
        let open_order = match table {
            Table::Pets => {
                ", CASE WHEN pets.status <> 'available' THEN
                    (SELECT orders.id FROM orders INDEXED BY orders_one_holds
                    WHERE pet_id = pets.id AND holds = 1 AND orders.status = 'reserved') END"
            }
            Table::WithdrawnPets => ", NULL",
            Table::Orders | Table::Categories | Table::Notes => "",
        };
        format!(
            "SELECT {}{open_order} FROM {table}",
            table.selected_columns()
        )
    })
});

/// Returns the beginning of a SELECT from a table, with the columns that [`Table::read`] expects. For an
/// animal, they include its open order.
pub(super) fn select(table: Table) -> &'static str {
    &SELECT[table as usize]
}

/// Returns the statement that reads everything in a table.
pub(super) fn select_all(table: Table) -> String {
    let order = if table == Table::Pets {
        "NOT INDEXED ORDER BY id"
    } else {
        "ORDER BY id"
    };
    format!("{} {order}", select(table))
}

/// The statements that [`petstore_store::admin::Sql::plans`] describes.
pub(super) static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans {
    pets: Plans::select_pets(list_pets),
    search: [Table::Pets, Table::WithdrawnPets].map(build_search),
    on_offer: BothOrders {
        ascending: list_on_offer("id > $1", "ASC"),
        descending: list_on_offer("id < $1", "DESC"),
    },
    count_on_offer: count_on_offer(""),
    in_window: BothOrders {
        ascending: list_on_offer("id > $1 AND listed", "ASC"),
        descending: list_on_offer("id < $1 AND listed", "DESC"),
    },
    // The indexes on the status do not cover `listed`. Subtracting the unlisted animals by id lets
    // SQLite read only indexes.
    count_in_window: count_on_offer(
        " AND id NOT IN (SELECT id FROM pets INDEXED BY pets_unlisted WHERE NOT listed)",
    ),
    orders: Plans::select_orders(list_orders),
    due: Plans::select_due(ORDERS_BY_END),
    reservations: Plans::select_reservations(ORDERS_BY_END),
    orders_with_contact: Plans::select_orders_with_contact("CROSS JOIN"),
    inventory: count_by_status(),
    has_values: "SELECT EXISTS (SELECT 1 FROM pets WHERE instr(fields, $1) > 0)
        OR EXISTS (SELECT 1 FROM withdrawn_pets WHERE instr(fields, $1) > 0)",
});

/// Builds the statements that search one table of animals.
fn build_search(table: Table) -> Search {
    // `Search::new` replaces the `{}` that remains in this text.
    let select_matches = format!("{} WHERE {{}}", select(table));
    Search::new(
        table,
        &select_matches,
        &format!("{table} INDEXED BY {table}_unlisted"),
    )
}

/// Returns the statement for a page of animals with one of `statuses`. If `statuses` is empty, the
/// animals have any status. The statement merges one range of an index per status.
fn list_pets(table: Table, statuses: &[PetStatus], newest_first: bool) -> String {
    let (operator, order) = if newest_first {
        ("<", "DESC")
    } else {
        (">", "ASC")
    };
    let conditions = match statuses {
        [] => vec!["NOT INDEXED WHERE".to_owned()],
        _ => statuses
            .iter()
            .map(|status| format!("{} AND", table_status_clause(table, *status)))
            .collect(),
    };
    let select_pets = select(table);
    let mut ranges = Vec::with_capacity(conditions.len());
    for condition in conditions {
        ranges.push(format!("{select_pets} {condition} id {operator} $1"));
    }
    let pets = ranges.join(" UNION ALL ");
    format!("{pets} ORDER BY id {order} LIMIT $2")
}

/// Returns the clause that selects, by an index, the animals of a status in the catalogue or among the
/// withdrawn animals.
fn table_status_clause(table: Table, status: PetStatus) -> String {
    if table == Table::Pets {
        return status_clause(status);
    }
    format!("INDEXED BY withdrawn_pets_by_status WHERE status = '{status}'")
}

/// Returns the statement for a page of the animals on offer, which are available or pending. The
/// statement merges scans of the indexes of both statuses, so it reads only the rows of the page.
fn list_on_offer(condition: &str, order: &str) -> String {
    let columns = Table::Pets.selected_columns();
    let pets = select_on_offer(&columns, &format!(" AND {condition}"));
    format!("{pets} ORDER BY id {order} LIMIT $2")
}

/// Returns the statement that counts the animals that are on offer and meet `condition`, up to $1.
fn count_on_offer(condition: &str) -> String {
    let pets = select_on_offer("id", condition);
    format!("SELECT count(*) FROM (SELECT * FROM ({pets}) LIMIT $1)")
}

/// Returns the statement that selects these columns of the animals that are on offer and meet
/// `condition`.
fn select_on_offer(columns: &str, condition: &str) -> String {
    let available = status_clause(PetStatus::Available);
    let pending = status_clause(PetStatus::Pending);
    format!(
        "SELECT {columns} FROM pets {available}{condition} UNION ALL \
         SELECT {columns} FROM pets {pending}{condition}"
    )
}

/// Returns the statement for a page of orders.
fn list_orders(filter: OrderFilter, newest_first: bool) -> String {
    let (operator, direction) = if newest_first {
        ("<", " DESC")
    } else {
        (">", "")
    };
    let index = match filter {
        OrderFilter::None => "NOT INDEXED",
        OrderFilter::Status => "INDEXED BY orders_by_status",
        OrderFilter::Pet => "INDEXED BY orders_by_pet",
        OrderFilter::Reference => "INDEXED BY orders_by_reference",
    };
    let columns = Order::COLUMNS.join(", ");
    let condition = filter.condition();
    // Join the contacts: a subquery would open their table again for each order.
    format!(
        "SELECT {columns}, contact FROM orders {index} LEFT JOIN order_contacts ON order_id = id
            WHERE id {operator} $1{condition} ORDER BY id{direction} LIMIT $2"
    )
}

/// Returns the statement that counts the animals of each status, and the withdrawn ones.
fn count_by_status() -> String {
    let mut counts = Vec::new();
    for status in PetStatus::ALL {
        let clause = status_clause(status);
        counts.push(format!("SELECT '{status}', count(*) FROM pets {clause}"));
    }
    counts.push("SELECT 'withdrawn', count(*) FROM withdrawn_pets".to_owned());
    counts.join(" UNION ALL ")
}

#[cfg(test)]
mod tests {
    use crate::connection::Connection;

    use super::*;
    use crate::opening;
    use petstore_store::OpenMode;

    /// Returns the steps in which SQLite runs a statement.
    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        // Parameters without values are null.
        let steps = statement
            .raw_query()
            .mapped(|row| row.get::<_, String>("detail"));
        steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_range_of_a_list_is_one_search_of_an_index_without_a_sort() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let writing = opening::open_for_writing(&path, OpenMode::CreateAndMigrate)
            .unwrap()
            .connection;
        let lists = [
            (&PLANS.on_offer.ascending, "(id>?)"),
            (&PLANS.on_offer.descending, "(id<?)"),
            (&PLANS.in_window.ascending, "(id>?)"),
            (&PLANS.in_window.descending, "(id<?)"),
        ];
        for (list, search) in lists {
            let query_plan = plan(&writing, list);
            for status in ["available", "pending"] {
                let search = format!("SEARCH pets USING INDEX pets_{status} {search}");
                assert!(query_plan.contains(&search), "{query_plan}");
            }
            assert!(
                query_plan.contains("MERGE") && !query_plan.contains("TEMP B-TREE"),
                "{query_plan}"
            );
        }
        let indexes = [
            "INTEGER PRIMARY KEY (rowid",
            "INDEX orders_by_status (status=? AND id",
            "INDEX orders_by_pet (pet_id=? AND id",
            "INDEX orders_by_reference (reference=? AND id",
        ];
        for (lists, index) in PLANS.orders.iter().zip(indexes) {
            for (list, operator) in [(&lists.ascending, ">"), (&lists.descending, "<")] {
                let query_plan = plan(&writing, list);
                let search = format!("SEARCH orders USING {index}{operator}?)");
                assert!(
                    query_plan.contains(&search) && !query_plan.contains("TEMP B-TREE"),
                    "{query_plan}"
                );
            }
        }
        let due = plan(&writing, &PLANS.due);
        assert!(
            due.contains("SEARCH orders USING COVERING INDEX orders_by_end (expires"),
            "{due}"
        );
        assert!(!due.contains("TEMP B-TREE"), "{due}");
        let contacts = plan(&writing, &PLANS.orders_with_contact);
        assert!(
            contacts.starts_with("SEARCH order_contacts USING"),
            "{contacts}"
        );
        assert!(
            contacts.contains("SEARCH orders USING INTEGER PRIMARY KEY"),
            "{contacts}"
        );
        assert!(!contacts.contains("TEMP B-TREE"), "{contacts}");
    }
}
