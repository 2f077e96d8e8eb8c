//! Animals and orders that need attention today.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use jiff::{Timestamp, ToSpan};
use petstore_domain::{
    PetStatus, Role,
    store_area::{
        AuditEntry, AuditQuery, AuditType, ChangeType, FieldSet, Inventory, OrderId, OrderStatus,
        StorePet,
    },
};
use petstore_languages::look::Animal;
use tokio::time;

use super::{category_names, first_steps, order_rows, parts::empty_store_card, webhooks};
use crate::{layout::Follows, prelude::*};

/// How long the page waits for the numbers of animals.
const COUNTED_WITHIN: Duration = Duration::from_millis(100);

/// How many reservations and sales the page counts, and how many of them and of animals it shows.
const COUNTED: u32 = 1_000;
const MOST_SOLD: u32 = 500;
const SHOWN: usize = 20;

/// In seconds.
const DAY: i64 = 86_400;

/// For so many hours, an animal has just arrived.
const NEW: i64 = 7 * 24;

/// How many values that several animals have it shows.
const VALUES: usize = 5;

pub(super) async fn today(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let inventory = time::timeout(COUNTED_WITHIN, desk.app().inventory.read())
        .await
        .ok()
        .transpose()?;
    // The end of the day after tomorrow.
    let until = (desk.visit.now.as_second().div_euclid(DAY) + 3) * DAY - 1;
    let until = Timestamp::from_second(until).unwrap_or(desk.visit.now);
    let due = desk.store().due_orders(None, until, COUNTED).await?;
    let ids = due.iter().take(SHOWN).map(|(id, _)| *id);
    let ending = order_rows::with_animals(desk, ids).await?;
    let fields = desk.store().fields().await?;
    let (incomplete, has_more) = incomplete(desk, &fields).await?;
    let (sold, is_cut) = sold_today(desk).await?;
    let sums = order_rows::sums(desk, &sold);
    let is_manager = desk.role() >= Role::Manager;
    let failing = if is_manager {
        desk.store().list_webhooks().await?
    } else {
        Vec::new()
    };
    let failing = failing
        .iter()
        .filter(|stored| webhooks::is_failing(stored))
        .count();
    let shared = if desk.may_write() {
        desk.store().shared_values().await?
    } else {
        Vec::new()
    };
    let animals = inventory.as_ref().map(|inventory| {
        inventory.available + inventory.pending + inventory.sold + inventory.withdrawn
    });
    let is_empty = animals == Some(0);
    let steps = first_steps::remaining_steps(desk, is_empty).await?;
    let content = html! {
        h1 { (texts().today) }
        @if let Some(doubt) = desk.app().confirmed_clock.doubt() {
            div.flash.notice role="status" {
                (texts().doubted_clock(&wording::exact(doubt.now), &wording::exact(doubt.confirmed), doubt.rest.as_hours() + 1))
            }
        }
        (backup_notice(desk, animals.unwrap_or_default()))
        @if failing > 0 {
            div.flash.notice {
                (texts().failing_webhooks(failing)) " "
                a href="/settings/webhooks" { (texts().show_webhooks) }
            }
        }
        // The last value may be incomplete.
        @for of in shared.chunk_by(|one, other| one.0 == other.0).filter(|of| of.len() > 1).take(VALUES) {
            div.flash.notice {
                @if let Some(((field, _), _)) = of.first() { (texts().shared_value(&wording::readable_name(field))) }
                @for (_, id) in of {
                    " " a href={ "/animals/" (id.get()) } { (texts().animal) " " (id.get()) }
                }
            }
        }
        form.card method="get" action="/animals" role="search" {
            label for="q" { (texts().find_label) }
            div.row {
                div.field.search { input #q name="q" type="search" autocomplete="off" autofocus; }
                button.main { (texts().find) }
            }
        }
        @if let Some(steps) = &steps { (steps) }
        @if is_empty {
            @if steps.is_none() { (empty_store_card(desk)) }
        } @else {
            div #now.stack data-live {
                section.stack {
                    div.head {
                        h2 { (texts().ending) }
                        a href="/orders" { (texts().all_reservations) }
                    }
                    @if due.is_empty() {
                        p.card.muted { (texts().none_ending) }
                    }
                    @for group in due.chunk_by(|one, other| end(desk, one.1) == end(desk, other.1)) {
                        @let name = group.first().map_or("", |first| end(desk, first.1));
                        @let is_in = |(of, _): &&order_rows::Row| of.expires_at.is_some_and(|at| end(desk, at) == name);
                        @let shown: Vec<_> = ending.iter().filter(is_in).cloned().collect();
                        h3 { (name) " (" (shown_of(shown.len(), group.len(), "")) ")" }
                        @if !shown.is_empty() { (order_rows::table(desk, &fields, &shown)) }
                    }
                }
                (part(
                    (texts().sold_today, sold.len(), is_cut),
                    ("/orders?status=completed", texts().all_sales),
                    &html! { @if !sums.is_empty() { p { (sums) } } },
                    sold.iter().map(|(order, pet)| {
                        let price = order.price.as_ref().map(|price| amount(price.as_str(), desk.currency()));
                        (format!("/orders/{}", order.id), pet.as_ref(), price.unwrap_or_default())
                    }),
                ))
                (part(
                    (texts().incomplete, incomplete.len(), has_more),
                    ("/animals", texts().newest_animals),
                    &html! {},
                    incomplete.iter().map(|(pet, lacks)| (format!("/animals/{}", pet.id), Some(pet), lacks.clone())),
                ))
                section aria-label=(texts().numbers) { (counts(inventory.as_ref())) }
            }
        }
    };
    Ok(Page::new(texts().today, content)
        .following(Follows::Everything)
        .into())
}

/// A part of the page: its title with the number, the link to its list, and its first animals.
fn part<'p>(
    (title, count, has_more): (&str, usize, bool),
    (path, label): (&str, &str),
    more: &Markup,
    animals: impl Iterator<Item = (String, Option<&'p StorePet>, String)>,
) -> Markup {
    html! {
        @if count > 0 {
            section.stack {
                div.head {
                    h2 { (title) " (" (shown_of(count.min(SHOWN), count, if has_more { "+" } else { "" })) ")" }
                    a href=(path) { (label) }
                }
                (more)
                ul.chips {
                    @for (path, pet, about) in animals.take(SHOWN) {
                        li {
                            a href=(path) {
                                (markup::name(pet.map_or("", |pet| pet.name.as_str()), SHORT))
                                span.muted { (about) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How many there are, and how many of them the page shows.
fn shown_of(shown: usize, count: usize, more: &str) -> String {
    let count = format!("{count}{more}");
    if count == shown.to_string() {
        count
    } else {
        texts().shown_of(shown, &count)
    }
}

/// What was sold today and is still sold, the newest first, and whether there is more. The log says which
/// orders were completed today, also those that were placed long ago.
async fn sold_today(desk: &Desk<'_>) -> Result<(Vec<order_rows::Row>, bool), StoreError> {
    let now = desk.visit.now;
    let since = Timestamp::from_second(now.as_second().div_euclid(DAY) * DAY).unwrap_or(now);
    let kind = AuditType::parse(ChangeType::OrderCompleted.as_str());
    let query = AuditQuery {
        kind,
        since: Some(since),
        newest_first: true,
        limit: MOST_SOLD,
        ..AuditQuery::default()
    };
    let (entries, next) = desk.store().list_audit(&query).await?;
    let id = |entry: AuditEntry| match entry {
        AuditEntry::Change(change) => change.subject.id.and_then(OrderId::new),
        AuditEntry::Act { .. } => None,
    };
    let ids: BTreeSet<OrderId> = entries.into_iter().filter_map(id).collect();
    let mut orders = order_rows::with_ids(desk, ids.into_iter().rev()).await?;
    orders.retain(|order| {
        order.status == OrderStatus::Completed && order.closed_at.is_some_and(|at| at >= since)
    });
    orders.sort_by_key(|order| Reverse(order.closed_at));
    let others = orders.split_off(orders.len().min(SHOWN));
    let shown = order_rows::animals_of(desk, orders).await?;
    let all = shown
        .into_iter()
        .chain(others.into_iter().map(|order| (order, None)));
    Ok((all.collect(), next.is_some()))
}

/// Those of the newest animals that arrived in the last week without a photo or a microchip, with what each lacks; and
/// whether there can be more.
async fn incomplete(
    desk: &Desk<'_>,
    fields: &FieldSet,
) -> Result<(Vec<(StorePet, String)>, bool), StoreError> {
    let since = desk
        .visit
        .now
        .checked_sub(NEW.hours())
        .unwrap_or(desk.visit.now);
    let (mut newest, next) = desk
        .store()
        .list_on_offer(None, category_names::largest_page_limit(), false)
        .await?;
    let (chip, has_photos) = (
        fields.find("microchip"),
        desk.app().photos.place().is_some(),
    );
    let lacks = |pet: &StorePet| {
        let has_chip = chip.is_none_or(|field| pet.fields.get(field.name.as_str()).is_some());
        let has_none = has_photos && pet.photos.all().is_empty();
        let lacks = [
            (has_none, texts().no_photo),
            (
                !has_chip && Animal::whole(pet, fields).is_chipped(),
                texts().no_chip,
            ),
        ];
        lacks
            .into_iter()
            .filter(|(is_it, _)| *is_it)
            .map(|(_, what)| what)
            .collect::<Vec<_>>()
    };
    let read = newest.len();
    newest.retain(|pet| pet.created_at.is_some_and(|at| at >= since));
    let has_more = next.is_some() && newest.len() == read;
    let found = newest.into_iter().map(|pet| (lacks(&pet).join(", "), pet));
    let found = found.filter(|(lacks, _)| !lacks.is_empty());
    Ok((found.map(|(lacks, pet)| (pet, lacks)).collect(), has_more))
}

/// When a reservation ends, as far as it matters today. Days are those of UTC.
fn end(desk: &Desk<'_>, at: Timestamp) -> &'static str {
    let day = |moment: Timestamp| moment.as_second().div_euclid(DAY);
    match day(at) - day(desk.visit.now) {
        _ if at <= desk.visit.now => texts().overdue,
        0 => texts().ending_today,
        1 => texts().ending_tomorrow,
        _ => texts().ending_later,
    }
}

fn counts(inventory: Option<&Inventory>) -> Markup {
    let entry = |of: &str, badge: &Markup, count: fn(&Inventory) -> u64| {
        html! {
            li {
                a href={ "/animals?status=" (of) } {
                    @if let Some(inventory) = inventory { strong { (count(inventory)) } }
                    @else { strong.muted { (texts().counting) } }
                    (badge)
                }
            }
        }
    };
    let with = |of: PetStatus, count| entry(of.as_str(), &markup::status_badge(of), count);
    html! {
        ul.counts {
            (with(PetStatus::Available, |of| of.available))
            (with(PetStatus::Pending, |of| of.pending))
            (with(PetStatus::Sold, |of| of.sold))
            (entry("withdrawn", &markup::badge("withdrawn", texts().departures), |of| of.withdrawn))
        }
    }
}

/// What a manager of a store with so many animals should know of its backups.
fn backup_notice(desk: &Desk<'_>, animals: u64) -> Markup {
    let lacks = desk.app().backups.lacks(animals, desk.visit.now);
    let text = lacks
        .filter(|_| desk.role() >= Role::Manager)
        .map(|last| match last {
            Some(at) => texts().old_backup(&wording::exact(at)),
            None => texts().no_backup.to_owned(),
        });
    html! { @if let Some(text) = text { div.flash.notice { (text) } } }
}
