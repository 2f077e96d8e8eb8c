//! The filters of the list of animals: parses the query parameters of the page into a query for the
//! store, and builds links to the list with other parameters.
//!
//! The search text can have everyday words, which stand for a property of an animal: `dogs` means
//! the species. [`petstore_languages::everyday`] finds their meaning.

use std::collections::BTreeSet;

use jiff::civil::Date;
use petstore_domain::{
    PetId, PetStatus,
    store_area::{
        Age, DateRange, FieldDefinition, FieldKind, FieldSet, PLACE, PetQuery, Phrase, ValueFilter,
    },
};
use petstore_languages::everyday::{UnderstoodWord, Vocabulary, has_general_words, understand};

use super::{
    animal_fields::LISTED,
    list_order::ListOrder,
    parts::{self, constant_limit, link},
    values,
};
use crate::{prelude::*, words};

/// The query parameter with the order of the list. Without it, the newest animals are first.
pub(super) const SORT_PARAMETER: &str = "sort";

/// The query parameter with the cursor of the page: the number of the last animal of the previous
/// page.
pub(super) const AFTER_PARAMETER: &str = "after";

/// The query parameter with an age, such as `under3`.
///
/// An age counts as a filter by a field, because it filters by the day of birth.
pub(super) const AGE_PARAMETER: &str = "age";

/// The query parameter with the name of a field by which the list was already filtered.
///
/// When the list has the maximum number of filters, the filter form names each of them in this
/// parameter. If the member then chooses a further filter, the list keeps the old filters and drops
/// the new one.
pub(super) const KEPT_FILTER_PARAMETER: &str = "kept";

/// The value of the status parameter for animals of all statuses. Without a status, the list leaves
/// out sold animals.
pub(super) const ALL_STATUSES: &str = "all";

/// The value of the status parameter for withdrawn animals.
const WITHDRAWN: &str = "withdrawn";

/// The number of animals on a page.
const PAGE_LENGTH: i64 = 50;

/// The parsed filters and the order of the list of animals.
pub(super) struct Filters<'f> {
    /// All fields of the store.
    pub(super) fields: &'f FieldSet,
    /// The query parameters that links to the list repeat, as pairs of name and value: all
    /// parameters that are not empty, except the cursor.
    pub(super) parameters: Vec<(String, &'f str)>,
    pub(super) query: PetQuery,
    pub(super) order: ListOrder,
    /// The everyday words in the search text.
    pub(super) understood_words: Vec<UnderstoodWord>,
    /// Whether the search text is invalid, for example too long, so that no animal matches it.
    pub(super) matches_nothing: bool,
    /// The labels of the filters that were dropped because there were too many.
    pub(super) left_out_labels: Vec<String>,
}

/// A list with the same filters and another status.
pub(super) struct OtherList {
    /// The path of its page, with the query parameters.
    pub(super) path: String,
    pub(super) label: &'static str,
    /// The query for the animals of that list.
    pub(super) query: PetQuery,
}

/// A filter by the value of a field.
struct FieldFilter<'f> {
    field: &'f FieldDefinition,
    /// The value of the query parameter, from which `value_filter` was parsed.
    parameter: &'f str,
    value_filter: ValueFilter,
}

/// The filters by values of fields, and the filter by age. There are at most
/// [`PetQuery::MAX_VALUE_FILTERS`] of both.
struct ValueFilters<'f> {
    field_filters: Vec<FieldFilter<'f>>,
    /// The filter by age, converted to days of birth.
    birth_dates: Option<DateRange>,
    /// The labels of the filters that were dropped because they exceed the maximum.
    left_out_labels: Vec<String>,
}

/// Whether a form field is a parameter of the list.
///
/// A form that changes animals on the list carries the parameters, so that the response can be the
/// same list.
pub(super) fn is_list_parameter(name: &str) -> bool {
    [
        "q",
        "status",
        "category",
        LISTED,
        AGE_PARAMETER,
        SORT_PARAMETER,
        AFTER_PARAMETER,
    ]
    .contains(&name)
        || name.starts_with(words::FIELD_PREFIX)
}

/// Returns the fields by which the list can be filtered: the fields with choices, the place, and
/// the booleans except the mark of an estimated birth.
pub(super) fn filterable_fields(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    fields.all().iter().filter(|field| match field.kind {
        FieldKind::Choice => true,
        FieldKind::Boolean => !field.is_birth_estimate(),
        FieldKind::Text => field.name.as_str() == PLACE,
        _ => false,
    })
}

/// Returns the options of the status filter, as pairs of the parameter's value and a label.
pub(super) fn status_filter_options() -> Vec<(&'static str, &'static str)> {
    let mut options = forms::status_options();
    options.insert(0, ("", texts().any_status));
    options.push((ALL_STATUSES, texts().also_sold));
    options.push((WITHDRAWN, texts().withdrawn_filter));
    options
}

/// Returns the label of a value of the status filter; `None` for an unknown value.
pub(super) fn status_filter_label(status: &str) -> Option<&'static str> {
    let mut options = status_filter_options().into_iter();
    let (_, label) = options.find(|(value, _)| *value == status)?;
    Some(label)
}

impl<'f> Filters<'f> {
    /// Parses the filters from the query parameters, or from a form that carries them. Loads the
    /// categories to which everyday words in the search text refer.
    ///
    /// Invalid ages and invalid values of fields are ignored.
    pub(super) async fn load(
        desk: &Desk<'_>,
        form: &'f Form,
        fields: &'f FieldSet,
    ) -> Result<Self, StoreError> {
        let mut filters = Self::from_form(form, fields, parts::today(desk));
        filters.interpret_everyday_words(desk).await?;
        Ok(filters)
    }

    /// Parses the filters in a form. The everyday words in the search text are still part of its
    /// phrase. `today` is the day from which an age is counted back.
    fn from_form(form: &'f Form, fields: &'f FieldSet, today: Date) -> Self {
        let value_filters = ValueFilters::from_form(form, fields, today);
        let parameters = list_parameters(form, &value_filters);
        let mut accepted_filters = Vec::new();
        for field_filter in value_filters.field_filters {
            accepted_filters.push(field_filter.value_filter);
        }

        let phrase = Phrase::new(form.get("q"));
        let matches_nothing = phrase.is_none() && !form.get("q").is_empty();
        let order = ListOrder::from_parameter(form.get(SORT_PARAMETER));
        let mut query = PetQuery {
            category_id: form.integer("category"),
            phrase,
            dates: value_filters.birth_dates,
            values: accepted_filters,
            is_listed: form.get(LISTED).parse().ok(),
            // True even for an order that the store does not support: a list that is too long to
            // sort begins with the newest animals.
            newest_first: order != ListOrder::Longest,
            limit: constant_limit(PAGE_LENGTH),
            after: form.integer(AFTER_PARAMETER).and_then(PetId::new),
            ..PetQuery::default()
        };
        apply_status(&mut query, form.get("status"));
        Self {
            fields,
            parameters,
            query,
            order,
            understood_words: Vec::new(),
            matches_nothing,
            left_out_labels: value_filters.left_out_labels,
        }
    }

    /// Adds the meaning of the everyday words in the search text to the query, such as the species
    /// or the category of dogs for `dogs`.
    async fn interpret_everyday_words(&mut self, desk: &Desk<'_>) -> Result<(), StoreError> {
        let Some(phrase) = self.query.phrase.take() else {
            return Ok(());
        };
        let mut categories = Vec::new();
        if has_general_words(&phrase) {
            categories = desk.load_category_choices(BTreeSet::new()).await?;
        }
        let vocabulary = Vocabulary {
            fields: self.fields,
            categories: &categories,
            language: desk.visit.facts.language().value,
            today: parts::today(desk),
        };
        let understood = understand(phrase, &vocabulary);
        self.query.phrase = Some(understood.phrase);
        self.understood_words = understood.words;
        Ok(())
    }

    /// Returns the value of a query parameter; empty if the list does not have it.
    pub(super) fn get(&self, name: &str) -> &'f str {
        let parameter = self
            .parameters
            .iter()
            .find(|(parameter_name, _)| parameter_name == name);
        match parameter {
            Some((_, value)) => value,
            None => "",
        }
    }

    /// Returns the text that the member searches for; empty without a search.
    pub(super) fn search_text(&self) -> &'f str {
        self.get("q")
    }

    /// Whether the list has any filter, such as a search text. The order is not a filter.
    pub(super) fn is_filtered(&self) -> bool {
        self.parameters
            .iter()
            .any(|(name, _)| name != SORT_PARAMETER)
    }

    /// Returns the path of the export with the same filters and the same order.
    pub(super) fn export_path(&self) -> String {
        let parameters: Vec<(&str, &str)> = self
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        link("/export/animals", &parameters)
    }

    /// Returns the path of the list with `new_parameters`, which replace the parameters of the same
    /// name. An empty value removes a parameter.
    pub(super) fn path_with(&self, new_parameters: &[(&str, &str)]) -> String {
        let mut parameters = Vec::new();
        for (name, value) in &self.parameters {
            let is_replaced = new_parameters.iter().any(|(new_name, _)| new_name == name);
            if !is_replaced {
                parameters.push((name.as_str(), *value));
            }
        }
        parameters.extend_from_slice(new_parameters);
        link("/animals", &parameters)
    }

    /// Returns the lists with the same filters and another status: animals on offer, sold animals,
    /// and withdrawn animals.
    pub(super) fn other_lists(&self) -> Vec<OtherList> {
        let mut lists = Vec::new();
        // The empty status stands for animals on offer: see `apply_status`.
        for status in ["", PetStatus::Sold.as_str(), WITHDRAWN] {
            if status != self.get("status")
                && let Some(label) = status_filter_label(status)
            {
                let mut query = self.query.clone();
                // Another list begins with its first page.
                query.after = None;
                apply_status(&mut query, status);
                lists.push(OtherList {
                    path: self.path_with(&[("status", status)]),
                    label,
                    query,
                });
            }
        }
        lists
    }

    /// Whether the store has a field for the day of birth, so that the list can be filtered by age.
    pub(super) fn can_filter_by_age(&self) -> bool {
        values::find_birth_field(self.fields).is_some()
    }
}

impl<'f> ValueFilters<'f> {
    /// Parses the filters in a form.
    ///
    /// If there are too many, keeps the filters that the list already had, and drops new ones. See
    /// [`KEPT_FILTER_PARAMETER`].
    fn from_form(form: &'f Form, fields: &'f FieldSet, today: Date) -> Self {
        let kept_names: Vec<&str> = form.all(KEPT_FILTER_PARAMETER).collect();
        let mut birth_dates = parse_birth_dates(form, fields, today);
        let has_room_for_age =
            kept_names.len() < PetQuery::MAX_VALUE_FILTERS || kept_names.contains(&AGE_PARAMETER);
        let drops_age = birth_dates.is_some() && !has_room_for_age;
        if drops_age {
            birth_dates = None;
        }

        // The new filters follow the kept ones, so that only new filters exceed the maximum.
        let (kept_filters, new_filters): (Vec<_>, Vec<_>) = parse_field_filters(form, fields)
            .into_iter()
            .partition(|filter| kept_names.contains(&filter.field.name.as_str()));
        let max_field_filters = PetQuery::MAX_VALUE_FILTERS - usize::from(birth_dates.is_some());
        let mut field_filters = Vec::new();
        let mut left_out_labels = Vec::new();
        for field_filter in kept_filters.into_iter().chain(new_filters) {
            if field_filters.len() < max_field_filters {
                field_filters.push(field_filter);
            } else {
                left_out_labels.push(values::label_of(field_filter.field));
            }
        }
        if drops_age {
            left_out_labels.push(window_texts().age.to_owned());
        }
        Self {
            field_filters,
            birth_dates,
            left_out_labels,
        }
    }
}

/// Returns the query parameters that links to the list repeat, as pairs of name and value. Leaves
/// out empty parameters and dropped filters.
fn list_parameters<'f>(form: &'f Form, value_filters: &ValueFilters<'f>) -> Vec<(String, &'f str)> {
    let mut parameters = vec![
        ("q".to_owned(), form.get("q")),
        ("status".to_owned(), form.get("status")),
        ("category".to_owned(), form.get("category")),
    ];
    if form.get(LISTED).parse::<bool>().is_ok() {
        parameters.push((LISTED.to_owned(), form.get(LISTED)));
    }
    if value_filters.birth_dates.is_some() {
        parameters.push((AGE_PARAMETER.to_owned(), form.get(AGE_PARAMETER)));
    }
    for field_filter in &value_filters.field_filters {
        let name = values::input_name_of(field_filter.field);
        parameters.push((name, field_filter.parameter));
    }
    let order = ListOrder::from_parameter(form.get(SORT_PARAMETER));
    parameters.push((SORT_PARAMETER.to_owned(), order.as_parameter()));
    parameters.retain(|(_, value)| !value.is_empty());
    parameters
}

/// Parses the filters by fields in a form. Ignores values that their fields cannot have.
fn parse_field_filters<'f>(form: &'f Form, fields: &'f FieldSet) -> Vec<FieldFilter<'f>> {
    let mut field_filters = Vec::new();
    for field in filterable_fields(fields) {
        let parameter = form.get(&values::input_name_of(field));
        if parameter.is_empty() {
            continue;
        }
        if let Ok(value_filter) = fields.parse_filter(field.name.as_str(), parameter) {
            field_filters.push(FieldFilter {
                field,
                parameter,
                value_filter,
            });
        }
    }
    field_filters
}

/// Parses the age in a form as a range of days of birth. Returns `None` if the form has no valid
/// age, or if the store has no field for the day of birth.
fn parse_birth_dates(form: &Form, fields: &FieldSet, today: Date) -> Option<DateRange> {
    let age: Age = form.get(AGE_PARAMETER).parse().ok()?;
    let birth_field = values::find_birth_field(fields)?;
    Some(age.birth_range(&birth_field.name, today))
}

/// Restricts a query to a status of [`status_filter_options`]. The empty status means animals on
/// offer, which are available or pending.
fn apply_status(query: &mut PetQuery, status: &str) {
    // `None` for the values that are not the status of an animal, such as "all" or "withdrawn".
    query.status = status.parse().ok();
    query.is_on_offer = status.is_empty();
    query.is_withdrawn = status == WITHDRAWN;
}
