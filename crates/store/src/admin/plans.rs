//! The statements of list queries, which each store words for its own query planner.
//!
//! An animal is unmerged if the index of the search does not have its present state: see
//! `search.rs`.

use petstore_domain::{PetStatus, store_area::PetQuery};

use crate::tables::Table;

/// The earliest end of a reservation, in milliseconds: [`petstore_domain::clock::EARLIEST`]. Rows
/// with an earlier end are left out, because some of these times cannot be read, and such a row
/// must not block the others.
pub(super) const EARLIEST_END: i64 = -62_167_219_200_000;

/// The maximum number of animals on a page.
pub(super) const MAX_PETS_ON_PAGE: usize = 100;

/// The maximum number of unmerged animals that a search reads at once.
pub(super) const MAX_UNMERGED_PER_READ: usize = 64;

/// The statements of list queries, worded so that the query planner of a store uses the intended
/// indexes. Both stores use the same parameters.
pub struct Plans {
    /// The pages of the catalogue, and of the withdrawn animals.
    pub pets: [PetPages; 2],
    /// The statements of a search in the catalogue, and among withdrawn animals.
    pub search: [Search; 2],
    /// Select a page of the animals after $1 that are available or pending: at most $2.
    pub on_offer: BothOrders,
    /// Counts the animals that are available or pending, up to $1.
    pub count_on_offer: String,
    /// Like [`Self::on_offer`], for the animals that the window may show.
    pub in_window: BothOrders,
    /// Like [`Self::count_on_offer`], for the animals that the window may show.
    pub count_in_window: String,
    /// Select a page of orders after $1: at most $2. There is one member for each [`OrderFilter`],
    /// in the order of their declaration.
    pub orders: [BothOrders; OrderFilter::ALL.len()],
    /// See [`Self::select_due`].
    pub due: String,
    /// See [`Self::select_reservations`].
    pub reservations: String,
    /// See [`Self::select_orders_with_contact`].
    pub orders_with_contact: String,
    /// Selects each status with its number of animals in the catalogue, and the word `withdrawn`
    /// with the number of withdrawn animals.
    pub inventory: String,
    /// Selects whether the values of any animal contain the text $1.
    pub has_values: &'static str,
}

/// Two statements that differ only in the direction of the order by identifier.
pub struct BothOrders {
    /// The statement with the oldest rows first.
    pub ascending: String,
    /// The statement with the newest rows first.
    pub descending: String,
}

impl BothOrders {
    /// Makes both statements. `select` is called with whether the newest rows come first.
    fn new(select: impl Fn(bool) -> String) -> Self {
        Self {
            ascending: select(false),
            descending: select(true),
        }
    }

    /// Returns the statement for one of the two orders.
    pub(super) fn choose(&self, newest_first: bool) -> &str {
        if newest_first {
            &self.descending
        } else {
            &self.ascending
        }
    }
}

/// The statements that select a page of animals of one table: the animals after $1, at most $2,
/// each with its open order. There is one member for each filter by status.
pub struct PetPages {
    all: BothOrders,
    /// The animals that are available or pending.
    on_offer: BothOrders,
    available: BothOrders,
    pending: BothOrders,
    sold: BothOrders,
}

impl PetPages {
    /// Makes the statements. `select_page` is called with the statuses of a filter (none if there
    /// is no filter), and with whether the newest animals come first.
    fn new(select_page: impl Fn(&[PetStatus], bool) -> String) -> Self {
        let pages = |statuses: &[PetStatus]| {
            BothOrders::new(|newest_first| select_page(statuses, newest_first))
        };
        Self {
            all: pages(&[]),
            on_offer: pages(&[PetStatus::Available, PetStatus::Pending]),
            available: pages(&[PetStatus::Available]),
            pending: pages(&[PetStatus::Pending]),
            sold: pages(&[PetStatus::Sold]),
        }
    }
}

/// The filter with which an index finds the orders of a page: the most selective filter of the
/// query. The other filters are conditions on the rows that it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderFilter {
    /// All orders.
    None,
    /// The orders with the status $3.
    Status,
    /// The orders for the animal $3. Unless they are null, $4 restricts the status and $5 the
    /// reference.
    Pet,
    /// The orders with the reference $3. Unless it is null, $4 restricts the status.
    Reference,
}

impl OrderFilter {
    const ALL: [Self; 4] = [Self::None, Self::Status, Self::Pet, Self::Reference];

    /// Returns the SQL to append to another condition.
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

/// The statements with which a search reads the animals of one table.
pub struct Search {
    /// Selects the animals with any of [`MAX_PETS_ON_PAGE`] identifiers, each with its open order.
    pub(super) pets: String,
    /// Select the next [`MAX_UNMERGED_PER_READ`] unmerged animals, whether or not they are in this
    /// table: in ascending order above $1, or in descending order below $1.
    pub(super) unmerged: BothOrders,
    /// Selects the animals from $1 (inclusive) to $2 (exclusive) that the window, the public
    /// website, may not show.
    pub(super) unlisted: String,
}

impl Search {
    /// Makes the statements for a table.
    ///
    /// `select` is the statement for animals with their open orders, with `{}` in place of the
    /// condition. `unlisted_pets` is the name of the table, if necessary with a hint for the index
    /// of the animals that the window may not show.
    pub fn new(table: Table, select: &str, unlisted_pets: &str) -> Self {
        let ids: Vec<_> = (1..=MAX_PETS_ON_PAGE)
            .map(|number| format!("${number}"))
            .collect();
        let pets = select.replace("{}", &format!("id IN ({})", ids.join(", ")));
        Self {
            pets,
            unmerged: BothOrders {
                ascending: select_unmerged(table, &ASCENDING),
                descending: select_unmerged(table, &DESCENDING),
            },
            unlisted: format!(
                "SELECT id FROM {unlisted_pets} WHERE NOT listed AND id >= $1 AND id < $2"
            ),
        }
    }
}

impl Plans {
    /// Makes the statements for [`Self::pets`]. `select_page` is called with a table, with the
    /// statuses of a filter (none if there is no filter), and with whether the newest animals come
    /// first.
    pub fn select_pets(select_page: impl Fn(Table, &[PetStatus], bool) -> String) -> [PetPages; 2] {
        [Table::Pets, Table::WithdrawnPets].map(|table| {
            PetPages::new(|statuses, newest_first| select_page(table, statuses, newest_first))
        })
    }

    /// Returns the statement for a page of animals, for a query without a search.
    pub(super) fn choose_pet_page(&self, query: &PetQuery) -> &str {
        let [in_catalogue, withdrawn] = &self.pets;
        let pages = if query.is_withdrawn {
            withdrawn
        } else {
            in_catalogue
        };
        let page = match query.status {
            None if query.is_on_offer => &pages.on_offer,
            None => &pages.all,
            Some(PetStatus::Available) => &pages.available,
            Some(PetStatus::Pending) => &pages.pending,
            Some(PetStatus::Sold) => &pages.sold,
        };
        page.choose(query.newest_first)
    }

    /// Returns the statements of a search in the table that a query searches.
    pub(super) fn choose_search(&self, query: &PetQuery) -> &Search {
        let [in_catalogue, withdrawn] = &self.search;
        if query.is_withdrawn {
            withdrawn
        } else {
            in_catalogue
        }
    }

    /// Makes the statements for [`Self::orders`]. `select_page` is called with a filter, and with
    /// whether the newest orders come first.
    pub fn select_orders(
        select_page: impl Fn(OrderFilter, bool) -> String,
    ) -> [BothOrders; OrderFilter::ALL.len()] {
        OrderFilter::ALL
            .map(|filter| BothOrders::new(|newest_first| select_page(filter, newest_first)))
    }

    /// Returns the statement for a page of orders with a filter.
    pub(super) fn choose_order_page(&self, filter: OrderFilter, newest_first: bool) -> &str {
        // `orders` and `OrderFilter::ALL` have the order of the declaration of the filters.
        let statements = &self.orders[filter as usize];
        statements.choose(newest_first)
    }

    /// Returns the statement for the reservations that end at or before $1, after the reservation
    /// with the end $2 and the id $3, at most $4. For the first page, callers pass the end
    /// `EARLIEST_END` and the id 0. `orders` is the table, if necessary with a hint for its index.
    pub fn select_due(orders: &str) -> String {
        format!(
            "SELECT id, expires_at FROM {orders}
            WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
            ORDER BY expires_at, id LIMIT $4"
        )
    }

    /// Returns the statement for the number of reservations and their earliest end. `orders` is as
    /// in [`Self::select_due`].
    pub fn select_reservations(orders: &str) -> String {
        format!(
            "SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= {EARLIEST_END})
            FROM {orders} WHERE status = 'reserved'"
        )
    }

    /// Returns the statement for the orders after $1 that closed at or before $2 and have a
    /// contact, at most $3.
    ///
    /// `join` is the kind of join with which the store scans the contacts first. There are fewer
    /// contacts than orders, because a contact is erased a while after its order closed.
    pub fn select_orders_with_contact(join: &str) -> String {
        format!(
            "SELECT order_id FROM order_contacts {join} orders ON orders.id = order_id
            WHERE order_id > $1 AND closed_at <= $2 ORDER BY order_id LIMIT $3"
        )
    }
}

/// The parts of the statement for unmerged animals that depend on the sort order.
struct UnmergedOrder {
    /// The operator that compares an identifier with the last animal that was read.
    comparison: &'static str,
    direction: &'static str,
    /// The condition for an animal that was added after the last merge.
    is_new: &'static str,
}

// Each condition has a single lower and a single upper bound. With two lower bounds, SQLite might
// start its scan at the wrong one.
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

/// Returns the statement for the next unmerged animals: changed ones, and new ones in either table.
/// The columns of an animal are null if it is not in `table`.
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
