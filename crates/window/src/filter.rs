//! How visitors choose: the kinds of animals above the list, the form, and what is chosen.

use maud::{Markup, html};
use petstore_domain::{
    store_area::{Age, Choices, FieldDefinition, FieldKind, FieldValue, Phrase},
    text::readable::{SHORT, readable},
};
use petstore_languages::{
    in_digits,
    look::{Drawings, label_of, value_text},
    window_texts as texts,
};

use super::{
    query::{Parameter, Query, birth, is_offered, offered},
    selection::{COUNTED, FEW, Kind},
    shop::Listed,
};

/// The fields that the form offers first.
const FIRST: [&str; 3] = ["species", "sex", "size"];

/// How many fields the search names as an example of what it finds.
const SEARCHED: usize = 2;

/// What a visitor has chosen of what there is.
pub(super) struct Choice<'a> {
    pub(super) query: &'a Query,
    pub(super) listed: &'a Listed<'a>,
    pub(super) kinds: &'a [Kind],
}

impl Choice<'_> {
    /// The kinds of animals, each with a link to its animals, or back from them.
    pub(super) fn kinds(&self, drawings: &mut Drawings) -> Markup {
        html! {
            @if !self.kinds.is_empty() {
                ul.kinds aria-label=(texts().kinds) {
                    @for kind in self.kinds { li { (self.kind(kind, drawings)) } }
                }
            }
        }
    }

    fn kind(&self, (one, count): &Kind, drawings: &mut Drawings) -> Markup {
        let others = self.query.filter.without(&one.0);
        // With another filter, it would be of too many.
        let has_count = others.is_empty();
        let is_chosen = self.query.filter.parameters().contains(one);
        let filter = if is_chosen { others } else { others.with(one) };
        let label = self.value_in_words(one);
        html! {
            a href=(self.query.path_with(filter)) aria-current=[is_chosen.then_some("true")] {
                (drawings.draw_named([one.1.as_str(), label.as_str()]))
                @if is_chosen { span.hidden { (texts().take_off) } }
                bdi { (label) }
                @if is_chosen {
                    span aria-hidden="true" { "×" }
                } @else if has_count {
                    span.muted { (in_digits((*count).min(FEW))) @if *count > FEW { "+" } }
                }
            }
        }
    }

    /// How many animals there are, what filters them, each with a link to the list without it, and in which
    /// order they are.
    pub(super) fn chosen(&self, count: usize) -> Markup {
        let Self { query, kinds, .. } = self;
        let has_link = |one: &Parameter| kinds.iter().any(|(kind, _)| kind == one);
        let all = query.filter.parameters();
        let all: Vec<_> = all.iter().filter(|one| !has_link(one)).collect();
        let other = Query {
            longest_first: !query.longest_first,
            ..Query::first()
        };
        let order = [texts().newest_first, texts().longest_first];
        html! {
            div.found {
                @if count > 0 { p.muted { (texts().count(count, COUNTED)) } }
                @if !all.is_empty() {
                    ul.chosen aria-label=(texts().chosen) {
                        @for one in all {
                            li {
                                a href=(query.path_with(query.filter.without(&one.0))) {
                                    span.hidden { (texts().take_off) }
                                    bdi { (self.in_words(one)) }
                                    span aria-hidden="true" { "×" }
                                }
                            }
                        }
                    }
                }
                @if count > 1 {
                    p.muted {
                        span.now { (order[usize::from(query.longest_first)]) " · " }
                        a href=(other.path_with(query.filter.clone())) {
                            (order[usize::from(!query.longest_first)])
                        }
                    }
                }
            }
        }
    }

    /// A parameter of the filter, as people read it.
    pub(super) fn in_words(&self, one: &Parameter) -> String {
        let label = match offered(&one.0, self.listed.fields) {
            Some(field) => label_of(field),
            None => parameter(&one.0).to_owned(),
        };
        [&*label, texts().colon, &*self.value_in_words(one)].concat()
    }

    fn value_in_words(&self, (name, value): &Parameter) -> String {
        if let Some(field) = offered(name, self.listed.fields) {
            return in_words(field, value);
        }
        let category = || self.listed.labels.shown(value.parse().ok()?);
        let known = match &**name {
            "categoryId" => category(),
            "age" => value
                .parse()
                .ok()
                .map(|age| texts().age_range(age).to_owned()),
            _ => None,
        };
        known.unwrap_or_else(|| readable(value, SHORT))
    }

    /// The form by which a visitor chooses. All but its search is closed, also with a filter.
    pub(super) fn form(&self) -> Markup {
        let Self { query, listed, .. } = self;
        let wanted = &query.filter;
        let phrase = wanted.phrase.as_ref().map(Phrase::as_str);
        let searched = listed.fields.all().iter();
        let searched = searched.filter(|field| field.is_public && field.kind == FieldKind::Text);
        let labels = searched.map(label_of).take(SEARCHED);
        let searched: Vec<_> = [texts().name.to_owned()]
            .into_iter()
            .chain(labels)
            .collect();
        let searched = texts().words(&searched);
        let first = FIRST.map(|name| offered(&format!("field.{name}"), listed.fields));
        let is_other =
            |field: &&FieldDefinition| is_offered(field) && !FIRST.contains(&field.name.as_str());
        let others: Vec<_> = listed.fields.all().iter().filter(is_other).collect();
        let is_chosen = |field: &&FieldDefinition| wanted.fields.contains_key(field.name.as_str());
        let is_open = wanted.category_id.is_some() || others.iter().any(is_chosen);
        html! {
            form.find method="get" action="/" role="search" {
                label.hidden for="q" { (texts().search) (texts().colon) (searched) }
                input #q type="search" name="q" value=[phrase] placeholder=(searched)
                    autocomplete="off" maxlength="64";
                // Of a link from before.
                @if let Some((name, _)) = &wanted.name { input type="hidden" name="name" value=(name); }
                button.button {
                    span.hidden { (texts().search) }
                    svg viewBox="0 0 24 24" aria-hidden="true" { path d="M21 21l-5-5m2-6a8 8 0 1 1-16 0a8 8 0 0 1 16 0" {} }
                }
                details.filter {
                    summary { (texts().filter) }
                    div.panel {
                        div.fields {
                            @for field in first.into_iter().flatten() { (self.select(field)) }
                            @if birth(listed.fields).is_some() { (self.ages()) }
                        }
                        @if !others.is_empty() || !listed.labels.first.is_empty() || is_open {
                            details open[is_open] {
                                summary { (texts().more) }
                                div.fields {
                                    @for field in others { (self.select(field)) }
                                    (self.categories())
                                }
                            }
                        }
                        @if query.longest_first { input type="hidden" name="sort" value="longest"; }
                        div.do {
                            button.button { (texts().show) }
                            @if !wanted.is_empty() { a href="/" { (texts().clear) } }
                        }
                    }
                }
            }
        }
    }

    fn select(&self, field: &FieldDefinition) -> Markup {
        let id = format!("field.{}", field.name.as_str());
        let chosen = self
            .query
            .filter
            .fields
            .get(field.name.as_str())
            .map(String::as_str);
        let choices = field.choices.as_ref().map(Choices::all).unwrap_or_default();
        let mut values: Vec<_> = choices.iter().map(String::as_str).collect();
        if field.kind == FieldKind::Boolean {
            values = vec!["true", "false"];
        }
        values.extend(chosen.filter(|chosen| !values.contains(chosen)));
        let options = values
            .into_iter()
            .map(|value| (value.to_owned(), in_words(field, value)));
        select(&id, &label_of(field), options.collect(), chosen)
    }

    fn ages(&self) -> Markup {
        let chosen = self.query.filter.age.as_ref().map(|(age, _)| age.as_str());
        let ages = Age::ALL.into_iter();
        let options = ages
            .map(|age| (age.to_string(), texts().age_range(age).to_owned()))
            .collect();
        select("age", texts().age, options, chosen)
    }

    fn categories(&self) -> Markup {
        let (labels, chosen) = (&self.listed.labels, self.query.filter.category_id);
        let mut ids: Vec<_> = labels.first.iter().map(|category| category.id).collect();
        ids.extend(chosen.filter(|chosen| !ids.contains(chosen)));
        let chosen = chosen.map(|id| id.to_string());
        let label = |id: i64| labels.shown(id).unwrap_or_else(|| id.to_string());
        let options: Vec<_> = ids
            .into_iter()
            .map(|id| (id.to_string(), label(id)))
            .collect();
        html! {
            @if !options.is_empty() { (select("categoryId", texts().kind, options, chosen.as_deref())) }
        }
    }
}

/// A value of a field that the form offers, as people read it.
fn in_words(field: &FieldDefinition, value: &str) -> String {
    match field.kind {
        FieldKind::Boolean => value_text(field, &FieldValue::Boolean(value == "true")),
        _ => readable(field.shown(value), SHORT),
    }
}

/// A parameter of the form, with its options: their values, and what people read.
fn select(name: &str, label: &str, options: Vec<(String, String)>, chosen: Option<&str>) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { (texts().any) }
                @for (value, label) in options {
                    option value=(value) selected[chosen == Some(value.as_str())] { (label) }
                }
            }
        }
    }
}

/// The name of a parameter that is of no field.
fn parameter(name: &str) -> &'static str {
    match name {
        "age" => texts().age,
        "name" => texts().name,
        "q" => texts().search,
        _ => texts().kind,
    }
}
