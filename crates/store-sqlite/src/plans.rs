//! The statements that read animals and orders, with the plans of this store.

use std::{fmt::Display, sync::LazyLock};

use petstore_domain::{PetStatus, store_area::Order};
use petstore_store::{
    admin::plans::{OrderFilter, Plans, Search},
    tables::{Record, Table},
};

use super::rows::of_status;

/// The selected columns of a table, for [`Table::read`].
pub(super) static SELECT: LazyLock<[String; 4]> = LazyLock::new(|| {
    Table::ALL.map(|table| {
        let order = match table {
            Table::Pets => {
                ", CASE WHEN pets.status <> 'available' THEN
                    (SELECT orders.id FROM orders INDEXED BY orders_one_holds
                    WHERE pet_id = pets.id AND holds = 1 AND orders.status = 'reserved') END"
            }
            Table::WithdrawnPets => ", NULL",
            Table::Orders | Table::Categories => "",
        };
        format!("SELECT {}{order} FROM {table}", table.selected_columns())
    })
});

/// Reads everything in a table.
pub(super) fn select_all(table: Table) -> String {
    let by_id = if table == Table::Pets {
        "NOT INDEXED ORDER BY id"
    } else {
        "ORDER BY id"
    };
    format!("{} {by_id}", SELECT[table as usize])
}

/// See [`petstore_store::admin::Sql::plans`].
pub(super) static PLANS: LazyLock<Plans> = LazyLock::new(|| Plans {
    pets: Plans::pets(|table, statuses, newest_first| {
        let (behind, order) = if newest_first {
            ("<", "DESC")
        } else {
            (">", "ASC")
        };
        let of =
            |condition: String| format!("{} {condition} id {behind} $1", SELECT[table as usize]);
        let of_status = |status: &PetStatus| match table {
            Table::Pets => of(of_status(*status) + " AND"),
            _ => of(format!(
                "INDEXED BY withdrawn_pets_by_status WHERE status = '{status}' AND"
            )),
        };
        let pets = match statuses {
            [] => of("NOT INDEXED WHERE".to_owned()),
            _ => statuses
                .iter()
                .map(of_status)
                .collect::<Vec<_>>()
                .join(" UNION ALL "),
        };
        format!("{pets} ORDER BY id {order} LIMIT $2")
    }),
    search: [Table::Pets, Table::WithdrawnPets]
        .map(|table| Search::new(table, &format!("{} WHERE {{}}", SELECT[table as usize]))),
    // Walks along the indexes of both statuses backwards or forwards, and reads only the rows of the page.
    on_offer: [("<", "DESC"), (">", "ASC")].map(|(behind, order)| {
        let condition = format!(" AND id {behind} $1");
        let both = both_on_offer(&Table::Pets.selected_columns(), &condition);
        format!("{both} ORDER BY id {order} LIMIT $2")
    }),
    count_on_offer: format!(
        "SELECT count(*) FROM (SELECT * FROM ({}) LIMIT $1)",
        both_on_offer("id", "")
    ),
    orders: Plans::orders(|filter, newest_first| {
        let (behind, direction) = if newest_first {
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
        // A join opens the table of contacts once, and a subquery would open it for each order.
        format!(
            "SELECT {}, contact FROM orders {index} LEFT JOIN order_contacts ON order_id = id
            WHERE id {behind} $1{} ORDER BY id{direction} LIMIT $2",
            Order::COLUMNS.join(", "),
            filter.condition()
        )
    }),
    due: Plans::due(BY_END),
    reservations: Plans::reservations(BY_END),
    contacts_until: Plans::contacts_until("CROSS JOIN"),
    inventory: PetStatus::ALL
        .iter()
        .map(|&status| count(&status, &format!("pets {}", of_status(status))))
        .chain([count(&"withdrawn", "withdrawn_pets")])
        .collect::<Vec<_>>()
        .join(" UNION ALL "),
    has_values: "SELECT EXISTS (SELECT 1 FROM pets WHERE instr(fields, $1) > 0)
        OR EXISTS (SELECT 1 FROM withdrawn_pets WHERE instr(fields, $1) > 0)",
});

const BY_END: &str = "orders INDEXED BY orders_by_end";

fn both_on_offer(columns: &str, condition: &str) -> String {
    let of = |status| {
        format!(
            "SELECT {columns} FROM pets {}{condition}",
            of_status(status)
        )
    };
    [of(PetStatus::Available), of(PetStatus::Pending)].join(" UNION ALL ")
}

fn count(status: &dyn Display, of: &str) -> String {
    format!("SELECT '{status}', count(*) FROM {of}")
}

#[cfg(test)]
mod tests {
    use crate::connection::Connection;

    use super::*;
    use crate::opening;
    use petstore_store::OpenMode;

    /// How SQLite runs a statement.
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
        let (writing, _) = opening::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        for (list, search) in PLANS.on_offer.iter().zip(["(id<?)", "(id>?)"]) {
            let plan = plan(&writing, list);
            for status in ["available", "pending"] {
                let search = format!("SEARCH pets USING INDEX pets_{status} {search}");
                assert!(plan.contains(&search), "{plan}");
            }
            assert!(
                plan.contains("MERGE") && !plan.contains("TEMP B-TREE"),
                "{plan}"
            );
        }
        let indexes = [
            "INTEGER PRIMARY KEY (rowid",
            "INDEX orders_by_status (status=? AND id",
            "INDEX orders_by_pet (pet_id=? AND id",
            "INDEX orders_by_reference (reference=? AND id",
        ];
        for (lists, index) in PLANS.orders.iter().zip(indexes) {
            for (list, behind) in lists.iter().zip([">", "<"]) {
                let plan = plan(&writing, list);
                let search = format!("SEARCH orders USING {index}{behind}?)");
                assert!(
                    plan.contains(&search) && !plan.contains("TEMP B-TREE"),
                    "{plan}"
                );
            }
        }
        let due = plan(&writing, &PLANS.due);
        assert!(
            due.contains("SEARCH orders USING COVERING INDEX orders_by_end (expires"),
            "{due}"
        );
        assert!(!due.contains("TEMP B-TREE"), "{due}");
        let contacts = plan(&writing, &PLANS.contacts_until);
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
