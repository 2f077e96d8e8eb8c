//! `/` and `/embed`: the animals as cards.

use std::sync::Arc;

use jiff::{civil::Date, tz::TimeZone};
use maud::{Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::{Limit, PetId};
use petstore_languages::{
    look::{Animal, CARD, Card, Drawings, EMBEDDED_CARD},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    filter::Choice,
    layout::{Head, Layout},
    query::{Filter, Query},
    rendered::Made,
    schema,
    selection::{COUNTED, FEW},
    shop::{Listed, Moment, Other, Shop},
    store,
};

/// For so many days, an animal is new.
const NEW: i32 = 7;

/// After so many days, a card says for how long an animal has waited.
const YEAR: i32 = 365;

/// So many cards are in the first view, and their pictures are loaded at once.
const AT_FIRST: usize = 4;

/// `GET /`.
pub(super) async fn page(
    shop: &Shop,
    layout: &Layout,
    moment: &Arc<Moment>,
    query: &Query,
) -> Result<Made, ApiError> {
    let facts = &*moment.facts;
    let listed = shop.list(query, &moment.fields).await?;
    let animals = listed.animals();
    let next = listed
        .next
        .map(|next| format!("/{}", query.with_cursor(Some(next))));
    let mut drawings = Drawings::default();
    let cards = cards((shop, facts), (&listed, &animals), &mut drawings, false);
    let count = match listed.next.or(query.after) {
        Some(_) => shop.count(moment, &query.filter, COUNTED).await?,
        None => animals.len(),
    };
    let kinds = shop.kinds(moment).await?;
    let choice = Choice {
        query,
        listed: &listed,
        kinds: &kinds.value,
    };
    let none_fits = animals.is_empty() && query.after.is_none();
    // If none fits, what fewer filters find, and those of the species or the category that was wanted.
    let instead = if none_fits {
        instead(shop, moment, &choice).await?
    } else {
        html! {}
    };
    let others = match query.filter.similar() {
        Some(filter) if none_fits => others(shop, moment, (filter, None), &mut drawings).await?,
        _ => html! {},
    };
    let title = if query.after.is_some() {
        texts().next
    } else {
        texts().list
    };
    let words = query.filter.parameters();
    let words: Vec<_> = words.iter().map(|one| choice.in_words(one)).collect();
    let content = html! {
        h1 { (title) }
        (choice.kinds(&mut drawings))
        (choice.form())
        (choice.chosen(count))
        @if animals.is_empty() {
            p.none { (none(query, &listed)) }
            (instead)
            (others)
        } @else {
            (cards)
        }
        nav.pages aria-label=(texts().pages) {
            @if query.after.is_some() {
                a href={ "/" (query.with_cursor(None)) } { (texts().first) }
            }
            @if let Some(next) = &next {
                a.button rel="next" href=(next) { (texts().next) }
            }
        }
        @if query.after.is_none() && query.filter.is_empty() { (store::about(facts)) }
    };
    let title = if words.is_empty() {
        title.to_owned()
    } else {
        [title, " – ", &*words.join(", ")].concat()
    };
    let head = Head {
        title: &title,
        description: &texts().about_list(store::named(facts).as_deref()),
        canonical: Some(&format!("/{}", query.canonical())),
        is_indexed: query.is_indexed() && !animals.is_empty(),
        feed: &query.clone().first_page().canonical(),
        next: next.as_deref(),
        picture: animals.iter().find_map(|animal| {
            let photo = animal.photos.first()?;
            Some(shop.preview(photo, animal.alt(0, photo)))
        }),
        schema: Some(schema::list(shop, facts, &animals)),
        drawings: drawings.symbols(),
    };
    let is_current = kinds.is_current;
    Ok(Made {
        is_current,
        ..layout.page(facts, &head, &content)
    })
}

/// `GET /embed`.
pub(super) async fn embed(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    query: &Query,
) -> Result<Made, ApiError> {
    let facts = &*moment.facts;
    let listed = shop.list(query, &moment.fields).await?;
    let animals = listed.animals();
    let mut drawings = Drawings::default();
    let cards = cards((shop, facts), (&listed, &animals), &mut drawings, true);
    let all = format!("/{}", query.with_cursor(None));
    let content = html! {
        h1.hidden { (texts().list) }
        @if animals.is_empty() {
            p.none { (none(query, &listed)) }
        } @else {
            (cards)
        }
        @if listed.next.is_some() || query.after.is_some() {
            nav.pages aria-label=(texts().pages) {
                a.button href=(all) target="_top" { (texts().back) }
            }
        }
    };
    let head = Head {
        title: texts().list,
        description: &texts().about_list(store::named(facts).as_deref()),
        schema: Some(schema::list(shop, facts, &animals)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.embedded(facts, &head, &content))
}

/// How many others the page of an animal shows.
const OTHERS: u8 = 4;

/// Others for the end of a page: those that this filter finds, the newest of all without one, and never
/// the animal with this identifier.
pub(super) async fn others(
    shop: &Shop,
    moment: &Moment,
    (filter, but): (Filter, Option<PetId>),
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let title = if filter.is_empty() {
        texts().newest
    } else {
        texts().similar
    };
    let key = filter.parameters();
    // One more than are shown, in place of the animal itself.
    let others = shop.others(moment, key, async || {
        let limit = Limit::new(i64::from(OTHERS) + 1).unwrap_or_default();
        let query = Query {
            filter,
            limit,
            ..Query::first()
        };
        let listed = shop.list(&query, &moment.fields).await?;
        let of = (shop, &*moment.facts);
        Ok(listed
            .animals()
            .iter()
            .map(|animal| other(of, &listed, animal))
            .collect())
    });
    let others = others.await?;
    let shown = others
        .iter()
        .filter(|other| but != Some(other.id))
        .take(OTHERS.into());
    Ok(html! {
        @if shown.clone().next().is_some() {
            section.others {
                h2 { (title) }
                ul.cards {
                    @for Other { card, drawn, .. } in shown {
                        @let () = drawings.add(drawn);
                        li { (card) }
                    }
                }
            }
        }
    })
}

/// The card of an animal at the end of a page. Its picture is loaded when it is near.
fn other((shop, facts): (&Shop, &StoreFacts), listed: &Listed, animal: &Animal) -> Other {
    let mut drawn = Drawings::default();
    let card = card(
        facts,
        listed,
        animal,
        shop.today(),
        AT_FIRST,
        &mut drawn,
        false,
    );
    Other {
        id: animal.id,
        card,
        drawn,
    }
}

/// Links to the lists with one filter less, as far as these find animals, or else to the whole list.
async fn instead(shop: &Shop, moment: &Moment, choice: &Choice<'_>) -> Result<Markup, ApiError> {
    let (query, mut found) = (choice.query, Vec::new());
    let [open, close] = texts().quotes;
    for one in query.filter.parameters() {
        let rest = query.filter.without(&one.0);
        let count = shop.count(moment, &rest, FEW).await?;
        found.extend((count > 0).then_some((one, rest, count)));
    }
    Ok(html! {
        @if !found.is_empty() {
            ul.instead {
                @for (one, rest, count) in found {
                    li {
                        a href=(query.path_with(rest)) {
                            (texts().without) (open) bdi { (choice.in_words(&one)) } (close)
                        }
                        (texts().colon) (texts().count(count, FEW))
                    }
                }
            }
        } @else if !query.filter.is_empty() {
            p { a href=(query.path_with(Filter::default())) { (texts().clear) } }
        }
    })
}

fn none(query: &Query, listed: &Listed) -> &'static str {
    match (listed.next.is_some(), query.filter.is_empty()) {
        (true, _) => texts().none_here_yet,
        (false, true) => texts().none_at_all,
        (false, false) => texts().none_found,
    }
}

fn cards(
    (shop, facts): (&Shop, &StoreFacts),
    (listed, animals): (&Listed, &[Animal]),
    drawings: &mut Drawings,
    is_embedded: bool,
) -> Markup {
    let today = shop.today();
    html! {
        ul.cards {
            @for (at, animal) in animals.iter().enumerate() {
                li { (card(facts, listed, animal, today, at, drawings, is_embedded)) }
            }
        }
    }
}

fn card(
    facts: &StoreFacts,
    listed: &Listed,
    animal: &Animal,
    today: Date,
    at: usize,
    drawings: &mut Drawings,
    is_embedded: bool,
) -> Markup {
    let said: Vec<String> = [animal.sex(), animal.age(today)]
        .into_iter()
        .flatten()
        .collect();
    let category = listed.labels.get(animal.category_id);
    let kind = match (animal.kind(), listed.labels.shown(animal.category_id)) {
        (kind, Some(category)) if kind.is_empty() => category,
        (kind, _) => kind.join(" · "),
    };
    let card = Card {
        animal,
        path: &animal.path(),
        target: is_embedded.then_some("_top"),
        category,
        badge: badge(animal, today),
        lines: &[kind, said.join(" · ")],
        price: animal.public_price(facts.currency().value),
    };
    card.show(
        if is_embedded { &EMBEDDED_CARD } else { &CARD },
        drawings,
        at,
        AT_FIRST,
    )
}

/// That it is reserved, or for how long it has been here.
fn badge(animal: &Animal, today: Date) -> Option<Markup> {
    if animal.is_reserved() {
        return Some(html! { p.badge.pending { (texts().reserved) } });
    }
    let added = animal.created_at?.to_zoned(TimeZone::UTC).date();
    let label = match (today - added).get_days() {
        0..NEW => texts().new,
        YEAR.. => texts().one_year,
        _ => return None,
    };
    Some(html! { p.badge { (label) } })
}
