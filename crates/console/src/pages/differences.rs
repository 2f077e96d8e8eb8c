//! The differences that a change in the journal made, for people.

use std::collections::BTreeSet;

use jiff::Timestamp;
use petstore_domain::store_area::{
    Change, ChangeType, FieldDefinition, FieldKind, FieldValue, JournalEntry, Note, Order, Photo,
    PhotoId, Photos, Reason, Resource, StorePet,
};
use petstore_formats::json;

use super::{pet_schema::PetSchema, values};
use crate::{order_inputs::ORDER_INPUTS, prelude::*};

/// A value that a change has replaced, with its label.
struct Difference {
    label: String,
    before: Option<String>,
    after: String,
}

/// The differences that were found so far.
struct Differences {
    all: Vec<Difference>,
    /// Whether what the change is about is gone, with all its values.
    is_deleted: bool,
}

impl Differences {
    /// Adds a value, if it has changed. A value that is gone is shown as "no value".
    fn add(&mut self, label: &str, before: Option<String>, after: Option<String>) {
        if before == after || (after.is_none() && self.is_deleted) {
            return;
        }
        self.all.push(Difference {
            label: label.to_owned(),
            before,
            after: after.unwrap_or_else(|| texts().no_value.to_owned()),
        });
    }
}

/// Shows the differences of a change; nothing if a later release has made the change in a way that this one does not
/// know. The journal has the numbers of categories, whose names may be others since.
pub(super) fn show_differences(
    desk: &Desk<'_>,
    entry: &JournalEntry,
    schema: PetSchema<'_>,
) -> Markup {
    let Some(change) = json::read_change(entry) else {
        return html! {};
    };
    let mut differences = Differences {
        all: Vec::new(),
        is_deleted: change.after.is_none(),
    };
    let mut notes: Vec<&'static str> = Vec::new();
    let mut ends = None;
    match (change.before.as_ref(), change.after.as_ref()) {
        (before, Some(Resource::Pet(after))) => {
            let before = before.and_then(Resource::pet);
            add_pet(desk, before, after, schema, &mut differences);
            notes = photo_notes(
                before.map_or(&Photos::NONE, |pet| &pet.photos),
                &after.photos,
            );
        }
        (before, Some(Resource::Order(after))) => {
            let before = before.and_then(Resource::order);
            add_order(desk, before, after, &mut differences);
            ends = changed_end(&change, before, after);
            // The journal has no contacts, which can be erased.
            let is_contact = differences.all.is_empty() && ends.is_none();
            if change.kind == ChangeType::OrderChanged && is_contact {
                notes.push(texts().contact_changed);
            }
        }
        (before, after) => {
            let label = |resource: Option<&Resource>| {
                let category = resource.and_then(Resource::category);
                category.map(|category| category.label.as_str().to_owned())
            };
            differences.add(texts().name, label(before), label(after));
        }
    }
    html! {
        @for note in notes { div { (note) } }
        @for difference in &differences.all { (difference_row(difference)) }
        @if let Some((before, after)) = ends {
            div {
                (texts().ends) (window_texts().colon)
                del { (markup::exact_time(before)) } " → " ins { (markup::exact_time(after)) }
            }
        }
    }
}

/// Shows a value before and after a change. A long value from before can be opened.
fn difference_row(difference: &Difference) -> Markup {
    let Difference {
        label,
        before,
        after,
    } = difference;
    html! {
        div {
            (label) (window_texts().colon)
            @if let Some(before) = before { del { (markup::text(before, SHORT_LENGTH)) } " → " }
            ins { (markup::text(after, SHORT_LENGTH)) }
            @if let Some(before) = before {
                @if before.chars().nth(SHORT_LENGTH).is_some() {
                    details { summary { (texts().whole_before) } p { (markup::lines(before)) } }
                }
            }
        }
    }
}

/// Returns the end of a reservation before and after a change, if the change is about the end.
fn changed_end(
    change: &Change,
    before: Option<&Order>,
    after: &Order,
) -> Option<(Timestamp, Timestamp)> {
    let before_end = before?.expires_at?;
    let after_end = after.expires_at?;
    if change.kind != ChangeType::OrderChanged || before_end == after_end {
        return None;
    }
    Some((before_end, after_end))
}

/// Adds the differences of an order.
fn add_order(
    desk: &Desk<'_>,
    before: Option<&Order>,
    after: &Order,
    differences: &mut Differences,
) {
    for input in &ORDER_INPUTS {
        let before = before.and_then(|order| input.display_value(desk, order));
        differences.add(input.label(), before, input.display_value(desk, after));
    }
    let reason = |order: &Order| order.reason.as_ref().map(reason_words);
    differences.add(texts().reason_label, before.and_then(reason), reason(after));
}

/// Returns the reason of an order, which can be one of a withdrawal, or a text of people.
fn reason_words(reason: &Reason) -> String {
    match reason.as_str().parse() {
        Ok(known) => texts().reason(known).to_owned(),
        Err(_) => reason.as_str().to_owned(),
    }
}

/// Adds the differences of an animal, apart from its photos.
fn add_pet(
    desk: &Desk<'_>,
    before: Option<&StorePet>,
    after: &StorePet,
    schema: PetSchema<'_>,
    differences: &mut Differences,
) {
    add_members(before, after, schema, differences);
    for name in field_names(before, after) {
        let field = schema.fields.find(name);
        let label = match field {
            Some(field) => values::label_of(field),
            None => markup::readable(name, SHORT_LENGTH),
        };
        let value = |pet: &StorePet| {
            let value = pet.fields.get(name)?;
            Some(value_words(desk, field, value))
        };
        differences.add(&label, before.and_then(value), value(after));
    }

    let was_withdrawn = before.is_some_and(|pet| pet.withdrawal.is_some());
    if let Some(withdrawal) = &after.withdrawal
        && !was_withdrawn
    {
        let reason = texts().reason(withdrawal.reason).to_owned();
        differences.add(texts().reason_label, None, Some(reason));
        let note = withdrawal.note.as_ref().map(Note::as_str);
        differences.add(texts().note, None, note.map(str::to_owned));
    }
}

/// Adds the differences of the members that every animal has.
fn add_members(
    before: Option<&StorePet>,
    after: &StorePet,
    schema: PetSchema<'_>,
    differences: &mut Differences,
) {
    let name = |pet: &StorePet| pet.name.as_str().to_owned();
    differences.add(texts().name, before.map(name), Some(name(after)));
    let category = |pet: &StorePet| category_words(pet.category_id, schema);
    differences.add(
        texts().category,
        before.map(category),
        Some(category(after)),
    );
    if let Some(before) = before {
        let status = |pet: &StorePet| Some(texts().status(pet.status).to_owned());
        differences.add(texts().status_label, status(before), status(after));
    }
    let listing = |pet: &StorePet| forms::listing_words(pet.is_listed).to_owned();
    // A new animal is on the website unless the history says otherwise.
    if before.is_some() || !after.is_listed {
        differences.add(texts().website, before.map(listing), Some(listing(after)));
    }
}

/// Returns the names of the fields that have values of an animal, before or after a change.
fn field_names<'p>(before: Option<&'p StorePet>, after: &'p StorePet) -> BTreeSet<&'p str> {
    let mut names: BTreeSet<&str> = after.fields.iter().map(|(name, _)| name).collect();
    if let Some(before) = before {
        names.extend(before.fields.iter().map(|(name, _)| name));
    }
    names
}

/// Returns the present name of a category, or its number if it has none.
fn category_words(id: i64, schema: PetSchema<'_>) -> String {
    let category = schema.categories.iter().find(|category| category.id == id);
    match category {
        Some(category) => markup::readable(category.label.as_str(), SHORT_LENGTH),
        None => id.to_string(),
    }
}

/// Returns the value of a field as people read it; of a field that is gone, as it was stored.
fn value_words(desk: &Desk<'_>, field: Option<&FieldDefinition>, value: &FieldValue) -> String {
    match (field, value) {
        (_, FieldValue::Boolean(true)) => window_texts().yes.to_owned(),
        (_, FieldValue::Boolean(false)) => window_texts().no.to_owned(),
        (_, FieldValue::Integer(number)) => number.to_string(),
        (None, FieldValue::Text(text)) => text.clone(),
        (Some(field), FieldValue::Text(text)) => match field.kind {
            FieldKind::Date => wording::day(text),
            FieldKind::Decimal if field.is_price() => amount(text, desk.currency()),
            FieldKind::Decimal => amount(text, None),
            _ => field.display_text(text).to_owned(),
        },
    }
}

/// Returns sentences about the changes of the photos of an animal.
fn photo_notes(before: &Photos, after: &Photos) -> Vec<&'static str> {
    if after.all().len() > before.all().len() {
        return vec![texts().photo_added];
    }
    if after.all().len() < before.all().len() {
        return vec![texts().photo_deleted];
    }
    // Turning a photo makes a new one, with another id.
    let is_turned = before.missing_in(after).next().is_some();
    if is_turned {
        return vec![texts().photo_turned];
    }

    let mut notes = Vec::new();
    if photo_ids(before) != photo_ids(after) {
        notes.push(texts().photos_moved);
    }
    if any_photo_differs(before, after, |one, other| one.alt != other.alt) {
        notes.push(texts().photo_described);
    }
    if any_photo_differs(before, after, |one, other| one.focus != other.focus) {
        notes.push(texts().photo_focused);
    }
    notes
}

fn photo_ids(photos: &Photos) -> Vec<PhotoId> {
    photos.all().iter().map(|photo| photo.id).collect()
}

/// Whether a photo of before differs from the same photo afterwards.
fn any_photo_differs(before: &Photos, after: &Photos, differ: fn(&Photo, &Photo) -> bool) -> bool {
    before.all().iter().any(|photo| {
        let position = after.position(photo.id);
        let same_photo = position.and_then(|position| after.all().get(position));
        same_photo.is_some_and(|same_photo| differ(photo, same_photo))
    })
}
