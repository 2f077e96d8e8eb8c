//! Orders: completing, extending, cancelling, returning and changing them.

use jiff::ToSpan;
use maud::{Markup, html};

use super::{
    order_rows::{animals_of, contact, open_with, table, with_animals},
    parts::{link, live, missing, pages},
};
use crate::{
    console::{
        desk::Desk,
        forms::{self, Errors, Input},
        layout::{Follows, Menu},
        markup::{self, LONG},
        reply::{Page, Reply},
        texts,
        visit::Form,
    },
    domain::{
        Limit,
        store_area::{
            Command, Decimal, Field, Note, Order, OrderId, OrderPatch, OrderQuery, OrderStatus,
            Reason, Reference,
        },
    },
    edge::ApiError,
    text,
};

/// How many orders a page shows.
const SHOWN: i64 = 25;

/// How many reservations the page of all reservations shows.
const SHOWN_BY_END: u32 = 100;

/// A list of orders: the reservations by their end, others from the newest on.
pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let typed = desk.visit.query.get("q");
    let status = match desk.visit.query.get("status") {
        "" if typed.is_empty() => OrderStatus::Reserved.as_str(),
        status => status,
    };
    let after = desk.visit.query.integer("after").and_then(OrderId::new);
    let (mut rows, mut next, mut is_cut) = (Vec::new(), None, false);
    if status == OrderStatus::Reserved.as_str() && typed.is_empty() {
        let last = desk.visit.now.checked_add((401 * 24).hours()).unwrap_or(desk.visit.now);
        let due = desk.store().due_orders(None, last, SHOWN_BY_END).await?;
        is_cut = due.len() >= SHOWN_BY_END as usize;
        rows = with_animals(desk, due.into_iter().map(|(id, _)| id)).await?;
    } else if let Some(reference) = Reference::new(typed.to_owned()) {
        let query = OrderQuery {
            status: status.parse().ok(),
            reference: Some(reference).filter(|_| !typed.is_empty()),
            limit: Limit::new(SHOWN).unwrap_or_default(),
            newest_first: true,
            after,
            ..OrderQuery::default()
        };
        let (orders, position) = desk.store().list_orders(&query).await?;
        rows = animals_of(desk, orders).await?;
        next = position.map(|id| {
            let id = id.to_string();
            link("/orders", &[("q", typed), ("status", status), ("after", &id)])
        });
    }
    if !typed.is_empty()
        && after.is_none()
        && [OrderStatus::Reserved.as_str(), "all"].contains(&status)
    {
        let (open, is_whole) = open_with(desk, typed).await?;
        is_cut |= !is_whole;
        let others =
            open.into_iter().filter(|open| rows.iter().all(|(order, _)| order.id != open.id));
        rows.extend(animals_of(desk, others.collect()).await?);
    }
    // A number is that of an order, or a reference.
    let numbered = text::integer(typed).and_then(OrderId::new).filter(|_| after.is_none());
    for row in with_animals(desk, numbered.into_iter()).await? {
        rows.retain(|(order, _)| order.id != row.0.id);
        rows.insert(0, row);
    }
    let first = after.map(|_| link("/orders", &[("q", typed), ("status", status)]));
    let content = html! {
        h1 { (texts::ORDERS) }
        form.card method="get" action="/orders" role="search" data-search {
            label for="q" { (texts::FIND_ORDER) }
            div.row {
                div.field.search {
                    input #q name="q" type="search" value=(typed) autocomplete="off" dir="auto";
                }
                input type="hidden" name="status" value="all";
                button.main { (texts::FIND) }
            }
        }
        nav.sub aria-label=(texts::STATUS) {
            ul {
                @for of in OrderStatus::ALL {
                    (tab(of.as_str(), texts::order_status(of), status))
                }
                (tab("all", texts::ALL, if status.is_empty() { "all" } else { status }))
            }
        }
        div #results.stack data-live data-found=(texts::found(rows.len(), next.is_some())) {
            @if rows.is_empty() {
                div.card.empty {
                    @if typed.is_empty() {
                        strong { (texts::NO_ORDERS) }
                        p { (texts::NO_ORDERS_HINT) }
                        a.button href="/animals?status=available" { (texts::ANIMALS) }
                    } @else {
                        strong { (texts::NO_ORDER_FOUND) }
                        p { (texts::NO_ORDER_FOUND_HINT) }
                    }
                }
            } @else {
                @if !typed.is_empty() { p.muted { (texts::found(rows.len(), next.is_some() || is_cut)) } }
                @else if is_cut { p.muted { (texts::ONLY_FIRST) } }
                (table(desk, &rows))
                (pages(first.as_deref(), next.as_deref()))
            }
        }
    };
    Ok(Page::new(Menu::Orders, texts::ORDERS, content).following(Follows::Everything).into())
}

fn tab(value: &str, label: &str, present: &str) -> Markup {
    html! {
        li {
            a href={ "/orders?status=" (value) } aria-current=[(value == present).then_some("true")] {
                (label)
            }
        }
    }
}

/// The page of the order, with what is wrong about a change of it.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let ids = desk.id(OrderId::new).into_iter();
    let Some((order, pet)) = with_animals(desk, ids).await?.into_iter().next() else {
        return Ok(missing(Menu::Orders, texts::NO_ORDER));
    };
    let title = texts::title_of_order(order.id.get());
    let categories = desk.categories_of(pet.iter().map(|pet| pet.category_id).collect()).await?;
    let content = html! {
        div.head {
            h1 { (title) }
            (markup::order_badge(&order, desk.visit.now))
            button type="button" data-print { (texts::PRINT) }
        }
        div.columns {
            section.card {
                h2 { (texts::ANIMAL) }
                @if let Some(pet) = &pet {
                    dl {
                        dt { (texts::NAME) }
                        dd {
                            a href={ "/animals/" (pet.id.get()) } {
                                (markup::name(pet.name.as_str(), LONG))
                            }
                        }
                        dt { (texts::NUMBER) }
                        dd { (pet.id.get()) }
                        dt { (texts::CATEGORY) }
                        dd { bdi { (markup::category(&categories, pet.category_id)) } }
                    }
                }
            }
            section.card #order {
                h2 { (texts::ORDER) }
                (details(desk, &order))
                (buttons(desk, &order, errors))
            }
        }
        p.print { (texts::SIGNATURE) ": ______________________________" }
    };
    let page = Page::new(Menu::Orders, title, live(errors, &content));
    let page = page.following(Follows::Pet(order.pet_id.get()));
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// The values of an order, beginning with the customer's contact data.
pub(super) fn details(desk: &Desk<'_>, order: &Order) -> Markup {
    let price = order.price.as_ref().map(|price| texts::amount(price.as_str(), desk.currency()));
    let texts_of = [
        (texts::CONTACT, contact(desk, order)),
        (texts::PRICE, price.as_deref()),
        (texts::REFERENCE, order.reference.as_ref().map(Reference::as_str)),
        (texts::NOTE, order.note.as_ref().map(Note::as_str)),
        (texts::REASON, order.reason.as_ref().map(Reason::as_str)),
    ];
    let ends = order.expires_at.filter(|_| order.status == OrderStatus::Reserved);
    let times = [
        (texts::ENDS, ends),
        (texts::PLACED_AT, Some(order.created_at)),
        (texts::CLOSED_AT, order.closed_at),
    ];
    html! {
        dl {
            @for (label, text) in texts_of {
                @if let Some(text) = text { dt { (label) } dd { (markup::text(text, LONG)) } }
            }
            @for (label, at) in times {
                @if let Some(at) = at {
                    dt { (label) }
                    dd { (markup::time_and_distance(at, desk.visit.now)) }
                }
            }
        }
    }
}

/// What can be done with an order in its present state.
pub(super) fn buttons(desk: &Desk<'_>, order: &Order, errors: &Errors) -> Markup {
    let path = format!("/orders/{}", order.id);
    let button = |command: &str, class: &str, label: &str| {
        html! {
            form method="post" action={ (path) "/" (command) } {
                (desk.key(command))
                button class=(class) { (label) }
            }
        }
    };
    let typed = desk.visit.form.get("until");
    let end = order.expires_at.map(|end| end.strftime("%F").to_string()).unwrap_or_default();
    let why =
        Input { is_optional: true, ..Input::of("reason", texts::REASON, &desk.visit.form, errors) };
    html! {
        @if desk.may_write() && order.status == OrderStatus::Reserved {
            div.stack {
                div.buttons {
                    (button("complete", "main", texts::SELL))
                    (button("cancel", "", texts::CANCEL_RESERVATION))
                }
                details open[errors.of("until").is_some()] {
                    summary { (texts::EXTEND_MORE) }
                    form.row method="post" action={ (path) "/extend" } {
                        (desk.key("extend"))
                        input type="hidden" name="version" value=(order.version);
                        (forms::day_input(if typed.is_empty() { &end } else { typed }, errors.of("until")))
                        button { (texts::EXTEND) }
                    }
                }
            }
        } @else if desk.may_write() && order.status == OrderStatus::Completed && order.holds {
            details open[errors.of("reason").is_some()] {
                summary { (texts::TAKE_BACK) }
                form.fields method="post" action={ (path) "/return" } {
                    p.hint { (texts::TAKE_BACK_HINT) }
                    (desk.key("return"))
                    (why.show())
                    div { button { (texts::TAKE_BACK) } }
                }
            }
        }
        @if desk.may_write() { (change_form(desk, order, &path, errors)) }
    }
}

/// The form that changes what people wrote about an order: the price only while it is reserved.
fn change_form(desk: &Desk<'_>, order: &Order, path: &str, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let in_currency = desk.currency().map(texts::price_in);
    let price = order.price.as_ref().map_or("", Decimal::as_str);
    let reserved = order.status == OrderStatus::Reserved;
    let inputs = [
        ("contact", texts::CONTACT, contact(desk, order).unwrap_or_default()),
        ("price", in_currency.as_deref().unwrap_or(texts::PRICE), price),
        ("reference", texts::REFERENCE, order.reference.as_ref().map_or("", Reference::as_str)),
        ("note", texts::NOTE, order.note.as_ref().map_or("", Note::as_str)),
    ];
    let inputs = inputs.into_iter().filter(|(name, ..)| reserved || *name != "price");
    let action = format!("{path}/change");
    // It was not saved.
    let is_sent = desk.visit.request.uri.path() == action;
    html! {
        details.no-print open[is_sent] {
            summary { (texts::CHANGE_ORDER) }
            form.fields method="post" action=(action) {
                (desk.key("change"))
                input type="hidden" name="version" value=(order.version);
                @for (name, label, present) in inputs {
                    @let typed = Input::of(name, label, form, errors);
                    @let value = if is_sent { typed.value } else { present };
                    @let hint = (name == "contact").then_some(texts::CONTACT_HINT);
                    @let kind = if name == "note" { "textarea" } else { "" };
                    (Input { value, hint, kind, is_optional: true, ..typed }.show())
                }
                div { button { (texts::SAVE) } }
            }
        }
    }
}

/// Carries out a command about the order in the path, and shows its animal.
async fn act_on_order(
    desk: &Desk<'_>,
    command: impl FnOnce(OrderId) -> Command,
) -> Result<Reply, ApiError> {
    let Some(id) = desk.id(OrderId::new) else {
        return Ok(missing(Menu::Orders, texts::NO_ORDER));
    };
    match desk.execute(vec![command(id)]).await? {
        Ok(flash) => {
            let order = desk.store().get_order(id).await?;
            let pet = order.map_or(0, |order| order.pet_id.get());
            Ok(Reply::See(format!("/animals/{pet}"), Some(flash)))
        }
        Err(not_done) => show(desk, &Errors::text(&not_done.why)).await,
    }
}

/// Sells the reserved animal.
pub(super) async fn complete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id| Command::CompleteOrder { id }).await
}

/// Ends the reservation.
pub(super) async fn cancel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id| Command::CancelOrder { id, reason: None }).await
}

/// Undoes the sale.
pub(super) async fn take_back(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    match errors.take("reason", forms::reason(&desk.visit.form)) {
        Some(reason) => act_on_order(desk, |id| Command::ReturnOrder { id, reason }).await,
        None => show(desk, &errors).await,
    }
}

/// Changes what people wrote about the order. What the form does not have stays.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    fn field<T>(form: &Form, name: &str, typed: Option<T>) -> Field<T> {
        if form.all(name).next().is_none() {
            return Field::Keep;
        }
        typed.map_or(Field::Clear, Field::Set)
    }
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let contact = errors.take("contact", forms::contact(form));
    let price = errors.take("price", forms::price(form));
    let reference = errors.take("reference", forms::reference(form));
    let note = errors.take("note", forms::note(form, "note"));
    let (Some(contact), Some(price), Some(reference), Some(note)) =
        (contact, price, reference, note)
    else {
        return show(desk, &errors).await;
    };
    let preconditions = desk.preconditions();
    let price = if let Field::Set(price) = price { Some(price) } else { None };
    let patch = OrderPatch {
        contact: field(form, "contact", contact),
        price: field(form, "price", price),
        reference: field(form, "reference", reference),
        note: field(form, "note", note),
        ..OrderPatch::default()
    };
    act_on_order(desk, |id| Command::PatchOrder { id, patch, preconditions }).await
}

/// Gives the reservation another end.
pub(super) async fn extend(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let Some(end) = errors.take("until", forms::end_of_day(&desk.visit.form, desk.visit.now))
    else {
        return show(desk, &errors).await;
    };
    let preconditions = desk.preconditions();
    let patch = OrderPatch { expires_at: Some(end), ..OrderPatch::default() };
    act_on_order(desk, |id| Command::PatchOrder { id, patch, preconditions }).await
}
