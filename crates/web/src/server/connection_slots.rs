//! Connection slots, limited in total and per address.
//!
//! When all slots are in use, a new connection evicts an untrusted one, which has not carried a
//! valid key: the oldest idle one, or the oldest if none is idle.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;
use petstore_domain::{
    Networks,
    client::{Client, ClientAddress},
};
use tokio::task::AbortHandle;

use super::{activity::Activity, limits::Limits};

/// The pool of connection slots of a server.
pub(super) struct ConnectionSlots {
    max_total: usize,
    max_per_address: usize,
    /// Proxies, which have no limit per address, because their connections carry many clients.
    proxies: Networks,
    exempts_loopback: bool,
    slots_in_use: Mutex<SlotsInUse>,
}

/// The open connections.
#[derive(Default)]
struct SlotsInUse {
    total: usize,
    /// How many connections each address has. Contains only addresses with connections, so its size
    /// is bounded.
    by_address: HashMap<ClientAddress, usize>,
    /// Connections that may be evicted, by number and therefore from oldest to newest. Connections
    /// that have become trusted since they were added are removed lazily.
    untrusted: BTreeMap<u64, UntrustedConnection>,
    /// The number of the newest connection.
    newest: u64,
}

/// A connection that has not carried a valid key, as far as is known.
struct UntrustedConnection {
    client: Arc<Client>,
    activity: Arc<Activity>,
    address: Option<ClientAddress>,
    /// The task that serves the connection, once it has been spawned.
    task: Option<AbortHandle>,
}

/// Why a connection gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoFreeSlot {
    InTotal,
    ForAddress,
}

/// A guard for the slot of a connection. Dropping it frees the slot.
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    client: Arc<Client>,
    /// The address for which the connection counts. It is `None` if the address is exempt from the
    /// limit.
    address: Option<ClientAddress>,
    /// The number of the connection, for [`ConnectionSlots::set_task`].
    pub(super) number: u64,
    /// Whether another connection was evicted to free this slot.
    pub(super) replaces_another: bool,
}

impl ConnectionSlots {
    /// Creates a pool with these limits, in which all slots are free.
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            max_total: limits.max_connections,
            max_per_address: limits.max_connections_per_address,
            proxies: limits.trusted_proxies.clone(),
            exempts_loopback: limits.exempts_loopback,
            slots_in_use: Mutex::default(),
        })
    }

    /// Takes a slot for a connection of `client`, and evicts another connection if necessary. Fails
    /// if the address has too many connections, or if no connection can be evicted.
    pub(super) fn take(
        self: &Arc<Self>,
        client: &Arc<Client>,
        activity: &Arc<Activity>,
    ) -> Result<ConnectionSlot, NoFreeSlot> {
        let address =
            ClientAddress::subject_to_limit(client.address(), &self.proxies, self.exempts_loopback);
        let mut slots_in_use = self.slots_in_use.lock();
        if let Some(address) = &address
            && slots_in_use.count(address) >= self.max_per_address
        {
            return Err(NoFreeSlot::ForAddress);
        }
        let replaces_another = slots_in_use.total >= self.max_total;
        if replaces_another && !slots_in_use.evict_oldest() {
            return Err(NoFreeSlot::InTotal);
        }

        let number = slots_in_use.add(UntrustedConnection {
            client: Arc::clone(client),
            activity: Arc::clone(activity),
            address,
            task: None,
        });
        Ok(ConnectionSlot {
            slots: Arc::clone(self),
            client: Arc::clone(client),
            address,
            number,
            replaces_another,
        })
    }

    /// Sets the task that serves the connection `number`, so that evicting the connection can abort
    /// it.
    pub(super) fn set_task(&self, number: u64, task: AbortHandle) {
        // The connection may have ended already.
        if let Some(connection) = self.slots_in_use.lock().untrusted.get_mut(&number) {
            connection.task = Some(task);
        }
    }
}

impl SlotsInUse {
    /// Returns the number of connections from an address.
    fn count(&self, address: &ClientAddress) -> usize {
        self.by_address.get(address).copied().unwrap_or_default()
    }

    /// Adds a connection, and returns its number.
    fn add(&mut self, connection: UntrustedConnection) -> u64 {
        self.total += 1;
        if let Some(address) = connection.address {
            *self.by_address.entry(address).or_default() += 1;
        }
        self.newest += 1;
        self.untrusted.insert(self.newest, connection);
        self.newest
    }

    /// Evicts an untrusted connection: the oldest idle one, or else the oldest one. Returns whether
    /// there was one.
    fn evict_oldest(&mut self) -> bool {
        let idle_connection = self.take_oldest(|connection| connection.activity.is_idle());
        let evicted_connection = idle_connection.or_else(|| self.take_oldest(|_| true));
        let Some(connection) = evicted_connection else {
            return false;
        };
        if let Some(task) = connection.task {
            task.abort();
        }
        self.release(connection.address);
        true
    }

    /// Removes the oldest untrusted connection for which `is_candidate` holds, and marks its client
    /// as replaced. Returns `None` if there is no such connection.
    ///
    /// Connections that have become trusted in the meantime are removed from the map on the way, so
    /// each of them is skipped only once.
    fn take_oldest(
        &mut self,
        is_candidate: impl Fn(&UntrustedConnection) -> bool,
    ) -> Option<UntrustedConnection> {
        let removed_connections = self.untrusted.extract_if(.., |_, connection| {
            connection.client.is_trusted() || is_candidate(connection)
        });
        // `extract_if` is lazy, so the connections after the found one stay in the map. `replace`
        // marks the client as replaced. It fails if the client is trusted, and the search goes on.
        removed_connections
            .map(|(_, connection)| connection)
            .find(|connection| connection.client.replace())
    }

    /// Stops counting a connection from `address`.
    fn release(&mut self, address: Option<ClientAddress>) {
        self.total -= 1;
        if let Some(address) = address
            && let Some(count) = self.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut slots_in_use = self.slots.slots_in_use.lock();
        slots_in_use.untrusted.remove(&self.number);
        // The slot of a replaced connection belongs to another one now.
        if !self.client.is_replaced() {
            slots_in_use.release(self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_closed_connection_leaves_nothing_in_memory() {
        let slots = Arc::new(ConnectionSlots {
            max_total: 10,
            max_per_address: 10,
            proxies: Networks::default(),
            exempts_loopback: true,
            slots_in_use: Mutex::default(),
        });
        for last_byte in 0..100 {
            let client = Arc::new(IpAddr::from([192, 0, 2, last_byte]).into());
            drop(slots.take(&client, &Arc::default()));
        }
        let slots_in_use = slots.slots_in_use.lock();
        assert_eq!(slots_in_use.total, 0);
        assert!(slots_in_use.by_address.is_empty());
        assert!(slots_in_use.untrusted.is_empty());
    }
}
