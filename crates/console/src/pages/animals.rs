//! The list of animals, and the form to change several of them.

use petstore_domain::{
    PetId,
    store_area::{Category, FieldSet, Given, Order, PetQuery, StorePet},
};
use petstore_languages::look::{Animal, Drawings};

use super::{
    animal_filters::{AFTER, Filters, LONGEST, SORT},
    order_rows,
    parts::{self, animal_card, empty_store_card, page_links},
    selected,
};
use crate::{layout::Follows, prelude::*, session};

/// How many animals are counted.
const COUNTED: usize = 10_000;

pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    show(desk, &desk.visit.query, &Errors::default()).await
}

/// The list that the form asks for, with what is wrong about a change of it.
pub(super) async fn show(desk: &Desk<'_>, form: &Form, errors: &Errors) -> Result<Reply, ApiError> {
    let typed = form.get("q");
    let fields = desk.store().fields().await?;
    let filters = Filters::of(form, &fields, parts::today(desk));
    let query = &filters.query;
    let (mut pets, next) = if filters.is_impossible {
        (Vec::new(), None)
    } else {
        desk.store().list_store_pets(query).await?
    };
    let mut count = count(desk, query, pets.len(), next.is_some()).await?;
    if query.after.is_none() {
        let meant = find_exact_matches(desk, &fields, typed).await?;
        for pet in &meant {
            pets.retain(|other| other.id != pet.id);
            pets.insert(0, pet.clone());
        }
        if next.is_none() {
            count = Some(pets.len());
        }
        // Nothing else can be meant, so its page follows, but not while somebody types.
        if let ([one], [_], true) = (&meant[..], &pets[..], errors.is_empty())
            && !session::is_from_script(desk.visit.request)
        {
            return Ok(Reply::See(format!("/animals/{}", one.id), None));
        }
    }
    let nothing = if pets.is_empty() {
        nothing_found(desk, &filters).await?
    } else {
        html! {}
    };
    let open = pets
        .iter()
        .filter_map(|pet| pet.order_id)
        .filter(|_| desk.may_write());
    let orders = order_rows::load_orders(desk, open).await?;
    let shown = pets
        .iter()
        .map(|pet| pet.category_id)
        .chain(query.category_id)
        .collect();
    let categories = desk.load_category_choices(shown).await?;
    let order = if query.newest_first {
        [
            (texts().newest_first, None),
            (texts().longest_first, Some(LONGEST)),
        ]
    } else {
        [
            (texts().longest_first, None),
            (texts().newest_first, Some("")),
        ]
    };
    let next = next.map(|id| filters.to(&[(AFTER, &id.get().to_string())]));
    let first = query.after.map(|_| filters.to(&[]));
    let end = desk.default_end().strftime("%F").to_string();
    let found = wording::animal_count(count, pets.len(), COUNTED);
    let with_boxes = desk.may_write() && !query.withdrawn;
    let table = table(desk, &pets, &fields, &orders, &categories, with_boxes);
    let content = html! {
        div.head {
            h1 { (texts().animals_heading) }
            div.buttons {
                a href="/categories" { (texts().categories) }
                @if desk.may_write() { a.button href="/add" { (texts().add_animals) } }
            }
        }
        (errors.summary())
        (filters.form(&categories))
        div #results.stack data-live data-found=(found) {
            (filters.chips(desk, &categories))
            @if !pets.is_empty() {
                p.muted {
                    (found)
                    @for (label, sort) in order {
                        @if let Some(sort) = sort { span.no-print { " · " a href=(filters.to(&[(SORT, sort)])) { (label) } } }
                        @else { " · " (label) }
                    }
                }
            }
            @if pets.is_empty() && filters.is_some() { (nothing) } @else if pets.is_empty() {
                (empty_store_card(desk))
            } @else if with_boxes {
                form.several method="post" action="/animals/selected" {
                    (desk.key("selected"))
                    // The page of the list.
                    input type="hidden" name=(AFTER) value=(form.raw(AFTER));
                    @for (name, value) in &filters.parameters { input type="hidden" name=(name) value=(value); }
                    a.skip href="#selected" { (texts().skip_list) }
                    (table)
                    (page_links(first.as_deref(), next.as_deref()))
                    (selected::bar((&categories, &fields), (form, &end), errors))
                }
            } @else {
                (table)
                (page_links(first.as_deref(), next.as_deref()))
            }
        }
    };
    let page = Page::new(texts().animals_heading, content);
    let follows = if filters.is_some() || errors.is_empty() {
        Follows::Everything
    } else {
        Follows::Nothing
    };
    Ok(page.following(follows).into())
}

/// What a list says that finds nothing: in which other lists the animals are.
async fn nothing_found(desk: &Desk<'_>, filters: &Filters<'_>) -> Result<Markup, StoreError> {
    let (typed, mut elsewhere) = (filters.get("q"), Vec::new());
    for (path, label, query) in filters
        .elsewhere()
        .filter(|(.., query)| query.phrase.is_some())
    {
        let (pets, next) = desk.store().list_store_pets(&query).await?;
        let count = count(desk, &query, pets.len(), next.is_some()).await?;
        let found = wording::animal_count(count, pets.len(), COUNTED);
        elsewhere.extend((!pets.is_empty()).then_some((path, label, found)));
    }
    Ok(html! {
        div.card.empty {
            @if elsewhere.is_empty() {
                strong { (texts().nothing_found) }
                p { (texts().nothing_found_hint) }
            } @else {
                strong { (texts().none_here) }
                @for (path, label, found) in elsewhere {
                    p { a href=(path) { (label) (window_texts().colon) (found) } }
                }
            }
            @if !typed.is_empty() {
                a href=(parts::link("/orders", &[("q", typed), ("status", "all")])) {
                    (texts().search_orders(&markup::readable(typed, SHORT)))
                }
            }
        }
    })
}

/// How many animals a query finds, at most [`COUNTED`] and one more; `None` if that would be slow.
async fn count(
    desk: &Desk<'_>,
    query: &PetQuery,
    on_page: usize,
    has_more: bool,
) -> Result<Option<usize>, StoreError> {
    if query.after.is_none() && !has_more {
        return Ok(Some(on_page));
    }
    if query.withdrawn || !(query.on_offer || query.is_search()) {
        return Ok(None);
    }
    let all = PetQuery {
        after: None,
        ..query.clone()
    };
    Ok(Some(desk.store().count_on_offer(&all, COUNTED + 1).await?))
}

/// The animals that only what was typed means: as their number, or as the value of a unique field, such
/// as a scanned microchip.
pub(super) async fn find_exact_matches(
    desk: &Desk<'_>,
    fields: &FieldSet,
    typed: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut found = Vec::new();
    // A number can also be a name.
    if let Some(id) = forms::parse_number(typed).and_then(PetId::new) {
        found.extend(desk.store().get_store_pet(id).await?);
    }
    for field in fields.all().iter().filter(|field| field.is_unique) {
        if let Ok(value) = fields.searched(field.name.as_str(), typed) {
            let query = PetQuery {
                values: vec![value],
                withdrawn: true,
                ..PetQuery::default()
            };
            found.extend(desk.store().list_store_pets(&query).await?.0);
        }
        if let Given::Set(value) = field.in_cell(typed)
            && let Some(key) = fields.unique_key(field.name.as_str(), &value)
        {
            for owner in desk.store().owners(key).await? {
                found.extend(desk.store().get_store_pet(owner).await?);
            }
        }
    }
    Ok(found)
}

/// Animals with their pictures and what tells them apart, and with the contacts of these orders.
fn table(
    desk: &Desk<'_>,
    pets: &[StorePet],
    fields: &FieldSet,
    orders: &[Order],
    categories: &[Category],
    has_boxes: bool,
) -> Markup {
    let ticked = |pet: &StorePet| {
        let id = pet.id.get().to_string();
        desk.visit
            .form
            .all("pet")
            .any(|ticked| ticked.split_once(':').is_some_and(|(of, _)| of == id))
    };
    let labels = [
        texts().name,
        texts().price,
        texts().status_label,
        texts().number,
        texts().changed_at,
    ];
    let headings = html! {
        @if has_boxes {
            td.tick { input type="checkbox" data-all aria-label=(texts().select_all); }
        }
        (markup::headings(&labels))
    };
    let mut drawings = Drawings::default();
    let rows = html! {
        @for (at, pet) in pets.iter().enumerate() {
            @let animal = Animal::whole(pet, fields);
            tr {
                @if has_boxes {
                    td.tick {
                        label {
                            input type="checkbox" name="pet" value={ (pet.id.get()) ":" (pet.version) }
                                checked[ticked(pet)]
                                aria-label=(texts().select(&markup::plain_name(pet.name.as_str())));
                        }
                    }
                }
                @let category = markup::category(categories, pet.category_id);
                td.first { (animal_card(desk, &animal, &category, (&mut drawings, at))) }
                td.price {
                    @if let Some(price) = animal.price() { (amount(price, desk.currency())) }
                }
                td {
                    (markup::pet_badge(pet))
                    @if let Some(contact) = order_rows::contact_for(desk, orders, pet) {
                        div.hint.no-print { (markup::text(contact, SHORT)) }
                    }
                }
                td.number data-label=(texts().number) { small { (pet.id.get()) } }
                td data-label=(texts().changed_at) {
                    small {
                        @if let Some(at) = pet.updated_at { (markup::time(at, desk.visit.now)) }
                        @else { "–" }
                    }
                }
            }
        }
    };
    html! { (drawings.symbols()) (markup::table(&headings, &rows)) }
}
