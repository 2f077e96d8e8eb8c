//! Renders the filters of the list of animals: the filter form, and the chips, which are small
//! links that remove or add a filter.

use petstore_domain::store_area::{
    Age, Category, FieldDefinition, FieldKind, FieldValue, PetQuery, Phrase, StorePet,
};
use petstore_languages::quoted;

use super::{
    animal_fields::LISTED,
    animal_filters::{
        AGE_PARAMETER, ALL_STATUSES, Filters, KEPT_FILTER_PARAMETER, SORT_PARAMETER,
        filterable_fields, status_filter_label, status_filter_options,
    },
    category_names::MAX_SUGGESTED_CATEGORIES,
    parts::link,
    values,
};
use crate::{prelude::*, words};

/// The age ranges that chips suggest. They do not overlap.
const CHIP_AGES: [Age; 4] = [
    Age::UnderOne,
    Age::OneToThree,
    Age::ThreeToEight,
    Age::EightOrMore,
];

/// A chip that removes an active filter, or an everyday word of the search text that was understood
/// as one.
struct FilterChip<'f> {
    /// The query parameter of the filter.
    parameter: &'f str,
    /// The value that the parameter has once the filter is removed; empty for none.
    remaining_value: &'f str,
    /// The filter in words, such as "Sex: female".
    label: String,
}

/// A chip that adds a filter to the list.
struct SuggestionChip {
    /// The path of the list with the filter.
    path: String,
    /// The filter in words.
    label: String,
}

/// Returns a chip for each species of `pets`, the animals on the page.
///
/// Returns no chips if there is only one species, because filtering by it would not narrow the
/// list.
fn species_chips(filters: &Filters<'_>, pets: &[StorePet]) -> Vec<SuggestionChip> {
    let Some(field) = filters.fields.find("species") else {
        return Vec::new();
    };
    let Some(choices) = &field.choices else {
        return Vec::new();
    };
    let mut chips = Vec::new();
    for species in choices.values() {
        let is_of_species = |pet: &StorePet| {
            let value = pet.fields.get(field.name.as_str());
            matches!(value, Some(FieldValue::Text(text)) if text == species)
        };
        if pets.iter().any(is_of_species) {
            let parameter = values::input_name_of(field);
            chips.push(SuggestionChip {
                path: filters.path_with(&[(&parameter, species)]),
                label: markup::readable(field.display_text(species), SHORT_LENGTH),
            });
        }
    }
    if chips.len() < 2 {
        return Vec::new();
    }
    chips
}

/// Returns the chip that narrows the list to the animals that are not on the website.
fn unlisted_chip(filters: &Filters<'_>) -> SuggestionChip {
    SuggestionChip {
        path: filters.path_with(&[(LISTED, "false")]),
        label: texts().not_on_website.to_owned(),
    }
}

/// Returns the chips that filter by an age range.
fn age_chips(filters: &Filters<'_>) -> Vec<SuggestionChip> {
    let mut chips = Vec::new();
    for age in CHIP_AGES {
        chips.push(SuggestionChip {
            path: filters.path_with(&[(AGE_PARAMETER, age.as_str())]),
            label: window_texts().age_range(age).to_owned(),
        });
    }
    chips
}

/// Renders the chips above the list: first a chip for each active filter, which removes it, then
/// suggestions of filters.
///
/// The suggestions are the animals that are not on the website, the species, and the age ranges.
pub(super) fn show_chips(
    filters: &Filters<'_>,
    desk: &Desk<'_>,
    categories: &[Category],
    pets: &[StorePet],
) -> Markup {
    let active_chips = filter_chips(filters, desk, categories);
    let field_names = filtered_fields(filters);
    let has_max_filters = field_names.len() == PetQuery::MAX_VALUE_FILTERS;
    let mut suggestions = Vec::new();
    if filters.query.is_listed.is_none() && pets.iter().any(|pet| !pet.is_listed) {
        suggestions.push(unlisted_chip(filters));
    }
    if !has_max_filters && !field_names.contains(&"species") {
        suggestions.extend(species_chips(filters, pets));
    }
    if !has_max_filters && filters.query.dates.is_none() && filters.can_filter_by_age() {
        suggestions.extend(age_chips(filters));
    }

    html! {
        @if !filters.left_out_labels.is_empty() {
            @let labels = filters.left_out_labels.join(", ");
            p.notice.flash role="alert" { (texts().too_many_filters(PetQuery::MAX_VALUE_FILTERS, &labels)) }
        }
        (printed_filters(filters, &active_chips))
        @if !active_chips.is_empty() || !suggestions.is_empty() {
            (chip_list(filters, &active_chips, &suggestions))
        }
        @if has_max_filters {
            // If the member chooses another filter anyway, the list keeps these filters.
            @for name in &field_names {
                input type="hidden" form="find" name=(KEPT_FILTER_PARAMETER) value=(name);
            }
        }
    }
}

/// Returns a chip for each active filter, and for each everyday word of the search text.
fn filter_chips<'f>(
    filters: &'f Filters<'_>,
    desk: &Desk<'_>,
    categories: &[Category],
) -> Vec<FilterChip<'f>> {
    let mut chips = Vec::new();
    for (parameter, value) in &filters.parameters {
        // The sort order is a parameter of the list, but not a filter.
        if parameter != SORT_PARAMETER {
            chips.push(FilterChip {
                parameter,
                remaining_value: "",
                label: filter_in_words(filters, desk, categories, parameter, value),
            });
        }
    }
    for word in &filters.understood_words {
        chips.push(FilterChip {
            parameter: "q",
            remaining_value: &word.other_words,
            label: word.text.clone(),
        });
    }
    chips
}

/// Returns the names of the fields by which the list is filtered, and [`AGE_PARAMETER`] if it is
/// filtered by age. Each such filter counts towards [`PetQuery::MAX_VALUE_FILTERS`].
fn filtered_fields<'f>(filters: &'f Filters<'_>) -> Vec<&'f str> {
    let mut names = Vec::new();
    for filter in &filters.query.values {
        names.push(filter.field.as_str());
    }
    if filters.query.dates.is_some() {
        names.push(AGE_PARAMETER);
    }
    names
}

/// Renders the active filters as text, for the printed list.
fn printed_filters(filters: &Filters<'_>, chips: &[FilterChip<'_>]) -> Markup {
    let is_on_offer = filters.query.is_on_offer;
    html! {
        p.print {
            @if is_on_offer { (texts().any_status) }
            @for (index, chip) in chips.iter().enumerate() {
                @if index > 0 || is_on_offer { ", " } bdi { (chip.label) }
            }
        }
    }
}

/// Renders the chips that remove filters, followed by the chips that suggest filters.
fn chip_list(
    filters: &Filters<'_>,
    chips: &[FilterChip<'_>],
    suggestions: &[SuggestionChip],
) -> Markup {
    // A search without a status covers only the animals on offer.
    let may_add_sold = filters.query.is_on_offer && !filters.search_text().is_empty();
    let path_without_filters = link("/animals", &[(SORT_PARAMETER, filters.get(SORT_PARAMETER))]);
    html! {
        ul.chips.no-print aria-label=(texts().filters) {
            @for chip in chips {
                li {
                    a href=(filters.path_with(&[(chip.parameter, chip.remaining_value)])) {
                        bdi { (chip.label) } " " span aria-hidden="true" { "✕" }
                        span.hidden { (texts().take_off) }
                    }
                }
            }
            @for chip in suggestions { li { (suggestion_chip(&chip.path, &chip.label)) } }
            @if may_add_sold {
                @let path = filters.path_with(&[("status", ALL_STATUSES)]);
                li { (suggestion_chip(&path, texts().add_sold)) }
            }
            @if chips.len() > 1 { li { (suggestion_chip(&path_without_filters, texts().clear)) } }
        }
    }
}

/// Renders a chip with a link that changes the filters: it adds one, or removes all.
fn suggestion_chip(path: &str, label: &str) -> Markup {
    html! { a.more href=(path) { (label) } }
}

/// Describes an active filter in words, such as the name of a category, the text of a search, or
/// the label and the value of a field.
fn filter_in_words(
    filters: &Filters<'_>,
    desk: &Desk<'_>,
    categories: &[Category],
    parameter: &str,
    value: &str,
) -> String {
    if parameter == "category"
        && let Some(id) = filters.query.category_id
    {
        return markup::category(categories, id);
    }
    match parameter {
        "q" => quoted(&markup::readable(value, SHORT_LENGTH)),
        "status" => status_filter_label(value).unwrap_or(value).to_owned(),
        LISTED => forms::listing_words(value == "true").to_owned(),
        AGE_PARAMETER => {
            // `Filters` has only valid ages, so the default is never used.
            let age = value.parse().unwrap_or(Age::UnderOne);
            window_texts().age_range(age).to_owned()
        }
        // The input of a field, or a category that is not a number.
        _ => match words::in_words(filters.fields.all(), desk.currency(), parameter, value) {
            Some((label, value_in_words)) => texts().chip(&label, &value_in_words),
            // `Filters` has only parameters with a label, so this is never used.
            None => String::new(),
        },
    }
}

/// Renders the form that searches and filters the list.
pub(super) fn filter_form(filters: &Filters<'_>, categories: &[Category]) -> Markup {
    html! {
        form.card #find method="get" action="/animals" role="search" data-search {
            @if !filters.get(SORT_PARAMETER).is_empty() {
                input type="hidden" name=(SORT_PARAMETER) value=(filters.get(SORT_PARAMETER));
            }
            div.row {
                div.field.search {
                    label for="q" { (texts().find_label) }
                    input #q name="q" type="search" value=(filters.search_text()) autocomplete="off"
                        dir="auto" maxlength=(Phrase::MAX_LENGTH) autofocus;
                }
                button.main { (texts().find) }
            }
            details {
                summary { (texts().filter) }
                div.row {
                    (status_select(filters))
                    (category_select(filters, categories))
                    (listing_select(filters))
                    @if filters.can_filter_by_age() { (age_select(filters)) }
                    @for field in filterable_fields(filters.fields) { (field_input(filters, field)) }
                    button { (texts().show) }
                }
            }
        }
    }
}

/// Returns the input for a query parameter of the list. It shows the current value.
fn filter_input<'a>(filters: &'a Filters<'_>, parameter: &'a str, label: &'a str) -> Input<'a> {
    Input {
        id: parameter,
        label,
        value: filters.get(parameter),
        ..Input::default()
    }
}

/// Renders the dropdown for the status of the animals.
fn status_select(filters: &Filters<'_>) -> Markup {
    filter_input(filters, "status", texts().status_label).show_dropdown(&status_filter_options())
}

/// Renders the dropdown that filters by whether the animals are on the website.
fn listing_select(filters: &Filters<'_>) -> Markup {
    let mut options = vec![("", texts().any_value)];
    options.extend(forms::listing_options());
    filter_input(filters, LISTED, texts().website).show_dropdown(&options)
}

/// Renders the dropdown for the category, with an option for each of `categories`.
///
/// If `categories` has the maximum number of suggestions, the store may have further categories.
/// The dropdown then has a hint that says so.
fn category_select(filters: &Filters<'_>, categories: &[Category]) -> Markup {
    let mut options = vec![(String::new(), texts().any_category.to_owned())];
    for category in categories {
        let name = markup::readable(category.label.as_str(), SHORT_LENGTH);
        options.push((category.id.to_string(), name));
    }
    let mut input = filter_input(filters, "category", texts().category);
    let has_option = options.iter().any(|(id, _)| id == input.value);
    // The list can be filtered by a category without a name, which is not among `categories`. Its
    // number becomes an option, so that the dropdown can show the active filter.
    if let Some(id) = filters.query.category_id
        && !has_option
    {
        options.push((input.value.to_owned(), texts().category_number(id)));
    }
    if categories.len() >= MAX_SUGGESTED_CATEGORIES {
        input.hint = Some(texts().more_categories);
    }
    input.show_dropdown(&options)
}

/// Renders the dropdown for the age of the animals.
fn age_select(filters: &Filters<'_>) -> Markup {
    let mut options = vec![("", texts().any_value)];
    for age in &Age::ALL {
        options.push((age.as_str(), window_texts().age_range(*age)));
    }
    filter_input(filters, AGE_PARAMETER, window_texts().age).show_dropdown(&options)
}

/// Renders the input that filters by the value of a field: a text input for a text field, and a
/// dropdown for any other.
fn field_input(filters: &Filters<'_>, field: &FieldDefinition) -> Markup {
    let parameter = values::input_name_of(field);
    let label = values::label_of(field);
    let input = filter_input(filters, &parameter, &label);
    if field.kind == FieldKind::Text {
        return input.show();
    }
    input.show_dropdown(&values::value_options(
        field,
        texts().any_value,
        input.value,
    ))
}
