//! The parts of a page with which visitors choose animals: the kinds above the list, and the chosen filter. The form is
//! in [`filter_form`](super::filter_form).

use maud::{Markup, html};
use petstore_domain::text::readable::{SHORT_LENGTH, readable};
use petstore_languages::{
    in_digits,
    look::{Drawings, label_of},
    quoted, window_texts as texts,
};

use super::{
    filter::{Filter, Parameter, offered_field},
    filter_form::choice_text,
    list_page::ListPage,
    query::Query,
    selection::{CountedKind, MAX_COUNT_OF_KIND, MAX_COUNT_OF_LIST},
};

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

/// Returns the label of a parameter that does not choose by a field.
fn parameter_label(name: &str) -> &'static str {
    match name {
        "age" => texts().age,
        "name" => texts().name,
        _ => texts().kind,
    }
}
