//! What clients were told about animals and orders, compared with what is there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One version of an animal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pet {
    pub id: i64,
    pub version: i64,
    /// The open order.
    pub order: Option<i64>,
    /// Everything that is compared besides.
    pub text: String,
}

/// One version of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub id: i64,
    pub version: i64,
    pub pet: i64,
    pub status: String,
    pub text: String,
}

/// Everything in a database.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct There {
    pub pets: BTreeMap<i64, Pet>,
    pub orders: BTreeMap<i64, Order>,
}

/// Every version that a response showed, by id and version.
///
/// Each change gives its subject the next version. So a change that is lost, made twice, or made
/// but not acknowledged shows in the number of versions.
#[derive(Debug, Default)]
pub struct Ledger {
    pets: BTreeMap<i64, BTreeMap<i64, Pet>>,
    orders: BTreeMap<i64, BTreeMap<i64, Order>>,
}

impl Ledger {
    pub fn add_pet(&mut self, pet: &Pet) {
        let versions = self.pets.entry(pet.id).or_default();
        let kept = versions.entry(pet.version).or_insert_with(|| pet.clone());
        assert_eq!(kept, pet, "two animals with one version");
    }

    pub fn add_order(&mut self, order: &Order) {
        let versions = self.orders.entry(order.id).or_default();
        let kept = versions
            .entry(order.version)
            .or_insert_with(|| order.clone());
        assert_eq!(kept, order, "two orders with one version");
    }

    /// How many changes were acknowledged.
    pub fn changes(&self) -> usize {
        let pets = self.pets.values().map(BTreeMap::len);
        pets.chain(self.orders.values().map(BTreeMap::len)).sum()
    }

    /// How often an order changed its animal: once for each status.
    fn moves(&self, order: i64) -> i64 {
        let versions = self.orders.get(&order).into_iter().flatten();
        let mut statuses: Vec<&str> = versions.map(|(_, of)| of.status.as_str()).collect();
        statuses.dedup();
        i64::try_from(statuses.len()).unwrap()
    }

    /// The newest acknowledged version of each animal.
    pub fn newest_pets(&self) -> impl Iterator<Item = &Pet> {
        self.pets
            .values()
            .filter_map(|versions| Some(versions.last_key_value()?.1))
    }

    /// The newest acknowledged version of each order.
    pub fn newest_orders(&self) -> impl DoubleEndedIterator<Item = &Order> {
        self.orders
            .values()
            .filter_map(|versions| Some(versions.last_key_value()?.1))
    }

    /// Each animal that is there, with the number of its changes, and of the changes of its orders,
    /// that were not acknowledged. Fails unless the animal agrees with its orders.
    pub fn unexplained<'t>(&self, there: &'t There) -> Vec<(&'t Pet, [i64; 2])> {
        let mut orders_of = BTreeMap::<i64, Vec<&Order>>::new();
        for order in there.orders.values() {
            orders_of.entry(order.pet).or_default().push(order);
        }
        let unexplained = there.pets.values().map(|pet| {
            let orders = orders_of.remove(&pet.id).unwrap_or_default();
            let open: Vec<i64> = orders
                .iter()
                .filter(|of| of.status == "reserved")
                .map(|of| of.id)
                .collect();
            assert_eq!(pet.order.as_slice(), open, "the open orders of {pet:?}");
            let moves: i64 = orders.iter().map(|order| self.moves(order.id)).sum();
            let told = |order: &&Order| self.orders.get(&order.id).map_or(0, versions);
            let of_orders = orders.iter().map(|order| order.version - told(order)).sum();
            let told = self.pets.get(&pet.id).map_or(0, versions);
            (pet, [pet.version - told - moves, of_orders])
        });
        let unexplained = unexplained.collect();
        assert!(orders_of.is_empty(), "without their animals: {orders_of:?}");
        unexplained
    }

    /// Fails unless everything that was acknowledged is there, and nothing else, except `unknown`
    /// changes of an animal and its orders.
    pub fn compare(&self, there: &There, unknown: impl Fn(&Pet) -> i64) {
        for pet in self.newest_pets() {
            let now = there
                .pets
                .get(&pet.id)
                .unwrap_or_else(|| panic!("lost: {pet:?}"));
            assert!(
                now.version > pet.version || now == pet,
                "lost: {pet:?}, there is {now:?}"
            );
        }
        for order in self.newest_orders() {
            let now = there
                .orders
                .get(&order.id)
                .unwrap_or_else(|| panic!("lost: {order:?}"));
            assert!(
                now.version > order.version || now == order,
                "lost: {order:?}, there is {now:?}"
            );
        }
        for (pet, more) in self.unexplained(there) {
            let may_be = 0..=unknown(pet);
            assert!(
                more.iter().all(|more| may_be.contains(more)),
                "{more:?} more changes of it and of its orders than acknowledged, at most \
                 {may_be:?} have an unknown outcome: {pet:?}"
            );
        }
    }
}

fn versions<T>(versions: &BTreeMap<i64, T>) -> i64 {
    i64::try_from(versions.len()).unwrap()
}
