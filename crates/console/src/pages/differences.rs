//! Renders what a change in the log of changes replaced: each value before and after, with the
//! labels and words that people know.

use std::collections::BTreeSet;

use jiff::Timestamp;
use petstore_domain::store_area::{
    Change, ChangeType, FieldDefinition, FieldKind, FieldValue, JournalEntry, Note, Order, Photo,
    PhotoId, Photos, Reason, Resource, StorePet,
};
use petstore_formats::json;

use super::{pet_schema::PetSchema, values};
use crate::{order_inputs::ORDER_INPUTS, prelude::*};

/// A value that a change replaced, with its label.
struct Difference {
    label: String,
    /// The former value; `None` if there was none.
    before: Option<String>,
    after: String,
}

/// Collects the differences of a change.
struct Differences {
    all: Vec<Difference>,
    /// Sentences about differences without values to show, such as that a photo was added.
    sentences: Vec<&'static str>,
    /// The end of a reservation before and after the change, if the change moved it.
    reservation_ends: Option<(Timestamp, Timestamp)>,
    /// Whether the change deleted its subject, so that every value is gone.
    is_deleted: bool,
}

impl Differences {
    /// Adds a value if the change replaced it.
    ///
    /// A removed value is shown as "no value". The values of a deleted subject are not listed one
    /// by one.
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

/// Renders the differences of a change. Renders nothing if a later release wrote the change in a
/// format that this release does not know.
///
/// Categories are shown with their present names, because the log of changes has only their
/// numbers.
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
        sentences: Vec::new(),
        reservation_ends: None,
        is_deleted: change.after.is_none(),
    };
    match (change.before.as_ref(), change.after.as_ref()) {
        (before, Some(Resource::Pet(after))) => {
            let before = before.and_then(Resource::pet);
            add_pet(desk, before, after, schema, &mut differences);
        }
        (before, Some(Resource::Order(after))) => {
            let before = before.and_then(Resource::order);
            add_order(desk, &change, before, after, &mut differences);
        }
        // A category, or a subject that has no values to show.
        (before, after) => {
            differences.add(texts().name, category_label(before), category_label(after));
        }
    }
    html! {
        @for sentence in &differences.sentences { div { (sentence) } }
        @for difference in &differences.all { (difference_row(difference)) }
        @if let Some((before, after)) = differences.reservation_ends {
            div {
                (texts().ends) (window_texts().colon)
                del { (markup::exact_time(before)) } " → " ins { (markup::exact_time(after)) }
            }
        }
    }
}

/// Returns the name of the category that a change is about; `None` for another subject.
fn category_label(resource: Option<&Resource>) -> Option<String> {
    let category = resource.and_then(Resource::category)?;
    Some(category.label.as_str().to_owned())
}

/// Renders a value before and after a change.
///
/// Both are shortened. A long former value can be expanded, because no other page shows it any
/// more.
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

/// Returns the end of a reservation before and after a change, if the change moved it.
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
    change: &Change,
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
    differences.reservation_ends = changed_end(change, before, after);

    // The log of changes has no contacts, because they can be erased later. So a change of an order
    // without another difference changed the contact.
    let has_no_difference = differences.all.is_empty() && differences.reservation_ends.is_none();
    if change.kind == ChangeType::OrderChanged && has_no_difference {
        differences.sentences.push(texts().contact_changed);
    }
}

/// Returns the reason for which an order was closed: the words for a reason of withdrawals, or the
/// text that a person typed.
fn reason_words(reason: &Reason) -> String {
    match reason.as_str().parse() {
        Ok(known) => texts().reason(known).to_owned(),
        Err(_) => reason.as_str().to_owned(),
    }
}

/// Adds the differences of an animal.
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

    differences.sentences = photo_sentences(
        before.map_or(&Photos::NONE, |pet| &pet.photos),
        &after.photos,
    );
}

/// Adds the differences of the values that every animal has: name, category, status, and whether it
/// is on the website.
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
    // New animals are on the website by default, so the history mentions it only for the others.
    if before.is_some() || !after.is_listed {
        differences.add(texts().website, before.map(listing), Some(listing(after)));
    }
}

/// Returns the names of the fields for which an animal has a value before or after a change.
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

/// Returns the value of a field in words. If the field was deleted (`None`), a text is returned as
/// it was stored.
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

/// Returns a sentence for each way in which a change affected the photos of an animal.
fn photo_sentences(before: &Photos, after: &Photos) -> Vec<&'static str> {
    if after.all().len() > before.all().len() {
        return vec![texts().photo_added];
    }
    if after.all().len() < before.all().len() {
        return vec![texts().photo_deleted];
    }
    // A turned photo is stored as a new photo with another id.
    let is_turned = before.missing_in(after).next().is_some();
    if is_turned {
        return vec![texts().photo_turned];
    }

    let mut sentences = Vec::new();
    if photo_ids(before) != photo_ids(after) {
        sentences.push(texts().photos_moved);
    }
    if any_photo_differs(before, after, |one, other| one.alt != other.alt) {
        sentences.push(texts().photo_described);
    }
    if any_photo_differs(before, after, |one, other| one.focus != other.focus) {
        sentences.push(texts().photo_focused);
    }
    sentences
}

fn photo_ids(photos: &Photos) -> Vec<PhotoId> {
    photos.all().iter().map(|photo| photo.id).collect()
}

/// Whether any photo that is there before and after the change differs according to `differ`.
fn any_photo_differs(before: &Photos, after: &Photos, differ: fn(&Photo, &Photo) -> bool) -> bool {
    before.all().iter().any(|photo| {
        let position = after.position(photo.id);
        let same_photo = position.and_then(|position| after.all().get(position));
        same_photo.is_some_and(|same_photo| differ(photo, same_photo))
    })
}
