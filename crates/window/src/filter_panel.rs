//! The parts of a page with which visitors choose animals: the kinds above the list, the form, and the chosen filter.

use maud::{Markup, html};
use petstore_domain::{
    store_area::{Age, Choices, FieldDefinition, FieldKind, FieldValue, Phrase},
    text::readable::{SHORT_LENGTH, readable},
};
use petstore_languages::{
    in_digits,
    look::{Drawings, label_of, value_text},
    quoted, window_texts as texts,
};

use super::{
    filter::{Filter, Parameter, birth_field, is_offered, offered_field},
    list_page::ListPage,
    query::Query,
    selection::{CountedKind, MAX_COUNT_OF_KIND, MAX_COUNT_OF_LIST},
};

/// The names of the fields that the form offers first.
const FIRST_FIELDS: [&str; 3] = ["species", "sex", "size"];

/// The number of fields that the search names as examples of what it finds.
const MAX_SEARCH_EXAMPLES: usize = 2;

/// The parts of a page with which a visitor chooses animals.
pub(super) struct FilterPanel<'a> {
    pub(super) query: &'a Query,
    pub(super) list_page: &'a ListPage<'a>,
    pub(super) kinds: &'a [CountedKind],
}

impl FilterPanel<'_> {
    /// Renders the kinds of animals, each with a link to its animals, or back from them.
    pub(super) fn kinds(&self, drawings: &mut Drawings) -> Markup {
        html! {
            @if !self.kinds.is_empty() {
                ul.kinds aria-label=(texts().kinds) {
                    @for kind in self.kinds { li { (self.kind(kind, drawings)) } }
                }
            }
        }
    }

    /// Renders the link of a kind of animals.
    fn kind(&self, kind: &CountedKind, drawings: &mut Drawings) -> Markup {
        let CountedKind { parameter, count } = kind;
        let other_filter = self.query.filter.without_parameter(&parameter.name);
        // The count is of all animals of the kind, so it is wrong together with another filter.
        let has_count = other_filter.is_empty();
        let is_chosen = self.query.filter.parameters().contains(parameter);
        let linked_filter = if is_chosen {
            other_filter
        } else {
            other_filter.with_parameter(parameter)
        };
        let label = self.value_text(parameter);

        html! {
            a href=(self.query.path_with(linked_filter)) aria-current=[is_chosen.then_some("true")] {
                (drawings.draw_named([parameter.value.as_str(), label.as_str()]))
                @if is_chosen { span.hidden { (texts().take_off) } }
                bdi { (label) }
                @if is_chosen {
                    span aria-hidden="true" { "×" }
                } @else if has_count {
                    span.muted {
                        (in_digits((*count).min(MAX_COUNT_OF_KIND)))
                        @if *count > MAX_COUNT_OF_KIND { "+" }
                    }
                }
            }
        }
    }

    /// Renders the number of animals, the chosen parameters, and the order of the list.
    pub(super) fn summary(&self, count: usize) -> Markup {
        html! {
            div.found {
                @if count > 0 { p.muted { (texts().count(count, MAX_COUNT_OF_LIST)) } }
                (self.chosen_parameters())
                @if count > 1 { (self.order()) }
            }
        }
    }

    /// Renders the parameters of the filter, each with a link to the list without it, and what the words of the search
    /// mean, with links to the search without them. Leaves out the kinds above the list, which have such links themselves.
    fn chosen_parameters(&self) -> Markup {
        let mut parameters = self.query.filter.parameters();
        parameters.retain(|parameter| self.kinds.iter().all(|kind| kind.parameter != *parameter));

        let filter = &self.query.filter;
        html! {
            @if !parameters.is_empty() {
                ul.chosen aria-label=(texts().chosen) {
                    @for parameter in &parameters {
                        @let wider_filter = filter.without_parameter(&parameter.name);
                        li { (self.chosen_part(wider_filter, &self.chip_text(parameter))) }
                    }
                    @for word in &filter.understood_words {
                        @let wider_filter = filter.with_search(&word.other_words);
                        li { (self.chosen_part(wider_filter, &word.text)) }
                    }
                }
            }
        }
    }

    /// Returns the text of a chosen parameter. The text of a search is in quotation marks, because it has no label.
    fn chip_text(&self, parameter: &Parameter) -> String {
        let text = self.parameter_text(parameter);
        if parameter.name == "q" {
            quoted(&text)
        } else {
            text
        }
    }

    /// Renders a part of the filter, with a link to the list without it.
    fn chosen_part(&self, wider_filter: Filter, text: &str) -> Markup {
        html! {
            a href=(self.query.path_with(wider_filter)) {
                span.hidden { (texts().take_off) }
                bdi { (text) }
                span aria-hidden="true" { "×" }
            }
        }
    }

    /// Renders the order of the list, with a link to the same list in the opposite order.
    fn order(&self) -> Markup {
        let mut opposite_query = Query::for_filter(self.query.filter.clone());
        opposite_query.longest_first = !self.query.longest_first;
        let path = format!("/{}", opposite_query.canonical());

        html! {
            p.muted {
                span.now { (order_text(self.query.longest_first)) " · " }
                a href=(path) { (order_text(opposite_query.longest_first)) }
            }
        }
    }

    /// Returns a parameter of the filter in words. The text of a search has no label.
    ///
    /// Example: `field.size=Small` is `Size: Small`.
    pub(super) fn parameter_text(&self, parameter: &Parameter) -> String {
        if parameter.name == "q" {
            return self.value_text(parameter);
        }
        let label = match offered_field(&parameter.name, self.list_page.fields) {
            Some(field) => label_of(field),
            None => parameter_label(&parameter.name).to_owned(),
        };
        [&*label, texts().colon, &*self.value_text(parameter)].concat()
    }

    /// Returns the value of a parameter in words.
    fn value_text(&self, parameter: &Parameter) -> String {
        let value = &*parameter.value;
        if let Some(field) = offered_field(&parameter.name, self.list_page.fields) {
            return choice_text(field, value);
        }

        let text = match &*parameter.name {
            "categoryId" => self.category_text(value),
            "age" => age_text(value),
            _ => None,
        };
        text.unwrap_or_else(|| readable(value, SHORT_LENGTH))
    }

    /// Returns the label of the category with the id in this text.
    fn category_text(&self, value: &str) -> Option<String> {
        self.list_page.labels.readable_label(value.parse().ok()?)
    }

    /// Renders the form by which a visitor chooses. Only its search is open at first, also with a filter.
    pub(super) fn form(&self) -> Markup {
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

/// Returns the text for an order of the list.
fn order_text(longest_first: bool) -> &'static str {
    if longest_first {
        texts().longest_first
    } else {
        texts().newest_first
    }
}

/// Returns a range of ages in words, if there is one with this value.
fn age_text(value: &str) -> Option<String> {
    let age = value.parse().ok()?;
    Some(texts().age_range(age).to_owned())
}

/// Returns a value of a field that the form offers, as people read it.
fn choice_text(field: &FieldDefinition, value: &str) -> String {
    match field.kind {
        FieldKind::Boolean => value_text(field, &FieldValue::Boolean(value == "true")),
        _ => readable(field.display_text(value), SHORT_LENGTH),
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

/// Returns the label of a parameter that does not choose by a field.
fn parameter_label(name: &str) -> &'static str {
    match name {
        "age" => texts().age,
        "name" => texts().name,
        _ => texts().kind,
    }
}
