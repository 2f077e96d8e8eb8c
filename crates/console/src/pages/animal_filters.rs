//! What the list of animals is filtered by: its parameters, the form for them, and a chip for each.

use jiff::civil::Date;
use petstore_domain::{
    Limit, PetId,
    store_area::{
        Age, Category, FieldDefinition, FieldKind, FieldSet, PetQuery, Phrase, ValueFilter,
    },
};
use petstore_languages::quoted;

use super::{category_names::MAX_PROPOSED_CATEGORIES, parts::link, values};
use crate::{prelude::*, words};

/// The parameter with the order of the list, and its value for another one than the newest first.
pub(super) const SORT: &str = "sort";
pub(super) const LONGEST: &str = "longest";

/// The parameter with the last animal of the page before.
pub(super) const AFTER: &str = "after";

/// The parameter with an age. It counts as a field.
const AGE: &str = "age";

/// The fields that filtered before. They go on if one more is chosen than the search takes.
const KEPT: &str = "kept";

/// Choices of a status. Without one, the list has the animals in the store: all but sold ones.
const ALL: &str = "all";
const WITHDRAWN: &str = "withdrawn";

/// How many animals a page shows.
const SHOWN: i64 = 50;

pub(super) struct Filters<'f> {
    fields: &'f FieldSet,
    /// Those that have a value, and the order of the list.
    pub(super) parameters: Vec<(String, &'f str)>,
    pub(super) query: PetQuery,
    /// Whether nothing can be meant by what was typed.
    pub(super) is_impossible: bool,
    /// The labels of what was chosen when there was no room for more.
    left_out: Vec<String>,
}

/// Whether a parameter belongs to the list, and stays after a change of animals on it.
pub(super) fn is_list_parameter(name: &str) -> bool {
    ["q", "status", "category", AGE, SORT, AFTER].contains(&name) || name.starts_with(words::PREFIX)
}

/// The fields by which the list can be filtered.
fn offered(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    let is_offered =
        |field: &&FieldDefinition| matches!(field.kind, FieldKind::Choice | FieldKind::Boolean);
    fields.all().iter().filter(is_offered)
}

impl<'f> Filters<'f> {
    pub(super) fn of(form: &'f Form, fields: &'f FieldSet, today: Date) -> Self {
        let kept: Vec<&str> = form.all(KEPT).collect();
        let chosen = |field: &'f FieldDefinition| {
            let value = form.get(&values::input_of(field));
            let searched = fields.searched(field.name.as_str(), value).ok();
            searched
                .filter(|_| !value.is_empty())
                .map(|searched| (field, value, searched))
        };
        let mut chosen: Vec<(&FieldDefinition, &str, ValueFilter)> =
            offered(fields).filter_map(chosen).collect();
        chosen.sort_by_key(|(field, ..)| !kept.contains(&field.name.as_str()));
        let born = fields.all().iter().find(|field| field.is_birth());
        let age = form.get(AGE).parse().ok().zip(born);
        let dates = age.map(|(age, born): (Age, _)| age.range(&born.name, today));
        let has_room = kept.len() < PetQuery::MOST_VALUES || kept.contains(&AGE);
        let (dates, without) = if has_room {
            (dates, None)
        } else {
            (None, dates)
        };
        let room = PetQuery::MOST_VALUES - usize::from(dates.is_some());
        let left_out = chosen.split_off(chosen.len().min(room));
        let (typed, status) = (form.get("q"), form.get("status"));
        let phrase = Phrase::new(typed);
        let is_impossible = phrase.is_none() && !typed.is_empty();
        let age = if dates.is_some() { form.get(AGE) } else { "" };
        let newest_first = form.get(SORT) != LONGEST;
        let query = PetQuery {
            category_id: form.integer("category"),
            phrase,
            dates,
            values: chosen
                .iter()
                .map(|(.., searched)| searched.clone())
                .collect(),
            newest_first,
            limit: Limit::new(SHOWN).unwrap_or_default(),
            after: form.integer(AFTER).and_then(PetId::new),
            ..in_status(status, PetQuery::default())
        };
        let category = form.get("category");
        let members = [
            ("q", typed),
            ("status", status),
            ("category", category),
            (AGE, age),
        ];
        let members = members.map(|(name, value)| (name.to_owned(), value));
        let of_fields = chosen
            .iter()
            .map(|(field, value, _)| (values::input_of(field), *value));
        let order = (SORT.to_owned(), if newest_first { "" } else { LONGEST });
        let all = members.into_iter().chain(of_fields).chain([order]);
        Self {
            fields,
            parameters: all.filter(|(_, value)| !value.is_empty()).collect(),
            query,
            is_impossible,
            left_out: left_out
                .iter()
                .map(|(field, ..)| values::label_of(field))
                .chain(without.map(|_| window_texts().age.to_owned()))
                .collect(),
        }
    }

    pub(super) fn get(&self, name: &str) -> &'f str {
        self.parameters
            .iter()
            .find(|(of, _)| of == name)
            .map_or("", |(_, value)| value)
    }

    /// Whether the list is filtered.
    pub(super) fn is_some(&self) -> bool {
        self.parameters.iter().any(|(name, _)| name != SORT)
    }

    /// The link to the list with these parameters instead, without those that are empty.
    pub(super) fn to(&self, instead: &[(&str, &str)]) -> String {
        let stays = |(name, _): &(&str, &str)| instead.iter().all(|(other, _)| other != name);
        let all = self
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), *value));
        link(
            "/animals",
            &all.filter(stays)
                .chain(instead.iter().copied())
                .collect::<Vec<_>>(),
        )
    }

    /// The lists of other statuses, each with its label and what finds its animals.
    pub(super) fn elsewhere(&self) -> impl Iterator<Item = (String, &'static str, PetQuery)> {
        let others = ["", "sold", WITHDRAWN]
            .into_iter()
            .filter(|of| *of != self.get("status"));
        others.filter_map(|of| {
            let (_, label) = statuses().into_iter().find(|(status, _)| *status == of)?;
            let query = PetQuery {
                after: None,
                ..self.query.clone()
            };
            Some((self.to(&[("status", of)]), label, in_status(of, query)))
        })
    }

    /// A chip for each filter, which takes it off, and chips for those that people often want next.
    pub(super) fn chips(&self, desk: &Desk<'_>, categories: &[Category]) -> Markup {
        let filters = self.parameters.iter().filter(|(name, _)| name != SORT);
        let in_words = |name: &str, value: &str| match (name, self.query.category_id) {
            ("q", _) => quoted(&markup::readable(value, SHORT)),
            ("status", _) => {
                let status = statuses().into_iter().find(|(of, _)| *of == value);
                status.map_or(value, |(_, label)| label).to_owned()
            }
            ("category", Some(id)) => markup::category(categories, id),
            (AGE, _) => window_texts()
                .age_range(value.parse().unwrap_or(Age::UnderOne))
                .to_owned(),
            _ => {
                let words = words::in_words(self.fields.all(), desk.currency(), name, value);
                words.map_or_else(String::new, |(label, value)| texts().chip(&label, &value))
            }
        };
        let chips: Vec<_> = filters
            .map(|(name, value)| (name, in_words(name, value)))
            .collect();
        let of_fields = self.query.values.iter().map(|value| value.field.as_str());
        let filtering: Vec<_> = of_fields
            .chain(self.query.dates.as_ref().map(|_| AGE))
            .collect();
        let is_full = filtering.len() == PetQuery::MOST_VALUES;
        let has_ages = self.query.dates.is_none() && !is_full && self.has_ages();
        let adds_sold = self.query.on_offer && !self.get("q").is_empty();
        html! {
            @if !self.left_out.is_empty() {
                p.notice.flash role="alert" {
                    (texts().too_many_filters(PetQuery::MOST_VALUES, &self.left_out.join(", ")))
                }
            }
            // What the printed list has.
            p.print {
                @if self.query.on_offer { (texts().any_status) }
                @for (at, (_, words)) in chips.iter().enumerate() {
                    @if at > 0 || self.query.on_offer { ", " } bdi { (words) }
                }
            }
            @if !chips.is_empty() || has_ages {
                ul.chips.no-print aria-label=(texts().filters) {
                    @for (name, words) in &chips {
                        li {
                            a href=(self.to(&[(name, "")])) {
                                bdi { (words) } " " span aria-hidden="true" { "✕" }
                                span.hidden { (texts().take_off) }
                            }
                        }
                    }
                    @if has_ages {
                        @for age in Age::ALL {
                            li { a.more href=(self.to(&[(AGE, age.as_str())])) { (window_texts().age_range(age)) } }
                        }
                    }
                    @if adds_sold {
                        li { a.more href=(self.to(&[("status", ALL)])) { (texts().add_sold) } }
                    }
                    @if chips.len() > 1 {
                        li { a.more href=(link("/animals", &[(SORT, self.get(SORT))])) { (texts().clear) } }
                    }
                }
            }
            @if is_full {
                @for name in &filtering {
                    input type="hidden" form="find" name=(KEPT) value=(name);
                }
            }
        }
    }

    /// The form to search and to filter.
    pub(super) fn form(&self, categories: &[Category]) -> Markup {
        let mut choices = vec![(String::new(), texts().any_category.to_owned())];
        choices.extend(categories.iter().map(|category| {
            (
                category.id.to_string(),
                markup::readable(category.label.as_str(), SHORT),
            )
        }));
        let chosen = self.get("category");
        // One without a name.
        if let Some(id) = self.query.category_id
            && choices.iter().all(|(value, _)| value != chosen)
        {
            choices.push((chosen.to_owned(), texts().category_number(id)));
        }
        let status = Input {
            id: "status",
            label: texts().status_label,
            value: self.get("status"),
            ..Input::default()
        };
        let hint = (categories.len() >= MAX_PROPOSED_CATEGORIES).then_some(texts().more_categories);
        let category = Input {
            id: "category",
            label: texts().category,
            value: chosen,
            hint,
            ..Input::default()
        };
        let age = Input {
            id: AGE,
            label: window_texts().age,
            value: self.get(AGE),
            ..Input::default()
        };
        let ages = Age::ALL.map(|age| (age.as_str(), window_texts().age_range(age)));
        let ages = [&[("", texts().any_value)], &ages[..]].concat();
        html! {
            form.card #find method="get" action="/animals" role="search" data-search {
                @if !self.query.newest_first { input type="hidden" name=(SORT) value=(LONGEST); }
                div.row {
                    div.field.search {
                        label for="q" { (texts().find_label) }
                        input #q name="q" type="search" value=(self.get("q")) autocomplete="off"
                            dir="auto" maxlength=(Phrase::LENGTH) autofocus;
                    }
                    button.main { (texts().find) }
                }
                details {
                    summary { (texts().filter) }
                    div.row {
                        (status.choose(&statuses()))
                        (category.choose(&choices))
                        @if self.has_ages() { (age.choose(&ages)) }
                        @for field in offered(self.fields) { (self.choice(field)) }
                        button { (texts().show) }
                    }
                }
            }
        }
    }

    /// Whether animals have a day of birth.
    fn has_ages(&self) -> bool {
        self.fields.all().iter().any(FieldDefinition::is_birth)
    }

    /// The choice of a value of a field.
    fn choice(&self, field: &FieldDefinition) -> Markup {
        let (id, label) = (values::input_of(field), values::label_of(field));
        let value = self.get(&id);
        let options = values::options(field, texts().any_value, value);
        Input {
            id: &id,
            label: &label,
            value,
            ..Input::default()
        }
        .choose(&options)
    }
}

/// A query for the animals in what was chosen as a status.
fn in_status(status: &str, query: PetQuery) -> PetQuery {
    let (on_offer, withdrawn) = (status.is_empty(), status == WITHDRAWN);
    PetQuery {
        status: status.parse().ok(),
        on_offer,
        withdrawn,
        ..query
    }
}

fn statuses() -> Vec<(&'static str, &'static str)> {
    let mut statuses = forms::status_options();
    statuses.insert(0, ("", texts().any_status));
    statuses.extend([(ALL, texts().also_sold), (WITHDRAWN, texts().withdrawn)]);
    statuses
}
