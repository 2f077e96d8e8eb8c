//! Animals and orders that need attention today.

use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use tokio::time;

use super::{order_rows, parts::empty_store, webhooks};
use crate::console::prelude::*;
use crate::{
    console::layout::Follows,
    domain::{
        PetStatus, Role,
        store_area::{Inventory, Order, OrderId},
    },
};

/// How long the page waits for the numbers of animals.
const COUNTED_WITHIN: Duration = Duration::from_millis(100);

/// How many reservations the page shows.
const SHOWN: u32 = 20;

/// How many values that several animals have it shows.
const VALUES: usize = 5;

pub(super) async fn today(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let inventory =
        time::timeout(COUNTED_WITHIN, desk.app().inventory.read()).await.ok().transpose()?;
    let until = desk.visit.now.checked_add(72.hours()).unwrap_or(desk.visit.now);
    let due = desk.store().due_orders(None, until, SHOWN).await?;
    let ending = order_rows::with_animals(desk, due.into_iter().map(|(id, _)| id)).await?;
    let done = desk.visit.query.integer("order").and_then(OrderId::new);
    let done = order_rows::with_animals(desk, done.into_iter()).await?;
    let failing = if desk.role() >= Role::Manager { failing(desk).await? } else { 0 };
    let shared = if desk.may_write() { desk.store().shared_values().await? } else { Vec::new() };
    let is_empty = inventory.as_ref().is_some_and(|inventory| {
        inventory.available + inventory.pending + inventory.sold + inventory.withdrawn == 0
    });
    let content = html! {
        h1 { (texts::TODAY) }
        // The message says the number of the order, and people know animals by their names.
        @for (order, pet) in &done {
            @if let Some(pet) = pet {
                p #order {
                    a href={ "/animals/" (pet.id.get()) } { (markup::name(pet.name.as_str(), SHORT)) }
                    " " (markup::order_badge(order, desk.visit.now))
                }
            }
        }
        @if let Some(doubt) = desk.app().confirmed_clock.doubt() {
            div.flash.notice role="status" {
                (texts::doubted_clock(doubt.now, doubt.confirmed, doubt.rest.as_hours() + 1))
            }
        }
        @if failing > 0 {
            div.flash.notice {
                (texts::failing_webhooks(failing)) " "
                a href="/settings/webhooks" { (texts::SHOW_WEBHOOKS) }
            }
        }
        // The last value may be incomplete.
        @for of in shared.chunk_by(|one, other| one.0 == other.0).filter(|of| of.len() > 1).take(VALUES) {
            div.flash.notice {
                @if let Some(((field, _), _)) = of.first() { (texts::shared_value(field)) }
                @for (_, id) in of {
                    " " a href={ "/animals/" (id.get()) } { (texts::ANIMAL) " " (id.get()) }
                }
            }
        }
        form.card method="get" action="/animals" role="search" {
            label for="q" { (texts::FIND_LABEL) }
            div.row {
                div.field.search { input #q name="q" type="search" autocomplete="off" autofocus; }
                button.main { (texts::FIND) }
            }
        }
        @if is_empty {
            (empty_store(desk))
        } @else {
            div #now.stack data-live {
                section aria-label=(texts::NUMBERS) { (counts(inventory.as_ref())) }
                section.stack {
                    div.head {
                        h2 { (texts::ENDING) }
                        a href="/orders" { (texts::ALL_RESERVATIONS) }
                    }
                    @if ending.is_empty() {
                        p.card.muted { (texts::NONE_ENDING) }
                    } @else {
                        @for group in ending.chunk_by(|(one, _), (other, _)| end(desk, one) == end(desk, other)) {
                            @if let Some((order, _)) = group.first() { h3 { (end(desk, order)) } }
                            (order_rows::table(desk, group))
                        }
                    }
                }
            }
        }
    };
    Ok(Page::new(texts::TODAY, content).following(Follows::Everything).into())
}

/// When a reservation ends, as far as it matters today. Days are those of UTC.
fn end(desk: &Desk<'_>, order: &Order) -> &'static str {
    let now = desk.visit.now;
    let day = |moment: Timestamp| moment.as_second().div_euclid(86_400);
    match order.expires_at {
        Some(end) if end <= now => texts::OVERDUE_NOW,
        Some(end) => match day(end) - day(now) {
            0 => texts::ENDING_TODAY,
            1 => texts::ENDING_TOMORROW,
            _ => texts::ENDING_LATER,
        },
        None => texts::ENDING_LATER,
    }
}

fn counts(inventory: Option<&Inventory>) -> Markup {
    let of = |status: PetStatus| {
        inventory.map(|inventory| match status {
            PetStatus::Available => inventory.available,
            PetStatus::Pending => inventory.pending,
            PetStatus::Sold => inventory.sold,
        })
    };
    let entry = |path: &str, badge: &Markup, count: Option<u64>| {
        html! {
            li {
                a href=(path) {
                    @match count {
                        Some(count) => strong { (count) },
                        None => strong.muted { (texts::COUNTING) },
                    }
                    (badge)
                }
            }
        }
    };
    html! {
        ul.counts {
            @for status in PetStatus::ALL {
                (entry(
                    &format!("/animals?status={status}"),
                    &markup::status_badge(status),
                    of(status),
                ))
            }
            (entry(
                "/animals?status=withdrawn",
                &markup::badge("withdrawn", texts::WITHDRAWN),
                inventory.map(|inventory| inventory.withdrawn),
            ))
        }
    }
}

/// How many webhooks do not get their messages.
async fn failing(desk: &Desk<'_>) -> Result<usize, StoreError> {
    let webhooks = desk.store().list_webhooks().await?;
    let fails = webhooks.iter().filter(|stored| webhooks::is_failing(stored));
    Ok(fails.count())
}
