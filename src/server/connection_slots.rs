//! Connection slots: limited in total and for each address. When all are in use, a new connection
//! replaces the oldest one that has not carried a valid key.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::task::AbortHandle;

use super::limits::Limits;
use crate::domain::{
    Networks,
    client::{Client, ClientAddress},
};

/// The slots, and the open connections by address. Contains only addresses with connections, so its
/// size is limited.
pub(super) struct ConnectionSlots {
    in_total: usize,
    per_address: usize,
    /// Not limited per address, because their connections come from many clients.
    proxies: Networks,
    exempts_loopback: bool,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    in_total: usize,
    by_address: HashMap<ClientAddress, usize>,
    /// Connections that had not carried a valid key at the last check, the oldest first.
    untrusted: BTreeMap<u64, Untrusted>,
    newest: u64,
}

struct Untrusted {
    client: Arc<Client>,
    address: Option<ClientAddress>,
    task: Option<AbortHandle>,
}

/// Why there is no free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoFreeSlot {
    InTotal,
    ForAddress,
}

/// The slot of a connection, until it is dropped.
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    client: Arc<Client>,
    /// `None` if the address is exempt from the limit.
    address: Option<ClientAddress>,
    pub(super) number: u64,
    /// Whether another connection was closed to free this slot.
    pub(super) replaces_another: bool,
}

impl ConnectionSlots {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            in_total: limits.max_connections,
            per_address: limits.max_connections_per_address,
            proxies: limits.trusted_proxies.clone(),
            exempts_loopback: limits.exempts_loopback,
            taken: Mutex::default(),
        })
    }

    /// Takes a slot for the connection of this client.
    pub(super) fn take(
        self: &Arc<Self>,
        client: &Arc<Client>,
    ) -> Result<ConnectionSlot, NoFreeSlot> {
        let is_exempt = self.proxies.contain(client.address())
            || self.exempts_loopback && client.address().is_loopback();
        let address = (!is_exempt).then(|| ClientAddress::from(client.address()));
        let mut taken = self.taken();
        if let Some(address) = &address
            && taken.by_address.get(address).is_some_and(|&count| count >= self.per_address)
        {
            return Err(NoFreeSlot::ForAddress);
        }
        let replaces_another = taken.in_total >= self.in_total;
        if replaces_another && !taken.replace_oldest() {
            return Err(NoFreeSlot::InTotal);
        }
        taken.in_total += 1;
        if let Some(address) = address {
            *taken.by_address.entry(address).or_default() += 1;
        }
        taken.newest += 1;
        let number = taken.newest;
        let stranger = Untrusted { client: Arc::clone(client), address, task: None };
        taken.untrusted.insert(number, stranger);
        let client = Arc::clone(client);
        Ok(ConnectionSlot { slots: Arc::clone(self), client, address, number, replaces_another })
    }

    /// Sets the task that serves the connection `number`.
    pub(super) fn note_task(&self, number: u64, task: AbortHandle) {
        // The connection may have ended already.
        if let Some(stranger) = self.taken().untrusted.get_mut(&number) {
            stranger.task = Some(task);
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Closes the oldest connection that has not carried a valid key, if there is one. Connections
    /// that have carried one leave the map, so each is skipped only once.
    fn replace_oldest(&mut self) -> bool {
        while let Some((_, stranger)) = self.untrusted.pop_first() {
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
        self.in_total -= 1;
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

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        taken.untrusted.remove(&self.number);
        // The slot of a replaced connection belongs to another one now.
        if !self.client.is_replaced() {
            taken.release(self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn slots(in_total: usize, per_address: usize) -> Arc<ConnectionSlots> {
        let proxies = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
        let exempts_loopback = true;
        Arc::new(ConnectionSlots {
            in_total,
            per_address,
            proxies,
            exempts_loopback,
            taken: Mutex::default(),
        })
    }

    fn client(address: &str) -> Arc<Client> {
        Arc::new(address.parse::<IpAddr>().unwrap().into())
    }

    /// Takes a slot for a client that authenticates at once.
    fn take_with_key(
        slots: &Arc<ConnectionSlots>,
        address: &str,
    ) -> Result<ConnectionSlot, NoFreeSlot> {
        let client = client(address);
        let slot = slots.take(&client);
        assert!(client.trust());
        slot
    }

    #[test]
    fn the_slots_are_limited_in_total_and_per_address() {
        let slots = slots(3, 2);
        let (a, b) = ("192.0.2.1", "192.0.2.2");
        let first = take_with_key(&slots, a).ok().unwrap();
        let _second = take_with_key(&slots, a).ok().unwrap();
        assert_eq!(take_with_key(&slots, a).err(), Some(NoFreeSlot::ForAddress));
        let third = take_with_key(&slots, b).ok().unwrap();
        assert_eq!(take_with_key(&slots, b).err(), Some(NoFreeSlot::InTotal));
        drop(first);
        let _first = take_with_key(&slots, a).ok().unwrap();
        drop(third);
        assert_eq!(take_with_key(&slots, a).err(), Some(NoFreeSlot::ForAddress));
    }

    #[test]
    fn a_trusted_proxy_and_a_local_program_may_use_all_slots() {
        for address in ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let slots = slots(3, 1);
            let taken: Vec<_> = (0..4).map(|_| take_with_key(&slots, address)).collect();
            assert_eq!(taken.iter().filter(|slot| slot.is_ok()).count(), 3, "{address}");
        }
    }

    #[test]
    fn a_new_connection_replaces_the_oldest_one_without_a_valid_key() {
        let slots = slots(3, 3);
        let clients: Vec<_> = (1..=3).map(|last| client(&format!("192.0.2.{last}"))).collect();
        let mut taken: Vec<_> =
            clients.iter().map(|client| slots.take(client).ok().unwrap()).collect();
        assert!(clients[0].trust());
        let newcomer = take_with_key(&slots, "192.0.2.9").ok().unwrap();
        assert!(newcomer.replaces_another);
        let replaced = clients.iter().map(|client| client.is_replaced());
        assert_eq!(replaced.collect::<Vec<_>>(), [false, true, false]);
        // The end of a replaced connection frees no other slot.
        drop(taken.remove(1));
        let _last = take_with_key(&slots, "192.0.2.9").ok().unwrap();
        assert!(clients[2].is_replaced());
        assert_eq!(take_with_key(&slots, "192.0.2.9").err(), Some(NoFreeSlot::InTotal));
        drop(taken);
        assert!(!take_with_key(&slots, "192.0.2.9").ok().unwrap().replaces_another);
    }

    #[test]
    fn a_closed_connection_leaves_nothing_in_memory() {
        let slots = slots(10, 10);
        for last in 0..100 {
            drop(slots.take(&client(&format!("192.0.2.{last}"))));
        }
        let taken = slots.taken();
        assert_eq!((taken.in_total, taken.by_address.len(), taken.untrusted.len()), (0, 0, 0));
    }
}
