//! Who may have a connection: so many in all, and so many from one address.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::domain::ClientAddress;

/// How many connections are open, by the address that they come from. Holds no
/// address without a connection, so it grows no larger than the limit.
pub(super) struct Places {
    in_all: usize,
    per_address: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    in_all: usize,
    by_address: HashMap<ClientAddress, usize>,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// All are taken.
    InAll,
    /// This address has as many as it may.
    ForAddress,
}

/// A connection's place; free again when dropped.
pub(super) struct Place {
    places: Arc<Places>,
    address: ClientAddress,
}

impl Places {
    pub(super) fn new(in_all: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { in_all, per_address, taken: Mutex::default() })
    }

    /// Takes a place for a connection from this address.
    pub(super) fn take(self: &Arc<Self>, address: ClientAddress) -> Result<Place, Full> {
        let mut taken = self.taken();
        if taken.in_all >= self.in_all {
            return Err(Full::InAll);
        }
        let of_address = taken.by_address.entry(address).or_default();
        if *of_address >= self.per_address {
            return Err(Full::ForAddress);
        }
        *of_address += 1;
        taken.in_all += 1;
        Ok(Place { places: Arc::clone(self), address })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.in_all -= 1;
        if let Some(of_address) = taken.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn address(text: &str) -> ClientAddress {
        text.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn there_are_so_many_places_in_all_and_for_each_address() {
        let places = Places::new(3, 2);
        let (a, b) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = places.take(a).ok().unwrap();
        let _second = places.take(a).ok().unwrap();
        assert_eq!(places.take(a).err(), Some(Full::ForAddress));
        let third = places.take(b).ok().unwrap();
        assert_eq!(places.take(b).err(), Some(Full::InAll));
        drop(first);
        let _first = places.take(a).ok().unwrap();
        drop(third);
        assert_eq!(places.take(a).err(), Some(Full::ForAddress));
    }

    #[test]
    fn nothing_is_remembered_of_an_address_that_has_left() {
        let places = Places::new(10, 10);
        for last in 0..100 {
            drop(places.take(address(&format!("192.0.2.{last}"))));
        }
        let taken = places.taken();
        assert_eq!((taken.in_all, taken.by_address.len()), (0, 0));
    }
}
