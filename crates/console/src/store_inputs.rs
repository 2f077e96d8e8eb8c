//! The editable members of the store profile. Each is declared once, for the form, for messages
//! about concurrent changes, and for the page that shows a form saved during a sign-in.

mod declarations;
mod links;

use maud::{Markup, html};
use petstore_app::{Contact, Source, StoreFacts};
use petstore_domain::store_area::{
    Currency, Links, Patch, Profile, ProfilePatch, StoreKind, StoreTimeZone,
};
use petstore_languages::{console_texts as texts, name_of, window_texts};

pub(super) use self::{
    declarations::{CONTACT_INPUTS, IDENTITY_INPUTS, PAGE_INPUTS, PAPER_INPUTS, StoreInput},
    links::{LinkInputs, link_inputs},
};
use self::{
    declarations::{Control, PREFIX, all_inputs},
    links::{has_link_inputs, parse_links},
};
use super::{
    colour_picker,
    forms::{Errors, Input},
    markup::{self, SHORT_LENGTH},
    visit::Form,
};

/// The name of the checkbox by which a change of the store's language also translates the labels of
/// the store's fields.
pub(super) const WITH_LABELS: &str = "with-labels";

/// The value that applies to a member, and where it comes from.
struct Fallback<'f> {
    source: Source,
    /// The value; `None` for a name or a currency that is not set anywhere.
    value: Option<&'f str>,
}

impl StoreInput {
    /// Renders the input with its value and its error from the form, and a hint about the value
    /// that applies while the profile has none.
    pub(super) fn show(&self, form: &Form, errors: &Errors, facts: &StoreFacts) -> Markup {
        let id = self.id();
        let [label, hint, _] = (self.texts)(texts());
        let fallback = fallback_hint(self, facts).unwrap_or_default();
        let hint = format!("{hint} {fallback}");
        let mut input = Input::from_form(&id, label, form, errors);
        if !hint.trim().is_empty() {
            input.hint = Some(hint.trim());
        }
        match self.control {
            Control::Line { inputmode } => {
                input.inputmode = inputmode;
                input.show()
            }
            Control::Paragraph => input.make_multiline().show(),
            Control::StoreKinds => input.show_dropdown(&self.choices()),
            Control::Languages => html! {
                (input.show_dropdown(&self.choices())) (labels_checkbox())
            },
            Control::TimeZones => input.show_zone_dropdown(),
            Control::Colour => html! { (input.show()) (colour_picker::picker(form)) },
        }
    }
}

/// Renders the checkbox [`WITH_LABELS`], which is checked by default.
fn labels_checkbox() -> Markup {
    html! {
        fieldset {
            label {
                input type="checkbox" name=(WITH_LABELS) value="yes" checked;
                (texts().labels_with_language)
            }
            p.hint { (texts().store_labels_hint) }
        }
    }
}

/// Returns the hint about the value that applies while the profile has none: the operator's option
/// or a default. Returns `None` if the profile has a value, or if nothing else applies.
fn fallback_hint(input: &StoreInput, facts: &StoreFacts) -> Option<String> {
    if input.name == "name" && facts.name().value.is_none() {
        return Some(texts().nameless(texts().site, window_texts().no_store));
    }
    let fallback = fallback_value(input, facts)?;
    // Of the members with a fallback, only the currency gets here without a value.
    let Some(value) = fallback.value else {
        return Some(texts().no_currency.to_owned());
    };
    let readable_value = markup::readable(value, SHORT_LENGTH);
    match fallback.source {
        Source::Profile => None,
        Source::Option => Some(texts().operator_value(&readable_value)),
        Source::Default => Some(texts().default_is(&readable_value)),
    }
}

/// Returns the value that currently applies, and its source. Returns `None` for a member without an
/// option or a default.
fn fallback_value<'f>(input: &StoreInput, facts: &'f StoreFacts) -> Option<Fallback<'f>> {
    match input.name {
        "name" => Some(Fallback {
            source: facts.name().source,
            value: facts.name().value,
        }),
        "kind" if facts.profile.kind.is_none() => Some(Fallback {
            source: Source::Default,
            value: Some(texts().store_kind(StoreKind::Shop)),
        }),
        "language" => Some(Fallback {
            source: facts.language().source,
            value: Some(name_of(facts.language().value)),
        }),
        "currency" => Some(Fallback {
            source: facts.currency().source,
            value: facts.currency().value.map(Currency::as_str),
        }),
        "timeZone" => Some(Fallback {
            source: facts.time_zone().source,
            value: Some(facts.time_zone().value.map_or("UTC", StoreTimeZone::as_str)),
        }),
        "email" | "telephone" | "contactPage" => match facts.contact().value {
            Some(Contact::Url(url)) => Some(Fallback {
                source: Source::Option,
                value: Some(url.display_text()),
            }),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the form for a stored profile, before anybody edits it: the current value of each input,
/// and the version.
pub(super) fn form_of(profile: &Profile) -> Form {
    let mut fields = vec![("version".to_owned(), profile.version.to_string())];
    for input in all_inputs() {
        let value = (input.stored)(profile).unwrap_or_default();
        fields.push((input.id(), value.to_owned()));
    }
    links::add_stored_values(profile, &mut fields);
    fields.into_iter().collect()
}

/// Parses a submitted form into a patch of the profile. Adds an error for each invalid input. A
/// member stays unchanged if the form does not have its input.
pub(super) fn parse_patch(form: &Form, errors: &mut Errors) -> ProfilePatch {
    let mut patch = ProfilePatch::default();
    for input in all_inputs() {
        let id = input.id();
        let Some(typed_text) = form.all(&id).next() else {
            continue;
        };
        // Browsers submit CR LF, which must not count as two characters against the length limit.
        let text = typed_text.trim().replace("\r\n", "\n");
        if (input.parse)(&text, &mut patch).is_err() {
            errors.add(id, input.error_message(&text));
        }
    }

    let links = parse_links(form, errors);
    // `Links::new` never fails, because `parse_links` returns no more links than a profile can
    // have.
    if has_link_inputs(form)
        && let Some(links) = Links::new(links)
    {
        patch.links = Patch::Set(links);
    }
    patch
}

/// Returns the label of an input, and a value of the input as people read it. Returns `None` if
/// this is not the name of an input of the store profile.
pub(super) fn in_words(name: &str, value: &str) -> Option<(String, String)> {
    let member_name = name.strip_prefix(PREFIX)?;
    match all_inputs().find(|input| input.name == member_name) {
        Some(input) => {
            let words = markup::readable(input.value_in_words(value), SHORT_LENGTH);
            Some((input.label().to_owned(), words))
        }
        None => links::in_words(member_name, value),
    }
}
