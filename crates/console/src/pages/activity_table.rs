//! The table of the entries of the audit trail. Its [`EntryCells`] are also in the export.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use jiff::Timestamp;
use petstore_domain::{
    NamedActor, PetId,
    staff::StaffMember,
    store_area::{AuditEntry, Category, FieldSet, JournalSubject, OrderId, StorePet, SubjectKind},
};

use super::{
    differences::show_differences,
    journal_changes,
    order_rows::{self, OrderRow},
    pet_schema::PetSchema,
};
use crate::prelude::*;

/// The key of the detail with the name of an act's subject, such as the name of an API key.
const NAME_DETAIL: &str = "name";

/// The prefix of a detail with a former value: `before.kind` has the value that `kind` had before
/// the act.
const FORMER_VALUE_PREFIX: &str = "before.";

/// The records to which the entries of a page refer. They are loaded before rendering, so that the
/// entries can show names instead of numbers.
pub(super) struct References {
    categories: Vec<Category>,
    fields: FieldSet,
    staff: Vec<StaffMember>,
    orders: Vec<OrderRow>,
    /// The animals whose notes are the subjects of entries.
    pets_with_notes: BTreeMap<PetId, StorePet>,
}

impl References {
    /// Loads the records to which these entries refer.
    pub(super) async fn load(desk: &Desk<'_>, entries: &[AuditEntry]) -> Result<Self, ApiError> {
        let mut category_ids = BTreeSet::new();
        let mut order_ids = Vec::new();
        for entry in entries {
            if let AuditEntry::Change(change) = entry {
                category_ids.extend(journal_changes::categories_in(change));
            }
            let subject = subject_of(entry);
            if subject.kind == SubjectKind::Order {
                order_ids.extend(subject.id.and_then(OrderId::new));
            }
        }
        Ok(Self {
            staff: desk.store().list_staff().await?,
            categories: desk.load_categories(category_ids).await?,
            fields: desk.store().fields().await?,
            orders: order_rows::load_rows(desk, order_ids.into_iter()).await?,
            pets_with_notes: load_pets_with_notes(desk, entries).await?,
        })
    }

    /// Finds the animal of the order or the note that is the subject of an entry. Returns `None`
    /// for another subject, or if the animal no longer exists.
    fn find_pet(&self, entry: &AuditEntry) -> Option<&StorePet> {
        let AuditEntry::Change(change) = entry else {
            return None;
        };
        let subject = &change.subject;
        match subject.kind.value()? {
            SubjectKind::Note => self.pets_with_notes.get(&PetId::new(change.pet?)?),
            SubjectKind::Order => {
                let order_id = subject.id?;
                let mut rows = self.orders.iter();
                let row = rows.find(|row| row.order.id.get() == order_id)?;
                row.pet.as_ref()
            }
            _ => None,
        }
    }

    /// Finds the member of the staff who is the subject of an entry. Returns `None` if the subject
    /// is not a member.
    fn find_member(&self, subject: &JournalSubject) -> Option<&StaffMember> {
        if subject.kind != SubjectKind::Staff {
            return None;
        }
        let member_id = subject.id?;
        self.staff.iter().find(|member| member.id.0 == member_id)
    }
}

/// The cells of an entry that both the page and the export show.
pub(super) struct EntryCells<'a> {
    pub(super) time: Timestamp,
    pub(super) actor: &'a NamedActor,
    /// The words for what happened.
    pub(super) action: String,
    pub(super) subject: &'a JournalSubject,
}

impl<'a> EntryCells<'a> {
    /// Returns the cells of an entry.
    pub(super) fn new(entry: &'a AuditEntry) -> Self {
        let subject = subject_of(entry);
        match entry {
            AuditEntry::Change(change) => Self {
                time: change.at,
                actor: &change.actor,
                action: match journal_changes::specific_wording(change) {
                    Some(action) => action.to_owned(),
                    None => wording::audit_type(change.kind.as_str()),
                },
                subject,
            },
            AuditEntry::Act { at, act, actor, .. } => Self {
                time: *at,
                actor,
                action: wording::audit_type(act.kind.as_str()),
                subject,
            },
        }
    }
}

/// Loads the animals whose notes are the subjects of entries.
async fn load_pets_with_notes(
    desk: &Desk<'_>,
    entries: &[AuditEntry],
) -> Result<BTreeMap<PetId, StorePet>, StoreError> {
    let mut pet_ids = BTreeSet::new();
    for entry in entries {
        if let AuditEntry::Change(change) = entry
            && change.subject.kind == SubjectKind::Note
        {
            pet_ids.extend(change.pet.and_then(PetId::new));
        }
    }
    let mut pets = BTreeMap::new();
    for id in pet_ids {
        if let Some(pet) = desk.store().get_store_pet(id).await? {
            pets.insert(id, pet);
        }
    }
    Ok(pets)
}

/// Returns the subject of an entry, such as an animal or an API key.
fn subject_of(entry: &AuditEntry) -> &JournalSubject {
    match entry {
        AuditEntry::Change(change) => &change.subject,
        AuditEntry::Act { act, .. } => &act.subject,
    }
}

/// Renders the table of the entries, one row for each.
pub(super) fn entry_table(
    desk: &Desk<'_>,
    entries: &[AuditEntry],
    references: &References,
) -> Markup {
    let labels = [
        texts().when,
        texts().who,
        texts().what,
        texts().about,
        texts().difference,
    ];
    let rows = html! {
        @for entry in entries {
            @let cells = EntryCells::new(entry);
            tr {
                td data-label=(texts().when) { (markup::time(cells.time, desk.visit.now)) }
                td data-label=(texts().who) { bdi { (wording::actor(cells.actor)) } }
                td.first { (cells.action) }
                td data-label=(texts().about) {
                    (subject_link(cells.subject, references, journal_changes::name_after_change(entry)))
                    @if let Some(pet) = references.find_pet(entry) {
                        ", "
                        a href={ "/animals/" (pet.id) } {
                            (markup::name(pet.name.as_str(), SHORT_LENGTH))
                        }
                    }
                }
                td { (details_cell(desk, entry, references)) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Renders the subject of an entry, as a link if the subject has a page.
///
/// The label is the name of a member of the staff, or `pet_name`, the name that an animal had at
/// the time of the entry. Without a name, the label is the type and the number of the subject, such
/// as "Order 12".
fn subject_link(
    subject: &JournalSubject,
    references: &References,
    pet_name: Option<String>,
) -> Markup {
    if let Some(member) = references.find_member(subject) {
        return html! { bdi { (member.name.as_str()) } };
    }
    let label = html! {
        @if let Some(pet_name) = pet_name { (markup::name(&pet_name, SHORT_LENGTH)) }
        @else { (wording::subject(subject)) }
    };
    let path = match (subject.kind.value(), subject.id) {
        (Some(SubjectKind::Pet), Some(id)) => format!("/animals/{id}"),
        (Some(SubjectKind::Order), Some(id)) => format!("/orders/{id}"),
        (Some(SubjectKind::Webhook), Some(id)) => format!("/settings/webhooks/{id}"),
        _ => return label,
    };
    html! { a href=(path) { (label) } }
}

/// Renders the last cell of an entry: the values that a change replaced, or the details of an act.
fn details_cell(desk: &Desk<'_>, entry: &AuditEntry, references: &References) -> Markup {
    match entry {
        AuditEntry::Change(change) => {
            let schema = PetSchema {
                categories: &references.categories,
                fields: &references.fields,
            };
            show_differences(desk, change, schema)
        }
        AuditEntry::Act { act, .. } => act_details(&act.details),
    }
}

/// Renders the details of an act, which are pairs of a name and a value.
///
/// The details of an act that changed something include the former values, whose names begin with
/// [`FORMER_VALUE_PREFIX`]. Of such an act, only the name of its subject and the differences are
/// shown.
fn act_details(details: &[(Cow<'static, str>, String)]) -> Markup {
    let has_differences = details
        .iter()
        .any(|(name, _)| name.starts_with(FORMER_VALUE_PREFIX));
    html! {
        @for (name, value) in details {
            @let is_shown = name == NAME_DETAIL || !has_differences;
            @if is_shown {
                @let (label, words) = wording::detail(name, value);
                div { (label) (window_texts().colon) (markup::text(&words, SHORT_LENGTH)) }
            }
        }
        @for (name, former_value) in details {
            @if let Some(changed_name) = name.strip_prefix(FORMER_VALUE_PREFIX) {
                (changed_detail(details, changed_name, former_value))
            }
        }
    }
}

/// Renders the detail with this name, which an act changed: its former value, an arrow, and its new
/// value. The new value is empty if the act removed the detail.
fn changed_detail(
    details: &[(Cow<'static, str>, String)],
    changed_name: &str,
    former_value: &str,
) -> Markup {
    let new_detail = details.iter().find(|(name, _)| name == changed_name);
    let new_value = match new_detail {
        Some((_, value)) => value.as_str(),
        None => "",
    };
    let (label, former_words) = wording::detail(changed_name, former_value);
    let (_, new_words) = wording::detail(changed_name, new_value);
    html! {
        div {
            (label) (window_texts().colon)
            del { (markup::text(&former_words, SHORT_LENGTH)) } " → "
            ins { (markup::text(&new_words, SHORT_LENGTH)) }
        }
    }
}
