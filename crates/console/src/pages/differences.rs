//! Renders the differences that a change made: each value before and after the change, with the
//! labels and words that people know.
//!
//! The journal has an entry for each change of an animal, an order, a category or a note. The entry
//! contains the whole subject before and after the change.

use std::collections::BTreeSet;

use jiff::Timestamp;
use petstore_domain::store_area::{
    ChangeType, FieldDefinition, FieldKind, FieldValue, JournalEntry, Note, Order, Photo, PhotoId,
    Photos, Reason, Resource, StorePet, Withdrawal,
};
use petstore_formats::json;

use super::{pet_schema::PetSchema, values};
use crate::{order_inputs::ORDER_INPUTS, prelude::*};

/// A value that a change replaced, with its label.
struct ReplacedValue {
    label: String,
    /// The former value; `None` if there was none.
    before: Option<String>,
    /// The new value, or the words for "no value" if the change removed it.
    after: String,
}

/// The end of a reservation before and after a change.
struct MovedEnd {
    before: Timestamp,
    after: Timestamp,
}

/// The differences that a change made.
struct Differences {
    replaced_values: Vec<ReplacedValue>,
    /// Sentences about differences that have no values to show, such as "Photo added".
    sentences: Vec<&'static str>,
    /// The end of the reservation, if the change moved it.
    moved_end: Option<MovedEnd>,
    /// Whether the change deleted its subject, and with it all of its values.
    is_deleted: bool,
}

impl Differences {
    /// Adds a value if it differs before and after the change.
    ///
    /// The values of a deleted subject are left out, because the deletion removed all of them.
    fn add(&mut self, label: &str, before: Option<String>, after: Option<String>) {
        let is_lost_with_subject = self.is_deleted && after.is_none();
        if before == after || is_lost_with_subject {
            return;
        }
        self.replaced_values.push(ReplacedValue {
            label: label.to_owned(),
            before,
            after: after.unwrap_or_else(|| texts().no_value.to_owned()),
        });
    }

    /// Renders the differences, one below the other.
    fn show(&self) -> Markup {
        html! {
            @for sentence in &self.sentences { div { (sentence) } }
            @for value in &self.replaced_values { (value_row(value)) }
            @if let Some(MovedEnd { before, after }) = self.moved_end {
                div {
                    (texts().ends) (window_texts().colon)
                    del { (markup::exact_time(before)) } " → " ins { (markup::exact_time(after)) }
                }
            }
        }
    }
}

/// Renders the differences that a change made. Renders nothing if a later release wrote the change
/// in a format that this release does not know.
///
/// Categories have their current names, because the journal has only their numbers.
pub(super) fn show_differences(
    desk: &Desk<'_>,
    entry: &JournalEntry,
    schema: PetSchema<'_>,
) -> Markup {
    let Some(change) = json::read_change(entry) else {
        return html! {};
    };
    let mut differences = Differences {
        replaced_values: Vec::new(),
        sentences: Vec::new(),
        moved_end: None,
        is_deleted: change.after.is_none(),
    };
    match (change.before.as_ref(), change.after.as_ref()) {
        (before, Some(Resource::Pet(after))) => {
            let former_pet = before.and_then(Resource::pet);
            add_pet_differences(desk, former_pet, after, schema, &mut differences);
        }
        (before, Some(Resource::Order(after))) => {
            let former_order = before.and_then(Resource::order);
            add_order_differences(desk, change.kind, former_order, after, &mut differences);
        }
        // Of the other subjects, only a category has a value to show, its name.
        (before, after) => {
            differences.add(texts().name, category_label(before), category_label(after));
        }
    }
    differences.show()
}

/// Returns the name of the category that a change is about; `None` for another subject.
fn category_label(resource: Option<&Resource>) -> Option<String> {
    let category = resource.and_then(Resource::category)?;
    Some(category.label.as_str().to_owned())
}

/// Renders a value before and after a change, both shortened.
///
/// A long former value has a button that shows it in full, because no other page shows it any more.
fn value_row(value: &ReplacedValue) -> Markup {
    let ReplacedValue {
        label,
        before,
        after,
    } = value;
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

/// Returns the end of a reservation before and after a change. Returns `None` if the end is the
/// same, or if the order is new.
fn find_moved_end(before: Option<&Order>, after: &Order) -> Option<MovedEnd> {
    let former_end = before?.expires_at?;
    let new_end = after.expires_at?;
    if former_end == new_end {
        return None;
    }
    Some(MovedEnd {
        before: former_end,
        after: new_end,
    })
}

/// Adds the differences of an order.
fn add_order_differences(
    desk: &Desk<'_>,
    change_type: ChangeType,
    before: Option<&Order>,
    after: &Order,
    differences: &mut Differences,
) {
    for input in &ORDER_INPUTS {
        let former_value = before.and_then(|order| input.display_value(desk, order));
        let new_value = input.display_value(desk, after);
        differences.add(input.label(), former_value, new_value);
    }
    let reason = |order: &Order| order.reason.as_ref().map(reason_words);
    differences.add(texts().reason_label, before.and_then(reason), reason(after));

    // Only a change of this type moves the end of a reservation or edits the contact.
    if change_type != ChangeType::OrderChanged {
        return;
    }
    differences.moved_end = find_moved_end(before, after);
    // The journal omits the contacts, because they can be erased later. A change of an order
    // without any other difference has therefore changed the contact.
    if differences.replaced_values.is_empty() && differences.moved_end.is_none() {
        differences.sentences.push(texts().contact_changed);
    }
}

/// Returns the reason why an order was closed: in words if it is one of the reasons for
/// withdrawals, otherwise the text that a person typed.
fn reason_words(reason: &Reason) -> String {
    match reason.as_str().parse() {
        Ok(known_reason) => texts().reason(known_reason).to_owned(),
        Err(_) => reason.as_str().to_owned(),
    }
}

/// Adds the differences of an animal.
fn add_pet_differences(
    desk: &Desk<'_>,
    before: Option<&StorePet>,
    after: &StorePet,
    schema: PetSchema<'_>,
    differences: &mut Differences,
) {
    add_member_differences(before, after, schema, differences);
    for name in collect_field_names(before, after) {
        let field = schema.fields.find(name);
        let label = match field {
            Some(field) => values::label_of(field),
            None => markup::readable(name, SHORT_LENGTH),
        };
        let words = |pet: &StorePet| {
            let value = pet.fields.get(name)?;
            Some(value_words(desk, field, value))
        };
        differences.add(&label, before.and_then(words), words(after));
    }

    let was_withdrawn = before.is_some_and(|pet| pet.withdrawal.is_some());
    if let Some(withdrawal) = &after.withdrawal
        && !was_withdrawn
    {
        add_withdrawal(withdrawal, differences);
    }

    let photos_before = before.map_or(&Photos::NONE, |pet| &pet.photos);
    let sentences = describe_photo_changes(photos_before, &after.photos);
    differences.sentences.extend(sentences);
}

/// Adds the reason and the note of a withdrawal that the change made.
fn add_withdrawal(withdrawal: &Withdrawal, differences: &mut Differences) {
    let reason = texts().reason(withdrawal.reason).to_owned();
    differences.add(texts().reason_label, None, Some(reason));
    let note = withdrawal.note.as_ref().map(Note::as_str);
    differences.add(texts().note, None, note.map(str::to_owned));
}

/// Adds the differences of the values that every animal has: its name, its category, its status,
/// and whether it is on the website.
fn add_member_differences(
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
    // The status of a new animal is left out.
    if let Some(before) = before {
        let status = |pet: &StorePet| Some(texts().status(pet.status).to_owned());
        differences.add(texts().status_label, status(before), status(after));
    }
    let listing = |pet: &StorePet| forms::listing_words(pet.is_listed).to_owned();
    // A new animal is on the website by default, which is not worth mentioning.
    if before.is_some() || !after.is_listed {
        differences.add(texts().website, before.map(listing), Some(listing(after)));
    }
}

/// Returns the names of the fields that have a value before or after a change.
fn collect_field_names<'p>(before: Option<&'p StorePet>, after: &'p StorePet) -> BTreeSet<&'p str> {
    let mut names: BTreeSet<&str> = after.fields.iter().map(|(name, _)| name).collect();
    if let Some(before) = before {
        names.extend(before.fields.iter().map(|(name, _)| name));
    }
    names
}

/// Returns the current name of a category, or its number if it has none.
fn category_words(id: i64, schema: PetSchema<'_>) -> String {
    let category = schema.categories.iter().find(|category| category.id == id);
    match category {
        Some(category) => markup::readable(category.label.as_str(), SHORT_LENGTH),
        None => id.to_string(),
    }
}

/// Returns the value of a field in words.
///
/// `field` is `None` if the field was deleted. A text is then returned as it was stored, because
/// nothing says what it means.
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

/// Returns sentences that describe how a change affected the photos of an animal. If it added,
/// deleted or turned a photo, returns only the sentence that says so.
fn describe_photo_changes(before: &Photos, after: &Photos) -> Vec<&'static str> {
    if after.all().len() > before.all().len() {
        return vec![texts().photo_added];
    }
    if after.all().len() < before.all().len() {
        return vec![texts().photo_deleted];
    }
    // A turned photo is stored as another photo, so the former one is missing.
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

/// Returns the ids of the photos, in order.
fn photo_ids(photos: &Photos) -> Vec<PhotoId> {
    photos.all().iter().map(|photo| photo.id).collect()
}

/// Whether `differ` is true for any photo that exists before and after the change.
fn any_photo_differs(before: &Photos, after: &Photos, differ: fn(&Photo, &Photo) -> bool) -> bool {
    before.all().iter().any(|photo| {
        let position = after.position(photo.id);
        let same_photo = position.and_then(|position| after.all().get(position));
        same_photo.is_some_and(|same_photo| differ(photo, same_photo))
    })
}
