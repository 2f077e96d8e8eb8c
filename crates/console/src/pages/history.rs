//! The history of an animal, from the log of changes.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use jiff::{SignedDuration, Timestamp, ToSpan};
use petstore_domain::{
    NamedActor, PetId,
    store_area::{
        AltText, AuditEntry, AuditQuery, AuditType, Category, ChangeType, FieldKind, FieldSet,
        JournalEntry, NewPhoto, Order, PhotoId, StorePet, SubjectKind,
    },
};
use petstore_formats::json;
use serde_json::Value;

use super::{parts::link, values};
use crate::{order_inputs::ORDER_INPUTS, prelude::*};

/// How many entries a page shows.
const SHOWN: u32 = 20;

/// A representation in the log; null without one.
fn logged(text: Option<&str>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The end of a reservation in the log.
fn end(order: &Value) -> Option<Timestamp> {
    order["expiresAt"].as_str()?.parse().ok()
}

/// The newest change of an animal.
pub(super) async fn last(desk: &Desk<'_>, id: PetId) -> Result<Option<JournalEntry>, StoreError> {
    Ok(desk.store().history(id, i64::MAX, 1).await?.pop())
}

/// Who placed an order, if its animal has not changed too often since.
pub(super) async fn placed_by(
    desk: &Desk<'_>,
    order: &Order,
) -> Result<Option<NamedActor>, StoreError> {
    let changes = desk.store().history(order.pet_id, i64::MAX, RECENT).await?;
    let is_it = |change: &&JournalEntry| {
        change.subject.kind == SubjectKind::Order
            && change.subject.id == Some(order.id.get())
            && change.before.is_none()
    };
    Ok(changes
        .iter()
        .rfind(is_it)
        .map(|change| change.actor.clone()))
}

/// How many changes of an animal are looked through for its photos, or for an order.
const RECENT: u32 = 100;

/// How long a deleted photo can be put back: its files are deleted a day after it.
const PUT_BACK_WITHIN: SignedDuration = SignedDuration::from_hours(23);

/// A photo that a change took from an animal.
pub(super) struct Deleted {
    pub(super) photo: NewPhoto,
    /// Before the change.
    pub(super) position: usize,
    /// The photo in its place, such as the turned one.
    pub(super) replaced_by: Option<PhotoId>,
}

/// The photo that a change took from an animal, while it can be put back.
fn deleted_by(change: &JournalEntry, now: Timestamp) -> Option<Deleted> {
    let all = |of: &Option<Box<str>>| logged(of.as_deref())["photos"].as_array().cloned();
    let (before, after) = (all(&change.before)?, all(&change.after)?);
    let is_gone = |photo: &Value| after.iter().all(|other| other["id"] != photo["id"]);
    let at = before.iter().position(is_gone)?;
    let photo = &before[at];
    let side = |name| u32::try_from(photo[name].as_u64()?).ok();
    let new = NewPhoto {
        id: PhotoId::parse(photo["id"].as_str()?)?,
        alt: photo["alt"]
            .as_str()
            .and_then(|alt| AltText::new(alt.to_owned())),
        width: side("width")?,
        height: side("height")?,
        focus: json::read_focus(
            [0, 1]
                .map(|at| photo["focus"][at].to_string())
                .each_ref()
                .map(|part| &**part),
        ),
    };
    let is_replaced = before.len() == after.len();
    let replaced_by = after
        .get(at)
        .filter(|_| is_replaced)
        .and_then(|by| by["id"].as_str());
    let replaced_by = replaced_by.and_then(PhotoId::parse);
    let deleted = Deleted {
        photo: new,
        position: at,
        replaced_by,
    };
    (now.duration_since(change.at) < PUT_BACK_WITHIN).then_some(deleted)
}

/// A photo that this animal had, while it can be put back.
pub(super) async fn deleted_photo(
    desk: &Desk<'_>,
    pet: PetId,
    photo: PhotoId,
) -> Result<Option<Deleted>, StoreError> {
    let changes = desk.store().history(pet, i64::MAX, RECENT).await?;
    let mut deleted = changes
        .iter()
        .filter_map(|change| deleted_by(change, desk.visit.now));
    Ok(deleted.find(|of| of.photo.id == photo))
}

/// The changes of an animal and of its orders, the newest first.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    let changes = desk.store().history(pet.id, before, SHOWN + 1).await?;
    let has_more = changes.len() > SHOWN as usize;
    let oldest = changes
        .iter()
        .take(SHOWN as usize)
        .next_back()
        .map(|change| change.seq.to_string());
    // Also on the page that follows a form, which has another path.
    let path = format!("/animals/{}", pet.id);
    let older = oldest
        .filter(|_| has_more)
        .map(|seq| link(&path, &[("before", &seq)]));
    let shown: Vec<&JournalEntry> = (0..changes.len().min(SHOWN as usize))
        .filter(|&at| !follows_an_order(&changes, at))
        .map(|at| &changes[at])
        .collect();
    let ids = shown
        .iter()
        .flat_map(|&change| categories_in(change))
        .collect();
    let categories = desk.load_categories(ids).await?;
    let fields = desk.store().fields().await?;
    // An animal that was imported begins with the import, of which the log has one entry for all.
    let begins = changes
        .iter()
        .any(|change| change.kind == ChangeType::PetAdded);
    let import = if has_more || begins {
        None
    } else {
        import_of(desk, pet).await?
    };
    let shown = shown.into_iter().chain(&import);
    let may_change = desk.may_write() && pet.withdrawn.is_none();
    let deleted = |change| {
        let deleted = deleted_by(change, desk.visit.now).filter(|_| may_change);
        deleted
            .map(|of| of.photo.id)
            .filter(|&id| pet.photos.position(id).is_none())
    };
    Ok(html! {
        @if changes.is_empty() && import.is_none() { p.muted { (texts().no_history) } }
        ol.history {
            @for change in shown {
                li {
                    div {
                        strong { (replaced(change).map_or_else(|| wording::change_type(&change.kind), str::to_owned)) }
                        @if let (Some(SubjectKind::Order), Some(order)) =
                            (change.subject.kind.known(), change.subject.id) {
                            ", " a href={ "/orders/" (order) } { (texts().this_order(order)) }
                        }
                    }
                    @if change.kind != ChangeType::PetsImported { (differences(desk, change, (&categories, &fields))) }
                    @if let Some(photo) = deleted(change) {
                        form method="post" action={ (path) "/photos/change" } {
                            (desk.key("put-back"))
                            button name="do" value={ "restore-" (photo) } { (texts().put_back) }
                        }
                    }
                    div.hint { (wording::actor(&change.actor)) ", " (markup::time(change.at, desk.visit.now)) }
                }
            }
        }
        @if let Some(older) = older { a href=(older) { (texts().older) } }
    })
}

/// The words for a change, if its type does not say that it replaced something.
pub(super) fn replaced(change: &JournalEntry) -> Option<&'static str> {
    let [before, after] = [&change.before, &change.after].map(|text| logged(text.as_deref()));
    match change.kind.known()? {
        ChangeType::OrderChanged if end(&before) < end(&after) => Some(texts().extended),
        ChangeType::CategoryChanged if before["label"].as_str().is_some() => Some(texts().renamed),
        _ => None,
    }
}

/// The name of the animal that an entry is about, at that time.
pub(super) fn name(entry: &AuditEntry) -> Option<String> {
    let AuditEntry::Change(change) = entry else {
        return None;
    };
    logged(change.after.as_deref())["name"]
        .as_str()
        .map(str::to_owned)
}

/// The import that added an animal, among the first imports since it exists.
async fn import_of(desk: &Desk<'_>, pet: &StorePet) -> Result<Option<JournalEntry>, StoreError> {
    let query = AuditQuery {
        kind: Some(AuditType::Change(ChangeType::PetsImported)),
        since: pet
            .created_at
            .and_then(|at| at.checked_sub(1.second()).ok()),
        limit: SHOWN,
        ..AuditQuery::default()
    };
    let (entries, _) = desk.store().list_audit(&query).await?;
    let has_it = |change: &JournalEntry| {
        let import = logged(change.after.as_deref());
        let ids = import["firstId"].as_i64().zip(import["lastId"].as_i64());
        ids.is_some_and(|(first, last)| (first..=last).contains(&pet.id.get()))
    };
    Ok(entries.into_iter().find_map(|entry| match entry {
        AuditEntry::Change(change) if has_it(&change) => Some(change),
        _ => None,
    }))
}

/// Whether the change at this place only gives the animal the status of the order before it.
fn follows_an_order(changes: &[JournalEntry], at: usize) -> bool {
    let (change, Some(before)) = (&changes[at], changes.get(at + 1)) else {
        return false;
    };
    change.kind == ChangeType::PetChanged
        && before.subject.kind == SubjectKind::Order
        && before.kind != ChangeType::OrderChanged
        && before.seq + 1 == change.seq
        && before.at == change.at
}

/// The categories that an animal had before and after a change.
pub(super) fn categories_in(change: &JournalEntry) -> impl Iterator<Item = i64> {
    let of = |text: &Option<Box<str>>| logged(text.as_deref())["categoryId"].as_i64();
    [of(&change.before), of(&change.after)]
        .into_iter()
        .flatten()
}

/// The differences of a change, for people. The log has the number of a category, and the name may be
/// another one since.
pub(super) fn differences(
    desk: &Desk<'_>,
    change: &JournalEntry,
    (categories, fields): (&[Category], &FieldSet),
) -> Markup {
    let before = logged(change.before.as_deref());
    let after = logged(change.after.as_deref());
    let is_new = change.before.is_none();
    let category = |id: i64| match categories.iter().find(|category| category.id == id) {
        Some(category) => {
            texts().category_now(id, &markup::readable(category.label.as_str(), SHORT))
        }
        None => id.to_string(),
    };
    let value = |of: &Value, member: &str| match member {
        "categoryId" => of[member].as_i64().map(category),
        "status" => of[member].as_str().map(|text| {
            forms::parse_status(text)
                .map_or(text, |status| texts().status(status))
                .to_owned()
        }),
        "price" => of[member]
            .as_str()
            .map(|price| amount(price, desk.currency())),
        // That of an order is a text of people.
        "reason" => of[member].as_str().map(|text| {
            text.parse()
                .map_or(text, |reason| texts().reason(reason))
                .to_owned()
        }),
        _ => of[member].as_str().map(str::to_owned),
    };
    let mut lines: Vec<(String, Option<String>, String)> = Vec::new();
    let mut ends = None;
    let mut add = |label: &str, old: Option<String>, new: Option<String>| {
        // A value that is gone is also shown, unless all of it is gone.
        let is_gone = old.is_some() && change.after.is_some();
        let new = new.or_else(|| is_gone.then(|| texts().no_value.to_owned()));
        if let Some(new) = new.filter(|new| old.as_ref() != Some(new)) {
            lines.push((label.to_owned(), old, new));
        }
    };
    let of_order = ORDER_INPUTS.iter().map(|input| (input.name, input.label()));
    let (name, category) = (texts().name, texts().category);
    let members = [
        ("name", name),
        ("label", name),
        ("categoryId", category),
        ("status", texts().status_label),
    ];
    let members = members.into_iter().chain(of_order);
    for (member, label) in members.chain([("reason", texts().reason_label)]) {
        if member != "status" || (change.subject.kind == SubjectKind::Pet && !is_new) {
            add(label, value(&before, member), value(&after, member));
        }
    }
    for name in names_of(&before["fields"], &after["fields"]) {
        let field = fields.find(name);
        let label = field.map_or_else(|| markup::readable(name, SHORT), values::label_of);
        let value = |value: &Value| match (field, value) {
            (Some(field), Value::String(text)) => match field.kind {
                FieldKind::Date => wording::day(text),
                FieldKind::Decimal => amount(text, desk.currency().filter(|_| field.is_price())),
                _ => field.shown(text).to_owned(),
            },
            _ => wording::value(value),
        };
        let [old, new] = [&before, &after].map(|of| of["fields"].get(name).map(value));
        add(&label, old, new);
    }
    if change.kind == ChangeType::OrderChanged && end(&before) != end(&after) {
        ends = end(&before).zip(end(&after));
    }
    let withdrawal = &after["withdrawn"];
    if before["withdrawn"].is_null() && withdrawal.is_object() {
        let reason = withdrawal["reason"].as_str().map(|text| {
            forms::parse_withdrawal_reason(text)
                .map_or(text, |reason| texts().reason(reason))
                .to_owned()
        });
        add(texts().reason_label, None, reason);
        add(
            texts().note,
            None,
            withdrawal["note"].as_str().map(str::to_owned),
        );
    }
    let others = photos(&before["photos"], &after["photos"]);
    // The log has no contacts, which can be erased.
    let is_contact = change.kind == ChangeType::OrderChanged && lines.is_empty() && ends.is_none();
    html! {
        @for what in others { div { (what) } }
        @if is_contact { div { (texts().contact_changed) } }
        @for (label, old, new) in lines {
            div {
                (label) (window_texts().colon)
                @if let Some(old) = &old { del { (markup::text(old, SHORT)) } " → " }
                ins { (markup::text(&new, SHORT)) }
                @if let Some(old) = old.filter(|old| old.chars().nth(SHORT).is_some()) {
                    details { summary { (texts().whole_before) } p { (markup::lines(&old)) } }
                }
            }
        }
        @if let Some((old, new)) = ends {
            div { (texts().ends) (window_texts().colon) del { (markup::exact_time(old)) } " → " ins { (markup::exact_time(new)) } }
        }
    }
}

/// The names of the fields that an animal has values of, before or after a change.
fn names_of<'v>(before: &'v Value, after: &'v Value) -> BTreeSet<&'v str> {
    let names = |of: &'v Value| of.as_object().into_iter().flat_map(|all| all.keys());
    names(before)
        .chain(names(after))
        .map(String::as_str)
        .collect()
}

/// The changes of the photos of an animal.
fn photos(before: &Value, after: &Value) -> Vec<&'static str> {
    let all = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let (before, after) = (all(before), all(after));
    let ids = |of: &[Value]| {
        of.iter()
            .map(|photo| photo["id"].clone())
            .collect::<Vec<_>>()
    };
    let each = |of: &[Value], member: &str| {
        let all = of
            .iter()
            .map(|photo| (photo["id"].to_string(), photo[member].clone()));
        all.collect::<BTreeMap<_, _>>()
    };
    let order = match after.len().cmp(&before.len()) {
        Ordering::Greater => Some(texts().photo_added),
        Ordering::Less => Some(texts().photo_deleted),
        Ordering::Equal if !ids(&before).iter().all(|id| ids(&after).contains(id)) => {
            return vec![texts().photo_turned];
        }
        Ordering::Equal if ids(&before) != ids(&after) => Some(texts().photos_moved),
        Ordering::Equal => None,
    };
    let members = [
        ("alt", texts().photo_described),
        ("focus", texts().photo_focused),
    ];
    let changed = members.map(|(member, text)| {
        let is_changed =
            after.len() == before.len() && each(&before, member) != each(&after, member);
        is_changed.then_some(text)
    });
    order
        .into_iter()
        .chain(changed.into_iter().flatten())
        .collect()
}
