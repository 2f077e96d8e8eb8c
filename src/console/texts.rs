//! Every text of the pages, so that another language needs no change of other code.

mod adding;
mod fields;
mod lists;
mod manager;
mod orders;
mod photos;
mod questions;
mod staff;
mod times;

pub(super) use self::{
    adding::*, fields::*, lists::*, manager::*, orders::*, photos::*, questions::*, staff::*,
    times::*,
};

use crate::domain::{
    Actor, NamedActor, PetStatus,
    store_area::{ChangeType, OrderStatus, WithdrawalReason},
    words::Word,
};

/// The language of all texts, by which the script also writes times.
pub(super) const LANGUAGE: &str = "en-GB";

pub(super) const SITE: &str = "Petstore";
pub(super) const SKIP: &str = "Skip to content";
pub(super) const MAIN_MENU: &str = "Main menu";
pub(super) const SIGN_OUT: &str = "Sign out";
pub(super) const TODAY: &str = "Today";
pub(super) const ANIMALS: &str = "Animals";
pub(super) const ADD: &str = "Add";
pub(super) const ORDERS: &str = "Orders";
pub(super) const ACTIVITY: &str = "Activity";
pub(super) const WEB_SITE: &str = "Web site";
pub(super) const PUBLIC_PAGE: &str = "See the public page";
pub(super) const SETTINGS: &str = "Settings";
pub(super) const CATEGORIES: &str = "Categories";
pub(super) const WEBHOOKS: &str = "Webhooks";
pub(super) const ERROR_PREFIX: &str = "Error: ";
pub(super) const PROBLEM: &str = "There is a problem";
pub(super) const CANCEL: &str = "Cancel";
pub(super) const NEXT_PAGE: &str = "Next page";
pub(super) const FIRST_PAGE: &str = "First page";
pub(super) const NO_NAME: &str = "(no name)";
pub(super) const ACTIONS: &str = "Actions";

// Values
pub(super) const NAME: &str = "Name";
pub(super) const NUMBER: &str = "Number";
pub(super) const CATEGORY: &str = "Category";
pub(super) const STATUS: &str = "Status";
pub(super) const ADDED_AT: &str = "Added";
pub(super) const CHANGED_AT: &str = "Last change";
pub(super) const REFERENCE: &str = "Reference";
pub(super) const REFERENCE_HINT: &str =
    "Your own number for it, such as an invoice or ticket. Not the name of the customer.";
pub(super) const NOTE: &str = "Note";
pub(super) const REASON: &str = "Reason";
pub(super) const OPTIONAL: &str = "(optional)";
pub(super) const UNTIL: &str = "Hold until (end of day)";
pub(super) const CATEGORY_HINT: &str = "Choose a category, or type its number.";
pub(super) const ANIMAL: &str = "Animal";
pub(super) const ORDER: &str = "Order";
pub(super) const PLACED_AT: &str = "Placed";
pub(super) const ENDS: &str = "Ends";
pub(super) const CLOSED_AT: &str = "Closed";
pub(super) const SOLD_AT: &str = "Sold on";

/// The labels of changed members in the history, in this order. Those of an order follow.
pub(super) const MEMBERS: &[(&str, &str)] =
    &[("name", NAME), ("label", NAME), ("categoryId", CATEGORY), ("status", STATUS)];

/// Words that people write before a number, in lower case.
pub(super) const BEFORE_NUMBER: &[&str] = &["#", "no.", "no", "number", "animal", "order"];

// Today
pub(super) const FIND_LABEL: &str = "Find an animal: name, number, microchip, breed, colour …";
pub(super) const FIND: &str = "Search";
pub(super) const OVERDUE_NOW: &str = "Overdue";
pub(super) const ENDING_TODAY: &str = "To collect today";
pub(super) const ENDING_TOMORROW: &str = "Until tomorrow";
pub(super) const ENDING_LATER: &str = "Until the day after, or later";
pub(super) const CALL: &str = "Call";
pub(super) const ENDING: &str = "Reservations that end soon";
pub(super) const NONE_ENDING: &str = "No reservation ends in the next three days.";
pub(super) const SOLD_TODAY: &str = "Sold today";
pub(super) const ALL_SALES: &str = "All sales";
pub(super) const INCOMPLETE: &str = "Arrived this week, without a photo or a microchip";
pub(super) const NO_PHOTO: &str = "no photo";
pub(super) const NO_CHIP: &str = "no microchip";
pub(super) const NEWEST_ANIMALS: &str = "Newest animals";
pub(super) const COUNTING: &str = "counting …";
pub(super) const ALL_RESERVATIONS: &str = "All reservations";
pub(super) const EMPTY_STORE: &str = "There are no animals yet";
pub(super) const EMPTY_STORE_HINT: &str = "Add the first one, or paste many from a spreadsheet.";
pub(super) const ADD_ANIMALS: &str = "Add animals";
pub(super) const NUMBERS: &str = "Numbers of animals";

// Animal
pub(super) const EDIT: &str = "Edit";
pub(super) const SAVE: &str = "Save";
pub(super) const RESERVE_MORE: &str = "Reserve…";
pub(super) const SELL_MORE: &str = "Sell…";
pub(super) const RESERVE: &str = "Reserve";
pub(super) const SELL: &str = "Sell";
pub(super) const SELL_NOW: &str = "Sell now";
pub(super) const CANCEL_RESERVATION: &str = "Cancel the reservation";
pub(super) const TAKE_BACK: &str = "Take it back";
pub(super) const TAKE_BACK_HINT: &str =
    "The customer returns the animal. It becomes available again.";
pub(super) const SOLD_WITHOUT_ORDER: &str =
    "It was marked as sold without an order. To correct this, edit its status.";
pub(super) const PENDING_WITHOUT_ORDER: &str = "It was marked as reserved without an order, so the reservation has no end. Reserve it here to \
     give it one, sell it, or edit its status.";
pub(super) const WITHDRAW: &str = "Withdraw";
pub(super) const WITHDRAW_MORE: &str = "Record a departure";
pub(super) const WITHDRAW_HINT: &str =
    "It leaves all lists of animals. Its history stays, and it can be restored.";
pub(super) const RESTORE: &str = "Restore";
pub(super) const RESTORE_HINT: &str = "It returns to the lists as it was.";
pub(super) const CHOOSE: &str = "Choose a reason";
pub(super) const HISTORY: &str = "History";
pub(super) const OLDER: &str = "Older entries";
pub(super) const NO_HISTORY: &str = "No change was recorded.";
pub(super) const STATUS_HELD: &str =
    "An order holds the animal. To change its status, open the order.";

// Conflict
pub(super) const CONFLICT: &str = "Somebody else changed this animal";
pub(super) const CONFLICT_HINT: &str = "It changed while you were editing it. Nothing of yours is saved yet. Compare both, change yours if \
     you like, and decide.";
pub(super) const THEIRS: &str = "Now in the store";
pub(super) const YOURS: &str = "Yours";
pub(super) const SAVE_MINE: &str = "Save mine";
pub(super) const KEEP_THEIRS: &str = "Keep what is in the store";
pub(super) const DIFFERENT: &str = "different";

// Add
pub(super) const ADD_ONE: &str = "One animal";
pub(super) const ADD_MANY: &str = "Many from a spreadsheet";
pub(super) const ADD_ANIMAL: &str = "Add the animal";
pub(super) const ADD_TO_NUMBER: &str = "Add the animal to this number, without a name";
pub(super) const PASTE: &str = "Lines of the spreadsheet";
pub(super) const PASTE_HINT: &str = "Copy the rows and paste them here: one animal on each line, with its name and its \
     category. With headings in the first line, also its status and the values of its fields. You see a \
     preview before anything is added.";
pub(super) const PREVIEW: &str = "Preview";
pub(super) const LINE: &str = "Line";
pub(super) const CHECK: &str = "Check";
pub(super) const FINE: &str = "OK";
pub(super) const PREVIEW_HINT: &str =
    "Nothing is added yet. Either all of them are added, or none.";
pub(super) const CHANGE_LINES: &str = "Edit the lines";
pub(super) const PREVIEW_AGAIN: &str = "Preview again";

// Orders
pub(super) const FIND_ORDER: &str =
    "Find an order by customer, telephone, animal, reference or number";
pub(super) const FIND_ORDER_BY_ANIMAL: &str = "Find an order by animal, reference or number";
pub(super) const NO_ORDERS: &str = "No orders here";
pub(super) const NO_ORDERS_HINT: &str = "Open an animal to reserve or sell it.";
pub(super) const NO_ORDER_FOUND: &str = "No order found";
pub(super) const ALL: &str = "All";
pub(super) const PRINT: &str = "Print";
pub(super) const SIGNATURE: &str = "Signature of the customer";
pub(super) const SIGNATURE_OF_STORE: &str = "Signature for the store";
pub(super) const SHOWN_HERE: &str = "On this page:";
pub(super) const ONLY_FIRST: &str = "The 100 reservations that end first are shown.";

// Problems
pub(super) const NO_PET: &str = "No animal has this number.";
pub(super) const NO_ORDER: &str = "No order has this number.";
pub(super) const NOT_FOUND: &str = "Not found";
pub(super) const NAME_TOO_LONG: &str = "The name is too long.";
pub(super) const NAME_MISSING: &str = "Enter the name of the animal.";
pub(super) const CATEGORY_MISSING: &str = "Enter the category.";
pub(super) const STATUS_INVALID: &str = "The status must be available, reserved or sold.";
pub(super) const REASON_MISSING: &str = "Choose a reason.";
pub(super) const DAY_INVALID: &str = "Enter a day in the future, at most 400 days from now.";
pub(super) const NONE_SELECTED: &str = "Select at least one animal first.";
pub(super) const NOTHING_PASTED: &str = "Paste at least one line.";
pub(super) const STALE: &str = "Somebody else has changed it in the meantime, so nothing was changed \
     this time. Look at the current state, and retry.";
pub(super) const NOTHING_CHANGED: &str =
    "Nothing was changed. It is not possible for these animals:";

pub(super) fn status(status: PetStatus) -> &'static str {
    match status {
        PetStatus::Available => "Available",
        PetStatus::Pending => "Reserved",
        PetStatus::Sold => "Sold",
    }
}

pub(super) const WITHDRAWN: &str = "Withdrawn";
pub(super) const OVERDUE: &str = "Overdue";

pub(super) fn order_status(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "Reserved",
        OrderStatus::Completed => "Sold",
        OrderStatus::Cancelled => "Cancelled",
        OrderStatus::Expired => "Expired",
        OrderStatus::Returned => "Returned",
    }
}

pub(super) fn reason(reason: WithdrawalReason) -> &'static str {
    match reason {
        WithdrawalReason::Died => "Died",
        WithdrawalReason::Transferred => "Moved to another store or shelter",
        WithdrawalReason::Reclaimed => "Its owner took it back",
        WithdrawalReason::Mistake => "Added by mistake",
        WithdrawalReason::Other => "Another reason",
    }
}

/// The words for a change that replaced the end of a reservation, or the name of a category.
pub(super) const EXTENDED: &str = "Extended";
pub(super) const RENAMED: &str = "Category renamed";

/// The words for a change in the history of an animal.
pub(super) fn change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Added",
        ChangeType::PetChanged => "Changed",
        ChangeType::PetWithdrawn => "Withdrawn",
        ChangeType::PetRestored => "Restored",
        ChangeType::OrderPlaced => "Reserved",
        ChangeType::OrderChanged => "Order changed",
        ChangeType::OrderCompleted => "Sold",
        ChangeType::OrderCancelled => "Reservation cancelled",
        ChangeType::OrderExpired => "Reservation expired",
        ChangeType::OrderReturned => "Taken back",
        ChangeType::OrderReopened => "Reserved again",
        ChangeType::CategoryChanged => "Category named",
        ChangeType::CategoryDeleted => "Category name deleted",
        ChangeType::PetsImported => "Imported",
    }
}

/// The same of a change in the log.
pub(super) fn logged(kind: &Word<ChangeType>) -> String {
    match kind {
        Word::Known(kind) => change(*kind).to_owned(),
        Word::Other(name) => in_words(name),
    }
}

/// A type such as `webhook.secret_rotated` for people.
fn in_words(name: &str) -> String {
    let words = name.replace(['.', '_'], " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Who made a change.
pub(super) fn actor(NamedActor { actor, name }: &NamedActor) -> String {
    match (actor, name.as_deref()) {
        (Actor::Staff(_), name) => name.unwrap_or("staff").to_owned(),
        (Actor::Key(_), Some(name)) => format!("program “{name}”"),
        (Actor::Key(_), None) => "a program".to_owned(),
        (Actor::Clock, _) => "the service".to_owned(),
        (Actor::Command | Actor::Database, _) => "the operator".to_owned(),
    }
}

/// A number of animals.
pub(super) fn animals(count: i64) -> String {
    if count == 1 { "1 animal".to_owned() } else { format!("{count} animals") }
}

pub(super) fn title_of_order(id: i64) -> String {
    format!("Order {id}")
}

/// Several labels, such as "Reference and note".
pub(super) fn labels(all: &[&str]) -> String {
    let (last, others) = all.split_last().map_or(("", all), |(last, others)| (*last, others));
    let others = others.join(", ");
    let both = if others.is_empty() { last.to_owned() } else { format!("{others} and {last}") };
    in_words(&both.to_lowercase())
}

/// What is wrong with a text with this label that has more characters.
pub(super) fn too_long(label: &str, most: usize) -> String {
    let thousands = if most < 1_000 { String::new() } else { format!("{},", most / 1_000) };
    let width = if most < 1_000 { 0 } else { 3 };
    let (label, rest) = (label.to_lowercase(), most % 1_000);
    format!("The {label} must have at most {thousands}{rest:0width$} characters.")
}

pub(super) fn select(name: &str) -> String {
    format!("Select {name}")
}

pub(super) fn add_count(count: usize) -> String {
    format!("Add {}", animals(i64::try_from(count).unwrap_or(i64::MAX)))
}

pub(super) fn wrong_lines(count: usize) -> String {
    if count == 1 {
        "1 line has a problem. Correct it below, and preview again.".to_owned()
    } else {
        format!("{count} lines have a problem. Correct them below, and preview again.")
    }
}

pub(super) fn add_with_category(label: &str) -> String {
    format!("Add the animal, and the category “{label}”")
}

pub(super) fn unknown_category(text: &str) -> String {
    format!("There is no category “{text}”. Choose one from the list, or type its number.")
}

pub(super) fn ambiguous_category(text: &str, one: i64, other: i64) -> String {
    format!(
        "More than one category has the name “{text}”. Type its number, such as {one} or {other}."
    )
}

/// Before the number of a category without a name.
pub(super) const CATEGORY_PREFIX: &str = "Category ";

pub(super) fn category_number(id: i64) -> String {
    format!("{CATEGORY_PREFIX}{id}")
}

/// Who changed an animal last.
pub(super) fn changed_by(who: &NamedActor) -> String {
    format!("Changed by {}", actor(who))
}

pub(super) const IS_WITHDRAWN: &str = "It is withdrawn. Restore it first.";
pub(super) const HAS_NO_RESERVATION: &str = "It has no reservation.";
pub(super) const IS_GONE: &str = "It no longer exists.";

pub(super) fn is_reserved(order: i64) -> String {
    format!("It is reserved by order {order}.")
}

/// Behind what is wrong with another order of the animal.
pub(super) fn animal_is_reserved(order: i64) -> String {
    format!(" The animal is reserved by order {order}.")
}

pub(super) fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Available => "It is available.".to_owned(),
        PetStatus::Pending => "It is reserved already.".to_owned(),
        PetStatus::Sold => "It is sold already.".to_owned(),
    }
}

// Categories
pub(super) const NO_CATEGORIES: &str = "No category has a name yet";
pub(super) const NO_CATEGORIES_HINT: &str =
    "Give the first one a name, such as Dogs. Everybody can then choose it by this name.";
pub(super) const NAME_CATEGORY: &str = "Add or rename a category";
pub(super) const CATEGORY_NUMBER_HINT: &str =
    "A free number is filled in. To change the name of a category, enter its number.";
pub(super) const LABEL_MISSING: &str = "Enter the name of the category.";
pub(super) const LABEL_INVALID: &str = "Enter 1 to 255 characters.";
pub(super) const NO_FREE_NUMBER: &str =
    "No free number is found. Enter a number on the page Categories.";
pub(super) const NUMBER_INVALID: &str = "Enter a whole number.";
