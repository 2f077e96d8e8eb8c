//! `/` and `/embed`: the animals as cards.

use jiff::{civil::Date, tz::TimeZone};
use maud::{Markup, html};

use super::{
    layout::{Head, Layout},
    query::{Filter, Query, choosable},
    rendered::Made,
    schema,
    selection::COUNTED,
    shop::{Listed, Shop},
    texts,
};
use crate::{
    domain::{
        Limit, PetId,
        store_area::{Choices, FieldSet},
    },
    edge::ApiError,
    look::{Animal, CARD, Card, Drawings, EMBEDDED_CARD},
    text::readable::{SHORT, readable},
};

/// For so many days, an animal is new.
const NEW: i32 = 7;

/// After so many days, a card says for how long an animal has waited.
const YEAR: i32 = 365;

/// So many cards are in the first view, and their pictures are loaded at once.
const AT_FIRST: usize = 4;

/// `GET /`.
pub(super) async fn page(shop: &Shop, layout: &Layout, query: &Query) -> Result<Made, ApiError> {
    let fields = shop.fields().await?;
    let listed = shop.list(query, &fields).await?;
    let next = listed.next.map(|next| format!("/{}", query.with_cursor(Some(next))));
    let mut drawings = Drawings::default();
    let cards = cards(shop, &listed, &mut drawings, false);
    let count = shop.count(query, &fields, &listed).await?;
    // If none fits, those of the species or the category that was wanted.
    let others = match query.filter.similar() {
        Some(filter) if listed.animals.is_empty() && query.after.is_none() => {
            others(shop, &fields, (filter, None), &mut drawings).await?
        }
        _ => html! {},
    };
    let title = if query.after.is_some() { texts::LATER_PAGE } else { texts::LIST };
    let words = query.filter.parameters();
    let words: Vec<_> = words.iter().map(|one| in_words(one, &listed)).collect();
    let content = html! {
        h1 { (title) }
        (filter(query, &listed))
        (chosen(query, &listed))
        @if !listed.animals.is_empty() {
            p.muted {
                (texts::count(count, COUNTED)) " · "
                @if query.longest_first {
                    (texts::LONGEST_FIRST) " · " a href={ "/" (sorted(query, false)) } { (texts::NEWEST_FIRST) }
                } @else {
                    (texts::NEWEST_FIRST) " · " a href={ "/" (sorted(query, true)) } { (texts::LONGEST_FIRST) }
                }
            }
        }
        @if listed.animals.is_empty() {
            p.none { (none(query, &listed)) }
            (others)
        } @else {
            (cards)
        }
        nav.pages aria-label="Pages" {
            @if query.after.is_some() {
                a href={ "/" (query.with_cursor(None)) } { (texts::FIRST) }
            }
            @if let Some(next) = &next {
                a.button rel="next" href=(next) { (texts::NEXT) }
            }
        }
    };
    let title =
        if words.is_empty() { title.to_owned() } else { format!("{title}: {}", words.join(", ")) };
    let head = Head {
        title: &title,
        description: &texts::about_list(shop.name()),
        canonical: Some(&format!("/{}", query.canonical())),
        is_indexed: query.is_indexed() && !listed.animals.is_empty(),
        next: next.as_deref(),
        picture: listed.animals.iter().find_map(|animal| shop.preview(animal)),
        schema: Some(schema::list(shop, &listed.animals)),
        drawings: drawings.symbols(),
    };
    Ok(layout.page(&head, &content))
}

/// `GET /embed`.
pub(super) async fn embed(shop: &Shop, layout: &Layout, query: &Query) -> Result<Made, ApiError> {
    let fields = shop.fields().await?;
    let listed = shop.list(query, &fields).await?;
    let mut drawings = Drawings::default();
    let cards = cards(shop, &listed, &mut drawings, true);
    let all = format!("/{}", query.with_cursor(None));
    let content = html! {
        h1.hidden { (texts::LIST) }
        @if listed.animals.is_empty() {
            p.none { (none(query, &listed)) }
        } @else {
            (cards)
        }
        @if listed.next.is_some() || query.after.is_some() {
            nav.pages aria-label="Pages" {
                a.button href=(all) target="_top" { (texts::BACK) }
            }
        }
    };
    let head = Head {
        title: texts::LIST,
        description: &texts::about_list(shop.name()),
        canonical: None,
        is_indexed: false,
        next: None,
        picture: None,
        schema: Some(schema::list(shop, &listed.animals)),
        drawings: drawings.symbols(),
    };
    Ok(layout.embedded(&head, &content))
}

/// How many others the page of an animal shows.
const OTHERS: u8 = 4;

/// Others for the end of a page: those that this filter finds, the newest of all without one, and never
/// the animal with this identifier.
pub(super) async fn others(
    shop: &Shop,
    fields: &FieldSet,
    (filter, but): (Filter, Option<PetId>),
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let title = if filter.is_empty() { texts::NEWEST } else { texts::SIMILAR };
    let limit = Limit::new(i64::from(OTHERS) + 1).unwrap_or_default();
    let mut listed = shop.list(&Query { filter, limit, ..Query::first() }, fields).await?;
    listed.animals.retain(|animal| but != Some(animal.id));
    listed.animals.truncate(OTHERS.into());
    Ok(html! {
        @if !listed.animals.is_empty() {
            section.others {
                h2 { (title) }
                (cards(shop, &listed, drawings, false))
            }
        }
    })
}

fn none(query: &Query, listed: &Listed) -> &'static str {
    match (listed.next.is_some(), query.filter.is_empty()) {
        (true, _) => texts::NONE_HERE_YET,
        (false, true) => texts::NONE_AT_ALL,
        (false, false) => texts::NONE_FOUND,
    }
}

fn cards(shop: &Shop, listed: &Listed, drawings: &mut Drawings, is_embedded: bool) -> Markup {
    let today = shop.today();
    html! {
        ul.cards {
            @for (at, animal) in listed.animals.iter().enumerate() {
                li { (card(shop, listed, animal, today, at, drawings, is_embedded)) }
            }
        }
    }
}

fn card(
    shop: &Shop,
    listed: &Listed,
    animal: &Animal,
    today: Date,
    at: usize,
    drawings: &mut Drawings,
    is_embedded: bool,
) -> Markup {
    let facts: Vec<String> = [animal.sex(), animal.age(today)].into_iter().flatten().collect();
    let category = listed.labels.get(animal.category_id);
    let kind = match (animal.kind(), listed.labels.shown(animal.category_id)) {
        (kind, Some(category)) if kind.is_empty() => category,
        (kind, _) => kind.join(" · "),
    };
    let price = animal.price();
    let card = Card {
        animal,
        path: &animal.path(),
        target: is_embedded.then_some("_top"),
        category,
        badge: badge(animal, today),
        lines: &[kind, facts.join(" · ")],
        price: price.map(|price| texts::price(price, shop.settings.currency.as_ref())),
    };
    card.show(if is_embedded { &EMBEDDED_CARD } else { &CARD }, drawings, (at, AT_FIRST))
}

/// That it is reserved, or for how long it has been here.
fn badge(animal: &Animal, today: Date) -> Option<Markup> {
    if animal.is_reserved() {
        return Some(html! { p.badge.pending { (texts::RESERVED) } });
    }
    let added = animal.created_at?.to_zoned(TimeZone::UTC).date();
    let label = match (today - added).get_days() {
        0..NEW => texts::NEW,
        YEAR.. => texts::ONE_YEAR,
        _ => return None,
    };
    Some(html! { p.badge { (label) } })
}

/// The query of the same list in this order, from its beginning.
fn sorted(query: &Query, longest_first: bool) -> String {
    Query { longest_first, ..query.clone() }.with_cursor(None)
}

/// The active filters of the list, each with a link to the list without it.
fn chosen(query: &Query, listed: &Listed) -> Markup {
    let all = query.filter.parameters();
    html! {
        @if !all.is_empty() {
            ul.chosen aria-label=(texts::CHOSEN) {
                @for one in &all {
                    @let without = all.iter().filter(|other| *other != one).cloned();
                    li {
                        a href={ "/" (query.target(without)) } {
                            span.hidden { (texts::TAKE_OFF) }
                            bdi { (in_words(one, listed)) }
                            span aria-hidden="true" { " ×" }
                        }
                    }
                }
            }
        }
    }
}

/// A parameter of the filter, as people read it.
fn in_words((name, value): &(String, String), listed: &Listed) -> String {
    let of_field = name.strip_prefix("field.").and_then(|name| listed.fields.find(name));
    let label = match of_field {
        Some(field) => readable(field.label.as_str(), SHORT),
        None if name == "name" => texts::NAME.to_owned(),
        None => texts::KIND.to_owned(),
    };
    let value = of_field.map_or(value.as_str(), |field| field.shown(value));
    let category = || listed.labels.shown(value.parse().ok()?);
    let category = if name == "categoryId" { category() } else { None };
    format!("{label}: {}", category.unwrap_or_else(|| readable(value, SHORT)))
}

/// The form by which a visitor chooses. It is closed, also with a filter, which stands below it.
fn filter(query: &Query, listed: &Listed) -> Markup {
    let categories = &listed.labels.first;
    let wanted = &query.filter;
    let name = wanted.name.as_ref().map(|(name, _)| name.as_str());
    let offered: Vec<_> = choosable(listed.fields).map(|field| field.name.as_str()).collect();
    let others = wanted.fields.iter().filter(|(name, _)| !offered.contains(&name.as_str()));
    let other_category =
        wanted.category_id.filter(|id| categories.iter().all(|category| category.id != *id));
    html! {
        details.filter {
            summary { (texts::FILTER) }
            form method="get" action="/" role="search" {
                @for field in choosable(listed.fields) {
                    @let id = format!("field.{}", field.name.as_str());
                    @let chosen = wanted.fields.get(field.name.as_str()).map(String::as_str);
                    @let choices = field.choices.as_ref().map(Choices::all);
                    @let choices = choices.unwrap_or_default();
                    @let other = chosen.filter(|chosen| !choices.iter().any(|choice| choice == chosen));
                    div.field {
                        label for=(id) { (readable(field.label.as_str(), SHORT)) }
                        select id=(id) name=(id) {
                            option value="" { (texts::ANY) }
                            @for choice in choices.iter().map(String::as_str).chain(other) {
                                option value=(choice) selected[chosen == Some(choice)] {
                                    (readable(field.shown(choice), SHORT))
                                }
                            }
                        }
                    }
                }
                @for (name, value) in others {
                    input type="hidden" name={ "field." (name) } value=(value);
                }
                @if !categories.is_empty() || other_category.is_some() {
                    div.field {
                        label for="category" { (texts::KIND) }
                        select #category name="categoryId" {
                            option value="" { (texts::ANY) }
                            @if let Some(id) = other_category {
                                option value=(id) selected {
                                    (listed.labels.shown(id).unwrap_or_else(|| id.to_string()))
                                }
                            }
                            @for category in categories {
                                option value=(category.id)
                                    selected[wanted.category_id == Some(category.id)] {
                                    (readable(category.label.as_str(), SHORT))
                                }
                            }
                        }
                    }
                }
                div.field {
                    label for="name" { (texts::NAME) }
                    input #name name="name" value=[name] autocomplete="off" maxlength="64";
                }
                @if query.longest_first { input type="hidden" name="sort" value="longest"; }
                div.field.do {
                    button.button { (texts::SHOW) }
                    @if !wanted.is_empty() { a href="/" { (texts::CLEAR) } }
                }
            }
        }
    }
}
