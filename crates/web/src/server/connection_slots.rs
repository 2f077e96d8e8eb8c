//! Connection slots: limited in total and for each address. When all are in use, a new connection
//! replaces the oldest idle one that has not carried a valid key, or the oldest one if none is idle.

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

/// The slots, and the open connections by address. Contains only addresses with connections, so its
/// size is limited.
pub(super) struct ConnectionSlots {
    in_total: usize,
    per_address: usize,
    /// The proxies, whose addresses have no limit, because their connections come from many clients.
    proxies: Networks,
    exempts_loopback: bool,
    slots_in_use: Mutex<SlotsInUse>,
}

#[derive(Default)]
struct SlotsInUse {
    in_total: usize,
    by_address: HashMap<ClientAddress, usize>,
    /// Connections that had not carried a valid key at the last check, the oldest first.
    untrusted: BTreeMap<u64, Untrusted>,
    newest: u64,
}

struct Untrusted {
    client: Arc<Client>,
    activity: Arc<Activity>,
    address: Option<ClientAddress>,
    task: Option<AbortHandle>,
}

/// The reason for which there is no free slot.
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
    /// Returns free slots with these limits.
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            in_total: limits.max_connections,
            per_address: limits.max_connections_per_address,
            proxies: limits.trusted_proxies.clone(),
            exempts_loopback: limits.exempts_loopback,
            slots_in_use: Mutex::default(),
        })
    }

    /// Takes a slot for the connection of this client.
    pub(super) fn take(
        self: &Arc<Self>,
        client: &Arc<Client>,
        activity: &Arc<Activity>,
    ) -> Result<ConnectionSlot, NoFreeSlot> {
        let address =
            ClientAddress::with_limit(client.address(), &self.proxies, self.exempts_loopback);
        let mut slots_in_use = self.slots_in_use.lock();
        if let Some(address) = &address
            && slots_in_use.count(address) >= self.per_address
        {
            return Err(NoFreeSlot::ForAddress);
        }
        let replaces_another = slots_in_use.in_total >= self.in_total;
        if replaces_another && !slots_in_use.replace_oldest() {
            return Err(NoFreeSlot::InTotal);
        }

        let number = slots_in_use.add(Untrusted {
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

    /// Sets the task that serves the connection `number`.
    pub(super) fn note_task(&self, number: u64, task: AbortHandle) {
        // The connection may have ended already.
        if let Some(stranger) = self.slots_in_use.lock().untrusted.get_mut(&number) {
            stranger.task = Some(task);
        }
    }
}

impl SlotsInUse {
    /// Returns the number of connections from an address.
    fn count(&self, address: &ClientAddress) -> usize {
        self.by_address.get(address).copied().unwrap_or_default()
    }

    /// Adds a connection, and returns its number.
    fn add(&mut self, connection: Untrusted) -> u64 {
        self.in_total += 1;
        if let Some(address) = connection.address {
            *self.by_address.entry(address).or_default() += 1;
        }
        self.newest += 1;
        self.untrusted.insert(self.newest, connection);
        self.newest
    }

    /// Closes a connection that has not carried a valid key, if there is one: the oldest that is idle, or
    /// the oldest. Connections that have carried one leave the map, so each is skipped only once.
    fn replace_oldest(&mut self) -> bool {
        let idle = self
            .untrusted
            .extract_if(.., |_, stranger| {
                stranger.client.is_trusted() || stranger.activity.is_idle()
            })
            .map(|(_, stranger)| stranger)
            .find(|stranger| stranger.client.replace());
        let oldest = idle.or_else(|| {
            self.untrusted
                .extract_if(.., |_, _| true)
                .map(|(_, stranger)| stranger)
                .find(|stranger| stranger.client.replace())
        });
        let Some(stranger) = oldest else {
            return false;
        };
        if let Some(task) = stranger.task {
            task.abort();
        }
        self.release(stranger.address);
        true
    }

    /// Counts a connection from an address less.
    fn release(&mut self, address: Option<ClientAddress>) {
        self.in_total -= 1;
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
            in_total: 10,
            per_address: 10,
            proxies: Networks::default(),
            exempts_loopback: true,
            slots_in_use: Mutex::default(),
        });
        for last in 0..100 {
            let client = Arc::new(IpAddr::from([192, 0, 2, last]).into());
            drop(slots.take(&client, &Arc::default()));
        }
        let slots_in_use = slots.slots_in_use.lock();
        assert_eq!(
            (
                slots_in_use.in_total,
                slots_in_use.by_address.len(),
                slots_in_use.untrusted.len()
            ),
            (0, 0, 0)
        );
    }
}
