//! The list of animals, and its bar.

use crate::domain::store_area::Age;

pub(crate) const ANY_STATUS: &str = "In the store";
pub(crate) const ALSO_SOLD: &str = "In the store or sold";
pub(crate) const FILTER: &str = "Filter";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const ADD_SOLD: &str = "Also sold ones";
pub(crate) const TAKE_OFF: &str = " (take off)";
pub(crate) const SHOW: &str = "Show";
pub(crate) const ANY_CATEGORY: &str = "All";
pub(crate) const NOTHING_FOUND: &str = "No animal found";
pub(crate) const NOTHING_FOUND_HINT: &str =
    "Check the spelling, or type only the beginning of the name.";
pub(crate) const SELECT_ALL: &str = "Select all on this page";
pub(crate) const SKIP_LIST: &str = "Skip the list, to the actions";
pub(crate) const WITH_SELECTED: &str = "Change the selected animals";
pub(crate) const ALL_OR_NONE: &str = "Either all of them change, or none.";
pub(crate) const RESERVE_OR_SELL: &str = "Reserve or sell…";
pub(crate) const MOVE_MORE: &str = "Move…";
pub(crate) const MOVE: &str = "Move to category";
pub(crate) const VALUE_MORE: &str = "Change a value…";
pub(crate) const VALUE: &str = "New value";
pub(crate) const VALUE_HINT: &str =
    "As in a spreadsheet: a choice, yes or no, a date. Nothing takes the value off.";
pub(crate) const FIELD: &str = "Field";
pub(crate) const CHOOSE_FIELD: &str = "Choose a field";
pub(crate) const FIELD_MISSING: &str = "Choose the field whose value changes.";
pub(crate) const WITHDRAW_SEVERAL: &str = "Record a departure…";
pub(crate) const CANCEL_RESERVATIONS: &str = "Cancel reservations";
pub(crate) const CLEAR: &str = "Clear all";

pub(crate) const AGE: &str = "Age";

pub(crate) fn age(age: Age) -> &'static str {
    match age {
        Age::UnderOne => "Under 1 year",
        Age::OneToThree => "1 to 3 years",
        Age::ThreeToEight => "3 to 8 years",
        Age::EightOrMore => "8 years or older",
    }
}

/// A filter of the list.
pub(crate) fn chip(label: &str, value: &str) -> String {
    format!("{label}: {value}")
}

pub(crate) fn too_many_filters(most: usize, left_out: &[String]) -> String {
    format!(
        "At most {most} fields filter at once, so {} is left out. Take off one of the others first.",
        left_out.join(", ")
    )
}
