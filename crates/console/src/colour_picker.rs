//! The picker of the colour of a store, next to the input into which people type it.

use maud::{Markup, html};
use petstore_domain::store_area::Colour;
use petstore_languages::console_texts as texts;

use super::{store_spellings, visit::Form};

/// The name of the input into which people type the colour.
const COLOUR: &str = "store.colour";

/// The name of the input with which people pick a colour.
const PICKER: &str = "store.picked";

/// The colour that the picker shows for a store without a colour, as buttons have it.
const DEFAULT_COLOUR: &str = "#2b5b4d";

/// Renders the input with which people pick a colour. It always has a value, so it counts only if somebody changes it.
pub(super) fn picker(form: &Form) -> Markup {
    let typed_colour = store_spellings::colour(form.get(COLOUR));
    let colour = Colour::new(typed_colour);
    let shown_colour = colour.as_ref().map_or(DEFAULT_COLOUR, Colour::as_str);
    html! {
        div.field {
            label for=(PICKER) { (texts().pick_colour) }
            input #(PICKER) type="color" name=(PICKER) value=(shown_colour) data-fills=(COLOUR);
            input type="hidden" name="picker-showed" value=(shown_colour);
        }
    }
}

/// Returns a submitted form with the picked colour as its colour, if somebody has picked one.
pub(super) fn with_picked_colour(form: &Form) -> Form {
    let picked_colour = form.get(PICKER).to_owned();
    let mut inputs = form.fields().to_vec();
    if !picked_colour.is_empty() && picked_colour != form.get("picker-showed") {
        for (name, value) in &mut inputs {
            if name == COLOUR {
                value.clone_from(&picked_colour);
            }
        }
    }
    inputs.into_iter().collect()
}
