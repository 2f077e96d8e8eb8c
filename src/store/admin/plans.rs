//! The statements of lists, with the plan that each store needs.

/// The statements of lists, with the plan that each store needs. All lists have their parameters in
/// the same order.
pub(in crate::store) struct Plans {
    /// The animals behind $1 that are available or pending, at most $2: the newest first, and the
    /// oldest first.
    pub(in crate::store) on_offer: [String; 2],
    /// How many of them there are, counted up to $1.
    pub(in crate::store) count_on_offer: String,
    /// The orders behind $1, at most $2, with each of the [`FILTERS`]: the oldest first, and the newest
    /// first.
    pub(in crate::store) orders: [[String; 2]; FILTERS.len()],
    /// See [`Self::due`].
    pub(in crate::store) due: String,
    /// See [`Self::reservations`].
    pub(in crate::store) reservations: String,
    /// See [`Self::contacts_until`].
    pub(in crate::store) contacts_until: String,
    /// Each status, and how many animals have it; and the same of `withdrawn`.
    pub(in crate::store) inventory: String,
    /// Whether an animal has $1 in its values.
    pub(in crate::store) has_values: &'static str,
}

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
    /// Lists of orders: `page` makes one of the filters, with their number, and whether the newest come first.
    pub(in crate::store) fn orders(
        page: impl Fn(usize, &str, bool) -> String,
    ) -> [[String; 2]; FILTERS.len()] {
        std::array::from_fn(|by| [false, true].map(|newest| page(by, FILTERS[by], newest)))
    }

    /// The reservations behind the end $2 and the number $3 that end at $1 or before, at most $4, of these
    /// orders. An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the
    /// others.
    pub(in crate::store) fn due(orders: &str) -> String {
        format!(
            "SELECT id, expires_at FROM {orders}
            WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
            ORDER BY expires_at, id LIMIT $4"
        )
    }

    /// How many of these orders are open, and the first end.
    pub(in crate::store) fn reservations(orders: &str) -> String {
        format!(
            "SELECT count(*), min(expires_at) FILTER (WHERE expires_at >= -62167219200000)
            FROM {orders} WHERE status = 'reserved'"
        )
    }

    /// The orders behind $1 that closed at $2 or before and have a contact, at most $3. Most contacts
    /// belong to orders that are open or closed a short time ago.
    pub(in crate::store) fn contacts_until(join: &str) -> String {
        format!(
            "SELECT order_id FROM order_contacts {join} orders ON orders.id = order_id
            WHERE order_id > $1 AND closed_at <= $2 ORDER BY order_id LIMIT $3"
        )
    }
}
