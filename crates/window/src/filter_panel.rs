//! The filter controls above the list: shortcuts to the kinds of animals (species or categories), the
//! number of results, the active criteria with links to remove them, and the sort order. The form is
//! in [`filter_form`](super::filter_form).

use maud::{Markup, html};
use petstore_domain::text::readable::{SHORT_LENGTH, readable};
use petstore_languages::{
    in_digits,
    look::{Drawings, label_of},
    quoted, window_texts as texts,
};

use super::{
    filter::{
        AGE_PARAMETER, CATEGORY_PARAMETER, Filter, NAME_PARAMETER, Parameter, SEARCH_PARAMETER,
        find_filterable_field,
    },
    filter_form::choice_text,
    kinds::{CountedKind, MAX_COUNT_OF_KIND},
    list_page::ListPage,
    query::{Query, SortOrder},
    selection::MAX_COUNT_OF_LIST,
};

/// The filter controls of a list page, apart from the form.
pub(super) struct FilterPanel<'a> {
    pub(super) query: &'a Query,
    pub(super) list_page: &'a ListPage<'a>,
    pub(super) kinds: &'a [CountedKind],
}

impl FilterPanel<'_> {
    /// Renders a shortcut to each kind of animals: a link to the list of that kind or, if the kind is
    /// active, to the list without this criterion.
    pub(super) fn kind_shortcuts(&self, drawings: &mut Drawings) -> Markup {
        html! {
            @if !self.kinds.is_empty() {
                ul.kinds aria-label=(texts().kinds) {
                    @for kind in self.kinds { li { (self.kind_shortcut(kind, drawings)) } }
                }
            }
        }
    }

    /// Renders the shortcut to one kind of animals.
    fn kind_shortcut(&self, kind: &CountedKind, drawings: &mut Drawings) -> Markup {
        let CountedKind { parameter, count } = kind;
        let other_filter = self.query.filter.without_parameter(&parameter.name);
        // The count covers all animals of the kind, so it would be wrong next to other criteria.
        let shows_count = other_filter.is_empty();
        let is_active = self.query.filter.parameters().contains(parameter);
        let linked_filter = if is_active {
            other_filter
        } else {
            other_filter.with_kind(parameter)
        };
        let label = self.value_text(parameter);
        // A shortcut leads to several animals.
        let text = texts().plural_of_species(&label).unwrap_or(&label);

        html! {
            a href=(self.query.path_with(linked_filter)) aria-current=[is_active.then_some("true")] {
                (drawings.draw_named([parameter.value.as_str(), label.as_str()]))
                @if is_active { span.hidden { (texts().take_off) } }
                bdi { (text) }
                @if is_active {
                    span aria-hidden="true" { "×" }
                } @else if shows_count {
                    " "
                    span.muted {
                        (in_digits((*count).min(MAX_COUNT_OF_KIND)))
                        @if *count > MAX_COUNT_OF_KIND { "+" }
                    }
                }
            }
        }
    }

    /// Renders the number of results, the active criteria, and the sort order.
    pub(super) fn summary(&self, count: usize) -> Markup {
        html! {
            div.found {
                @if count > 0 { p.muted { (texts().count(count, MAX_COUNT_OF_LIST)) } }
                (self.active_criteria())
                @if count > 1 { (self.sort_order()) }
            }
        }
    }

    /// Renders each active criterion, and each property that was recognized in the search text, as a
    /// link that removes it. Leaves out an active kind of animals, because its shortcut already links
    /// to the list without it.
    fn active_criteria(&self) -> Markup {
        let filter = &self.query.filter;
        let mut parameters = filter.parameters();
        parameters.retain(|parameter| !self.has_shortcut(parameter));

        html! {
            @if !parameters.is_empty() {
                ul.chosen aria-label=(texts().chosen) {
                    @for parameter in &parameters {
                        @let wider_filter = filter.without_parameter(&parameter.name);
                        li { (self.removal_link(wider_filter, &self.criterion_text(parameter))) }
                    }
                    @for word in &filter.understood_words {
                        @let wider_filter = filter.with_search(&word.other_words);
                        li { (self.removal_link(wider_filter, &word.text)) }
                    }
                }
            }
        }
    }

    /// Whether a parameter selects a kind of animals that has a shortcut.
    fn has_shortcut(&self, parameter: &Parameter) -> bool {
        self.kinds.iter().any(|kind| kind.parameter == *parameter)
    }

    /// Returns the text of an active criterion. Search text is put in quotation marks, because it has
    /// no label.
    fn criterion_text(&self, parameter: &Parameter) -> String {
        let text = self.label_and_value(parameter);
        if parameter.name == SEARCH_PARAMETER {
            quoted(&text)
        } else {
            text
        }
    }

    /// Renders an active criterion as a link that removes it. `wider_filter` is the filter without the
    /// criterion, and `text` describes the criterion.
    fn removal_link(&self, wider_filter: Filter, text: &str) -> Markup {
        html! {
            a href=(self.query.path_with(wider_filter)) {
                span.hidden { (texts().take_off) }
                bdi { (text) }
                span aria-hidden="true" { "×" }
            }
        }
    }

    /// Renders the sort order, with a link to the same list in the opposite order.
    fn sort_order(&self) -> Markup {
        let mut opposite_query = Query::for_filter(self.query.filter.clone());
        opposite_query.order = self.query.order.opposite();
        let path = format!("/{}", opposite_query.canonical_query_string());

        html! {
            p.muted {
                span.now { (order_text(self.query.order)) " · " }
                a href=(path) { (order_text(opposite_query.order)) }
            }
        }
    }

    /// Returns a filter parameter as text: its label and its value. The search text has no label.
    ///
    /// Example: `field.size=Small` becomes `Size: Small`.
    pub(super) fn label_and_value(&self, parameter: &Parameter) -> String {
        if parameter.name == SEARCH_PARAMETER {
            return self.value_text(parameter);
        }
        let label = match find_filterable_field(&parameter.name, self.list_page.fields) {
            Some(field) => label_of(field),
            None => parameter_label(&parameter.name).to_owned(),
        };
        [&*label, texts().colon, &*self.value_text(parameter)].concat()
    }

    /// Returns the value of a filter parameter as visitors see it.
    fn value_text(&self, parameter: &Parameter) -> String {
        let value = &*parameter.value;
        if let Some(field) = find_filterable_field(&parameter.name, self.list_page.fields) {
            return choice_text(field, value);
        }

        let text = match &*parameter.name {
            CATEGORY_PARAMETER => self.category_text(value),
            AGE_PARAMETER => age_text(value),
            _ => None,
        };
        text.unwrap_or_else(|| readable(value, SHORT_LENGTH))
    }

    /// Returns the label of a category. `id` is the id of the category as a decimal number. Returns
    /// `None` if the public must not know the label.
    fn category_text(&self, id: &str) -> Option<String> {
        self.list_page.labels.readable_label(id.parse().ok()?)
    }
}

/// Returns the name of a sort order.
fn order_text(order: SortOrder) -> &'static str {
    match order {
        SortOrder::NewestFirst => texts().newest_first,
        SortOrder::LongestWaitingFirst => texts().longest_first,
    }
}

/// Returns the text for a range of ages, such as `under3`. Returns `None` for an unknown value.
fn age_text(value: &str) -> Option<String> {
    let age = value.parse().ok()?;
    Some(texts().age_range(age).to_owned())
}

/// Returns the label of a parameter that does not filter by a field: the age, the name or the category.
fn parameter_label(name: &str) -> &'static str {
    match name {
        AGE_PARAMETER => texts().age,
        NAME_PARAMETER => texts().name,
        _ => texts().kind,
    }
}
