//! What clients ask of the store area, drawn from a seed.

use std::collections::BTreeMap;

use rand::{Rng, RngExt, seq::IndexedRandom};

use super::{history::Operation, store_area::Filter};

const LIMITS: [usize; 3] = [1, 3, 100];
const STATUSES: [&str; 3] = ["available", "pending", "sold"];
const ORDER_STATUSES: [&str; 5] = ["reserved", "completed", "cancelled", "expired", "returned"];

/// A request to the store area, before it is known which versions and orders
/// there are. An order is given by its place from the newest one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask {
    ReadPet(i64),
    Rename(i64, Age),
    SetStatus(i64, &'static str, Age),
    Withdraw(i64, Age),
    Restore(i64, Age),
    ReadOrder(usize),
    /// Reserves for so many hours.
    Reserve(i64, i64),
    Sell(i64),
    Refer(usize, Age),
    Extend(usize, i64, Age),
    Complete(usize, Age),
    Cancel(usize, Age),
    Return(usize, Age),
    /// One with this status, for so many hours.
    Reopen(usize, &'static str, i64, Age),
    Pets(Filter, usize),
    Orders(Option<&'static str>, Option<i64>, usize),
    /// Reverts one of the newest changes of an animal.
    Revert(i64),
}

/// Which version a request names: so many before the newest that somebody saw, or
/// any.
pub(super) type Age = Option<i64>;

impl Ask {
    /// One that is about an animal up to an id.
    pub(super) fn any(random: &mut impl Rng, last: i64) -> Self {
        let id = random.random_range(1..=last);
        let order = random.random_range(0..usize::try_from(last).unwrap());
        // Most animals are for sale again.
        let status = *STATUSES.choose(random).unwrap();
        let offered = if random.random_bool(0.5) {
            STATUSES[0]
        } else {
            status
        };
        let hours = [24, 48].choose(random).copied().unwrap();
        let limit = *LIMITS.choose(random).unwrap();
        let version = match random.random_range(0..5) {
            0 => None,
            1 => Some(1),
            _ => Some(0),
        };
        match random.random_range(0..34) {
            0..2 => Self::ReadPet(id),
            2 => Self::ReadOrder(order),
            3 => Self::Rename(id, version),
            4..7 => Self::SetStatus(id, offered, version),
            7..9 => Self::Withdraw(id, version),
            9 => Self::Restore(id, version),
            10..14 => Self::Reserve(id, hours),
            14..16 => Self::Sell(id),
            16 => Self::Refer(order, version),
            17 => Self::Extend(order, hours, version),
            18..21 => Self::Complete(order, version.filter(|_| order % 2 == 0)),
            21 => Self::Cancel(order, version),
            22..24 => Self::Return(order, version.filter(|_| order % 2 == 0)),
            24..27 => {
                let status = ORDER_STATUSES[1..].choose(random).unwrap();
                Self::Reopen(order, status, hours, version)
            }
            27..29 => {
                let status = random.random_bool(0.5).then_some(status);
                let name = random.random_bool(0.5);
                let name = ["0", "1", "2"].choose(random).copied().filter(|_| name);
                Self::Pets(
                    Filter {
                        status,
                        name,
                        withdrawn: random.random_bool(0.3),
                    },
                    limit,
                )
            }
            31..34 => Self::Revert(id),
            _ => {
                let status = ORDER_STATUSES.choose(random).copied();
                let status = status.filter(|_| random.random_bool(0.3));
                Self::Orders(status, random.random_bool(0.5).then_some(id), limit)
            }
        }
    }
}

/// The newest versions that somebody saw.
#[derive(Default)]
pub(super) struct Known {
    /// With whether each was withdrawn.
    pets: BTreeMap<i64, (i64, bool)>,
    /// With the status of each.
    orders: BTreeMap<i64, (i64, String)>,
    categories: BTreeMap<i64, i64>,
}

impl Known {
    pub(super) fn see(&mut self, operation: &Operation) {
        for pet in operation.store_pets() {
            let newest = self.pets.entry(pet.id).or_insert((1, false));
            *newest = (pet.version, pet.withdrawn.is_some()).max(*newest);
        }
        for order in operation.orders() {
            let newest = self.orders.entry(order.id).or_default();
            if newest.0 < order.version {
                *newest = (order.version, order.status.clone());
            }
        }
        if let Operation::Label {
            id,
            outcome: Some((_, shown)),
            ..
        } = operation
        {
            self.categories
                .insert(*id, shown.as_ref().map_or(0, |shown| shown.version));
        }
    }

    /// The version of a category that somebody saw last, or 0.
    pub(super) fn category(&self, id: i64) -> i64 {
        self.categories.get(&id).copied().unwrap_or(0)
    }

    /// The version of an animal.
    pub(super) fn pet(&self, id: i64) -> i64 {
        self.pets.get(&id).map_or(1, |(version, _)| *version)
    }

    /// The last withdrawn animal, or else `id`.
    pub(super) fn withdrawn_pet(&self, id: i64) -> i64 {
        let withdrawn = self
            .pets
            .iter()
            .rfind(|(_, (_, is_withdrawn))| *is_withdrawn);
        withdrawn.map_or(id, |(&id, _)| id)
    }

    /// An order with the status, if there is one, and its version.
    pub(super) fn order(&self, from_newest: usize, status: &str) -> (i64, i64) {
        let with_status = || self.orders.iter().rev().filter(|(_, (_, of))| of == status);
        let with_status = with_status()
            .nth(from_newest)
            .or_else(|| with_status().next());
        let order = with_status.or_else(|| self.orders.iter().nth_back(from_newest));
        order.map_or((1, 1), |(&id, &(version, _))| (id, version))
    }
}
