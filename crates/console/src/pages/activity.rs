//! The page of the audit trail: a search form, and the matching entries, the newest first.

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

/// The maximum number of entries on a page.
const ENTRIES_PER_PAGE: u32 = 50;

/// The maximum number of calls of [`list_entries`] for one page.
///
/// Each call scans a bounded part of the log, in which no entry may match. Without the limit, a
/// search for a rare entry would scan the whole log in one request.
const MAX_READS_PER_PAGE: usize = 4;

/// The query parameters that filter the entries. Links to other pages of the search repeat them.
const FILTER_PARAMETERS: [&str; 4] = ["since", "until", "animal", "type"];

/// Builds the query of the search from the query parameters. Invalid values are ignored.
pub(super) fn parse_search(desk: &Desk<'_>) -> AuditQuery {
    let parameters = &desk.visit.query;
    let zone = desk.visit.facts.zone_of_days();
    let first_day = parse_day(parameters, "since");
    let last_day = parse_day(parameters, "until");
    let subject = parameters.integer("animal").map(|id| JournalSubject {
        kind: SubjectKind::Pet.into(),
        id: Some(id),
    });
    AuditQuery {
        subject,
        actor: None,
        kind: AuditType::parse(parameters.get("type")),
        since: first_day.and_then(|day| zone.start_of_day(day)),
        // `until` is exclusive, and the search includes the last day.
        until: last_day.and_then(|day| zone.start_of_next_day(day)),
        after: None,
        newest_first: true,
        limit: ENTRIES_PER_PAGE,
    }
}

/// Parses a query parameter that holds a day, such as `2026-11-28`.
fn parse_day(parameters: &Form, name: &str) -> Option<Date> {
    parameters.get(name).parse().ok()
}

/// Parses the position after which a page begins, such as `1234.5`: the number of a change, and the
/// number of an act or 0.
fn parse_position(text: &str) -> Option<AuditPosition> {
    let (seq, act) = text.split_once('.')?;
    Some(AuditPosition {
        seq: text::parse_integer(seq)?,
        act: text::parse_integer(act)?,
    })
}

/// Loads the entries of a page, and the position after which the next page begins.
///
/// Reads further parts of the log until one has a matching entry, at most [`MAX_READS_PER_PAGE`].
/// So a page can be empty although another one follows.
async fn load_page(
    desk: &Desk<'_>,
    mut query: AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), ApiError> {
    for _ in 1..MAX_READS_PER_PAGE {
        let (entries, next) = list_entries(desk, &query).await?;
        if !entries.is_empty() || next.is_none() {
            return Ok((entries, next));
        }
        query.after = next;
    }
    // The last read, whose result is returned even without entries.
    Ok(list_entries(desk, &query).await?)
}

/// The records to which the entries of a page refer. They are loaded before rendering, so that the
/// entries can show names instead of numbers.
struct References {
    categories: Vec<Category>,
    fields: FieldSet,
    staff: Vec<StaffMember>,
    orders: Vec<OrderRow>,
    /// The animals whose notes are the subjects of entries, by the number of the animal.
    pets_with_notes: BTreeMap<i64, StorePet>,
}

impl References {
    /// Loads the records to which these entries refer.
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

    /// Returns the animal whose order or note is the subject of an entry. The row of the entry
    /// names it after the order or note.
    fn pet_of(&self, entry: &AuditEntry) -> Option<&StorePet> {
        let AuditEntry::Change(change) = entry else {
            return None;
        };
        let subject = &change.subject;
        match subject.kind.value()? {
            SubjectKind::Note => self.pets_with_notes.get(&change.pet?),
            SubjectKind::Order => {
                let mut rows = self.orders.iter();
                let row = rows.find(|row| subject.id == Some(row.order.id.get()))?;
                row.pet.as_ref()
            }
            _ => None,
        }
    }

    /// Returns the member of the staff who is the subject of an entry; `None` if the subject is
    /// not a member.
    fn member(&self, subject: &JournalSubject) -> Option<&StaffMember> {
        if subject.kind != SubjectKind::Staff {
            return None;
        }
        self.staff
            .iter()
            .find(|member| subject.id == Some(member.id.0))
    }
}

/// Loads the animals whose notes are the subjects of entries, by the number of the animal.
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
    let parameters = &desk.visit.query;
    let after = parse_position(parameters.get("after"));
    let mut query = parse_search(desk);
    query.after = after;
    let (entries, next) = load_page(desk, query).await?;
    let references = References::load(desk, &entries).await?;

    let filters = FILTER_PARAMETERS.map(|name| (name, parameters.get(name)));
    let first_page = after.map(|_| link("/activity", &filters));
    let next_page = next.map(|AuditPosition { seq, act }| {
        let position = format!("{seq}.{act}");
        let mut next_parameters = filters.to_vec();
        next_parameters.push(("after", &position));
        link("/activity", &next_parameters)
    });
    let content = html! {
        div.head {
            h1 { (texts().activity) }
            a.button href=(link("/activity/export", &filters)) { (texts().export) }
        }
        (search_form(parameters))
        @if entries.is_empty() {
            (no_entries_card(next.is_some()))
        } @else {
            (entry_table(desk, &entries, &references))
        }
        (page_links(first_page.as_deref(), next_page.as_deref()))
    };
    Ok(Page::new(texts().activity, content).into())
}

/// Renders the card that replaces an empty table.
///
/// `has_more` is true if the search stopped before the end of the log. The next page can then have
/// matches, and the card says so.
fn no_entries_card(has_more: bool) -> Markup {
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

/// Renders the search form. Its inputs show the present filters.
fn search_form(parameters: &Form) -> Markup {
    let input = |id, label, kind| Input {
        id,
        label,
        value: parameters.get(id),
        kind,
        ..Input::default()
    };
    let mut animal_input = input("animal", texts().animal_number, "text");
    if !parameters.get("animal").is_empty() && parameters.integer("animal").is_none() {
        animal_input.error = Some(texts().number_invalid);
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
            (animal_input.show())
            (input("type", texts().what, "").show_dropdown(&types))
            button.main { (texts().find) }
        }
    }
}

/// The cells of an entry that both the page and the export show.
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

/// Renders the table of the entries, one row for each.
fn entry_table(desk: &Desk<'_>, entries: &[AuditEntry], references: &References) -> Markup {
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
                    (subject_link(cells.subject, references, history::pet_name(entry)))
                    @if let Some(pet) = references.pet_of(entry) {
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
/// `name` is the name that an animal had at the time of the entry. Without it, the link shows the
/// type and the number of the subject, such as "Order 12".
fn subject_link(subject: &JournalSubject, references: &References, name: Option<String>) -> Markup {
    if let Some(member) = references.member(subject) {
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

/// Renders the details of an act.
///
/// If an act changed the detail `NAME`, its detail `before.NAME` holds the former value. For such
/// an act, only the differences are shown, after the name of what was changed.
fn act_details(details: &[(Cow<'static, str>, String)]) -> Markup {
    let has_differences = details.iter().any(|(name, _)| changed_name(name).is_some());
    html! {
        @for (name, value) in details {
            @if !has_differences || name == "name" {
                @let (label, words) = wording::detail(name, value);
                div { (label) (window_texts().colon) (markup::text(&words, SHORT_LENGTH)) }
            }
        }
        @for (name, former_value) in details {
            @if let Some(detail_name) = changed_name(name) {
                (difference(details, detail_name, former_value))
            }
        }
    }
}

/// Returns the name of the detail whose former value another detail holds: `kind` for `before.kind`.
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
