//! The statements of lists, with the plan that each store needs.

use petstore_domain::PetStatus;

use crate::tables::Table;

/// How many animals a page can have.
pub(super) const PAGE: usize = 100;

/// How many animals that are not merged a search reads at once.
pub(super) const UNREAD: usize = 64;

/// The statements of lists, with the plan that each store needs. All lists have their parameters in
/// the same order.
pub struct Plans {
    /// The animals behind $1, at most $2 and each with its open order: those in the catalogue, and those
    /// that are withdrawn, with each of `STATUSES`; the oldest first, and the newest first.
    pub pets: [[[String; 2]; STATUSES.len()]; 2],
    /// The search in the same two.
    pub search: [Search; 2],
    /// The animals behind $1 that are available or pending, at most $2: the newest first, and the
    /// oldest first.
    pub on_offer: [String; 2],
    /// How many of them there are, counted up to $1.
    pub count_on_offer: String,
    /// The orders behind $1, at most $2, with each of the `FILTERS`: the oldest first, and the newest
    /// first.
    pub orders: [[String; 2]; FILTERS.len()],
    /// See [`Self::due`].
    pub due: String,
    /// See [`Self::reservations`].
    pub reservations: String,
    /// See [`Self::contacts_until`].
    pub contacts_until: String,
    /// Each status, and how many animals have it; and the same of `withdrawn`.
    pub inventory: String,
    /// Whether an animal has $1 in its values.
    pub has_values: &'static str,
}

/// The statuses of the animals on a page: all; on offer; and one.
const STATUSES: [&[PetStatus]; 5] = [
    &[],
    &[PetStatus::Available, PetStatus::Pending],
    &[PetStatus::Available],
    &[PetStatus::Pending],
    &[PetStatus::Sold],
];

/// The filters of a page of orders. Each of the first is the one by which the orders are found: the most
/// selective one.
const FILTERS: [&str; 4] = [
    "",
    " AND status = $3",
    " AND pet_id = $3 AND (CAST($4 AS text) IS NULL OR status = $4)
        AND (CAST($5 AS text) IS NULL OR reference = $5)",
    " AND reference = $3 AND (CAST($4 AS text) IS NULL OR status = $4)",
];

impl Plans {
    /// Lists of animals: `page` makes one of a table and statuses, and whether the newest come first.
    pub fn pets(
        page: impl Fn(Table, &[PetStatus], bool) -> String,
    ) -> [[[String; 2]; STATUSES.len()]; 2] {
        [Table::Pets, Table::WithdrawnPets]
            .map(|table| STATUSES.map(|of| [false, true].map(|newest| page(table, of, newest))))
    }

    /// The animals of such a list, or those that are on offer.
    pub fn of_status(status: Option<PetStatus>, on_offer: bool) -> usize {
        status.map_or(usize::from(on_offer), |status| 2 + status as usize)
    }

    /// Lists of orders: `page` makes one of the filters, with their number, and whether the newest come first.
    pub fn orders(page: impl Fn(usize, &str, bool) -> String) -> [[String; 2]; FILTERS.len()] {
        std::array::from_fn(|by| [false, true].map(|newest| page(by, FILTERS[by], newest)))
    }

    /// The reservations behind the end $2 and the number $3 that end at $1 or before, at most $4, of these
    /// orders. An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the
    /// others.
    pub fn due(orders: &str) -> String {
        format!(
            "SELECT id, expires_at FROM {orders}
            WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
            ORDER BY expires_at, id LIMIT $4"
        )
    }

    /// How many of these orders are open, and the first end.
    pub fn reservations(orders: &str) -> String {
        format!(
            "SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= -62167219200000)
            FROM {orders} WHERE status = 'reserved'"
        )
    }

    /// The orders behind $1 that closed at $2 or before and have a contact, at most $3. Most contacts
    /// belong to orders that are open or closed a short time ago.
    pub fn contacts_until(join: &str) -> String {
        format!(
            "SELECT order_id FROM order_contacts {join} orders ON orders.id = order_id
            WHERE order_id > $1 AND closed_at <= $2 ORDER BY order_id LIMIT $3"
        )
    }
}

/// The statements with which a search reads animals of a table.
pub struct Search {
    /// Animals with [`PAGE`] identifiers, each with its open order.
    pub(super) pets: String,
    /// The next [`UNREAD`] animals that are not merged, in this table or not: with a higher identifier
    /// than $1, and with a lower one.
    pub(super) unmerged: [String; 2],
}

impl Search {
    /// `select` selects the columns of animals, each with its open order, where a condition with the
    /// place `{}` is true.
    pub fn of(table: Table, select: &str) -> Self {
        let ids: Vec<_> = (1..=PAGE).map(|number| format!("${number}")).collect();
        // Of two lower bounds, SQLite would begin at any.
        let ascending =
            "id > (SELECT CASE WHEN merged > $1 THEN merged ELSE $1 END FROM search_state)
            AND id <= (SELECT last FROM search_state)";
        let descending = "id > (SELECT merged FROM search_state) AND id <= (
            SELECT CASE WHEN last < $1 THEN last ELSE $1 - 1 END FROM search_state)";
        let orders = [(">", "ASC", ascending), ("<", "DESC", descending)];
        let unmerged = orders.map(|(behind, order, is_new)| {
            let changed = format!(
                "SELECT DISTINCT pet_id AS id FROM value_changes
                WHERE pet_id {behind} $1 ORDER BY pet_id {order} LIMIT {UNREAD}"
            );
            let new = |table| {
                format!("SELECT id FROM {table} WHERE {is_new} ORDER BY id {order} LIMIT {UNREAD}")
            };
            format!(
                "SELECT unmerged.id, status, category_id, name, fields FROM (
                    SELECT id FROM (SELECT * FROM ({changed}) AS changed
                        UNION SELECT * FROM ({}) AS new UNION SELECT * FROM ({}) AS withdrawn
                    ) AS unmerged ORDER BY id {order} LIMIT {UNREAD}
                ) AS unmerged LEFT JOIN {table} AS pet ON pet.id = unmerged.id
                ORDER BY unmerged.id {order}",
                new("pets"),
                new("withdrawn_pets"),
            )
        });
        Self {
            pets: select.replace("{}", &format!("id IN ({})", ids.join(", "))),
            unmerged,
        }
    }
}
