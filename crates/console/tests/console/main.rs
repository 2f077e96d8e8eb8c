//! The console, through the handler that its listener serves: who gets in, and what keeps others out.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod account;
mod amounts;
mod authenticator;
mod browser;
mod categories;
mod counter;
mod demo_link;
mod enter_key;
mod estimates;
mod exports;
mod field_labels;
mod field_values;
mod fields;
mod filters;
mod first_steps;
mod forms;
mod frame;
mod guessing;
mod kept_forms;
mod languages;
mod listed;
mod lists;
mod logo;
mod merging;
mod microchips;
mod new_animal;
mod notes;
mod nul;
mod oidc;
mod oidc_claims;
mod oidc_crowds;
mod oidc_hostile;
mod oidc_outages;
mod oidc_userinfo;
mod one_step;
mod origin;
mod pages;
mod paper;
mod passkeys;
mod passkeys_hostile;
mod paste;
mod pasted_cells;
mod pasted_tables;
mod photos;
mod pictures_of_staff;
mod provider;
mod provider_keys;
mod putting_right;
pub(crate) mod reads;
mod second_factor;
mod session;
mod settings;
mod several;
mod shelter_fields;
mod sign_in_again;
mod store;
mod today;
mod words;
mod zone;

/// The form for a new animal of a category with a number but no name, as its second button sends it:
/// most tests need no name. See `forms::a_number_that_no_category_has_is_asked_about`.
fn with_unnamed_category<'f>(path: &str, form: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let is_number = |(name, typed): &(&str, &str)| {
        *name == "category" && typed.trim_start_matches("Category ").parse::<i64>().is_ok()
    };
    let is_unnamed = path == "/add" && form.iter().any(is_number);
    let more = is_unnamed.then_some(("new-category", "yes"));
    form.iter().copied().chain(more).collect()
}
