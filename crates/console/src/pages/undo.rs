//! How what a member just did can be undone: the form of the button in the message about it.

use petstore_domain::{
    PetId,
    store_area::{
        Change, ChangeType, Decimal, Decision, FieldValue, Note, Order, OrderStatus, PhotoId,
        Resource, StorePet,
    },
};

use crate::{
    pages::{
        parts::link,
        selected::{CANCEL, GIVE_BACK},
    },
    reply::{Flash, Reply},
};

/// The longest form that a cookie carries to the next page.
const LONGEST: usize = 2_000;

/// The path of the form that undoes these decisions, with its fields as a query; `None` if none does. Those
/// about one animal are one act.
pub(super) fn form(decisions: &[Decision]) -> Option<String> {
    let (first, last) = (decisions.first()?, decisions.last()?);
    let form = if let Some(Resource::Order(order)) = &last.result {
        let is_one = decisions
            .iter()
            .all(|decision| subject(decision) == Some(order.pet_id));
        let kind = last.changes.first().map(|change| change.kind)?;
        if is_one {
            of_order(kind, before(decisions), order)
        } else {
            reserved_together(decisions)
        }
    } else if decisions.len() > 1 && subject(first) == subject(last) {
        let form = of_animal(last)?;
        match &first.result {
            // A withdrawal with its reservation.
            Some(Resource::Order(order)) => Some(format!("{form}&order={}", order.id)),
            _ => Some(form),
        }
    } else if decisions.len() > 1 {
        moved_together(decisions).or_else(|| given_together(decisions))
    } else {
        of_animal(last)
    };
    form.filter(|form| form.len() <= LONGEST)
}

/// The message on a list of animals. What undoes it returns to the same list, if a cookie has room for it.
pub(super) fn on_list(mut flash: Flash, list: String) -> Reply {
    if let (Some(undo), Some((_, query))) = (&mut flash.undo, list.split_once('?'))
        && undo.len() + query.len() < LONGEST
    {
        *undo = format!("{undo}&{query}");
    }
    Reply::See(list, Some(flash))
}

/// Whether decisions make a sale undone, and not because somebody brought the animal back.
pub(super) fn undoes_sale(decisions: &[Decision]) -> bool {
    let mut changes = decisions.iter().flat_map(|decision| &decision.changes);
    changes.any(|change| change.kind == ChangeType::OrderReopened)
        && before(decisions).is_some_and(|before| before.status == OrderStatus::Completed)
}

/// The animal that a decision is about.
pub(super) fn subject(decision: &Decision) -> Option<PetId> {
    decision.result.as_ref()?.pet_id()
}

/// The order before all of these decisions; `None` if it is new.
fn before(decisions: &[Decision]) -> Option<&Order> {
    let mut changes = decisions
        .iter()
        .filter_map(|decision| decision.changes.first());
    changes.find_map(|change| change.before.as_ref()?.order())
}

/// An order that was placed, closed, or reserved again.
fn of_order(kind: ChangeType, before: Option<&Order>, order: &Order) -> Option<String> {
    use OrderStatus::{Cancelled, Expired, Reserved};
    let (command, then) = match (kind, before.map(|before| before.status)) {
        (ChangeType::OrderPlaced, _) | (ChangeType::OrderReopened, Some(Cancelled | Expired)) => {
            ("cancel", "")
        }
        (ChangeType::OrderCompleted, None) => ("reopen", "cancel"),
        (ChangeType::OrderCompleted | ChangeType::OrderCancelled, Some(Reserved)) => ("reopen", ""),
        (ChangeType::OrderReturned, _) => ("reopen", "sell"),
        _ => return None,
    };
    let (path, version) = (
        format!("/orders/{}/{command}", order.id),
        order.version.to_string(),
    );
    let mut fields = vec![("version", &*version), ("then", then)];
    // A sale can have changed it. Fields without anything are left out, so a space is no price.
    if let Some(before) = before.filter(|before| before.price != order.price) {
        fields.push(("price", before.price.as_ref().map_or(" ", Decimal::as_str)));
    }
    Some(link(&path, &fields))
}

/// Animals that were reserved.
fn reserved_together(decisions: &[Decision]) -> Option<String> {
    let mut pets = Vec::new();
    // Without checks of a version, which change nothing.
    for decision in decisions
        .iter()
        .filter(|decision| !decision.changes.is_empty())
    {
        let is_placed = |change: &Change| change.kind == ChangeType::OrderPlaced;
        let (_, after) = decision.changes.iter().find_map(animals)?;
        pets.push(format!("{}:{}", after.id, after.version));
        decision.changes.iter().any(is_placed).then_some(())?;
    }
    Some(of_several(&[("do", CANCEL)], &pets))
}

/// The form that changes several animals.
fn of_several(act: &[(&str, &str)], pets: &[String]) -> String {
    let pets = pets.iter().map(|pet| ("pet", pet.as_str()));
    let all: Vec<_> = act.iter().copied().chain(pets).collect();
    link("/animals/selected", &all)
}

/// Animals that were moved from one category to another.
fn moved_together(decisions: &[Decision]) -> Option<String> {
    let (mut from, mut pets) = (None, Vec::new());
    for decision in decisions {
        let (before, after) = animals(decision.changes.first()?)?;
        let is_moved = before.category_id != after.category_id;
        if !is_moved || *from.get_or_insert(before.category_id) != before.category_id {
            return None;
        }
        pets.push(format!("{}:{}", after.id, after.version));
    }
    Some(of_several(
        &[("do", "move"), ("to", &from?.to_string())],
        &pets,
    ))
}

/// Animals that were given a value of one field. Each has its value from before behind its version.
fn given_together(decisions: &[Decision]) -> Option<String> {
    let (mut of, mut pets) = (None, Vec::new());
    for change in decisions.iter().flat_map(|decision| &decision.changes) {
        let (before, after) = animals(change)?;
        let (old, new) = (&before.fields, &after.fields);
        let mut names = old.iter().chain(new.iter()).map(|(name, _)| name);
        let name = names.find(|name| old.get(name) != new.get(name))?;
        let value = old
            .get(name)
            .map_or_else(String::new, FieldValue::to_string);
        // A browser sends other line ends than it has got.
        if *of.get_or_insert(name) != name || value.contains(char::is_control) {
            return None;
        }
        pets.push(format!("{}:{}:{value}", after.id, after.version));
    }
    Some(of_several(&[("do", GIVE_BACK), ("of", of?)], &pets))
}

fn of_animal(decision: &Decision) -> Option<String> {
    let change = decision.changes.first()?;
    let (before, after) = animals(change)?;
    let (of_pet, version) = (format!("/animals/{}", after.id), after.version.to_string());
    match (&before.withdrawn, &after.withdrawn) {
        (None, Some(_)) => {
            return Some(link(&format!("{of_pet}/restore"), &[("version", &version)]));
        }
        (Some(withdrawal), None) => {
            let note = withdrawal.note.as_ref().map_or("", Note::as_str);
            let reason = withdrawal.reason.as_str();
            let fields = [("version", &*version), ("why", reason), ("remark", note)];
            return Some(link(&format!("{of_pet}/withdraw"), &fields));
        }
        _ => {}
    }
    if before.category_id != after.category_id
        && (&before.name, before.status, &before.fields)
            == (&after.name, after.status, &after.fields)
    {
        return moved_together(std::slice::from_ref(decision));
    }
    let path = format!("/animals/{}/photos/change", after.id);
    if let Some(photo) = before.photos.missing_in(&after.photos).next() {
        return Some(link(&path, &[("do", &format!("restore-{photo}"))]));
    }
    let (photo, from) = moved(before, after)?;
    let (act, position) = (format!("move-{photo}"), from.to_string());
    let version = after.version.to_string();
    Some(link(
        &path,
        &[("do", &act), ("position", &position), ("version", &version)],
    ))
}

/// Whether a decision takes a photo from an animal.
pub(super) fn removes_photo(decision: &Decision) -> bool {
    let removed = decision.changes.first().and_then(animals);
    removed.is_some_and(|(before, after)| before.photos.missing_in(&after.photos).next().is_some())
}

/// The animal before and after a change of it.
fn animals(change: &Change) -> Option<(&StorePet, &StorePet)> {
    Some((
        change.before.as_ref()?.pet()?,
        change.after.as_ref()?.pet()?,
    ))
}

/// The photo that has another position among the others, and its position before.
fn moved(before: &StorePet, after: &StorePet) -> Option<(PhotoId, usize)> {
    let ids = |pet: &StorePet| {
        pet.photos
            .all()
            .iter()
            .map(|photo| photo.id)
            .collect::<Vec<_>>()
    };
    let (before, after) = (ids(before), ids(after));
    let without = |all: &[PhotoId], id| {
        all.iter()
            .copied()
            .filter(|&of| of != id)
            .collect::<Vec<_>>()
    };
    let is_moved = |&(at, id): &(usize, PhotoId)| {
        after.get(at) != Some(&id) && without(&before, id) == without(&after, id)
    };
    let found = before.iter().copied().enumerate().find(is_moved);
    found.map(|(at, id)| (id, at))
}
