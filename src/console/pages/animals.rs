//! The list of animals, and the form to change several of them.

use jiff::tz::TimeZone;

use super::{
    category_names::PROPOSED,
    order_rows,
    parts::{empty_store, link, pages},
    values,
};
use crate::console::prelude::*;
use crate::{
    console::{layout::Follows, session},
    domain::{
        Limit, PetId,
        store_area::{
            Category, Choices, FieldDefinition, FieldKind, FieldSet, Given, NamePrefix, Order,
            PetQuery, StorePet, ValueFilter,
        },
    },
    look::{Animal, Card, Drawings, ROW},
};

/// How many animals a page shows, how many of their pictures are in the first view, and how many animals
/// are counted.
const SHOWN: i64 = 50;
const AT_FIRST: usize = 8;
const COUNTED: usize = 10_000;

/// The parameter with the order of the list, and its value for another one than the newest first.
pub(super) const SORT: &str = "sort";
const LONGEST: &str = "longest";

/// Choices of a status. Without one, the list has the animals in the store: all but sold ones.
const ALL: &str = "all";
const WITHDRAWN: &str = "withdrawn";

pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    show(desk, &desk.visit.query, &Errors::default()).await
}

/// The list that the form asks for, with what is wrong about a change of it.
pub(super) async fn show(desk: &Desk<'_>, form: &Form, errors: &Errors) -> Result<Reply, ApiError> {
    let typed = form.get("q");
    let fields = desk.store().fields().await?;
    let prefix = if typed.contains('\0') { None } else { NamePrefix::new(typed) };
    let status = form.get("status");
    let query = query_of(form, prefix.clone().filter(|_| !typed.is_empty()), &fields);
    let (mut pets, next) = match prefix {
        Some(_) => desk.store().list_store_pets(&query).await?,
        None => (Vec::new(), None),
    };
    let mut count = count(desk, &query, pets.len(), next.is_some()).await?;
    if query.after.is_none() {
        let meant = meant(desk, &fields, typed).await?;
        for pet in &meant {
            pets.retain(|other| other.id != pet.id);
            pets.insert(0, pet.clone());
        }
        if next.is_none() {
            count = Some(pets.len());
        }
        // Nothing else can be meant, so its page follows, but not while somebody types.
        if let ([one], [_], true) = (&meant[..], &pets[..], errors.is_empty())
            && !session::is_of_script(desk.visit.request)
        {
            return Ok(Reply::See(format!("/animals/{}", one.id), None));
        }
    }
    let open = pets.iter().filter_map(|pet| pet.order_id).filter(|_| desk.may_write());
    let orders = order_rows::with_ids(desk, open).await?;
    let shown = pets.iter().map(|pet| pet.category_id).chain(query.category_id).collect();
    let categories = desk.categories_with(shown).await?;
    let mut filters = vec![("q", typed), ("status", status), ("category", form.get("category"))];
    let chosen_values: Vec<_> = filtered(&fields)
        .map(|field| (values::input_of(field), form.get(&values::input_of(field))))
        .collect();
    filters.extend(chosen_values.iter().map(|(name, value)| (name.as_str(), *value)));
    let is_filtered = filters.iter().any(|(_, value)| !value.is_empty());
    let sorted = |sort| link("/animals", &[&filters[..], &[(SORT, sort)]].concat());
    let order = if query.newest_first {
        [(texts::NEWEST_FIRST, None), (texts::LONGEST_FIRST, Some(sorted(LONGEST)))]
    } else {
        [(texts::LONGEST_FIRST, None), (texts::NEWEST_FIRST, Some(sorted("")))]
    };
    filters.push((SORT, if query.newest_first { "" } else { LONGEST }));
    let next = next
        .map(|id| link("/animals", &[&filters[..], &[("after", &id.get().to_string())]].concat()));
    let first = query.after.map(|_| link("/animals", &filters));
    let sold = link("/animals", &[&filters[..1], &[("status", ALL)], &filters[2..]].concat());
    let end = desk.default_end().strftime("%F").to_string();
    let found = texts::found(count, pets.len(), COUNTED);
    let with_boxes = desk.may_write() && status != WITHDRAWN;
    let table = table(desk, &pets, &fields, &orders, &categories, with_boxes);
    let content = html! {
        div.head {
            h1 { (texts::ANIMALS) }
            div.buttons {
                a href="/categories" { (texts::CATEGORIES) }
                @if desk.may_write() { a.button href="/add" { (texts::ADD_ANIMALS) } }
            }
        }
        (errors.summary())
        (search(form, &categories, &fields, is_filtered))
        div #results.stack data-live data-found=(found) {
            @if !pets.is_empty() {
                p.muted {
                    (found)
                    @for (label, link) in &order {
                        " · " @if let Some(link) = link { a.no-print href=(link) { (label) } } @else { (label) }
                    }
                }
            }
            @if pets.is_empty() && is_filtered {
                div.card.empty {
                    strong { (texts::NOTHING_FOUND) }
                    p { (texts::NOTHING_FOUND_HINT) }
                    @if status.is_empty() {
                        a href=(sold) { (texts::FIND_SOLD) }
                    }
                }
            } @else if pets.is_empty() {
                (empty_store(desk))
            } @else if with_boxes {
                form.several method="post" action="/animals/selected" {
                    (desk.key("selected"))
                    @for (name, value) in &filters { input type="hidden" name=(name) value=(value); }
                    a.skip href="#selected" { (texts::SKIP_LIST) }
                    (table)
                    (pages(first.as_deref(), next.as_deref()))
                    (selected(&categories, form, &end, errors))
                }
            } @else {
                (table)
                (pages(first.as_deref(), next.as_deref()))
            }
        }
    };
    let page = Page::new(texts::ANIMALS, content);
    let follows =
        if is_filtered || errors.is_empty() { Follows::Everything } else { Follows::Nothing };
    Ok(page.following(follows).into())
}

/// The query of a page of the list.
fn query_of(form: &Form, name: Option<NamePrefix>, fields: &FieldSet) -> PetQuery {
    let status = form.get("status");
    PetQuery {
        status: status.parse().ok(),
        category_id: form.integer("category"),
        name,
        values: filters_of(fields, form),
        on_offer: status.is_empty(),
        withdrawn: status == WITHDRAWN,
        newest_first: form.get(SORT) != LONGEST,
        limit: Limit::new(SHOWN).unwrap_or_default(),
        after: form.integer("after").and_then(PetId::new),
    }
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
    let all = PetQuery { after: None, ..query.clone() };
    Ok(Some(desk.store().count_on_offer(&all, COUNTED + 1).await?))
}

/// The fields by which the list can be filtered.
fn filtered(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    let choices = fields.all().iter().filter(|field| field.kind == FieldKind::Choice);
    choices.take(PetQuery::MOST_VALUES)
}

/// The values that the animals on the list must have.
fn filters_of(fields: &FieldSet, form: &Form) -> Vec<ValueFilter> {
    let value = |field: &FieldDefinition| {
        fields.searched(field.name.as_str(), form.get(&values::input_of(field))).ok()
    };
    filtered(fields).filter_map(value).collect()
}

/// The animals that only what was typed means: as their number, or as the value of a unique field, such
/// as a scanned microchip.
pub(super) async fn meant(
    desk: &Desk<'_>,
    fields: &FieldSet,
    typed: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut found = Vec::new();
    // A number can also be a name.
    if let Some(id) = forms::number(typed).and_then(PetId::new) {
        found.extend(desk.store().get_store_pet(id).await?);
    }
    for field in fields.all().iter().filter(|field| field.is_unique) {
        if let Ok(value) = fields.searched(field.name.as_str(), typed) {
            let query = PetQuery { values: vec![value], withdrawn: true, ..PetQuery::default() };
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

fn search(form: &Form, categories: &[Category], fields: &FieldSet, is_filtered: bool) -> Markup {
    let mut statuses = forms::statuses();
    statuses.insert(0, ("", texts::ANY_STATUS));
    statuses.extend([(ALL, texts::ALSO_SOLD), (WITHDRAWN, texts::WITHDRAWN)]);
    let mut choices = vec![(String::new(), texts::ANY_CATEGORY.to_owned())];
    choices.extend(categories.iter().map(|category| {
        (category.id.to_string(), markup::readable(category.label.as_str(), SHORT))
    }));
    let chosen = form.get("category");
    // One without a name.
    if let Some(id) = form.integer("category")
        && choices.iter().all(|(value, _)| value != chosen)
    {
        choices.push((chosen.to_owned(), texts::category_number(id)));
    }
    let status =
        Input { id: "status", label: texts::STATUS, value: form.get("status"), ..Input::default() };
    let hint = (categories.len() >= PROPOSED).then_some(texts::MORE_CATEGORIES);
    let category =
        Input { id: "category", label: texts::CATEGORY, value: chosen, hint, ..Input::default() };
    let is_chosen = |(value, _): &&(&str, &str)| *value == form.get("status");
    let status_label = statuses.iter().find(is_chosen).map_or("", |(_, label)| label);
    let category_label = choices.iter().find(|(value, _)| value == chosen);
    html! {
        // What the printed list has.
        p.print {
            (status_label)
            @if let Some((_, label)) = category_label.filter(|_| !chosen.is_empty()) { ", " bdi { (label) } }
            @if !form.get("q").is_empty() { ", “" bdi { (form.get("q")) } "”" }
        }
        form.card method="get" action="/animals" role="search" data-search {
            @if form.get(SORT) == LONGEST { input type="hidden" name=(SORT) value=(LONGEST); }
            div.row {
                div.field.search {
                    label for="q" { (texts::FIND_LABEL) }
                    input #q name="q" type="search" value=(form.get("q")) autocomplete="off"
                        dir="auto" maxlength="200";
                }
                (status.choose(&statuses))
                (category.choose(&choices))
                @for field in filtered(fields) { (filter(field, form)) }
                button.main { (texts::FIND) }
                @if is_filtered { a.button.quiet href="/animals" { (texts::CLEAR) } }
            }
        }
    }
}

/// The choice of a value of a field.
fn filter(field: &FieldDefinition, form: &Form) -> Markup {
    let (id, label) = (values::input_of(field), markup::readable(field.label.as_str(), SHORT));
    let all = field.choices.as_ref().map(Choices::all).unwrap_or_default();
    let choice = |text: &str| (text.to_owned(), markup::readable(field.shown(text), SHORT));
    let mut options = vec![(String::new(), texts::ANY_VALUE.to_owned())];
    options.extend(all.iter().map(|text| choice(text)));
    let value = form.get(&id);
    if options.iter().all(|(known, _)| known != value) {
        options.push(choice(value));
    }
    Input { id: &id, label: &label, value, ..Input::default() }.choose(&options)
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
    let labels = [texts::NAME, texts::PRICE, texts::STATUS, texts::NUMBER, texts::CHANGED_AT];
    let headings = html! {
        @if has_boxes {
            td.tick { input type="checkbox" data-all aria-label=(texts::SELECT_ALL); }
        }
        (markup::headings(&labels))
    };
    let today = desk.visit.now.to_zoned(TimeZone::UTC).date();
    let mut drawings = Drawings::default();
    let mut card =
        |at: usize, pet: &StorePet, animal: &Animal<'_>| {
            let category = markup::category(categories, pet.category_id);
            let lines = [animal.line(today), category.clone()];
            let (path, category) = (&*animal.path(), Some(&*category));
            Card { animal, path, target: None, category, badge: None, lines: &lines, price: None }
                .show(&ROW, &mut drawings, (at, AT_FIRST))
        };
    let rows = html! {
        @for (at, pet) in pets.iter().enumerate() {
            @let animal = Animal::whole(pet, fields);
            tr {
                @if has_boxes {
                    td.tick {
                        label {
                            input type="checkbox" name="pet" value={ (pet.id.get()) ":" (pet.version) }
                                checked[ticked(pet)]
                                aria-label=(texts::select(&markup::plain_name(pet.name.as_str())));
                        }
                    }
                }
                td.first { (card(at, pet, &animal)) }
                td.price {
                    @if let Some(price) = animal.price() { (texts::amount(price, desk.currency())) }
                }
                td {
                    (markup::pet_badge(pet))
                    @if let Some(contact) = order_rows::contact_for(desk, orders, pet) {
                        div.hint.no-print { (markup::text(contact, SHORT)) }
                    }
                }
                td.number data-label=(texts::NUMBER) { small { (pet.id.get()) } }
                td data-label=(texts::CHANGED_AT) {
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

/// The actions for the selected animals. Enter in a field presses the first button, which needs
/// a category.
fn selected(categories: &[Category], form: &Form, end: &str, errors: &Errors) -> Markup {
    let until = if form.get("until").is_empty() { end } else { form.get("until") };
    let to = Input { list: Some("categories"), ..Input::of("to", texts::CATEGORY, form, errors) };
    let why = Input::of("why", texts::REASON, form, errors);
    html! {
        fieldset.card #selected tabindex="-1" {
            // The page of the list.
            input type="hidden" name="after" value=(form.raw("after"));
            legend { (texts::WITH_SELECTED) " " span.hint { (texts::ALL_OR_NONE) } }
            div.row {
                div.row {
                    (to.show())
                    button name="do" value="move" { (texts::MOVE) }
                }
                div.row {
                    (forms::day_input(until, errors.of("until")))
                    (Input::of("contact", texts::CONTACT, form, errors).show())
                    (Input { inputmode: "decimal", ..Input::of("price", texts::PRICE_OF_EACH, form, errors) }.show())
                    button name="do" value="reserve" { (texts::RESERVE) }
                }
                button name="do" value="sell" { (texts::SELL) }
                div.row {
                    (why.choose(&forms::withdrawal_reasons()))
                    button.danger name="do" value="withdraw" { (texts::WITHDRAW) }
                }
            }
            (forms::category_list(categories))
        }
    }
}
