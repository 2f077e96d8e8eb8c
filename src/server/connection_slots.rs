//! Which connections there is a place for: so many in all, and so many from one
//! address. When all places are taken, the oldest connection over which no valid
//! key has come makes room for a new one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::AbortHandle;

use super::Limits;
use crate::domain::client::{Client, ClientAddress, TrustedProxies};

/// The connections that are open, by the address that they come from. Holds no
/// address without a connection, so it grows no larger than the limit.
pub(super) struct Places {
    in_all: usize,
    per_address: usize,
    /// Their connections come from many clients.
    proxies: TrustedProxies,
    exempts_loopback: bool,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    in_all: usize,
    by_address: HashMap<ClientAddress, usize>,
    /// Those over which no valid key had come when they were last looked at, the
    /// oldest first.
    strangers: BTreeMap<u64, Stranger>,
    /// The number of the newest connection.
    newest: u64,
}

struct Stranger {
    client: Arc<Client>,
    address: Option<ClientAddress>,
    task: Option<AbortHandle>,
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
    client: Arc<Client>,
    /// `None` if any number may come from there.
    address: Option<ClientAddress>,
    number: u64,
    /// Whether another connection was closed for it.
    pub(super) is_of_another: bool,
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            in_all: limits.max_connections,
            per_address: limits.max_connections_per_address,
            proxies: limits.trusted_proxies.clone(),
            exempts_loopback: limits.exempts_loopback,
            taken: Mutex::default(),
        })
    }

    /// Takes a place for the connection of this client.
    pub(super) fn take(self: &Arc<Self>, client: &Arc<Client>) -> Result<Place, Full> {
        let is_exempt = self.proxies.contain(client.address())
            || self.exempts_loopback && client.address().is_loopback();
        let address = (!is_exempt).then(|| ClientAddress::from(client.address()));
        let mut taken = self.taken();
        if let Some(address) = &address
            && taken.by_address.get(address).is_some_and(|&count| count >= self.per_address)
        {
            return Err(Full::ForAddress);
        }
        let is_of_another = taken.in_all >= self.in_all;
        if is_of_another && !taken.make_room() {
            return Err(Full::InAll);
        }
        taken.in_all += 1;
        if let Some(address) = address {
            *taken.by_address.entry(address).or_default() += 1;
        }
        taken.newest += 1;
        let number = taken.newest;
        let stranger = Stranger { client: Arc::clone(client), address, task: None };
        taken.strangers.insert(number, stranger);
        let client = Arc::clone(client);
        Ok(Place { places: Arc::clone(self), client, address, number, is_of_another })
    }

    /// Says which task serves the connection in the place `number`.
    pub(super) fn note_task(&self, number: u64, task: AbortHandle) {
        // It may have ended already.
        if let Some(stranger) = self.taken().strangers.get_mut(&number) {
            stranger.task = Some(task);
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Closes the oldest connection over which no valid key has come, if there
    /// is one. Each that has shown a key is passed over only once.
    fn make_room(&mut self) -> bool {
        while let Some((_, stranger)) = self.strangers.pop_first() {
            if stranger.client.replace() {
                if let Some(task) = stranger.task {
                    task.abort();
                }
                self.release(stranger.address);
                return true;
            }
        }
        false
    }

    fn release(&mut self, address: Option<ClientAddress>) {
        self.in_all -= 1;
        if let Some(address) = address
            && let Some(of_address) = self.by_address.get_mut(&address)
        {
            *of_address -= 1;
            if *of_address == 0 {
                self.by_address.remove(&address);
            }
        }
    }
}

impl Place {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.strangers.remove(&self.number);
        // The place of one that was replaced is another's by now.
        if !self.client.is_replaced() {
            taken.release(self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn places(in_all: usize, per_address: usize) -> Arc<Places> {
        let proxies = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
        let exempts_loopback = true;
        Arc::new(Places { in_all, per_address, proxies, exempts_loopback, taken: Mutex::default() })
    }

    fn client(address: &str) -> Arc<Client> {
        Arc::new(address.parse::<IpAddr>().unwrap().into())
    }

    /// Takes a place for a client who shows a valid key at once.
    fn take_with_key(places: &Arc<Places>, address: &str) -> Result<Place, Full> {
        let client = client(address);
        let place = places.take(&client);
        assert!(client.trust());
        place
    }

    #[test]
    fn there_are_so_many_places_in_all_and_for_each_address() {
        let places = places(3, 2);
        let (a, b) = ("192.0.2.1", "192.0.2.2");
        let first = take_with_key(&places, a).ok().unwrap();
        let _second = take_with_key(&places, a).ok().unwrap();
        assert_eq!(take_with_key(&places, a).err(), Some(Full::ForAddress));
        let third = take_with_key(&places, b).ok().unwrap();
        assert_eq!(take_with_key(&places, b).err(), Some(Full::InAll));
        drop(first);
        let _first = take_with_key(&places, a).ok().unwrap();
        drop(third);
        assert_eq!(take_with_key(&places, a).err(), Some(Full::ForAddress));
    }

    #[test]
    fn a_trusted_proxy_and_a_program_of_this_machine_may_have_all_places() {
        for address in ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let places = places(3, 1);
            let taken: Vec<_> = (0..4).map(|_| take_with_key(&places, address)).collect();
            assert_eq!(taken.iter().filter(|place| place.is_ok()).count(), 3, "{address}");
        }
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_without_a_valid_key_makes_room() {
        let places = places(3, 3);
        let clients: Vec<_> = (1..=3).map(|last| client(&format!("192.0.2.{last}"))).collect();
        let mut taken: Vec<_> =
            clients.iter().map(|client| places.take(client).ok().unwrap()).collect();
        assert!(clients[0].trust());
        let newcomer = take_with_key(&places, "192.0.2.9").ok().unwrap();
        assert!(newcomer.is_of_another);
        let replaced = clients.iter().map(|client| client.is_replaced());
        assert_eq!(replaced.collect::<Vec<_>>(), [false, true, false]);
        // The end of one that was replaced frees nothing more.
        drop(taken.remove(1));
        let _last = take_with_key(&places, "192.0.2.9").ok().unwrap();
        assert!(clients[2].is_replaced());
        assert_eq!(take_with_key(&places, "192.0.2.9").err(), Some(Full::InAll));
        drop(taken);
        assert!(!take_with_key(&places, "192.0.2.9").ok().unwrap().is_of_another);
    }

    #[test]
    fn nothing_is_remembered_of_a_connection_that_has_ended() {
        let places = places(10, 10);
        for last in 0..100 {
            drop(places.take(&client(&format!("192.0.2.{last}"))));
        }
        let taken = places.taken();
        assert_eq!((taken.in_all, taken.by_address.len(), taken.strangers.len()), (0, 0, 0));
    }
}
