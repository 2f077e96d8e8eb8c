//! The store area: its operations, one file for each kind of resource, and what they share.

mod audit;
mod batch;
mod categories;
mod contacts;
mod cursor;
mod feed;
mod fields;
mod inventory;
mod members;
mod orders;
mod page;
mod pets;
mod photos;
mod preconditions;
mod shared;
mod turns;
mod webhooks;
mod wire;
mod write;

pub(crate) use self::{
    audit::list as list_audit,
    batch::run as run_batch,
    categories::{delete_category, list_categories, put_category},
    feed::follow_changes,
    fields::{delete_field, list_fields, put_field},
    inventory::get as get_inventory,
    orders::{
        cancel_order, complete_order, get_order, list_orders, patch_order, place_order,
        reopen_order, return_order,
    },
    pets::{add_pet, get_pet, list_pets, patch_pet, restore_pet, withdraw_pet},
    photos::{add_photo, delete_photo, get_photo, patch_photo},
    shared::StoreArea,
    webhooks::{
        add_webhook, delete_webhook, enable_webhook, get_webhook, list_attempts, list_webhooks,
        patch_webhook, rotate_secret, test_webhook,
    },
};
