//! The form with which visitors choose animals: its search, and the choices of the values of fields.

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
    filter::{birth_field, is_offered, offered_field},
    list_page::ListPage,
    query::Query,
};

/// The names of the fields that the form offers first.
const FIRST_FIELDS: [&str; 3] = ["species", "sex", "size"];

/// The number of fields that the search names as examples for what it looks through.
const MAX_SEARCH_EXAMPLES: usize = 2;

/// The form of a page of the list, with the filter of the page as its values.
pub(super) struct FilterForm<'a> {
    pub(super) query: &'a Query,
    pub(super) list_page: &'a ListPage<'a>,
}

impl FilterForm<'_> {
    /// Renders the form. Only its search is open at first, also with a filter.
    pub(super) fn show(&self) -> Markup {
        html! {
            form.find method="get" action="/" role="search" {
                (self.search())
                details.filter {
                    summary { (texts().filter) }
                    div.panel {
                        div.fields { (self.first_inputs()) }
                        (self.further_inputs())
                        @if self.query.longest_first {
                            input type="hidden" name="sort" value="longest";
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

    /// Renders the search, which is a part of the form.
    fn search(&self) -> Markup {
        let filter = &self.query.filter;
        let phrase = filter.phrase.as_ref().map(Phrase::as_str);
        let examples = self.search_examples();

        html! {
            label.hidden for="q" { (texts().search) (texts().colon) (examples) }
            input #q type="search" name="q" value=[phrase] placeholder=(examples)
                autocomplete="off" maxlength="64";
            // A link of an earlier release can have it.
            @if let Some(name) = &filter.name { input type="hidden" name="name" value=(name.text); }
            button.button {
                span.hidden { (texts().search) }
                svg viewBox="0 0 24 24" aria-hidden="true" {
                    path d="M21 21l-5-5m2-6a8 8 0 1 1-16 0a8 8 0 0 1 16 0" {}
                }
            }
        }
    }

    /// Returns what the search looks through, as examples.
    ///
    /// Example: `Name, breed, colour`.
    fn search_examples(&self) -> String {
        let mut labels = vec![texts().name.to_owned()];
        labels.extend(
            self.list_page
                .fields
                .all()
                .iter()
                .filter(|field| field.is_public && field.kind == FieldKind::Text)
                .take(MAX_SEARCH_EXAMPLES)
                .map(label_of),
        );
        texts().words(&labels)
    }

    /// Renders the inputs that the form shows first.
    fn first_inputs(&self) -> Markup {
        let fields = self.list_page.fields;
        html! {
            @for name in FIRST_FIELDS {
                @if let Some(field) = offered_field(&format!("field.{name}"), fields) {
                    (self.field_select(field))
                }
            }
            @if birth_field(fields).is_some() { (self.age_select()) }
        }
    }

    /// Renders the other inputs, in a part that is closed unless one of them has a value.
    fn further_inputs(&self) -> Markup {
        let filter = &self.query.filter;
        let further_fields: Vec<_> = self
            .list_page
            .fields
            .all()
            .iter()
            .filter(|field| is_offered(field) && !FIRST_FIELDS.contains(&field.name.as_str()))
            .collect();
        let has_value = filter.category_id.is_some()
            || further_fields
                .iter()
                .any(|field| filter.fields.contains_key(field.name.as_str()));
        let has_categories = !self.list_page.labels.first_categories.is_empty();

        html! {
            @if !further_fields.is_empty() || has_categories || has_value {
                details open[has_value] {
                    summary { (texts().more) }
                    div.fields {
                        @for field in further_fields { (self.field_select(field)) }
                        (self.category_select())
                    }
                }
            }
        }
    }

    /// Renders the choice of a value of a field.
    fn field_select(&self, field: &FieldDefinition) -> Markup {
        let field_name = field.name.as_str();
        let value = self.query.filter.fields.get(field_name).map(String::as_str);
        let mut values = offered_values(field);
        // The visitor can have chosen a value that the store does not offer any more.
        if let Some(value) = value
            && !values.contains(&value)
        {
            values.push(value);
        }

        let options = values
            .into_iter()
            .map(|value| SelectOption {
                value: value.to_owned(),
                text: choice_text(field, value),
            })
            .collect();
        select(
            &format!("field.{field_name}"),
            &label_of(field),
            options,
            value,
        )
    }

    /// Renders the choice of an age.
    fn age_select(&self) -> Markup {
        let value = self.query.filter.age.as_ref().map(|age| age.age.as_str());
        let options = Age::ALL
            .into_iter()
            .map(|age| SelectOption {
                value: age.to_string(),
                text: texts().age_range(age).to_owned(),
            })
            .collect();
        select("age", texts().age, options, value)
    }

    /// Renders the choice of a category, if there is one.
    fn category_select(&self) -> Markup {
        let labels = &self.list_page.labels;
        let chosen_id = self.query.filter.category_id;
        let mut ids: Vec<_> = labels
            .first_categories
            .iter()
            .map(|category| category.id)
            .collect();
        if let Some(id) = chosen_id
            && !ids.contains(&id)
        {
            ids.push(id);
        }

        let options: Vec<_> = ids
            .into_iter()
            .map(|id| SelectOption {
                value: id.to_string(),
                text: labels.readable_label(id).unwrap_or_else(|| id.to_string()),
            })
            .collect();
        let value = chosen_id.map(|id| id.to_string());
        html! {
            @if !options.is_empty() {
                (select("categoryId", texts().kind, options, value.as_deref()))
            }
        }
    }
}

/// A value that a visitor can choose.
struct SelectOption {
    value: String,
    /// The value as people read it.
    text: String,
}

/// Renders the choice of the value of a parameter. `value` is the present value.
fn select(
    parameter_name: &str,
    label: &str,
    options: Vec<SelectOption>,
    value: Option<&str>,
) -> Markup {
    html! {
        div.field {
            label for=(parameter_name) { (label) }
            select id=(parameter_name) name=(parameter_name) {
                option value="" { (texts().any) }
                @for option in options {
                    option value=(option.value) selected[value == Some(option.value.as_str())] {
                        (option.text)
                    }
                }
            }
        }
    }
}

/// Returns the values of a field that the form offers.
fn offered_values(field: &FieldDefinition) -> Vec<&str> {
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

/// Returns a value of a field that the form offers, as people read it.
pub(super) fn choice_text(field: &FieldDefinition, value: &str) -> String {
    match field.kind {
        FieldKind::Boolean => value_text(field, &FieldValue::Boolean(value == "true")),
        _ => readable(field.display_text(value), SHORT_LENGTH),
    }
}
