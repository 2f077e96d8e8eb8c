//! The filter form of the list: a search field, and dropdowns for fields, age and category. It
//! works without scripts.

use maud::{Markup, html};
use petstore_domain::{
    store_area::{Age, Choices, FieldDefinition, FieldKind, FieldValue, Phrase},
    text::readable::{SHORT_LENGTH, readable},
};
use petstore_languages::{
    look::{label_of, value_text},
    window_texts as texts,
};

use super::{
    filter::{
        AGE_PARAMETER, CATEGORY_PARAMETER, FIELD_PREFIX, NAME_PARAMETER, SEARCH_PARAMETER,
        find_birth_field, find_filterable_field, is_filterable,
    },
    list_page::ListPage,
    query::{Query, SORT_LONGEST, SORT_PARAMETER, SortOrder},
};

/// The names of the fields whose dropdowns come first. All others are in a collapsed section.
const PRIMARY_FIELDS: [&str; 3] = ["species", "sex", "size"];

/// The maximum number of fields that the placeholder of the search field names.
const MAX_SEARCH_EXAMPLES: usize = 2;

/// The filter form of a list page, filled in with the current filter.
pub(super) struct FilterForm<'a> {
    pub(super) query: &'a Query,
    pub(super) list_page: &'a ListPage<'a>,
}

/// An option of a dropdown.
struct DropdownOption {
    value: String,
    /// The text that visitors see for the value.
    text: String,
}

impl FilterForm<'_> {
    /// Renders the form. The dropdowns are collapsed, even if a filter is set, so that visitors see the
    /// animals first.
    pub(super) fn render(&self) -> Markup {
        html! {
            form.find method="get" action="/" role="search" {
                (self.search_field())
                details.filter {
                    summary { (texts().filter) }
                    div.panel {
                        div.fields { (self.primary_dropdowns()) }
                        (self.secondary_dropdowns())
                        @if self.query.order == SortOrder::LongestWaitingFirst {
                            input type="hidden" name=(SORT_PARAMETER) value=(SORT_LONGEST);
                        }
                        div.do {
                            button.button { (texts().show) }
                            @if !self.query.filter.is_empty() { a href="/" { (texts().clear) } }
                        }
                    }
                }
            }
        }
    }

    /// Renders the search field and the submit button.
    fn search_field(&self) -> Markup {
        let filter = &self.query.filter;
        let phrase = filter.phrase.as_ref().map(Phrase::as_str);
        let placeholder = self.search_placeholder();

        html! {
            label.hidden for=(SEARCH_PARAMETER) { (texts().search) (texts().colon) (placeholder) }
            input id=(SEARCH_PARAMETER) type="search" name=(SEARCH_PARAMETER) value=[phrase]
                placeholder=(placeholder) autocomplete="off" maxlength="64";
            // Links that are older than the search parameter may have the name.
            @if let Some(name) = &filter.name {
                input type="hidden" name=(NAME_PARAMETER) value=(name.text);
            }
            button.button {
                span.hidden { (texts().search) }
                svg viewBox="0 0 24 24" aria-hidden="true" {
                    path d="M21 21l-5-5m2-6a8 8 0 1 1-16 0a8 8 0 0 1 16 0" {}
                }
            }
        }
    }

    /// Returns the placeholder of the search field: the labels of some fields that the search compares,
    /// such as `Name, breed, colour`.
    fn search_placeholder(&self) -> String {
        let fields = self.list_page.fields.all().iter();
        let searched_fields =
            fields.filter(|field| field.is_public && field.kind == FieldKind::Text);
        let mut labels = vec![texts().name.to_owned()];
        labels.extend(searched_fields.take(MAX_SEARCH_EXAMPLES).map(label_of));
        texts().words(&labels)
    }

    /// Renders the dropdowns that come first: the [`PRIMARY_FIELDS`] and the age.
    fn primary_dropdowns(&self) -> Markup {
        let fields = self.list_page.fields;
        html! {
            @for name in PRIMARY_FIELDS {
                @let parameter_name = format!("{FIELD_PREFIX}{name}");
                @if let Some(field) = find_filterable_field(&parameter_name, fields) {
                    (self.field_dropdown(field))
                }
            }
            @if find_birth_field(fields).is_some() { (self.age_dropdown()) }
        }
    }

    /// Renders the remaining dropdowns in a section of their own. The section is collapsed, unless one
    /// of its dropdowns has a value.
    fn secondary_dropdowns(&self) -> Markup {
        let filter = &self.query.filter;
        let secondary_fields: Vec<_> = self
            .list_page
            .fields
            .all()
            .iter()
            .filter(|field| is_filterable(field) && !PRIMARY_FIELDS.contains(&field.name.as_str()))
            .collect();
        let has_value = filter.category_id.is_some()
            || secondary_fields
                .iter()
                .any(|field| filter.fields.contains_key(field.name.as_str()));
        let has_categories = !self.list_page.labels.first_categories.is_empty();

        html! {
            @if !secondary_fields.is_empty() || has_categories || has_value {
                details open[has_value] {
                    summary { (texts().more) }
                    div.fields {
                        @for field in secondary_fields { (self.field_dropdown(field)) }
                        (self.category_dropdown())
                    }
                }
            }
        }
    }

    /// Renders the dropdown for the values of a field.
    fn field_dropdown(&self, field: &FieldDefinition) -> Markup {
        let field_name = field.name.as_str();
        let selected_value = self.query.filter.fields.get(field_name).map(String::as_str);
        let mut values = selectable_values(field);
        // The URL may contain a value that is no longer a choice. The dropdown must show it, too.
        if let Some(value) = selected_value
            && !values.contains(&value)
        {
            values.push(value);
        }

        let options = values
            .into_iter()
            .map(|value| DropdownOption {
                value: value.to_owned(),
                text: choice_text(field, value),
            })
            .collect();
        render_dropdown(
            &format!("{FIELD_PREFIX}{field_name}"),
            &label_of(field),
            options,
            selected_value,
        )
    }

    /// Renders the dropdown for ranges of ages.
    fn age_dropdown(&self) -> Markup {
        let age_filter = self.query.filter.age.as_ref();
        let selected_value = age_filter.map(|filter| filter.age.as_str());
        let options = Age::ALL
            .into_iter()
            .map(|age| DropdownOption {
                value: age.to_string(),
                text: texts().age_range(age).to_owned(),
            })
            .collect();
        render_dropdown(AGE_PARAMETER, texts().age, options, selected_value)
    }

    /// Renders the dropdown for categories, if there are any.
    fn category_dropdown(&self) -> Markup {
        let labels = &self.list_page.labels;
        let selected_id = self.query.filter.category_id;
        let mut ids: Vec<_> = labels
            .first_categories
            .iter()
            .map(|category| category.id)
            .collect();
        // The selected category may not be one of the first ones. The dropdown must show it, too.
        if let Some(id) = selected_id
            && !ids.contains(&id)
        {
            ids.push(id);
        }

        let options: Vec<_> = ids
            .into_iter()
            .map(|id| DropdownOption {
                value: id.to_string(),
                text: labels.readable_label(id).unwrap_or_else(|| id.to_string()),
            })
            .collect();
        if options.is_empty() {
            return html! {};
        }
        let selected_value = selected_id.map(|id| id.to_string());
        render_dropdown(
            CATEGORY_PARAMETER,
            texts().kind,
            options,
            selected_value.as_deref(),
        )
    }
}

/// Renders a dropdown with a label for the values of a query parameter. The first option stands for
/// any value.
fn render_dropdown(
    parameter_name: &str,
    label: &str,
    options: Vec<DropdownOption>,
    selected_value: Option<&str>,
) -> Markup {
    html! {
        div.field {
            label for=(parameter_name) { (label) }
            select id=(parameter_name) name=(parameter_name) {
                option value="" { (texts().any) }
                @for option in options {
                    option value=(option.value) selected[selected_value == Some(option.value.as_str())] {
                        (option.text)
                    }
                }
            }
        }
    }
}

/// Returns the values of a filterable field, in the order of the dropdown.
fn selectable_values(field: &FieldDefinition) -> Vec<&str> {
    if field.kind == FieldKind::Boolean {
        return vec!["true", "false"];
    }
    let choices = field
        .choices
        .as_ref()
        .map(Choices::values)
        .unwrap_or_default();
    choices.iter().map(String::as_str).collect()
}

/// Returns the text that visitors see for a value of a filterable field.
pub(super) fn choice_text(field: &FieldDefinition, value: &str) -> String {
    match field.kind {
        FieldKind::Boolean => value_text(field, &FieldValue::Boolean(value == "true")),
        _ => readable(field.display_text(value), SHORT_LENGTH),
    }
}
