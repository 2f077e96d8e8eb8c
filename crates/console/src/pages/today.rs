//! The page Today: the animals and orders that need attention, and notices about the service.

use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use petstore_domain::{
    PetStatus, Role,
    store_area::{FieldSet, Inventory},
};
use petstore_observe::metrics::BackupProblem;
use tokio::time;

use super::{
    first_steps,
    order_rows::{self, OrderRow},
    parts::{self, empty_store_card},
    today_sections::{
        MAX_ENTRIES_IN_SECTION, count_text, load_incomplete_section, load_sale_section,
    },
    webhooks,
};
use crate::{layout::Follows, prelude::*};

/// How long the page waits for the numbers of animals. If they take longer, it is rendered without
/// them.
const INVENTORY_TIMEOUT: Duration = Duration::from_millis(100);

/// The maximum number of reservations that are counted.
const MAX_COUNTED_RESERVATIONS: u32 = 1_000;

/// The maximum number of shared unique values that the page reports.
const MAX_SHARED_VALUES: usize = 5;

/// Handles `GET /`: renders the page Today.
pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    // `None` if the numbers take too long.
    let inventory = time::timeout(INVENTORY_TIMEOUT, desk.app().inventory.read())
        .await
        .ok()
        .transpose()?;
    let animal_count = inventory.as_ref().map(|inventory| {
        inventory.available + inventory.pending + inventory.sold + inventory.withdrawn
    });
    let is_empty_store = animal_count == Some(0);
    let sections = if is_empty_store {
        None
    } else {
        Some(load_sections(desk, inventory.as_ref()).await?)
    };
    let webhook_notice = load_webhook_notice(desk).await?;
    let shared_value_notices = load_shared_value_notices(desk).await?;
    let steps = first_steps::remaining_steps(desk, is_empty_store).await?;
    let content = html! {
        h1 { (texts().today) }
        (clock_notice(desk))
        // While the number of animals is unknown, the store counts as a small one, which needs no
        // backup.
        (backup_notice(desk, animal_count.unwrap_or_default()))
        (webhook_notice)
        (shared_value_notices)
        (search_form())
        @if let Some(steps) = &steps { (steps) }
        @if let Some(sections) = &sections {
            (sections)
        } @else if steps.is_none() {
            (empty_store_card(desk))
        }
    };
    Ok(Page::new(texts().today, content)
        .following(Follows::Everything)
        .into())
}

/// Renders the form that searches the list of animals.
fn search_form() -> Markup {
    html! {
        form.card method="get" action="/animals" role="search" {
            label for="q" { (texts().find_label) }
            div.row {
                div.field.search { input #q name="q" type="search" autocomplete="off" autofocus; }
                button.main { (texts().find) }
            }
        }
    }
}

/// Loads and renders the sections with reservations, sales, incomplete animals, and the numbers of
/// animals.
async fn load_sections(desk: &Desk<'_>, inventory: Option<&Inventory>) -> Result<Markup, ApiError> {
    let fields = desk.store().fields().await?;
    let reservation_section = load_reservation_section(desk, &fields).await?;
    let sale_section = load_sale_section(desk).await?;
    let incomplete_section = load_incomplete_section(desk, &fields).await?;
    Ok(html! {
        div #now.stack data-live {
            (reservation_section)
            (sale_section)
            (incomplete_section)
            section aria-label=(texts().numbers) { (inventory_counts(inventory)) }
        }
    })
}

/// Renders a notice if the service doubts the clock of its machine.
fn clock_notice(desk: &Desk<'_>) -> Markup {
    let Some(doubt) = desk.app().confirmed_clock.doubt() else {
        return html! {};
    };
    let now = wording::exact_time(doubt.now);
    let confirmed = wording::exact_time(doubt.confirmed);
    let whole_hours = doubt.remaining.as_hours();
    html! {
        div.flash.notice role="status" {
            // One hour more than the whole hours, so that the clock is trusted by then.
            (texts().doubted_clock(&now, &confirmed, whole_hours + 1))
        }
    }
}

/// Renders a notice for managers if the store has no backup, or only an old one.
///
/// A store with few animals needs no backup, so the notice depends on their number.
fn backup_notice(desk: &Desk<'_>, animal_count: u64) -> Markup {
    if desk.role() < Role::Manager {
        return html! {};
    }
    let notice = match desk.app().backups.problem(animal_count, desk.visit.now) {
        Some(BackupProblem::OldBackup(last_backup)) => {
            texts().old_backup(&wording::exact_time(last_backup))
        }
        Some(BackupProblem::NoBackup) => texts().no_backup.to_owned(),
        None => return html! {},
    };
    html! { div.flash.notice { (notice) } }
}

/// Loads the state of the webhooks, and renders a notice for managers if some fail.
async fn load_webhook_notice(desk: &Desk<'_>) -> Result<Markup, StoreError> {
    if desk.role() < Role::Manager {
        return Ok(html! {});
    }
    let webhooks = desk.store().list_webhooks().await?;
    let failing_count = webhooks
        .iter()
        .filter(|stored| webhooks::is_failing(stored))
        .count();
    Ok(html! {
        @if failing_count > 0 {
            div.flash.notice {
                (texts().failing_webhooks(failing_count)) " "
                a href="/settings/webhooks" { (texts().show_webhooks) }
            }
        }
    })
}

/// Loads the values of unique fields that several animals have, and renders a notice for each
/// value, with links to these animals.
async fn load_shared_value_notices(desk: &Desk<'_>) -> Result<Markup, StoreError> {
    if !desk.may_write() {
        return Ok(html! {});
    }
    let owners = desk.store().shared_values().await?;
    // The store limits the length of the list, which can cut off owners of the last value. If only
    // one owner is left, the value is skipped, because there is nothing to compare.
    let groups = owners
        .chunk_by(|owner, next_owner| owner.key == next_owner.key)
        .filter(|group| group.len() > 1)
        .take(MAX_SHARED_VALUES);
    Ok(html! {
        @for group in groups {
            div.flash.notice {
                @if let Some(owner) = group.first() {
                    (texts().shared_value(&wording::readable_name(&owner.key.field)))
                }
                @for id in group.iter().map(|owner| owner.pet) {
                    " " a href={ "/animals/" (id.get()) } { (texts().animal) " " (id.get()) }
                }
            }
        }
    })
}

/// Loads and renders the reservations that end by the day after tomorrow, sorted by their end.
/// There is a table for each label of [`end_label`].
async fn load_reservation_section(desk: &Desk<'_>, fields: &FieldSet) -> Result<Markup, ApiError> {
    let day_after_tomorrow = parts::today(desk).saturating_add(2.days());
    let zone = desk.visit.facts.zone_of_days();
    // The fallback is only for a day beyond the range of timestamps.
    let last_end = zone
        .end_of_day(day_after_tomorrow)
        .unwrap_or(desk.visit.now);
    let from_the_first = None;
    let due_orders = desk
        .store()
        .due_orders(from_the_first, last_end, MAX_COUNTED_RESERVATIONS)
        .await?;
    let shown_ids = due_orders
        .iter()
        .take(MAX_ENTRIES_IN_SECTION)
        .map(|(id, _)| *id);
    let mut rows = order_rows::load_rows(desk, shown_ids).await?;

    // The orders are sorted by their end, so orders with the same label are next to each other.
    let groups = due_orders
        .chunk_by(|(_, end), (_, next_end)| end_label(desk, *end) == end_label(desk, *next_end));
    Ok(html! {
        section.stack {
            div.head {
                h2 { (texts().ending) }
                a href="/orders" { (texts().all_reservations) }
            }
            @if due_orders.is_empty() { p.card.muted { (texts().none_ending) } }
            @for group in groups {
                @let label = group.first().map_or("", |(_, end)| end_label(desk, *end));
                @let rows_of_group = take_rows(desk, &mut rows, label);
                h3 { (label) " (" (count_text(rows_of_group.len(), group.len(), false)) ")" }
                @if !rows_of_group.is_empty() {
                    (order_rows::order_table(desk, fields, &rows_of_group))
                }
            }
        }
    })
}

/// Removes the rows whose reservation ends at a time with this label, and returns them.
fn take_rows(desk: &Desk<'_>, rows: &mut Vec<OrderRow>, label: &str) -> Vec<OrderRow> {
    rows.extract_if(.., |row| {
        let end = row.order.expires_at;
        end.is_some_and(|end| end_label(desk, end) == label)
    })
    .collect()
}

/// Returns the label for a reservation with this end: overdue, ending today, ending tomorrow, or
/// ending later.
fn end_label(desk: &Desk<'_>, end: Timestamp) -> &'static str {
    if end <= desk.visit.now {
        return texts().overdue;
    }
    let remaining_time = desk.visit.facts.day_of(end) - parts::today(desk);
    let remaining_days = remaining_time.get_days();
    match remaining_days {
        0 => texts().ending_today,
        1 => texts().ending_tomorrow,
        _ => texts().ending_later,
    }
}

/// Renders the number of animals in each status and of withdrawn animals, as links to their lists.
fn inventory_counts(inventory: Option<&Inventory>) -> Markup {
    let available = inventory.map(|inventory| inventory.available);
    let pending = inventory.map(|inventory| inventory.pending);
    let sold = inventory.map(|inventory| inventory.sold);
    let withdrawn = inventory.map(|inventory| inventory.withdrawn);
    html! {
        ul.counts {
            (status_count(PetStatus::Available, available))
            (status_count(PetStatus::Pending, pending))
            (status_count(PetStatus::Sold, sold))
            (count_link("withdrawn", texts().departures, withdrawn))
        }
    }
}

/// Renders the number of animals in a status. `number` is `None` if it is not known yet.
fn status_count(status: PetStatus, number: Option<u64>) -> Markup {
    count_link(status.as_str(), texts().status(status), number)
}

/// Renders a number of animals with a badge, as a link to the list of the counted animals.
///
/// `status` is the `status` parameter of the list, and `word` is the word for the status of a
/// single animal.
fn count_link(status: &str, word: &'static str, number: Option<u64>) -> Markup {
    // The badge is below the number. While the number is unknown, the badge has the plural.
    let badge_word = texts().status_below(number.unwrap_or(u64::MAX), word);
    html! {
        li {
            a href={ "/animals?status=" (status) } {
                @if let Some(number) = number { strong { (number) } }
                @else { strong.muted { (texts().counting) } }
                (markup::badge(status, &badge_word))
            }
        }
    }
}
