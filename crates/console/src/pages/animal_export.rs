//! Exports the list of animals as CSV for a spreadsheet.
//!
//! The file has the animals of the list with its filters and its order, and all of their values.

use std::collections::BTreeSet;

use petstore_domain::{
    PetId,
    store_area::{Category, FieldDefinition, FieldKind, FieldSet, FieldValue, StorePet, Text},
};

use super::{
    animal_filters::Filters,
    category_names::largest_page_limit,
    exact_matches::find_exact_matches,
    list_order::load_sorted_page,
    spreadsheet::{SheetCell, Spreadsheet, decimal_cell, text_cell, time_cell, time_heading},
    values,
};
use crate::prelude::*;

/// The number of digits from which spreadsheets show a number in scientific notation, such as
/// `2.76E+14`.
const MIN_LONG_DIGITS: usize = 12;

/// Handles `GET /export/animals`: exports all pages of the list that the query parameters select.
///
/// If the file becomes too long, it ends early with a message.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let mut filters = Filters::load(desk, &desk.visit.query, &fields).await?;
    filters.query.after = None;
    filters.query.limit = largest_page_limit();

    let mut sheet = Spreadsheet::new(column_headings(&fields))?;
    let exact_matches = find_exact_matches(desk, &fields, filters.search_text()).await?;
    let mut seen_ids = BTreeSet::new();
    write_new_pets(desk, &fields, exact_matches, &mut seen_ids, &mut sheet).await?;
    loop {
        let (pets, next_position) = load_page(desk, &filters).await?;
        write_new_pets(desk, &fields, pets, &mut seen_ids, &mut sheet).await?;
        if next_position.is_none() {
            break;
        }
        // A full sheet gets a last row, which says that animals are missing.
        if !sheet.continue_unless_full(texts().list_export_cut) {
            break;
        }
        filters.query.after = next_position;
    }
    Ok(sheet.into_reply(desk, "animals"))
}

/// Loads the page of the list that the query selects. Returns its animals, and the position of the
/// next page if there is one.
///
/// A list that is too long to sort keeps the order of the store, as on the page with the list.
async fn load_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if filters.matches_nothing {
        return Ok((Vec::new(), None));
    }
    let query = &filters.query;
    if filters.order.needs_sorting(filters.fields)
        && let Some(page) = load_sorted_page(desk, query, filters.order, filters.fields).await?
    {
        return Ok((page.pets, page.next_position));
    }
    // The list is too long to sort, or it is in the order of the store anyway.
    desk.store().list_store_pets(query).await
}

/// Writes a row for each animal whose id is not yet in `seen_ids`, and adds the id to the set.
///
/// No animal gets two rows: the exact matches of a search are written before the list, which can
/// contain them again.
async fn write_new_pets(
    desk: &Desk<'_>,
    fields: &FieldSet,
    mut pets: Vec<StorePet>,
    seen_ids: &mut BTreeSet<PetId>,
    sheet: &mut Spreadsheet,
) -> Result<(), StoreError> {
    // `insert` returns `false` for an id that is already in the set.
    pets.retain(|pet| seen_ids.insert(pet.id));
    let category_ids = pets.iter().map(|pet| pet.category_id).collect();
    let categories = desk.load_categories(category_ids).await?;
    for pet in &pets {
        sheet.write_row(pet_row(pet, fields, &categories));
    }
    Ok(())
}

/// Returns the headings of all columns. They are the labels that the pages show.
fn column_headings(fields: &FieldSet) -> Vec<String> {
    let mut headings: Vec<String> = [
        texts().number,
        texts().name,
        texts().category,
        texts().status_label,
        texts().website,
        texts().order,
    ]
    .map(str::to_owned)
    .into();
    headings.extend(fields.all().iter().map(values::label_of));
    headings.extend([
        time_heading(texts().added_at),
        time_heading(texts().changed_at),
        time_heading(texts().withdrawn),
        texts().reason_label.to_owned(),
        texts().note.to_owned(),
    ]);
    headings
}

/// Returns the row of an animal, in the order of [`column_headings`].
fn pet_row(pet: &StorePet, fields: &FieldSet, categories: &[Category]) -> Vec<SheetCell> {
    let withdrawal = pet.withdrawal.as_ref();
    let status = if withdrawal.is_some() {
        texts().withdrawn
    } else {
        texts().status(pet.status)
    };
    let order_number = pet.order_id.map(|id| id.to_string()).unwrap_or_default();
    let mut cells = vec![
        SheetCell::Number(pet.id.to_string()),
        text_cell(Some(pet.name.as_str())),
        SheetCell::Text(markup::category(categories, pet.category_id)),
        text_cell(Some(status)),
        yes_or_no_cell(pet.is_listed),
        SheetCell::Number(order_number),
    ];
    for field in fields.all() {
        cells.push(match pet.fields.get(field.name.as_str()) {
            Some(value) => value_cell(field, value),
            None => text_cell(None),
        });
    }
    let note = withdrawal.and_then(|withdrawal| withdrawal.note.as_ref());
    cells.extend([
        time_cell(pet.created_at),
        time_cell(pet.updated_at),
        time_cell(withdrawal.map(|withdrawal| withdrawal.at)),
        text_cell(withdrawal.map(|withdrawal| texts().reason(withdrawal.reason))),
        text_cell(note.map(Text::as_str)),
    ]);
    cells
}

/// Returns the cell with the value of a field as people read it, such as the label of a choice, or
/// a number with the decimal separator of the language.
fn value_cell(field: &FieldDefinition, value: &FieldValue) -> SheetCell {
    match value {
        FieldValue::Text(number) if field.kind == FieldKind::Decimal => decimal_cell(Some(number)),
        FieldValue::Text(text) if field.is_unique => SheetCell::Text(group_digits(text)),
        FieldValue::Text(text) => text_cell(Some(field.display_text(text))),
        FieldValue::Integer(number) => SheetCell::Number(number.to_string()),
        FieldValue::Boolean(is_true) => yes_or_no_cell(*is_true),
    }
}

/// Returns the cell of a boolean: yes or no in the language of the page.
fn yes_or_no_cell(is_true: bool) -> SheetCell {
    let word = if is_true {
        window_texts().yes
    } else {
        window_texts().no
    };
    text_cell(Some(word))
}

/// Splits the digits of a long number, such as a microchip, into groups of three:
/// `276098106234567` becomes `276 098 106 234 567`. Shorter numbers and other texts are unchanged.
///
/// Without the spaces, a spreadsheet would show the number as `2.76E+14` and lose digits. An import
/// accepts the spaces, because the store ignores them in a unique value.
fn group_digits(text: &str) -> String {
    let has_only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if text.len() < MIN_LONG_DIGITS || !has_only_digits {
        return text.to_owned();
    }
    let mut groups = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && index % 3 == 0 {
            groups.push(' ');
        }
        groups.push(digit);
    }
    groups
}
