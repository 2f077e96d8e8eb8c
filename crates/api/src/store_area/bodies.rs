//! The bodies of requests, as their declarations say them.

use petstore_domain::store_area::{Link, OrderPatch, PetPatch, PhotoPatch, ProfilePatch};
use petstore_formats::json::{AddPet, FieldInput, PlaceOrder, declared::DeclaredObject};

use super::{
    categories::PutCategory,
    members::Body,
    notes::{AddNote, PatchNote},
    order_acts::{CompleteOrder, EndOrder, ReopenOrder},
    pets::WithdrawPet,
    webhooks::change::{AddWebhook, EnableWebhook, PatchWebhook},
};

/// Returns what the document of the store area says of each body. The tests write it there.
pub fn declared_bodies() -> Vec<DeclaredObject> {
    vec![
        AddPet::declared(),
        PetPatch::declared(),
        WithdrawPet::declared(),
        PhotoPatch::declared(),
        AddNote::declared(),
        PatchNote::declared(),
        PlaceOrder::declared(),
        OrderPatch::declared(),
        CompleteOrder::declared(),
        EndOrder::declared(),
        ReopenOrder::declared(),
        PutCategory::declared(),
        FieldInput::declared(),
        ProfilePatch::declared(),
        Link::declared(),
        AddWebhook::declared(),
        PatchWebhook::declared(),
        EnableWebhook::declared(),
    ]
}
