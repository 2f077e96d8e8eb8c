//! One animal: reserving, selling, withdrawing and restoring it.

use petstore_domain::{
    Limit, PetId, PetStatus,
    store_area::{
        Command, FieldSet, NewOrder, Order, OrderId, OrderQuery, OrderTerms, PetPatch,
        Preconditions, StorePet, asking_price,
    },
};

use super::{
    animal_fields::facts,
    animal_top, history, order_rows, orders,
    parts::{live_content, missing_page},
    values,
};
use crate::{
    ask::Question,
    layout::Follows,
    merge::{self, MergedForm},
    order_inputs::{self, ORDER_INPUTS, OrderForm, OrderInput},
    prelude::*,
};

/// How many of the newest orders of an animal are looked through for the one by which it was sold.
const NEWEST_ORDERS: i64 = 20;

/// The page of the animal, with what is wrong about a change of it.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_categories([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let order = holding_order(desk, &pet).await?;
    let before = match pet.status {
        PetStatus::Available if desk.may_write() => newest_orders(desk, &pet, 1).await?.pop(),
        _ => None,
    };
    let history = history::show(desk, &pet).await?;
    let content = html! {
        div.animal {
            (animal_top::portrait(desk, &pet, (&categories, &fields)))
            div.stack {
                (animal_top::title(desk, &pet, &fields))
                (animal_top::card(desk, &pet, &fields))
                div #work.stack {
                    @if desk.may_write() || order.is_some() || pet.withdrawn.is_some() {
                        (work(desk, (&pet, &fields), order.as_ref(), errors))
                    }
                }
                (animal_top::tools(desk, &pet))
            }
        }
        div.columns.wide {
            div.stack {
                section.card.no-print { h2 { (texts().history) } (history) }
            }
            div.stack {
                div.card.no-print #facts { (facts(desk, &pet, (&categories, &fields))) }
                @if desk.may_write() && pet.withdrawn.is_none() {
                    (withdrawal(desk, &pet, errors))
                }
                @if let Some(before) = &before {
                    p.hint.no-print {
                        (texts().order_before) (window_texts().colon)
                        a href={ "/orders/" (before.id) } { (texts().this_order(before.id.get())) }
                        " " (markup::order_badge(before, desk.visit.now))
                    }
                }
            }
        }
    };
    let page = Page::new(
        markup::plain_name(pet.name.as_str()),
        live_content(errors, &content),
    );
    let page = page.following(Follows::Pet(pet.id.get()));
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// The order by which the animal is reserved or sold.
pub(super) async fn holding_order(
    desk: &Desk<'_>,
    pet: &StorePet,
) -> Result<Option<Order>, StoreError> {
    if let Some(id) = pet.order_id {
        return desk.store().get_order(id).await;
    }
    if pet.status != PetStatus::Sold {
        return Ok(None);
    }
    let orders = newest_orders(desk, pet, NEWEST_ORDERS).await?;
    Ok(orders.into_iter().find(|order| order.holds))
}

async fn newest_orders(
    desk: &Desk<'_>,
    pet: &StorePet,
    most: i64,
) -> Result<Vec<Order>, StoreError> {
    let (pet_id, limit) = (Some(pet.id), Limit::new(most).unwrap_or_default());
    let query = OrderQuery {
        pet_id,
        limit,
        newest_first: true,
        ..OrderQuery::default()
    };
    Ok(desk.store().list_orders(&query).await?.0)
}

/// The actions for the animal in its present state.
fn work(
    desk: &Desk<'_>,
    (pet, fields): (&StorePet, &FieldSet),
    order: Option<&Order>,
    errors: &Errors,
) -> Markup {
    if let Some(withdrawal) = &pet.withdrawn {
        return html! {
            section.card {
                h2 { (texts().withdrawn) }
                p { (texts().reason(withdrawal.reason)) ", " (markup::time(withdrawal.at, desk.visit.now)) }
                @if let Some(note) = &withdrawal.note { p { (markup::text(note.as_str(), LONG)) } }
                @if desk.may_write() {
                    p.hint { (texts().restore_hint) }
                    form method="post" action={ "/animals/" (pet.id.get()) "/restore" } {
                        (desk.key("restore"))
                        input type="hidden" name="version" value=(pet.version);
                        button { (texts().restore) }
                    }
                }
            }
        };
    }
    match (pet.status, order) {
        (_, Some(order)) => html! {
            section.card {
                h2 {
                    (texts().status(pet.status))
                    span.no-print { ", " a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) } }
                }
                // The card for a kennel hangs where everybody sees it.
                div.no-print { (orders::details(desk, order)) }
                (orders::form(desk, order, Some(pet), errors))
            }
        },
        (PetStatus::Available, None) => new_order(desk, (pet, fields), errors),
        (PetStatus::Pending, None) => html! {
            p { (texts().pending_without_order) }
            (new_order(desk, (pet, fields), errors))
        },
        (PetStatus::Sold, None) => {
            html! { section.card.no-print { p { (texts().sold_without_order) } } }
        }
    }
}

/// The animal's values in the form for an order.
fn offer(pet: &StorePet, fields: &FieldSet) -> Form {
    let price = asking_price(pet, fields);
    let price = price
        .map(|price| numbers().plain(price.as_str()))
        .unwrap_or_default();
    Form::from_pairs(&[("version", &pet.version.to_string()), ("price", &price)])
}

/// What reserves the animal and what sells it: two buttons, each of which opens its form.
fn new_order(desk: &Desk<'_>, (pet, fields): (&StorePet, &FieldSet), errors: &Errors) -> Markup {
    let offer = offer(pet, fields);
    let is_sent = desk.visit.form.all("price").next().is_some();
    let sent = MergedForm::new(&desk.visit.form, &offer).form;
    let form = if is_sent { &sent } else { &offer };
    let is_sale = desk.visit.form.get("do") == "sell";
    let panel = |act: &str, label: &str, submit: &str| {
        let is_used = (act == "sell") == is_sale;
        // The messages lead to the inputs of the form that was sent.
        let id_prefix = if is_used { "" } else { "other-" };
        let no_errors = Errors::default();
        let errors = if is_used { errors } else { &no_errors };
        html! {
            details name="order" open[is_sent && is_used] {
                summary.button.main[act == "reserve"] { (label) }
                form.card.fields data-draft id=(act) method="post" action={ "/animals/" (pet.id.get()) "/order" } {
                    (inputs(desk, (&offer, form), errors, (act, id_prefix)))
                    div { button.main name="do" value=(act) { (submit) } }
                }
            }
        }
    };
    html! {
        div.acts {
            (panel("reserve", texts().reserve_more, texts().reserve))
            (panel("sell", texts().sell_more, texts().sell_now))
        }
    }
}

/// The inputs of the form that reserves or sells an animal.
fn inputs(
    desk: &Desk<'_>,
    (offer, form): (&Form, &Form),
    errors: &Errors,
    (act, id_prefix): (&str, &str),
) -> Markup {
    let until = match form.get("until") {
        "" => desk.default_end().strftime("%F").to_string(),
        typed => typed.to_owned(),
    };
    let (details, others): (Vec<_>, Vec<_>) = ORDER_INPUTS.iter().partition(|of| of.is_detail);
    let labels: Vec<&str> = details.iter().map(|input| input.label()).collect();
    let is_used = details.iter().any(|input| !form.raw(input.name).is_empty());
    let show = |input: &OrderInput| input.show(desk, form, errors, OrderForm::New { id_prefix });
    html! {
        (desk.key("order"))
        (merge::hidden_fields(offer))
        @for input in others { (show(input)) }
        @if act == "reserve" { (forms::day_input(&until, errors.message_for("until"))) }
        details open[is_used] {
            summary { (texts().labels(&labels)) " " (texts().optional) }
            div.fields { @for input in details { (show(input)) } }
        }
    }
}

fn withdrawal(desk: &Desk<'_>, pet: &StorePet, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let why = Input::from_form("why", texts().reason_label, form, errors);
    let note = Input::from_form("remark", texts().note, form, errors)
        .as_textarea()
        .as_optional();
    html! {
        details.card open[!form.raw("why").is_empty() || !form.raw("remark").is_empty() || errors.message_for("why").is_some()] {
            summary { (texts().withdraw_more) }
            form.fields method="post" action={ "/animals/" (pet.id.get()) "/withdraw" } {
                p.hint { (texts().withdraw_hint) }
                (desk.key("withdraw"))
                input type="hidden" name="version" value=(pet.version);
                (why.choose(&forms::withdrawal_reason_options()))
                (note.show())
                div { button.danger { (texts().withdraw) } }
            }
        }
    }
}

/// Carries out commands about the animal in the path, and returns to its page.
async fn act_on_animal(
    desk: &Desk<'_>,
    commands: impl FnOnce(PetId) -> Vec<Command>,
) -> Result<Reply, ApiError> {
    let Some(id) = desk.id(PetId::new) else {
        return Ok(missing_page(texts().no_pet));
    };
    match desk.execute(commands(id)).await? {
        Ok(flash) => Ok(Reply::See(format!("/animals/{}", id.get()), Some(flash))),
        Err(not_done) => show(desk, &not_done.errors(&FieldSet::default())).await,
    }
}

/// Reserves or sells the animal.
pub(super) async fn place_order(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let terms = if form.get("do") == "sell" {
        Some(OrderTerms::Completed)
    } else {
        errors
            .take("until", forms::parse_end_of_day(form, desk.visit.now))
            .map(OrderTerms::ReservedUntil)
    };
    let values = order_inputs::parse_patch(
        form,
        desk.currency(),
        |name| form.all(name).next().is_some(),
        &mut errors,
    );
    let Some(terms) = terms.filter(|_| errors.is_empty()) else {
        return show(desk, &errors).await;
    };
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let merged = MergedForm::new(form, &offer(&pet, &desk.store().fields().await?));
    let outdated = merged.errors(false, |name, value| {
        values::in_words(&[], desk.currency(), name, value)
    });
    let has_no_order =
        pet.status == PetStatus::Pending && pet.order_id.is_none() && pet.withdrawn.is_none();
    // It was marked as reserved. An order is for an animal that is available.
    let is_freed = has_no_order && terms != OrderTerms::Completed;
    let patch = PetPatch {
        status: is_freed.then_some(PetStatus::Available),
        ..PetPatch::default()
    };
    let preconditions = merged.preconditions(!outdated.is_empty());
    let order = NewOrder::of(pet.id, terms).with(values);
    let commands = vec![
        Command::PatchPet {
            id: pet.id,
            patch,
            preconditions,
        },
        Command::PlaceOrder(order),
    ];
    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::See(
            format!("/animals/{}", pet.id.get()),
            Some(flash),
        )),
        Err(_) if !outdated.is_empty() => show(desk, &outdated).await,
        Err(not_done) => show(desk, &Errors::from_markup(lost(desk, &not_done.why).await?)).await,
    }
}

/// Why the animal could not be reserved or sold: who was faster, as far as the log knows; and what was
/// typed, for which the page of an animal that is not available has no form.
async fn lost(desk: &Desk<'_>, why: &str) -> Result<Markup, ApiError> {
    let (form, currency) = (&desk.visit.form, desk.currency());
    let held = match desk.pet().await? {
        Some(pet) => holding_order(desk, &pet).await?,
        None => None,
    };
    let who = match &held {
        Some(order) => history::placed_by(desk, order).await?,
        None => None,
    };
    let typed = ORDER_INPUTS
        .iter()
        .map(|input| (input.name, form.get(input.name)));
    let typed = typed.filter(|(_, value)| !value.is_empty());
    let typed: Vec<_> = typed
        .filter_map(|(name, value)| values::in_words(&[], currency, name, value))
        .collect();
    Ok(html! {
        p {
            (why)
            @if let Some(order) = &held {
                " " (wording::placed_by(who.as_ref())) " " (markup::time(order.created_at, desk.visit.now)) "."
                @if let Some(contact) = order_rows::contact(desk, order) {
                    " " (texts().contact) (window_texts().colon) (markup::text(contact, LONG)) "."
                }
            }
        }
        @if held.is_some() && !typed.is_empty() {
            p { (texts().typed_here) }
            dl { @for (label, value) in typed { dt { (label) } dd { (markup::text(&value, LONG)) } } }
        }
    })
}

/// Takes the animal out of the catalogue.
pub(super) async fn withdraw(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let reason = errors.take("why", forms::parse_withdrawal_reason(form.get("why")));
    let note = errors.take(
        "remark",
        forms::parse_optional_text(form.get("remark"), texts().note),
    );
    let (Some(reason), Some(note)) = (reason, note) else {
        return show(desk, &errors).await;
    };
    let pet = desk.pet().await?;
    let Some((order, name)) = pet.and_then(|pet| Some((pet.order_id?, pet.name))) else {
        let preconditions = desk.preconditions();
        let withdraw = |id| {
            vec![Command::WithdrawPet {
                id,
                reason,
                note,
                preconditions,
            }]
        };
        return act_on_animal(desk, withdraw).await;
    };
    let question = Question {
        title: texts().really(texts().withdraw, &markup::plain_name(name.as_str())),
        effects: vec![texts().cancels(order.get())],
        yes: texts().withdraw,
        back: &format!("/animals/{}", desk.visit.parameter),
    };
    let held = desk.store().get_order(order).await?;
    let details = html! { @if let Some(order) = held { (orders::details(desk, &order)) } };
    if let Some(asked) = question.ask(desk, &details) {
        return Ok(asked);
    }
    // The end of the reservation is a change of the animal.
    let seen = form.integer("version").unwrap_or(0);
    let preconditions = Preconditions::version(seen.saturating_add(1));
    act_on_animal(desk, |id| {
        let withdraw = Command::WithdrawPet {
            id,
            reason,
            note,
            preconditions,
        };
        let any = Preconditions::default();
        vec![
            Command::CancelOrder {
                id: order,
                reason: None,
                preconditions: any,
            },
            withdraw,
        ]
    })
    .await
}

/// Takes the animal back into the catalogue.
pub(super) async fn restore(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let preconditions = desk.preconditions();
    // To undo a withdrawal, with the reservation that ended by it.
    let order = desk.visit.form.integer("order").and_then(OrderId::new);
    let default_end = desk.default_end();
    let reopened = order.map(|id| {
        let preconditions = Preconditions::default();
        Command::ReopenOrder {
            id,
            expires_at: None,
            default_end,
            preconditions,
        }
    });
    act_on_animal(desk, |id| {
        [Command::RestorePet { id, preconditions }]
            .into_iter()
            .chain(reopened)
            .collect()
    })
    .await
}
