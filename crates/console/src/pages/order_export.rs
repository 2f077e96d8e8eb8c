//! Exports the list of orders as a CSV file for spreadsheets.

use jiff::Timestamp;
use petstore_domain::store_area::{Decimal, OrderId, OrderQuery, OrderStatus, Text};

use super::{
    category_names::largest_page_limit,
    order_contacts::visible_contact,
    order_list::{parse_status_filter, reservation_horizon, selected_status},
    order_rows::{OrderRow, load_rows, pair_with_pets},
    order_search,
    spreadsheet::{SheetCell, Spreadsheet, decimal_cell, text_cell, time_cell, time_heading},
};
use crate::prelude::*;

/// The number of reservations that one query of the export reads.
const RESERVATIONS_PER_READ: u32 = 100;

/// Handles `GET /export/orders`: exports the orders that the list shows for the same search and
/// status. The rows are in the order of the list.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let search_text = desk.visit.query.get("q");
    let status_filter = parse_status_filter(selected_status(desk));
    let mut sheet = Spreadsheet::new(column_headings(desk))?;
    if !search_text.is_empty() {
        let matches = order_search::find(desk, search_text, status_filter).await?;
        let rows = pair_with_pets(desk, matches.orders).await?;
        write_rows(desk, &rows, &mut sheet);
    } else if status_filter == Some(OrderStatus::Reserved) {
        // The list sorts reservations by their end, which only another query of the store can do.
        write_reservations(desk, &mut sheet).await?;
    } else {
        write_orders(desk, status_filter, &mut sheet).await?;
    }
    Ok(sheet.into_reply(desk, "orders"))
}

/// Writes all reservations, starting with the one that ends first.
async fn write_reservations(desk: &Desk<'_>, sheet: &mut Spreadsheet) -> Result<(), StoreError> {
    let end = reservation_horizon(desk);
    let mut last_position: Option<(OrderId, Timestamp)> = None;
    loop {
        let due_orders = desk
            .store()
            .due_orders(last_position, end, RESERVATIONS_PER_READ)
            .await?;
        last_position = due_orders.last().copied();
        let may_have_more = due_orders.len() >= RESERVATIONS_PER_READ as usize;
        let rows = load_rows(desk, due_orders.into_iter().map(|(id, _)| id)).await?;
        write_rows(desk, &rows, sheet);
        if !may_have_more || !sheet.continue_unless_full(texts().list_export_cut) {
            return Ok(());
        }
    }
}

/// Writes the orders in a status, or all orders if `status` is `None`, from newest to oldest.
async fn write_orders(
    desk: &Desk<'_>,
    status: Option<OrderStatus>,
    sheet: &mut Spreadsheet,
) -> Result<(), StoreError> {
    let mut query = OrderQuery {
        status,
        limit: largest_page_limit(),
        newest_first: true,
        ..OrderQuery::default()
    };
    loop {
        let (orders, next_position) = desk.store().list_orders(&query).await?;
        let rows = pair_with_pets(desk, orders).await?;
        write_rows(desk, &rows, sheet);
        query.after = next_position;
        if next_position.is_none() || !sheet.continue_unless_full(texts().list_export_cut) {
            return Ok(());
        }
    }
}

/// Returns the column headings, with the same labels as on the pages. Only members who may see
/// contacts get a column for them. The columns are in the order of [`order_cells`].
fn column_headings(desk: &Desk<'_>) -> Vec<String> {
    let mut headings = vec![
        texts().order.to_owned(),
        texts().status_label.to_owned(),
        // The number of the animal, and then its name.
        format!("{} ({})", texts().animal, texts().number),
        texts().animal.to_owned(),
    ];
    if desk.may_write() {
        headings.push(texts().contact.to_owned());
    }
    headings.extend([
        texts().price.to_owned(),
        texts().reference.to_owned(),
        texts().note.to_owned(),
        texts().reason_label.to_owned(),
        time_heading(texts().ends),
        time_heading(texts().placed_at),
        time_heading(texts().closed_at),
    ]);
    headings
}

/// Writes one row for each order.
fn write_rows(desk: &Desk<'_>, rows: &[OrderRow], sheet: &mut Spreadsheet) {
    for row in rows {
        sheet.write_row(order_cells(desk, row));
    }
}

/// Returns the cells of an order, one for each of the [`column_headings`].
fn order_cells(desk: &Desk<'_>, OrderRow { order, pet }: &OrderRow) -> Vec<SheetCell> {
    let pet_name = pet.as_ref().map(|pet| pet.name.as_str());
    let mut cells = vec![
        SheetCell::Number(order.id.to_string()),
        text_cell(Some(texts().order_status(order.status))),
        SheetCell::Number(order.pet_id.to_string()),
        text_cell(pet_name),
    ];
    if desk.may_write() {
        cells.push(text_cell(visible_contact(desk, order)));
    }
    cells.extend([
        decimal_cell(order.price.as_ref().map(Decimal::as_str)),
        text_cell(order.reference.as_ref().map(Text::as_str)),
        text_cell(order.note.as_ref().map(Text::as_str)),
        text_cell(order.reason.as_ref().map(Text::as_str)),
        time_cell(order.expires_at),
        time_cell(Some(order.created_at)),
        time_cell(order.closed_at),
    ]);
    cells
}
