//! The statements of lists, with the plan that each store needs.

use petstore_domain::{PetStatus, store_area::PetQuery};

use crate::tables::Table;

/// The maximum number of animals on a page.
pub(super) const MAX_PETS_ON_PAGE: usize = 100;

/// The maximum number of animals that are not merged which a search reads at once.
pub(super) const MAX_UNMERGED_PER_READ: usize = 64;

/// The statements of lists, with the plan that each store needs. All lists have their parameters in
/// the same order.
pub struct Plans {
    /// Select the animals behind $1, at most $2 and each with its open order: in the catalogue, and
    /// withdrawn, with each of `STATUSES`; the oldest first, and the newest first.
    pub pets: [[[String; 2]; STATUSES.len()]; 2],
    /// The searches among the animals in the catalogue, and among withdrawn ones.
    pub search: [Search; 2],
    /// Select the animals behind $1 that are available or pending, at most $2: the newest first, and the
    /// oldest first.
    pub on_offer: [String; 2],
    /// Counts the animals that are available or pending, up to $1.
    pub count_on_offer: String,
    /// See [`Self::on_offer`], for the animals that the window may show.
    pub in_window: [String; 2],
    /// See [`Self::count_on_offer`], for the animals that the window may show.
    pub count_in_window: String,
    /// Select the orders behind $1, at most $2, with each [`OrderFilter`]: the oldest first, and the newest
    /// first.
    pub orders: [[String; 2]; OrderFilter::ALL.len()],
    /// See [`Self::due`].
    pub due: String,
    /// See [`Self::reservations`].
    pub reservations: String,
    /// See [`Self::contacts_until`].
    pub contacts_until: String,
    /// Selects each status with the number of its animals in the catalogue, and `withdrawn` with the number of
    /// withdrawn animals.
    pub inventory: String,
    /// Selects whether an animal has $1 in its values.
    pub has_values: &'static str,
}

/// The statuses of the animals on a page: all, those on offer, and each one of them.
const STATUSES: [&[PetStatus]; 5] = [
    &[],
    &[PetStatus::Available, PetStatus::Pending],
    &[PetStatus::Available],
    &[PetStatus::Pending],
    &[PetStatus::Sold],
];

/// The filter by which the orders of a page are found: the most selective one that the query has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderFilter {
    /// All orders.
    None,
    /// The orders with the status $3.
    Status,
    /// The orders for the animal $3. If they are not null, $4 is the status and $5 the reference.
    Pet,
    /// The orders with the reference $3. If it is not null, $4 is the status.
    Reference,
}

impl OrderFilter {
    const ALL: [Self; 4] = [Self::None, Self::Status, Self::Pet, Self::Reference];

    /// Returns the condition in SQL, which continues another condition.
    pub fn condition(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => " AND status = $3",
            Self::Pet => {
                " AND pet_id = $3 AND (CAST($4 AS text) IS NULL OR status = $4)
        AND (CAST($5 AS text) IS NULL OR reference = $5)"
            }
            Self::Reference => " AND reference = $3 AND (CAST($4 AS text) IS NULL OR status = $4)",
        }
    }
}

impl Plans {
    /// Makes the lists of animals. `select_page` makes a statement for a table and statuses, and for whether the
    /// newest come first.
    pub fn pets(
        select_page: impl Fn(Table, &[PetStatus], bool) -> String,
    ) -> [[[String; 2]; STATUSES.len()]; 2] {
        [Table::Pets, Table::WithdrawnPets].map(|table| {
            STATUSES.map(|statuses| {
                [false, true].map(|newest_first| select_page(table, statuses, newest_first))
            })
        })
    }

    /// Returns the list of animals for a query without a search.
    pub(super) fn pet_page(&self, query: &PetQuery) -> &str {
        // Their positions in `STATUSES`.
        let statuses = match (query.status, query.is_on_offer) {
            (None, false) => 0,
            (None, true) => 1,
            (Some(PetStatus::Available), _) => 2,
            (Some(PetStatus::Pending), _) => 3,
            (Some(PetStatus::Sold), _) => 4,
        };
        &self.pets[usize::from(query.is_withdrawn)][statuses][usize::from(query.newest_first)]
    }

    /// Returns the statements for the table that has the animals of a query.
    pub(super) fn search_in(&self, query: &PetQuery) -> &Search {
        let [in_catalogue, withdrawn] = &self.search;
        if query.is_withdrawn {
            withdrawn
        } else {
            in_catalogue
        }
    }

    /// Makes the lists of orders. `select_page` makes a statement for a filter, and for whether the newest come
    /// first.
    pub fn orders(
        select_page: impl Fn(OrderFilter, bool) -> String,
    ) -> [[String; 2]; OrderFilter::ALL.len()] {
        OrderFilter::ALL
            .map(|filter| [false, true].map(|newest_first| select_page(filter, newest_first)))
    }

    /// Returns the list of orders with a filter.
    pub(super) fn order_page(&self, filter: OrderFilter, newest_first: bool) -> &str {
        &self.orders[filter as usize][usize::from(newest_first)]
    }

    /// Selects the reservations behind the end $2 and the number $3 that end at $1 or before, at most $4, out of
    /// `orders`: the table, and a hint for its index. An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the
    /// others.
    pub fn due(orders: &str) -> String {
        format!(
            "SELECT id, expires_at FROM {orders}
            WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
            ORDER BY expires_at, id LIMIT $4"
        )
    }

    /// Selects the number of the reservations in `orders`, and their first end. `orders` is as in [`Self::due`].
    pub fn reservations(orders: &str) -> String {
        format!(
            "SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= -62167219200000)
            FROM {orders} WHERE status = 'reserved'"
        )
    }

    /// Selects the orders behind $1 that closed at $2 or before and have a contact, at most $3. `join` is the join
    /// that the store needs to begin with the contacts. Most contacts
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
    /// Selects the animals with [`MAX_PETS_ON_PAGE`] identifiers, each with its open order.
    pub(super) pets: String,
    /// Select the next [`MAX_UNMERGED_PER_READ`] animals that are not merged, in this table or not: with a higher
    /// identifier than $1, and with a lower one.
    pub(super) unmerged: [String; 2],
    /// Selects the animals from $1 on and before $2 that the window may not show.
    pub(super) unlisted: String,
}

impl Search {
    /// Returns the statements for a table.
    ///
    /// `select` selects animals, each with its open order; it contains `{}` where a condition must be. `unlisted_pets` is
    /// the name of the table, perhaps with a hint for the index of the animals that the window may not show.
    pub fn new(table: Table, select: &str, unlisted_pets: &str) -> Self {
        let ids: Vec<_> = (1..=MAX_PETS_ON_PAGE)
            .map(|number| format!("${number}"))
            .collect();
        let pets = select.replace("{}", &format!("id IN ({})", ids.join(", ")));
        Self {
            pets,
            unmerged: [
                select_unmerged(table, &ASCENDING),
                select_unmerged(table, &DESCENDING),
            ],
            unlisted: format!(
                "SELECT id FROM {unlisted_pets} WHERE NOT listed AND id >= $1 AND id < $2"
            ),
        }
    }
}

/// The parts of a statement for animals that are not merged which depend on their order.
struct UnmergedOrder {
    /// The comparison with the last animal that was read.
    comparison: &'static str,
    direction: &'static str,
    /// The condition for an animal that was added after the last merge.
    is_new: &'static str,
}

// With two lower bounds, SQLite would begin at either of them.
const ASCENDING: UnmergedOrder = UnmergedOrder {
    comparison: ">",
    direction: "ASC",
    is_new: "id > (SELECT CASE WHEN merged > $1 THEN merged ELSE $1 END FROM search_state)
            AND id <= (SELECT last FROM search_state)",
};
const DESCENDING: UnmergedOrder = UnmergedOrder {
    comparison: "<",
    direction: "DESC",
    is_new: "id > (SELECT merged FROM search_state) AND id <= (
            SELECT CASE WHEN last < $1 THEN last ELSE $1 - 1 END FROM search_state)",
};

/// Returns the statement that selects the next animals that are not merged: changed ones, and new ones in the
/// catalogue or withdrawn. Their columns are null if `table` does not have them.
fn select_unmerged(table: Table, order: &UnmergedOrder) -> String {
    let UnmergedOrder {
        comparison,
        direction,
        is_new,
    } = order;
    format!(
        "SELECT unmerged.id, status, category_id, name, fields, listed FROM (
            SELECT id FROM (
                SELECT * FROM (SELECT DISTINCT pet_id AS id FROM value_changes
                    WHERE pet_id {comparison} $1 ORDER BY pet_id {direction}
                    LIMIT {MAX_UNMERGED_PER_READ}) AS changed
                UNION SELECT * FROM (SELECT id FROM pets
                    WHERE {is_new} ORDER BY id {direction}
                    LIMIT {MAX_UNMERGED_PER_READ}) AS new
                UNION SELECT * FROM (SELECT id FROM withdrawn_pets
                    WHERE {is_new} ORDER BY id {direction}
                    LIMIT {MAX_UNMERGED_PER_READ}) AS withdrawn
            ) AS unmerged ORDER BY id {direction} LIMIT {MAX_UNMERGED_PER_READ}
        ) AS unmerged LEFT JOIN {table} AS pet ON pet.id = unmerged.id
        ORDER BY unmerged.id {direction}"
    )
}
