//! Animals and orders that need attention today.

use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use tokio::time;

use super::{category_names, order_rows, parts::empty_store, webhooks};
use crate::console::prelude::*;
use crate::{
    console::layout::Follows,
    domain::{
        PetStatus, Role,
        store_area::{FieldSet, Inventory, Order, OrderId, StorePet},
    },
};

/// How long the page waits for the numbers of animals.
const COUNTED_WITHIN: Duration = Duration::from_millis(100);

/// How many reservations the page counts, how many of them it shows, and how many animals.
const COUNTED: u32 = 1_000;
const SHOWN: usize = 20;

/// For so many hours, an animal has just arrived.
const NEW: i64 = 7 * 24;

/// How many values that several animals have it shows.
const VALUES: usize = 5;

pub(super) async fn today(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let inventory =
        time::timeout(COUNTED_WITHIN, desk.app().inventory.read()).await.ok().transpose()?;
    let until = desk.visit.now.checked_add(72.hours()).unwrap_or(desk.visit.now);
    let due = desk.store().due_orders(None, until, COUNTED).await?;
    let ids = due.iter().take(SHOWN).map(|(id, _)| *id);
    let ending = order_rows::with_animals(desk, ids).await?;
    let fields = desk.store().fields().await?;
    let incomplete = incomplete(desk, &fields).await?;
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
                section.stack {
                    div.head {
                        h2 { (texts::ENDING) }
                        a href="/orders" { (texts::ALL_RESERVATIONS) }
                    }
                    @if ending.is_empty() {
                        p.card.muted { (texts::NONE_ENDING) }
                    } @else {
                        @let of = |order: &Order| end(desk, order.expires_at);
                        @for group in ending.chunk_by(|(one, _), (other, _)| of(one) == of(other)) {
                            @if let Some((order, _)) = group.first() {
                                @let count = due.iter().filter(|(_, at)| end(desk, Some(*at)) == of(order)).count();
                                h3 { (of(order)) " (" (count) ")" }
                            }
                            (order_rows::table(desk, &fields, group))
                        }
                    }
                }
                @if !incomplete.is_empty() {
                    section.stack {
                        div.head {
                            h2 { (texts::INCOMPLETE) " (" (incomplete.len()) ")" }
                            a href="/animals" { (texts::NEWEST_ANIMALS) }
                        }
                        ul.chips {
                            @for (pet, lacks) in incomplete.iter().take(SHOWN) {
                                li {
                                    a href={ "/animals/" (pet.id.get()) } {
                                        (markup::name(pet.name.as_str(), SHORT)) span.muted { (lacks) }
                                    }
                                }
                            }
                        }
                    }
                }
                section aria-label=(texts::NUMBERS) { (counts(inventory.as_ref())) }
            }
        }
    };
    Ok(Page::new(texts::TODAY, content).following(Follows::Everything).into())
}

/// The newest animals that arrived in the last week without a photo or a microchip, and what each lacks.
async fn incomplete(
    desk: &Desk<'_>,
    fields: &FieldSet,
) -> Result<Vec<(StorePet, String)>, StoreError> {
    let since = desk.visit.now.checked_sub(NEW.hours()).unwrap_or(desk.visit.now);
    let newest = desk.store().list_on_offer(None, category_names::most(), false).await?.0;
    let (chip, has_photos) = (fields.find("microchip"), desk.app().photos.place().is_some());
    let lacks = |pet: &StorePet| {
        let has_chip = chip.is_none_or(|field| pet.fields.get(field.name.as_str()).is_some());
        let has_none = has_photos && pet.photos.all().is_empty();
        let lacks = [(has_none, texts::NO_PHOTO), (!has_chip, texts::NO_CHIP)];
        lacks.into_iter().filter(|(is_it, _)| *is_it).map(|(_, what)| what).collect::<Vec<_>>()
    };
    let new = newest.into_iter().filter(|pet| pet.created_at.is_some_and(|at| at >= since));
    let found = new.map(|pet| (lacks(&pet).join(", "), pet)).filter(|(lacks, _)| !lacks.is_empty());
    Ok(found.map(|(lacks, pet)| (pet, lacks)).collect())
}

/// When a reservation ends, as far as it matters today. Days are those of UTC.
fn end(desk: &Desk<'_>, at: Option<Timestamp>) -> &'static str {
    let now = desk.visit.now;
    let day = |moment: Timestamp| moment.as_second().div_euclid(86_400);
    match at {
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
