//! The store area: its operations, one file for each kind of resource, and what they share.

mod audit;
mod batch;
mod categories;
mod changes;
mod cursor;
mod expiry;
mod feed;
mod inventory;
mod members;
mod orders;
mod page;
mod pets;
mod preconditions;
mod turns;
mod webhooks;
mod wire;
mod write;

use std::time::Duration;

use crate::{delivery::Registrar, observe::metrics::ChangeMetrics};

pub(crate) use self::feed::Watcher;
pub(crate) use self::{
    audit::list as list_audit,
    batch::run as run_batch,
    categories::{delete_category, list_categories, put_category},
    changes::record as record_changes,
    feed::follow_changes,
    inventory::{get as get_inventory, read as read_inventory},
    orders::{
        cancel_order, complete_order, get_order, list_orders, patch_order, place_order,
        return_order,
    },
    pets::{get_pet, list_pets, patch_pet, restore_pet, withdraw_pet},
    webhooks::{
        WebhookChanged, add_webhook, delete_webhook, enable_webhook, get_webhook, list_attempts,
        list_webhooks, patch_webhook, rotate_secret, test_webhook,
    },
};

/// What the operations of the store area share.
pub(crate) struct StoreArea {
    inventory: inventory::LastCount,
    turns: turns::Turns,
    pub(crate) metrics: ChangeMetrics,
    pub(crate) feed: feed::Feed,
    pub(crate) registrar: Registrar,
    /// How long a reservation lasts by default.
    pub(crate) reservation: Duration,
    keep_changes: Duration,
}

impl StoreArea {
    pub(crate) fn new(reservation: Duration, keep_changes: Duration, registrar: Registrar) -> Self {
        Self {
            inventory: inventory::LastCount::default(),
            turns: turns::Turns::default(),
            metrics: ChangeMetrics::default(),
            feed: feed::Feed::default(),
            registrar,
            reservation,
            keep_changes,
        }
    }
}
