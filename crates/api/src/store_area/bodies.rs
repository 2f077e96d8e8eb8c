//! The schemas of request bodies, derived from their declarations.

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

/// Returns the declaration of each request body. A test writes them into the OpenAPI document of the store
/// area.
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
