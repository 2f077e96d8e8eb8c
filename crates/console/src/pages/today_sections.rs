//! The sections of the page Today that list orders and animals.

use std::{cmp::Reverse, collections::BTreeSet};

use jiff::ToSpan;
use petstore_domain::store_area::{
    AuditEntry, AuditQuery, AuditType, ChangeType, FieldSet, Order, OrderId, OrderStatus, StorePet,
};
use petstore_languages::look::Animal;

use super::{
    category_names,
    order_rows::{self, OrderRow},
    parts, values,
};
use crate::prelude::*;

/// The maximum number of sales that are counted.
const MAX_COUNTED_SALES: u32 = 500;

/// The maximum number of animals or orders that a section lists.
pub(super) const MAX_ENTRIES_IN_SECTION: usize = 20;

/// How long after its arrival an animal counts as new, in hours.
const ARRIVAL_HOURS: i64 = 7 * 24;

/// A section with links to orders or animals.
struct Section<'a> {
    title: &'a str,
    /// The number of all entries, including entries that the section does not list.
    count: usize,
    /// Whether there are more entries than were counted.
    has_more: bool,
    list_path: &'a str,
    list_label: &'a str,
    /// Content above the entries.
    introduction: Markup,
    entries: Vec<SectionEntry>,
}

/// An animal, or the order of an animal.
struct SectionEntry {
    path: String,
    /// The name of the animal; empty if the animal no longer exists.
    name: String,
    detail: String,
}

/// The sales of one day.
struct Sales {
    orders: Vec<Order>,
    /// Whether there are more sales than were counted.
    has_more: bool,
}

impl Section<'_> {
    /// Renders the section, or nothing if it has no entries.
    fn show(&self) -> Markup {
        let shown_count = self.count.min(MAX_ENTRIES_IN_SECTION);
        html! {
            @if self.count > 0 {
                section.stack {
                    div.head {
                        h2 { (self.title) " (" (count_text(shown_count, self.count, self.has_more)) ")" }
                        a href=(self.list_path) { (self.list_label) }
                    }
                    (self.introduction)
                    ul.chips {
                        @for entry in &self.entries {
                            li {
                                a href=(entry.path) {
                                    (markup::name(&entry.name, SHORT_LENGTH))
                                    span.muted { (entry.detail) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a text with the number of listed entries and the total, such as `20 of 45`.
///
/// Two equal numbers become a single one. With `has_more`, the total is only a lower bound, as in
/// `20 of 45+`.
pub(super) fn count_text(shown_count: usize, count: usize, has_more: bool) -> String {
    let plus = if has_more { "+" } else { "" };
    let total = format!("{count}{plus}");
    if total == shown_count.to_string() {
        total
    } else {
        texts().shown_of(shown_count, &total)
    }
}

/// Renders the sales of today, the newest first. Leaves out sales that were undone, or whose animal
/// was returned since.
pub(super) async fn load_sale_section(desk: &Desk<'_>) -> Result<Markup, StoreError> {
    let mut sales = load_sales_of_today(desk).await?;
    // The total price and the number include the sales that the section does not list.
    let totals = order_rows::price_totals(desk, sales.orders.iter());
    let count = sales.orders.len();
    sales.orders.truncate(MAX_ENTRIES_IN_SECTION);

    let mut entries = Vec::new();
    for OrderRow { order, pet } in order_rows::pair_with_pets(desk, sales.orders).await? {
        let name = pet.map(|pet| pet.name.as_str().to_owned());
        let price = order
            .price
            .map(|price| amount(price.as_str(), desk.currency()));
        entries.push(SectionEntry {
            path: format!("/orders/{}", order.id),
            name: name.unwrap_or_default(),
            detail: price.unwrap_or_default(),
        });
    }

    let section = Section {
        title: texts().sold_today,
        count,
        has_more: sales.has_more,
        list_path: "/orders?status=completed",
        list_label: texts().all_sales,
        introduction: html! { @if !totals.is_empty() { p { (totals) } } },
        entries,
    };
    Ok(section.show())
}

/// Loads the orders that were sold today and are still completed, the newest first.
///
/// They are found in the audit trail, because an order that is completed today can have been placed
/// long ago.
async fn load_sales_of_today(desk: &Desk<'_>) -> Result<Sales, StoreError> {
    let zone = desk.visit.facts.zone_of_days();
    let midnight = zone
        .start_of_day(parts::today(desk))
        .unwrap_or(desk.visit.now);
    let query = AuditQuery {
        kind: AuditType::parse(ChangeType::OrderCompleted.as_str()),
        since: Some(midnight),
        newest_first: true,
        limit: MAX_COUNTED_SALES,
        ..AuditQuery::default()
    };
    let (entries, next_position) = desk.store().list_audit(&query).await?;
    let mut ids = BTreeSet::new();
    for entry in entries {
        if let AuditEntry::Change(change) = entry {
            ids.extend(change.subject.id.and_then(OrderId::new));
        }
    }

    let mut orders = order_rows::load_orders(desk, ids.into_iter().rev()).await?;
    orders.retain(|order| {
        let is_closed_today = order
            .closed_at
            .is_some_and(|closed_at| closed_at >= midnight);
        order.status == OrderStatus::Completed && is_closed_today
    });
    orders.sort_by_key(|order| Reverse(order.closed_at));
    Ok(Sales {
        orders,
        has_more: next_position.is_some(),
    })
}

/// Renders the newest animals that were added in the last week and lack a photo or a microchip
/// number.
pub(super) async fn load_incomplete_section(
    desk: &Desk<'_>,
    fields: &FieldSet,
) -> Result<Markup, StoreError> {
    let after = None;
    let oldest_first = false;
    let (mut new_pets, next_position) = desk
        .store()
        .list_on_offer(after, category_names::largest_page_limit(), oldest_first)
        .await?;
    let read_count = new_pets.len();
    let now = desk.visit.now;
    // The subtraction fails only for times near the year -9999.
    let since = now.checked_sub(ARRIVAL_HOURS.hours()).unwrap_or(now);
    new_pets.retain(|pet| pet.created_at.is_some_and(|added_at| added_at >= since));

    let mut entries = Vec::new();
    for pet in &new_pets {
        let labels = find_missing_parts(desk, fields, pet);
        if !labels.is_empty() {
            entries.push(SectionEntry {
                path: format!("/animals/{}", pet.id),
                name: pet.name.as_str().to_owned(),
                detail: labels.join(", "),
            });
        }
    }
    let count = entries.len();
    entries.truncate(MAX_ENTRIES_IN_SECTION);

    let section = Section {
        title: texts().incomplete,
        count,
        // If all animals of the page are new, further ones can be new, too.
        has_more: next_position.is_some() && new_pets.len() == read_count,
        list_path: "/animals",
        list_label: texts().newest_animals,
        introduction: html! {},
        entries,
    };
    Ok(section.show())
}

/// Returns a label for each thing that an animal lacks. An animal should have a photo, and the
/// number of its microchip if animals of its species usually have one.
fn find_missing_parts(desk: &Desk<'_>, fields: &FieldSet, pet: &StorePet) -> Vec<&'static str> {
    let mut labels = Vec::new();
    let can_have_photos = desk.app().photos.storage().is_some();
    if can_have_photos && pet.photos.all().is_empty() {
        labels.push(texts().no_photo);
    }
    if let Some(field) = fields.find(values::MICROCHIP)
        && pet.fields.get(field.name.as_str()).is_none()
        && Animal::whole(pet, fields).is_chipped()
    {
        labels.push(texts().no_chip);
    }
    labels
}
