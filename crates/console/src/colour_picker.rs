//! The colour picker of the store profile. It is next to the text input for the same colour, in
//! which people can also name a colour, or clear it.

use maud::{Markup, html};
use petstore_domain::store_area::Colour;
use petstore_languages::console_texts as texts;

use super::{store_spellings, visit::Form};

/// The name of the text input for the colour.
const COLOUR: &str = "store.colour";

/// The name of the colour picker.
const PICKER: &str = "store.picked";

/// The name of the hidden field with the picker's colour at the time when the page was rendered.
const INITIAL_COLOUR: &str = "picker-showed";

/// The picker's initial colour for a store without a colour: the default colour of buttons.
const DEFAULT_COLOUR: &str = "#2b5b4d";

/// Renders the colour picker. A hidden field records the initial colour, because browsers always
/// submit a colour for the picker: [`with_picked_colour`] compares both colours to find out whether
/// somebody has picked one.
pub(super) fn picker(form: &Form) -> Markup {
    let typed_colour = store_spellings::colour_to_hex(form.get(COLOUR));
    let colour = Colour::new(typed_colour);
    let shown_colour = colour.as_ref().map_or(DEFAULT_COLOUR, Colour::as_str);
    html! {
        div.field {
            label for=(PICKER) { (texts().pick_colour) }
            input #(PICKER) type="color" name=(PICKER) value=(shown_colour) data-fills=(COLOUR);
            input type="hidden" name=(INITIAL_COLOUR) value=(shown_colour);
        }
    }
}

/// Returns the submitted form. If somebody has picked a colour, it replaces the text input's value.
pub(super) fn with_picked_colour(form: &Form) -> Form {
    let mut fields = form.fields().to_vec();
    // Empty if the form does not have the picker.
    let picked_colour = form.get(PICKER);
    let was_picked = !picked_colour.is_empty() && picked_colour != form.get(INITIAL_COLOUR);
    if was_picked {
        for (name, value) in &mut fields {
            if name == COLOUR {
                *value = picked_colour.to_owned();
            }
        }
    }
    fields.into_iter().collect()
}
