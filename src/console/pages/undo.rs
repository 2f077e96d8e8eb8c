//! How what a member just did can be undone: the form of the button in the message about it.

use crate::{
    console::pages::parts::link,
    domain::store_area::{Change, Decision, PhotoId, Resource, StorePet},
};

/// The path of the form that undoes a decision, with its fields as a query; `None` if none does.
pub(super) fn form(decision: &Decision) -> Option<String> {
    let change = decision.changes.first()?;
    let (before, after) = animals(change)?;
    let path = format!("/animals/{}/photos/change", after.id);
    if let Some(photo) = before.photos.missing_in(&after.photos).next() {
        return Some(link(&path, &[("do", &format!("restore-{photo}"))]));
    }
    let (photo, from) = moved(before, after)?;
    let (act, position) = (format!("move-{photo}"), from.to_string());
    let version = after.version.to_string();
    Some(link(&path, &[("do", &act), ("position", &position), ("version", &version)]))
}

/// Whether a decision takes a photo from an animal.
pub(super) fn removes_photo(decision: &Decision) -> bool {
    let removed = decision.changes.first().and_then(animals);
    removed.is_some_and(|(before, after)| before.photos.missing_in(&after.photos).next().is_some())
}

/// The animal before and after a change of it.
fn animals(change: &Change) -> Option<(&StorePet, &StorePet)> {
    match (&change.before, &change.after) {
        (Some(Resource::Pet(before)), Some(Resource::Pet(after))) => Some((before, after)),
        _ => None,
    }
}

/// The photo that has another position among the others, and its position before.
fn moved(before: &StorePet, after: &StorePet) -> Option<(PhotoId, usize)> {
    let ids = |pet: &StorePet| pet.photos.all().iter().map(|photo| photo.id).collect::<Vec<_>>();
    let (before, after) = (ids(before), ids(after));
    let without =
        |all: &[PhotoId], id| all.iter().copied().filter(|&of| of != id).collect::<Vec<_>>();
    let is_moved = |&(at, id): &(usize, PhotoId)| {
        after.get(at) != Some(&id) && without(&before, id) == without(&after, id)
    };
    let found = before.iter().copied().enumerate().find(is_moved);
    found.map(|(at, id)| (id, at))
}
