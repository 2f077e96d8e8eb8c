//! The list of animals, and the form to change several of them.

use std::collections::BTreeSet;

use petstore_domain::{
    Limit, PetId,
    store_area::{FieldDefinition, FieldSet, NamePrefix, PetQuery, RequestedValue, StorePet},
};

use super::{
    animal_filters::{AFTER_PARAMETER, Filters, SORT_PARAMETER},
    animal_table::animal_table,
    filter_views::{chips, filter_form},
    list_order::{ListOrder, MAX_SORTED, load_sorted_page},
    order_rows,
    parts::{self, empty_store_card, page_links},
    pet_schema::PetSchema,
    selected,
};
use crate::{layout::Follows, prelude::*, session};

/// The largest number of animals that the list counts.
const MAX_COUNT: usize = 10_000;

/// The maximum number of animals that come first because of their name.
const MAX_NAMED: i64 = 6;

/// Shows the list that the query of the request asks for.
pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    show(desk, &desk.visit.query, &Errors::default()).await
}

/// Shows the list that a form asks for, with what is wrong about a change of its animals.
pub(super) async fn show(desk: &Desk<'_>, form: &Form, errors: &Errors) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    let mut filters = Filters::from_form(form, &fields, parts::today(desk));
    filters.understand(desk).await?;
    let list_page = load_page(desk, &filters).await?;
    // The page of the only match follows. A script sends requests while somebody types, so it gets the list.
    if let Some(id) = list_page.only_match
        && errors.is_empty()
        && !session::is_from_script(desk.visit.request)
    {
        return Ok(Reply::See(format!("/animals/{id}"), None));
    }

    let pets = &list_page.pets;
    let mut category_ids: BTreeSet<i64> = pets.iter().map(|pet| pet.category_id).collect();
    category_ids.extend(filters.query.category_id);
    let categories = desk.load_category_choices(category_ids).await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let result_list = results(desk, form, &filters, &list_page, schema, errors).await?;
    let count_text = wording::animal_count(list_page.count, pets.len(), MAX_COUNT);
    let content = html! {
        (page_head(desk))
        (errors.summary())
        (filter_form(&filters, &categories))
        div #results.stack data-live data-found=(count_text) {
            (chips(&filters, desk, &categories, pets))
            @if list_page.is_too_long_to_sort {
                p.notice.flash role="status" { (texts().too_many_to_sort(MAX_SORTED)) }
            }
            @if !pets.is_empty() { p.muted { (count_text) (sort_links(&filters)) } }
            (result_list)
            @if !pets.is_empty() {
                p.no-print { a href=(filters.export_path()) { (texts().export) } }
            }
        }
    };
    let follows = if filters.is_filtered() || errors.is_empty() {
        Follows::Everything
    } else {
        Follows::Nothing
    };
    let page = Page::new(texts().animals_heading, content);
    Ok(page.following(follows).into())
}

fn page_head(desk: &Desk<'_>) -> Markup {
    html! {
        div.head {
            h1 { (texts().animals_heading) }
            div.buttons {
                a href="/categories" { (texts().categories) }
                @if desk.may_write() { a.button href="/add" { (texts().add_animals) } }
            }
        }
    }
}

/// A page of the list of animals.
struct ListPage {
    pets: Vec<StorePet>,
    /// The position of the next page, if there is one.
    next_position: Option<PetId>,
    /// The number of all animals of the list; `None` if counting them would be slow.
    count: Option<usize>,
    /// The only animal of the list, if the text of the search is its number or its value of a unique field.
    only_match: Option<PetId>,
    /// Whether the list has too many animals for the order that was asked for, so that the newest are first.
    is_too_long_to_sort: bool,
}

/// Loads the page of the list that the filters ask for.
///
/// The first page begins with the animals that [`find_exact_matches`] finds, even if no filter matches them. If the text is
/// of everyday words, the animals that have it as their name follow.
async fn load_page(desk: &Desk<'_>, filters: &Filters<'_>) -> Result<ListPage, StoreError> {
    let query = &filters.query;
    let is_sorted_here = filters.order.is_sorted_here(filters.fields) && !filters.is_impossible;
    if is_sorted_here && let Some(page) = sorted_page(desk, filters).await? {
        return Ok(page);
    }
    let (mut pets, next_position) = if filters.is_impossible {
        (Vec::new(), None)
    } else {
        desk.store().list_store_pets(query).await?
    };
    let mut count = count_pets(desk, query, pets.len(), next_position.is_some()).await?;

    let mut only_match = None;
    if query.after.is_none() {
        move_to_front(&mut pets, find_named(desk, filters).await?);
        let exact_matches = find_exact_matches(desk, filters.fields, filters.get("q")).await?;
        move_to_front(&mut pets, exact_matches.clone());
        if next_position.is_none() {
            count = Some(pets.len());
        }
        if exact_matches.len() == 1 && pets.len() == 1 {
            only_match = Some(pets[0].id);
        }
    }
    Ok(ListPage {
        pets,
        next_position,
        count,
        only_match,
        is_too_long_to_sort: is_sorted_here,
    })
}

/// Loads the page in an order in which the store does not read animals. Returns `None` if the list is too long for it.
async fn sorted_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Option<ListPage>, StoreError> {
    let page = load_sorted_page(desk, &filters.query, filters.order, filters.fields).await?;
    Ok(page.map(|page| ListPage {
        pets: page.pets,
        next_position: page.next_position,
        count: Some(page.count),
        only_match: None,
        is_too_long_to_sort: false,
    }))
}

/// Puts animals before the others of a list, the last one first.
fn move_to_front(pets: &mut Vec<StorePet>, first_pets: Vec<StorePet>) {
    for pet in first_pets {
        pets.retain(|listed_pet| listed_pet.id != pet.id);
        pets.insert(0, pet);
    }
}

/// Finds the animals that have the text of a search by everyday words in their name, the first one last.
async fn find_named(desk: &Desk<'_>, filters: &Filters<'_>) -> Result<Vec<StorePet>, StoreError> {
    let name = NamePrefix::new(filters.get("q"));
    if filters.understood_words.is_empty() || name.is_none() {
        return Ok(Vec::new());
    }
    let query = PetQuery {
        name,
        phrase: None,
        limit: Limit::new(MAX_NAMED).unwrap_or_default(),
        ..filters.query.clone()
    };
    let (mut pets, _) = desk.store().list_store_pets(&query).await?;
    pets.reverse();
    Ok(pets)
}

/// Counts the animals that a query finds, up to one more than [`MAX_COUNT`]. Returns `None` if the store has no index
/// for the count and would read every animal.
///
/// `page_length` is the number of animals on the page that was read, and `has_next_page` says whether another follows.
async fn count_pets(
    desk: &Desk<'_>,
    query: &PetQuery,
    page_length: usize,
    has_next_page: bool,
) -> Result<Option<usize>, StoreError> {
    if query.after.is_none() && !has_next_page {
        return Ok(Some(page_length));
    }
    if query.is_withdrawn || !(query.is_on_offer || query.is_search()) {
        return Ok(None);
    }
    let query_of_all_pages = PetQuery {
        after: None,
        ..query.clone()
    };
    let count = desk
        .store()
        .count_on_offer(&query_of_all_pages, MAX_COUNT + 1)
        .await?;
    Ok(Some(count))
}

/// Finds the animals that a text identifies: by their number, or by their value of a unique field, such as a scanned
/// microchip.
///
/// An animal can be in the result more than once.
pub(super) async fn find_exact_matches(
    desk: &Desk<'_>,
    fields: &FieldSet,
    text: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut matching_pets = Vec::new();
    // The number can also be another animal's value of a unique field.
    if let Some(id) = forms::parse_id(text).and_then(PetId::new) {
        matching_pets.extend(desk.store().get_store_pet(id).await?);
    }
    for field in fields.all() {
        if field.is_unique {
            matching_pets.extend(find_by_unique_value(desk, fields, field, text).await?);
        }
    }
    Ok(matching_pets)
}

/// Finds the animals with this value of a unique field: the withdrawn ones by a search, and the owner of the value.
async fn find_by_unique_value(
    desk: &Desk<'_>,
    fields: &FieldSet,
    field: &FieldDefinition,
    text: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut matching_pets = Vec::new();
    if let Ok(value_filter) = fields.parse_filter(field.name.as_str(), text) {
        let query = PetQuery {
            values: vec![value_filter],
            is_withdrawn: true,
            ..PetQuery::default()
        };
        let (withdrawn_pets, _) = desk.store().list_store_pets(&query).await?;
        matching_pets.extend(withdrawn_pets);
    }
    if let RequestedValue::Set(value) = field.parse_cell(text)
        && let Some(key) = fields.unique_key(field.name.as_str(), &value)
    {
        for owner_id in desk.store().owners(key).await? {
            matching_pets.extend(desk.store().get_store_pet(owner_id).await?);
        }
    }
    Ok(matching_pets)
}

/// Shows that the list has no animal: with links to the other lists that have animals for the text of the search, or
/// with a hint if none has any, and with a link to the orders that the text finds.
async fn nothing_found_card(desk: &Desk<'_>, filters: &Filters<'_>) -> Result<Markup, StoreError> {
    // Only a search makes the other lists worth naming.
    let links = if filters.query.phrase.is_some() {
        links_to_other_lists(desk, filters).await?
    } else {
        Vec::new()
    };

    let text = filters.get("q");
    Ok(html! {
        div.card.empty {
            @if links.is_empty() {
                @if text.is_empty() {
                    strong { (texts().none_match) }
                } @else {
                    strong { (texts().nothing_found) }
                    p { (texts().nothing_found_hint) }
                }
            } @else {
                strong { (texts().none_here) }
                @for link in links { p { (link) } }
            }
            @if !text.is_empty() {
                a href=(parts::link("/orders", &[("q", text), ("status", "all")])) {
                    (texts().search_orders(&markup::readable(text, SHORT_LENGTH)))
                }
            }
        }
    })
}

/// Returns links to the lists of other statuses that have animals for the same filters.
async fn links_to_other_lists(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<Markup>, StoreError> {
    let mut links = Vec::new();
    for list in filters.other_lists() {
        let (pets, next_position) = desk.store().list_store_pets(&list.query).await?;
        if pets.is_empty() {
            continue;
        }
        let count = count_pets(desk, &list.query, pets.len(), next_position.is_some()).await?;
        let count_text = wording::animal_count(count, pets.len(), MAX_COUNT);
        links.push(html! {
            a href=(list.path) { (list.label) (window_texts().colon) (count_text) }
        });
    }
    Ok(links)
}

/// Shows the order of the list, and links to the list in the other orders.
fn sort_links(filters: &Filters<'_>) -> Markup {
    html! {
        " · " (filters.order.label(filters.fields))
        span.no-print {
            @for order in ListOrder::ALL {
                @if order != filters.order && order.is_possible(filters.fields) {
                    @let path = filters.path_with(&[(SORT_PARAMETER, order.as_parameter())]);
                    " · " a href=(path) { (order.label(filters.fields)) }
                }
            }
        }
    }
}

/// Shows the animals of a page, or in their place that there are none.
async fn results(
    desk: &Desk<'_>,
    form: &Form,
    filters: &Filters<'_>,
    list_page: &ListPage,
    schema: PetSchema<'_>,
    errors: &Errors,
) -> Result<Markup, StoreError> {
    if !list_page.pets.is_empty() {
        pet_table(desk, form, filters, list_page, schema, errors).await
    } else if filters.is_filtered() {
        nothing_found_card(desk, filters).await
    } else {
        Ok(empty_store_card(desk))
    }
}

/// Shows the animals of a page with the links to other pages. Members who may change animals get the form for it.
async fn pet_table(
    desk: &Desk<'_>,
    form: &Form,
    filters: &Filters<'_>,
    list_page: &ListPage,
    schema: PetSchema<'_>,
    errors: &Errors,
) -> Result<Markup, StoreError> {
    let pets = &list_page.pets;
    let mut order_ids = Vec::new();
    if desk.may_write() {
        order_ids.extend(pets.iter().filter_map(|pet| pet.order_id));
    }
    let orders = order_rows::load_orders(desk, order_ids.into_iter()).await?;

    let next_page = list_page
        .next_position
        .map(|id| filters.path_with(&[(AFTER_PARAMETER, &id.get().to_string())]));
    let first_page = filters.query.after.map(|_| filters.path_with(&[]));
    let has_form = desk.may_write() && !filters.query.is_withdrawn;
    let table = html! {
        (animal_table(desk, pets, schema, &orders, has_form))
        (page_links(first_page.as_deref(), next_page.as_deref()))
    };
    if has_form {
        Ok(selection_form(desk, form, filters, schema, errors, &table))
    } else {
        Ok(table)
    }
}

/// Shows a table of animals in the form that changes the selected ones.
fn selection_form(
    desk: &Desk<'_>,
    form: &Form,
    filters: &Filters<'_>,
    schema: PetSchema<'_>,
    errors: &Errors,
    table: &Markup,
) -> Markup {
    let default_end = desk.default_end_day();
    let action_bar = selected::bar(schema, form, &default_end, errors);
    html! {
        form.several method="post" action="/animals/selected" {
            (desk.key("selected"))
            // The form leads back to this page of the list.
            input type="hidden" name=(AFTER_PARAMETER) value=(form.raw(AFTER_PARAMETER));
            @for (name, value) in &filters.parameters {
                input type="hidden" name=(name) value=(value);
            }
            a.skip href="#selected" { (texts().skip_list) }
            (table)
            (action_bar)
        }
    }
}
