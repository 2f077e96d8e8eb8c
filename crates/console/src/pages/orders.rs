//! Orders: completing, extending, cancelling, returning and changing them.

use jiff::ToSpan;
use petstore_domain::{
    Limit, PetStatus,
    store_area::{
        Command, Decimal, Order, OrderId, OrderPatch, OrderQuery, OrderStatus, Patch,
        Preconditions, StorePet,
    },
};
use petstore_languages::look::{Animal, Drawings};

use super::{
    order_rows::{animals_of, call, form_of, sums, table, with_animals, with_ids},
    order_search,
    parts::{animal_card, link, live_content, missing_page, page_links},
    values,
};
use crate::{
    layout::Follows,
    merge::{self, Merged},
    order_inputs::{self, ORDER_INPUTS, PRICE},
    prelude::*,
    reply::{FROM, TODAY},
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
    let (mut next, mut is_cut) = (None, false);
    let rows = if !typed.is_empty() {
        let (orders, is_whole) = order_search::find(desk, typed, status.parse().ok()).await?;
        is_cut = !is_whole;
        animals_of(desk, orders).await?
    } else if status == OrderStatus::Reserved.as_str() {
        let last = desk
            .visit
            .now
            .checked_add((401 * 24).hours())
            .unwrap_or(desk.visit.now);
        let due = desk.store().due_orders(None, last, SHOWN_BY_END).await?;
        is_cut = due.len() >= SHOWN_BY_END as usize;
        with_animals(desk, due.into_iter().map(|(id, _)| id)).await?
    } else {
        let limit = Limit::new(SHOWN).unwrap_or_default();
        let status = status.parse().ok();
        let query = OrderQuery {
            status,
            limit,
            newest_first: true,
            after,
            ..OrderQuery::default()
        };
        let (orders, position) = desk.store().list_orders(&query).await?;
        next = position.map(|id| {
            let id = id.to_string();
            link(
                "/orders",
                &[("status", desk.visit.query.get("status")), ("after", &id)],
            )
        });
        animals_of(desk, orders).await?
    };
    let first = after.map(|_| link("/orders", &[("status", status)]));
    let fields = desk.store().fields().await?;
    let sums = sums(desk, &rows);
    let content = html! {
        h1 { (texts().orders) }
        form.card method="get" action="/orders" role="search" data-search {
            label for="q" {
                @if desk.may_write() { (texts().find_order) } @else { (texts().find_order_by_animal) }
            }
            div.row {
                div.field.search {
                    input #q name="q" type="search" value=(typed) autocomplete="off" dir="auto" autofocus;
                }
                input type="hidden" name="status" value="all";
                button.main { (texts().find) }
            }
        }
        div #results.stack data-live data-found=(texts().orders_found(rows.len(), next.is_some())) {
            nav.sub aria-label=(texts().status_label) {
                ul {
                    @for of in OrderStatus::ALL {
                        (tab(typed, (of.as_str(), texts().order_status(of)), status))
                    }
                    (tab(typed, ("all", texts().all), if status.is_empty() { "all" } else { status }))
                }
            }
            @if rows.is_empty() {
                div.card.empty {
                    @if typed.is_empty() {
                        strong { (texts().no_orders) }
                        p { (texts().no_orders_hint) }
                        a.button href="/animals?status=available" { (texts().animals_heading) }
                    } @else {
                        strong { (texts().no_order_found) }
                        @if desk.may_write() {
                            p { (texts().no_order_found_hint(wording::days(desk.app().keep_contacts))) }
                        }
                        @if is_cut { p { (texts().only_newest(order_search::SEARCHED)) } }
                    }
                }
            } @else {
                @if !typed.is_empty() {
                    p.muted {
                        (texts().orders_found(rows.len(), is_cut))
                        @if is_cut { " " (texts().only_newest(order_search::SEARCHED)) }
                    }
                } @else if is_cut { p.muted { (texts().only_first) } }
                @if !sums.is_empty() { p.muted { (texts().shown_here) " " (sums) } }
                (table(desk, &fields, &rows))
                (page_links(first.as_deref(), next.as_deref()))
            }
        }
    };
    Ok(Page::new(texts().orders, content)
        .following(Follows::Everything)
        .into())
}

/// The list of the orders in a status: of all, or of those that were found.
fn tab(typed: &str, (value, label): (&str, &str), present: &str) -> Markup {
    html! {
        li {
            a href=(link("/orders", &[("q", typed), ("status", value)])) aria-current=[(value == present).then_some("true")] {
                (label)
            }
        }
    }
}

/// The page of the order, with what is wrong about a change of it.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let ids = desk.id(OrderId::new).into_iter();
    let Some((order, pet)) = with_animals(desk, ids).await?.into_iter().next() else {
        return Ok(missing_page(texts().no_order));
    };
    let title = texts().title_of_order(order.id.get());
    let categories = desk
        .load_categories(pet.iter().map(|pet| pet.category_id).collect())
        .await?;
    let (fields, mut drawings) = (desk.store().fields().await?, Drawings::default());
    let content = html! {
        div.head {
            h1 { (title) }
            (markup::order_badge(&order, desk.visit.now))
            button type="button" data-print { (texts().print) }
        }
        div.columns {
            section.card {
                h2 { (texts().animal) }
                @if let Some(pet) = &pet {
                    @let animal = Animal::whole(pet, &fields);
                    (animal_card(desk, &animal, &markup::category(&categories, pet.category_id), (&mut drawings, 0)))
                    dl {
                        dt { (texts().number) }
                        dd { (pet.id.get()) }
                        // Such as its microchip.
                        @for (field, value) in animal.values.iter().filter(|(field, _)| field.is_unique) {
                            dt { (values::label_of(field)) }
                            dd { (values::value_markup(desk, field, value)) }
                        }
                    }
                    (drawings.symbols())
                }
            }
            section.card #order {
                h2 { (texts().order) }
                (details(desk, &order))
                (form(desk, &order, pet.as_ref(), errors))
            }
        }
        @for label in [texts().signature, texts().signature_of_store] {
            p.print { (label) (window_texts().colon) "______________________________" }
        }
    };
    let page = Page::new(title, live_content(errors, &content));
    let page = page.following(Follows::Pet(order.pet_id.get()));
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// The values of an order, beginning with the customer's contact data.
pub(super) fn details(desk: &Desk<'_>, order: &Order) -> Markup {
    let members = ORDER_INPUTS
        .iter()
        .map(|input| (input.label(), input.shown(desk, order)));
    let reason = order
        .reason
        .as_ref()
        .map(|reason| reason.as_str().to_owned());
    let is_sold = order.status == OrderStatus::Completed;
    let closed_at = if is_sold {
        texts().sold_at
    } else {
        texts().closed_at
    };
    let ends = order
        .expires_at
        .filter(|_| order.status == OrderStatus::Reserved);
    let times = [
        (texts().ends, ends),
        (texts().placed_at, Some(order.created_at)),
        (closed_at, order.closed_at),
    ];
    html! {
        dl {
            @for (label, text) in members.chain([(texts().reason_label, reason)]) {
                @if let Some(text) = text {
                    dt { (label) }
                    dd { (markup::text(&text, LONG)) @if label == texts().contact { (call(&text)) } }
                }
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

/// The name of the button that the Enter key presses.
const ENTER: &str = "enter";

/// The form of an order: each of its buttons also saves what was typed.
pub(super) fn form(
    desk: &Desk<'_>,
    order: &Order,
    pet: Option<&StorePet>,
    errors: &Errors,
) -> Markup {
    if !desk.may_write() {
        return html! {};
    }
    let (path, now) = (format!("/orders/{}", order.id), form_of(desk, order));
    // It was not saved.
    let is_sent = desk
        .visit
        .request
        .uri
        .path()
        .starts_with(&format!("{path}/"));
    let form = if is_sent {
        Merged::of(&desk.visit.form, &now).form
    } else {
        Form::default()
    };
    // Some buttons stand in a list or in a message, and send no inputs.
    let unsent = now
        .fields()
        .iter()
        .filter(|(name, _)| form.all(name).next().is_none());
    let form: Form = form.fields().iter().chain(unsent).cloned().collect();
    let press = |command: &str, class: &str, label: &str| {
        html! { button class=(class) formaction={ (path) "/" (command) } { (label) } }
    };
    let is_reserved = order.status == OrderStatus::Reserved;
    // Without the price of an order that cannot have another one.
    let inputs = ORDER_INPUTS
        .iter()
        .filter(|input| now.all(input.name).next().is_some());
    let (price, others): (Vec<_>, Vec<_>) =
        inputs.partition(|input| is_reserved && input.name == PRICE);
    let reason = Input::of("reason", texts().reason_label, &form, errors).optional();
    let is_free =
        pet.is_some_and(|pet| pet.status == PetStatus::Available && pet.withdrawn.is_none());
    let may_reopen = if order.status == OrderStatus::Completed {
        order.holds
    } else {
        is_free
    };
    html! {
        form.stack.no-print data-draft method="post" action={ (path) "/change" } {
            (desk.key("order"))
            (merge::shown(&now))
            // For the Enter key, which presses the first button.
            button.hidden name=(ENTER) value="yes" tabindex="-1" aria-hidden="true" { (texts().save) }
            @if is_reserved {
                div.row {
                    @for input in price { (input.show(desk, (&form, errors), (false, ""))) }
                    (press("complete", "main", texts().sell))
                    (press("cancel", "", texts().cancel_reservation))
                }
            } @else if may_reopen {
                div.buttons { (press("reopen", "", texts().reopen(order.status))) }
            }
            @if order.status == OrderStatus::Completed && order.holds {
                details open[errors.of("reason").is_some()] {
                    summary { (texts().take_back) }
                    div.fields {
                        p.hint { (texts().take_back_hint) }
                        (reason.show())
                        div { (press("return", "", texts().take_back)) }
                    }
                }
            }
            details open[is_sent] {
                summary { @if is_reserved { (texts().extend_or_change) } @else { (texts().change_order) } }
                div.fields {
                    @if is_reserved { (forms::day_input(form.get("until"), errors.of("until"))) }
                    @for input in others { (input.show(desk, (&form, errors), (false, ""))) }
                    div { button { (texts().save) } }
                }
            }
        }
    }
}

/// The typed values, as a change of the values that the form showed. A member that it does not have stays.
fn patch(desk: &Desk<'_>, form: &Form, now: &Form, errors: &mut Errors) -> OrderPatch {
    let differs = |name: &str| merge::differs(form, now, name);
    let values = order_inputs::read((form, desk.currency()), differs, errors);
    let end = differs("until").then(|| forms::end_of_day(form, desk.visit.now));
    OrderPatch {
        expires_at: end.and_then(|end| errors.take("until", end)),
        ..values
    }
}

/// Saves what was typed about the order in the path, carries out commands about it, and shows its animal.
/// Commands require that the order is still what the page showed.
async fn act_on_order(
    desk: &Desk<'_>,
    commands: impl FnOnce(OrderId, Patch<Decimal>, &mut Errors) -> Vec<Command>,
) -> Result<Reply, ApiError> {
    let Some(order) = with_ids(desk, desk.id(OrderId::new).into_iter())
        .await?
        .pop()
    else {
        return Ok(missing_page(texts().no_order));
    };
    let now = form_of(desk, &order);
    let merged = Merged::of(&desk.visit.form, &now);
    let mut errors = Errors::default();
    let mut patch = patch(desk, &merged.form, &now, &mut errors);
    let then = commands(order.id, patch.price.clone(), &mut errors);
    if !errors.is_empty() {
        return show(desk, &errors).await;
    }
    if matches!(then[..], [Command::CompleteOrder { .. }]) {
        // The sale changes it.
        patch.price = Patch::Keep;
    }
    let outdated = merged.errors(then.is_empty(), |name, value| {
        values::in_words(&[], desk.currency(), name, value)
    });
    let preconditions = merged.preconditions(!outdated.is_empty());
    let commands = [Command::PatchOrder {
        id: order.id,
        patch,
        preconditions,
    }];
    match desk
        .execute(commands.into_iter().chain(then).collect())
        .await?
    {
        Ok(flash) => {
            // A member goes on where the button was.
            let is_of_today = desk.visit.form.get(FROM) == TODAY;
            let animal = format!("/animals/{}", order.pet_id.get());
            Ok(Reply::See(
                if is_of_today { "/".to_owned() } else { animal },
                Some(flash),
            ))
        }
        Err(_) if !outdated.is_empty() => show(desk, &outdated).await,
        Err(not_done) => {
            let pet = desk.store().get_store_pet(order.pet_id).await?;
            let other = pet
                .and_then(|pet| pet.order_id)
                .filter(|other| *other != order.id);
            let other = other.map_or(String::new(), |other| {
                texts().animal_is_reserved(other.get())
            });
            show(desk, &Errors::text(&(not_done.why + &other))).await
        }
    }
}

// The change of the order checks first that it is the one that the page showed.
fn sale(id: OrderId, price: Patch<Decimal>) -> Command {
    Command::CompleteOrder {
        id,
        price,
        preconditions: Preconditions::default(),
    }
}

fn cancellation(id: OrderId) -> Command {
    Command::CancelOrder {
        id,
        reason: None,
        preconditions: Preconditions::default(),
    }
}

/// Sells the reserved animal for the price that was typed.
pub(super) async fn complete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, price, _| vec![sale(id, price)]).await
}

/// Ends the reservation.
pub(super) async fn cancel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, _, _| vec![cancellation(id)]).await
}

/// The customer returns the animal.
pub(super) async fn take_back(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, _, errors| {
        let typed = desk.visit.form.get("reason");
        let reason = errors
            .take("reason", forms::optional(typed, texts().reason_label))
            .flatten();
        vec![Command::ReturnOrder {
            id,
            reason,
            preconditions: Preconditions::default(),
        }]
    })
    .await
}

/// Reserves the animal again, as before a sale or a cancellation by mistake. To undo more than that, the
/// form says how the order closes then.
pub(super) async fn reopen(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let default_end = desk.default_end();
    act_on_order(desk, |id, _, _| {
        let preconditions = Preconditions::default();
        let reopened = Command::ReopenOrder {
            id,
            expires_at: None,
            default_end,
            preconditions,
        };
        let then = match desk.visit.form.get("then") {
            "cancel" => Some(cancellation(id)),
            "sell" => Some(sale(id, Patch::Keep)),
            _ => None,
        };
        [reopened].into_iter().chain(then).collect()
    })
    .await
}

/// Changes what people wrote about the order, and the end of a reservation.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    if !form.get(ENTER).is_empty() && !form.get("reason").is_empty() {
        // The Enter key in the reason of a return means the return.
        return take_back(desk).await;
    }
    act_on_order(desk, |_, _, _| Vec::new()).await
}
