//! The entry point to the rules of the store area.

use jiff::Timestamp;

use super::{
    Command, Decision, PresentState, Refusal, Withdrawal,
    category_rules::{delete_category, put_category},
    note_rules::{add_note, delete_note, patch_note},
    order_rules::{
        cancel_order, complete_order, erase_contact, expire_order, patch_order, place_order,
        reopen_order, return_order,
    },
    pet_rules::{add_pet, patch_pet, restore_pet, withdraw_pet},
    photo_rules::{add_photo, delete_photo, patch_photo, rearrange_photos, replace_photo},
    revert_rules::revert,
};

/// Decides what `command` changes at `now` in the state `present`, or why it is refused.
///
/// Every store calls this function for each command of a request, a batch or a background task, so
/// the rules exist only once. If there are several reasons to refuse a command, the first in this
/// order is returned: invalid value, subject not found, failed precondition, conflicting state.
///
/// For example, [`Command::PlaceOrder`] with
/// [`OrderTerms::Completed`](super::OrderTerms::Completed) sells an available animal. It results in
/// two changes: `order.completed` with the new order, and `pet.changed` with the animal, which is
/// now `sold`.
pub fn decide(
    command: &Command,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    // The members left out are ids of subjects, which `present` contains.
    match command {
        Command::AddPet(new_pet, fields, photos) => add_pet(new_pet, fields, photos, present, now),
        Command::PatchPet {
            patch,
            preconditions,
            ..
        } => patch_pet(patch, preconditions, present, now),
        Command::WithdrawPet {
            reason,
            note,
            preconditions,
            ..
        } => {
            let withdrawal = Withdrawal {
                at: now,
                reason: *reason,
                note: note.clone(),
            };
            withdraw_pet(withdrawal, preconditions, present)
        }
        Command::RestorePet { preconditions, .. } => restore_pet(preconditions, present, now),
        Command::AddPhoto { photo, .. } => add_photo(photo, present, now),
        Command::ReplacePhoto {
            photo: photo_id,
            replacement,
            ..
        } => replace_photo(*photo_id, replacement, present, now),
        Command::PatchPhoto {
            photo: photo_id,
            patch,
            preconditions,
            ..
        } => patch_photo(*photo_id, patch, preconditions, present, now),
        Command::RearrangePhotos {
            order,
            preconditions,
            ..
        } => rearrange_photos(order, preconditions, present, now),
        Command::DeletePhoto {
            photo: photo_id,
            preconditions,
            ..
        } => delete_photo(*photo_id, preconditions, present, now),
        Command::PlaceOrder(new_order) => place_order(new_order, present, now),
        Command::CompleteOrder {
            price,
            preconditions,
            ..
        } => complete_order(price, preconditions, present, now),
        Command::CancelOrder {
            reason,
            preconditions,
            ..
        } => cancel_order(reason.as_ref(), preconditions, present, now),
        Command::ReturnOrder {
            reason,
            preconditions,
            ..
        } => return_order(reason.as_ref(), preconditions, present, now),
        Command::ReopenOrder {
            expires_at,
            default_end,
            preconditions,
            ..
        } => reopen_order(*expires_at, *default_end, preconditions, present, now),
        Command::PatchOrder {
            patch,
            preconditions,
            ..
        } => patch_order(patch, preconditions, present, now),
        // The service itself issues these two commands, so they need no preconditions.
        Command::ExpireOrder { .. } => expire_order(present, now),
        Command::EraseContact { closed_until, .. } => erase_contact(*closed_until, present),
        Command::PutCategory {
            id,
            label,
            preconditions,
        } => put_category(*id, label, preconditions, present),
        Command::DeleteCategory { preconditions, .. } => delete_category(preconditions, present),
        Command::AddNote {
            pet_id,
            text,
            author,
        } => add_note(*pet_id, text, author, present, now),
        Command::PatchNote { edit, text } => patch_note(edit, text.as_ref(), present, now),
        Command::DeleteNote(edit) => delete_note(edit, present),
        Command::Revert(reversal) => revert(reversal, present, now),
    }
}
