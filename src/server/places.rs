//! Who may have a connection: so many in all, and so many from one address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
    by_address: HashMap<IpAddr, usize>,
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
    address: IpAddr,
}

impl Places {
    pub(super) fn new(in_all: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { in_all, per_address, taken: Mutex::default() })
    }

    /// Takes a place for a connection from this address.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, Full> {
        let address = network(address);
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

/// What counts as one address: an IPv6 client chooses freely among the 2^64
/// of its network (RFC 4291, section 2.5.1).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
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

    #[test]
    fn an_ipv6_network_is_one_address_and_a_mapped_address_is_that_of_ipv4() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:2")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:0:1::1")));
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
    }
}
