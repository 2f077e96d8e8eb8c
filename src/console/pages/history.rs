//! The history of an animal, from the log of changes.

use jiff::{Timestamp, ToSpan};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::parts::link;
use crate::{
    console::{
        desk::Desk,
        forms,
        markup::{self, SHORT},
        texts,
    },
    domain::{
        PetId,
        store_area::{
            AuditEntry, AuditQuery, AuditType, Category, ChangeType, JournalEntry, StorePet,
            SubjectKind,
        },
    },
    store::StoreError,
};

/// How many entries a page shows.
const SHOWN: u32 = 20;

/// A representation in the log.
#[derive(Default)]
struct Logged(Map<String, Value>);

impl Logged {
    fn read(text: Option<&str>) -> Self {
        Self(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.0.get(member)?.as_str()
    }

    fn integer(&self, member: &str) -> Option<i64> {
        self.0.get(member)?.as_i64()
    }

    fn end(&self) -> Option<Timestamp> {
        self.text("expiresAt")?.parse().ok()
    }

    /// How the animal left the catalogue.
    fn withdrawal(&self) -> Option<Self> {
        self.0.get("withdrawn")?.as_object().cloned().map(Self)
    }
}

/// The newest change of an animal.
pub(super) async fn last(desk: &Desk<'_>, id: PetId) -> Result<Option<JournalEntry>, StoreError> {
    Ok(desk.store().history(id, i64::MAX, 1).await?.pop())
}

/// The changes of an animal and of its orders, the newest first.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    let changes = desk.store().history(pet.id, before, SHOWN + 1).await?;
    let has_more = changes.len() > SHOWN as usize;
    let oldest =
        changes.iter().take(SHOWN as usize).next_back().map(|change| change.seq.to_string());
    // Also on the page that follows a form, which has another path.
    let path = format!("/animals/{}", pet.id);
    let older = oldest.filter(|_| has_more).map(|seq| link(&path, &[("before", &seq)]));
    let shown: Vec<&JournalEntry> = (0..changes.len().min(SHOWN as usize))
        .filter(|&at| !follows_an_order(&changes, at))
        .map(|at| &changes[at])
        .collect();
    let ids = shown.iter().flat_map(|&change| categories_in(change)).collect();
    let categories = desk.categories_of(ids).await?;
    // An animal that was imported begins with the import, of which the log has one entry for all.
    let begins = changes.iter().any(|change| change.kind == ChangeType::PetAdded);
    let import = if has_more || begins { None } else { import_of(desk, pet).await? };
    let shown = shown.into_iter().chain(&import);
    Ok(html! {
        @if changes.is_empty() && import.is_none() { p.muted { (texts::NO_HISTORY) } }
        ol.history {
            @for change in shown {
                li {
                    div {
                        strong { (replaced(change).map_or_else(|| texts::logged(&change.kind), str::to_owned)) }
                        @if let (Some(SubjectKind::Order), Some(order)) =
                            (change.subject.kind.known(), change.subject.id) {
                            ", " a href={ "/orders/" (order) } { (texts::title_of_order(order)) }
                        }
                    }
                    @if change.kind != ChangeType::PetsImported { (differences(change, &categories)) }
                    div.hint { (texts::actor(&change.actor)) ", " (markup::time(change.at, desk.visit.now)) }
                }
            }
        }
        @if let Some(older) = older { a href=(older) { (texts::OLDER) } }
    })
}

/// What a change did, if its type does not say that it replaced something.
pub(super) fn replaced(change: &JournalEntry) -> Option<&'static str> {
    let [before, after] = [&change.before, &change.after].map(|text| Logged::read(text.as_deref()));
    match change.kind.known()? {
        ChangeType::OrderChanged if before.end() < after.end() => Some(texts::EXTENDED),
        ChangeType::CategoryChanged if before.text("label").is_some() => Some(texts::RENAMED),
        _ => None,
    }
}

/// The name of the animal that an entry is about, at that time.
pub(super) fn name(entry: &AuditEntry) -> Option<String> {
    let AuditEntry::Change(change) = entry else { return None };
    Logged::read(change.after.as_deref()).text("name").map(str::to_owned)
}

/// The import that added an animal, among the first imports since it exists.
async fn import_of(desk: &Desk<'_>, pet: &StorePet) -> Result<Option<JournalEntry>, StoreError> {
    let query = AuditQuery {
        kind: Some(AuditType::Change(ChangeType::PetsImported)),
        since: pet.created_at.and_then(|at| at.checked_sub(1.second()).ok()),
        limit: SHOWN,
        ..AuditQuery::default()
    };
    let (entries, _) = desk.store().list_audit(&query).await?;
    let has_it = |change: &JournalEntry| {
        let import = Logged::read(change.after.as_deref());
        import
            .integer("firstId")
            .zip(import.integer("lastId"))
            .is_some_and(|(first, last)| (first..=last).contains(&pet.id.get()))
    };
    Ok(entries.into_iter().find_map(|entry| match entry {
        AuditEntry::Change(change) if has_it(&change) => Some(change),
        _ => None,
    }))
}

/// Whether the change at this place only gives the animal the status of the order before it.
fn follows_an_order(changes: &[JournalEntry], at: usize) -> bool {
    let (change, Some(before)) = (&changes[at], changes.get(at + 1)) else { return false };
    change.kind == ChangeType::PetChanged
        && before.subject.kind == SubjectKind::Order
        && before.kind != ChangeType::OrderChanged
        && before.seq + 1 == change.seq
        && before.at == change.at
}

/// The categories that an animal had before and after a change.
pub(super) fn categories_in(change: &JournalEntry) -> impl Iterator<Item = i64> {
    let of = |text: &Option<Box<str>>| Logged::read(text.as_deref()).integer("categoryId");
    [of(&change.before), of(&change.after)].into_iter().flatten()
}

/// What a change changed, for people. The log has the number of a category, and the name may be
/// another one since.
pub(super) fn differences(change: &JournalEntry, categories: &[Category]) -> Markup {
    let before = Logged::read(change.before.as_deref());
    let after = Logged::read(change.after.as_deref());
    let is_new = change.before.is_none();
    let category = |id: i64| match categories.iter().find(|category| category.id == id) {
        Some(category) => {
            texts::category_now(id, &markup::readable(category.label.as_str(), SHORT))
        }
        None => id.to_string(),
    };
    let value = |of: &Logged, member: &str| match member {
        "categoryId" => of.integer(member).map(category),
        "status" => of.text(member).map(|text| {
            forms::status(text).map_or(text, |status| texts::status(status)).to_owned()
        }),
        _ => of.text(member).map(str::to_owned),
    };
    let mut lines: Vec<(&str, Option<String>, String)> = Vec::new();
    let mut ends = None;
    let mut add = |label, old: Option<String>, new: Option<String>| {
        if let Some(new) = new.filter(|new| old.as_ref() != Some(new)) {
            lines.push((label, old, new));
        }
    };
    for &(member, label) in texts::MEMBERS {
        if member != "status" || (change.subject.kind == SubjectKind::Pet && !is_new) {
            add(label, value(&before, member), value(&after, member));
        }
    }
    if change.kind == ChangeType::OrderChanged && before.end() != after.end() {
        ends = before.end().zip(after.end());
    }
    if let (None, Some(withdrawal)) = (before.withdrawal(), after.withdrawal()) {
        let reason = withdrawal.text("reason").map(|text| {
            forms::withdrawal_reason(text).map_or(text, |reason| texts::reason(reason)).to_owned()
        });
        add(texts::REASON, None, reason);
        add(texts::NOTE, None, withdrawal.text("note").map(str::to_owned));
    }
    html! {
        @for (label, old, new) in lines {
            div {
                (label) ": "
                @if let Some(old) = old { del { (markup::text(&old, SHORT)) } " → " }
                ins { (markup::text(&new, SHORT)) }
            }
        }
        @if let Some((old, new)) = ends {
            div { (texts::ENDS) ": " del { (markup::exact_time(old)) } " → " ins { (markup::exact_time(new)) } }
        }
    }
}
