//! The page of the audit trail: its entries, the newest first, and the form that searches them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use jiff::{Timestamp, civil::Date};
use petstore_domain::{
    NamedActor, PetId,
    staff::StaffMember,
    store_area::{
        AuditEntry, AuditPosition, AuditQuery, AuditType, Category, FieldSet, JournalSubject,
        OrderId, StorePet, SubjectKind,
    },
    text,
};

use super::{
    activity_search::list_entries,
    differences::show_differences,
    history,
    order_rows::{self, OrderRow},
    parts::{link, page_links},
    pet_schema::PetSchema,
};
use crate::prelude::*;

/// The number of entries on a page.
const ENTRIES_ON_PAGE: u32 = 50;

/// How many parts of the log one request reads at most while none of them has a matching entry.
///
/// Without the limit, a search for a rare entry would read the whole log in one request.
const MAX_PARTS_FOR_PAGE: usize = 4;

/// The query parameters with the filters of the search.
const FILTERS: [&str; 4] = ["since", "until", "animal", "type"];

/// Parses the filters of the search from the query parameters. An invalid value does not filter.
pub(super) fn parse_search(desk: &Desk<'_>) -> AuditQuery {
    let fields = &desk.visit.query;
    let zone = desk.visit.facts.zone_of_days();
    let first_day = parse_day(fields, "since");
    let last_day = parse_day(fields, "until");
    let subject = fields.integer("animal").map(|id| JournalSubject {
        kind: SubjectKind::Pet.into(),
        id: Some(id),
    });
    AuditQuery {
        subject,
        actor: None,
        kind: AuditType::parse(fields.get("type")),
        since: first_day.and_then(|day| zone.start_of_day(day)),
        // The last day is part of the search, so the search ends with the start of the next day.
        until: last_day.and_then(|day| zone.start_of_next_day(day)),
        after: None,
        newest_first: true,
        limit: ENTRIES_ON_PAGE,
    }
}

/// Parses a query parameter that holds a day, such as `2026-11-28`.
fn parse_day(fields: &Form, name: &str) -> Option<Date> {
    fields.get(name).parse().ok()
}

/// Parses the position after which a page begins: the number of a change and the number of an act,
/// such as `1234.5`.
fn parse_position(text: &str) -> Option<AuditPosition> {
    let (seq, act) = text.split_once('.')?;
    Some(AuditPosition {
        seq: text::parse_integer(seq)?,
        act: text::parse_integer(act)?,
    })
}

/// Loads the entries of a page, and the position after which the next page begins.
///
/// Reads on while no entry matches. A page can still be empty although another one follows: see
/// [`MAX_PARTS_FOR_PAGE`].
async fn load_page(
    desk: &Desk<'_>,
    mut query: AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), ApiError> {
    for _ in 1..MAX_PARTS_FOR_PAGE {
        let (entries, next) = list_entries(desk, &query).await?;
        if !entries.is_empty() || next.is_none() {
            return Ok((entries, next));
        }
        query.after = next;
    }
    Ok(list_entries(desk, &query).await?)
}

/// What the entries of a page refer to, loaded in advance so that the entries can show names
/// instead of numbers.
struct Subjects {
    categories: Vec<Category>,
    fields: FieldSet,
    staff: Vec<StaffMember>,
    orders: Vec<OrderRow>,
    /// The animals of the notes that entries are about, by the number of the animal.
    pets_with_notes: BTreeMap<i64, StorePet>,
}

impl Subjects {
    /// Loads everything that these entries refer to.
    async fn load(desk: &Desk<'_>, entries: &[AuditEntry]) -> Result<Self, ApiError> {
        let mut category_ids = BTreeSet::new();
        let mut order_ids = Vec::new();
        for entry in entries {
            if let AuditEntry::Change(change) = entry {
                category_ids.extend(history::categories_in(change));
            }
            let subject = EntryCells::new(entry).subject;
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

    /// Returns the animal that belongs to the order or note of an entry. The row names it next to
    /// the order or note.
    fn pet_of(&self, entry: &AuditEntry) -> Option<&StorePet> {
        let AuditEntry::Change(change) = entry else {
            return None;
        };
        let subject = &change.subject;
        if subject.kind == SubjectKind::Note {
            return self.pets_with_notes.get(&change.pet?);
        }
        if subject.kind != SubjectKind::Order {
            return None;
        }
        let row = self
            .orders
            .iter()
            .find(|row| subject.id == Some(row.order.id.get()))?;
        row.pet.as_ref()
    }

    /// Returns the member of the staff whom an entry is about; `None` if its subject is not a
    /// member.
    fn member(&self, subject: &JournalSubject) -> Option<&StaffMember> {
        if subject.kind != SubjectKind::Staff {
            return None;
        }
        self.staff
            .iter()
            .find(|member| subject.id == Some(member.id.0))
    }
}

/// Loads the animals of all notes that entries are about, by the number of the animal.
async fn load_pets_with_notes(
    desk: &Desk<'_>,
    entries: &[AuditEntry],
) -> Result<BTreeMap<i64, StorePet>, ApiError> {
    let mut pets = BTreeMap::new();
    for entry in entries {
        if let AuditEntry::Change(change) = entry
            && change.subject.kind == SubjectKind::Note
            && let Some(id) = change.pet.and_then(PetId::new)
            && !pets.contains_key(&id.get())
            && let Some(pet) = desk.store().get_store_pet(id).await?
        {
            pets.insert(id.get(), pet);
        }
    }
    Ok(pets)
}

/// Handles `GET /activity`: renders a page of the entries that match the search.
pub(super) async fn activity(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = &desk.visit.query;
    let after = parse_position(fields.get("after"));
    let mut query = parse_search(desk);
    query.after = after;
    let (entries, next) = load_page(desk, query).await?;
    let subjects = Subjects::load(desk, &entries).await?;

    let filters = FILTERS.map(|name| (name, fields.get(name)));
    let first_link = after.map(|_| link("/activity", &filters));
    let next_link = next.map(|AuditPosition { seq, act }| {
        let position = format!("{seq}.{act}");
        let mut parameters = filters.to_vec();
        parameters.push(("after", &position));
        link("/activity", &parameters)
    });
    let content = html! {
        div.head {
            h1 { (texts().activity) }
            a.button href=(link("/activity/export", &filters)) { (texts().export) }
        }
        (search_form(fields))
        @if entries.is_empty() {
            (no_entries(next.is_some()))
        } @else {
            (table(desk, &entries, &subjects))
        }
        (page_links(first_link.as_deref(), next_link.as_deref()))
    };
    Ok(Page::new(texts().activity, content).into())
}

/// Renders the message in place of an empty table.
///
/// `has_more` says that the search stopped before the end of the log, so the next page can have
/// matches.
fn no_entries(has_more: bool) -> Markup {
    html! {
        div.card.empty {
            @if has_more {
                strong { (texts().no_activity_yet) }
                p { (texts().no_activity_yet_hint) }
            } @else {
                strong { (texts().no_activity) }
                p { (texts().no_activity_hint) }
            }
        }
    }
}

/// Renders the search form, filled in with the present filters.
fn search_form(fields: &Form) -> Markup {
    let input = |id, label, kind| Input {
        id,
        label,
        value: fields.get(id),
        kind,
        ..Input::default()
    };
    let mut animal = input("animal", texts().animal_number, "text");
    if !fields.get("animal").is_empty() && fields.integer("animal").is_none() {
        animal.error = Some(texts().number_invalid);
    }
    let mut types = vec![("", texts().any_type.to_owned())];
    for audit_type in AuditType::all() {
        let name = audit_type.as_str();
        types.push((name, wording::audit_type(name)));
    }
    html! {
        form.card.row method="get" action="/activity" role="search" {
            (input("since", texts().since, "date").show())
            (input("until", texts().up_to, "date").show())
            (animal.show())
            (input("type", texts().what, "").choose(&types))
            button.main { (texts().find) }
        }
    }
}

/// The cells of an entry that the page and the export have in common.
pub(super) struct EntryCells<'a> {
    pub(super) time: Timestamp,
    pub(super) actor: &'a NamedActor,
    pub(super) action: String,
    pub(super) subject: &'a JournalSubject,
}

impl<'a> EntryCells<'a> {
    /// Returns the cells of an entry.
    pub(super) fn new(entry: &'a AuditEntry) -> Self {
        match entry {
            AuditEntry::Change(change) => Self {
                time: change.at,
                actor: &change.actor,
                action: match history::specific_wording(change) {
                    Some(action) => action.to_owned(),
                    None => wording::audit_type(change.kind.as_str()),
                },
                subject: &change.subject,
            },
            AuditEntry::Act { at, act, actor, .. } => Self {
                time: *at,
                actor,
                action: wording::audit_type(act.kind.as_str()),
                subject: &act.subject,
            },
        }
    }
}

/// Renders a table of entries.
fn table(desk: &Desk<'_>, entries: &[AuditEntry], subjects: &Subjects) -> Markup {
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
                    (subject_link(cells.subject, subjects, history::pet_name(entry)))
                    @if let Some(pet) = subjects.pet_of(entry) {
                        ", "
                        a href={ "/animals/" (pet.id) } {
                            (markup::name(pet.name.as_str(), SHORT_LENGTH))
                        }
                    }
                }
                td { (details(desk, entry, subjects)) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Renders the subject of an entry, as a link if the subject has a page.
///
/// `name` is the name of the animal at the time of the entry. Without it, the type and the number
/// are shown.
fn subject_link(subject: &JournalSubject, subjects: &Subjects, name: Option<String>) -> Markup {
    if let Some(member) = subjects.member(subject) {
        return html! { bdi { (member.name.as_str()) } };
    }
    let label = html! {
        @if let Some(name) = name { (markup::name(&name, SHORT_LENGTH)) }
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
fn details(desk: &Desk<'_>, entry: &AuditEntry, subjects: &Subjects) -> Markup {
    match entry {
        AuditEntry::Change(change) => {
            let schema = PetSchema {
                categories: &subjects.categories,
                fields: &subjects.fields,
            };
            show_differences(desk, change, schema)
        }
        AuditEntry::Act { act, .. } => act_details(&act.details),
    }
}

/// Renders the details of an act.
///
/// A detail `before.NAME` holds the former value of the detail `NAME`. An act with such details
/// changed something, so only the differences are shown, and the name of what was changed.
fn act_details(details: &[(Cow<'static, str>, String)]) -> Markup {
    let has_differences = details.iter().any(|(name, _)| changed_name(name).is_some());
    html! {
        @for (name, value) in details {
            @if !has_differences || name == "name" {
                @let (label, value) = wording::detail(name, value);
                div { (label) (window_texts().colon) (markup::text(&value, SHORT_LENGTH)) }
            }
        }
        @for (name, former_value) in details {
            @if let Some(name) = changed_name(name) {
                (difference(details, name, former_value))
            }
        }
    }
}

/// Returns the name of the changed detail: `before.kind` holds the former value of `kind`.
fn changed_name(name: &str) -> Option<&str> {
    name.strip_prefix("before.")
}

/// Renders a detail that an act changed: its former value, an arrow, and its new value.
fn difference(details: &[(Cow<'static, str>, String)], name: &str, former_value: &str) -> Markup {
    let new_value = details
        .iter()
        .find(|(other_name, _)| other_name == name)
        .map_or("", |(_, value)| value);
    let (label, former_words) = wording::detail(name, former_value);
    let (_, new_words) = wording::detail(name, new_value);
    html! {
        div {
            (label) (window_texts().colon)
            del { (markup::text(&former_words, SHORT_LENGTH)) } " → "
            ins { (markup::text(&new_words, SHORT_LENGTH)) }
        }
    }
}
