//! What a page says first, after something was done.

use super::{animals, photos_added};

/// The button that undoes it.
pub(in crate::console) const UNDO: &str = "Undo";

/// A message after a change was made, and what it links to. `id` is what the change was about.
pub(in crate::console) fn flash(
    code: &str,
    id: i64,
) -> Option<(String, Option<(String, &'static str)>)> {
    let to_order = Some((format!("/orders/{id}"), "Show the order"));
    let to_next = Some(("/add".to_owned(), "Add another one"));
    let message = match code {
        "reserved" => return Some((format!("Reserved as order {id}."), to_order)),
        "sold" => return Some((format!("Sold as order {id}."), to_order)),
        "added" => return Some((format!("Added as animal {id}."), to_next)),
        "added-many" => return Some((format!("{} added.", animals(id)), None)),
        "changed-many" => return Some((format!("{} changed.", animals(id)), None)),
        "cancelled" => "The reservation is cancelled. The animal is available.",
        "returned" => "Taken back. The animal is available.",
        "photo-removed" => "Photo removed.",
        "photo-restored" => "The photo is back.",
        "photos-added" => return Some((photos_added(u32::try_from(id).unwrap_or(u32::MAX)), None)),
        "extended" => "The end of the reservation is changed.",
        "saved" => "Saved.",
        "withdrawn" => "Withdrawn.",
        "restored" => "Restored.",
        "deleted" => "Deleted.",
        "disabled" => "Nothing more is sent to it.",
        "enabled" => "It is enabled.",
        "tested" => "A test message is on its way. Reload in a moment to see the result.",
        "password-changed" => "Your password is changed. Your other sessions have ended.",
        "session-ended" => "The session has ended.",
        "second-factor-removed" => "Your second factor is removed. Your other sessions have ended.",
        "role-changed" => "The role is changed.",
        "member-disabled" => "This member can no longer sign in. Their sessions have ended.",
        "key-revoked" => "The key is revoked.",
        _ => return None,
    };
    Some((message.to_owned(), None))
}
