//! The declarations of the editable members of the store profile, each with its input.

use petstore_domain::store_area::{
    About, Address, Colour, ContactPage, ContractText, Currency, EmailAddress, Language, Patch,
    Profile, ProfilePatch, StoreKind, StoreName, StoreTimeZone, TelephoneNumber,
    find_unknown_placeholder,
};
use petstore_languages::{console::Texts, console_texts as texts, name_of};

use crate::{
    markup::{self, SHORT_LENGTH},
    store_spellings,
};

/// The prefix of each input's name. It distinguishes `store.name` from the `name` of other forms.
pub(super) const PREFIX: &str = "store.";

/// An editable member of the profile, with its input.
pub(crate) struct StoreInput {
    /// The name of the member in JSON, such as `timeZone`.
    pub(super) name: &'static str,
    pub(super) control: Control,
    /// Returns the label, the hint, and the error message for an invalid value.
    pub(super) texts: fn(&Texts) -> [&'static str; 3],
    /// Returns the current value in the profile.
    pub(super) stored: fn(&Profile) -> Option<&str>,
    /// Parses the submitted text into the patch. An empty text clears the member.
    pub(super) parse: fn(&str, &mut ProfilePatch) -> Result<(), InvalidValue>,
}

/// The control with which people edit a member of the profile.
#[derive(Clone, Copy)]
pub(super) enum Control {
    /// A single-line text. The HTML `inputmode` selects the on-screen keyboard.
    Line { inputmode: &'static str },
    /// A text of several lines.
    Paragraph,
    /// A dropdown of the kinds of stores.
    StoreKinds,
    /// A dropdown of the languages.
    Languages,
    /// A dropdown of the time zones.
    TimeZones,
    /// A single-line text, next to a colour picker.
    Colour,
}

/// A single-line text with the default keyboard.
const LINE: Control = Control::Line { inputmode: "" };

/// The error for a text that is not a valid value of its member.
pub(super) struct InvalidValue;

/// The inputs for what the store is.
pub(crate) static IDENTITY_INPUTS: &[StoreInput] = &[
    StoreInput {
        name: "name",
        control: LINE,
        texts: |texts| texts.member_name,
        stored: |profile| profile.name.as_ref().map(StoreName::as_str),
        parse: |text, patch| set(&mut patch.name, text, parse_name),
    },
    StoreInput {
        name: "kind",
        control: Control::StoreKinds,
        texts: |texts| texts.member_kind,
        stored: |profile| profile.kind.map(StoreKind::as_str),
        parse: |text, patch| set(&mut patch.kind, text, |text| text.parse().ok()),
    },
    StoreInput {
        name: "about",
        control: Control::Paragraph,
        texts: |texts| texts.member_about,
        stored: |profile| profile.about.as_ref().map(About::as_str),
        parse: |text, patch| set(&mut patch.about, text, parse_about),
    },
];

/// The inputs for how people reach the store.
pub(crate) static CONTACT_INPUTS: &[StoreInput] = &[
    StoreInput {
        name: "email",
        control: Control::Line { inputmode: "email" },
        texts: |texts| texts.member_email,
        stored: |profile| profile.email.as_ref().map(EmailAddress::as_str),
        parse: |text, patch| set(&mut patch.email, text, parse_email),
    },
    StoreInput {
        name: "telephone",
        control: Control::Line { inputmode: "tel" },
        texts: |texts| texts.member_telephone,
        stored: |profile| profile.telephone.as_ref().map(TelephoneNumber::as_str),
        parse: |text, patch| set(&mut patch.telephone, text, parse_telephone),
    },
    StoreInput {
        name: "contactPage",
        control: Control::Line { inputmode: "url" },
        texts: |texts| texts.member_contact_page,
        stored: |profile| profile.contact_page.as_ref().map(ContactPage::as_str),
        parse: |text, patch| set(&mut patch.contact_page, text, parse_contact_page),
    },
    StoreInput {
        name: "address",
        control: Control::Paragraph,
        texts: |texts| texts.member_address,
        stored: |profile| profile.address.as_ref().map(Address::as_str),
        parse: |text, patch| set(&mut patch.address, text, parse_address),
    },
    StoreInput {
        name: "hours",
        control: Control::Paragraph,
        texts: |texts| texts.member_hours,
        stored: |profile| profile.hours.as_ref().map(Address::as_str),
        parse: |text, patch| set(&mut patch.hours, text, parse_address),
    },
];

/// The input for what is printed on paper.
pub(crate) static PAPER_INPUTS: &[StoreInput] = &[StoreInput {
    name: "contract",
    control: Control::Paragraph,
    texts: |texts| texts.member_contract,
    stored: |profile| profile.contract.as_ref().map(ContractText::as_str),
    parse: |text, patch| set(&mut patch.contract, text, parse_contract),
}];

/// The inputs for how the pages of the store look, and how they show values.
pub(crate) static PAGE_INPUTS: &[StoreInput] = &[
    StoreInput {
        name: "language",
        control: Control::Languages,
        texts: |texts| texts.member_language,
        stored: |profile| profile.language.map(Language::as_str),
        parse: |text, patch| set(&mut patch.language, text, |text| text.parse().ok()),
    },
    StoreInput {
        name: "timeZone",
        control: Control::TimeZones,
        texts: |texts| texts.member_time_zone,
        stored: |profile| profile.time_zone.as_ref().map(StoreTimeZone::as_str),
        parse: |text, patch| set(&mut patch.time_zone, text, StoreTimeZone::from_name),
    },
    StoreInput {
        name: "currency",
        control: LINE,
        texts: |texts| texts.member_currency,
        stored: |profile| profile.currency.as_ref().map(Currency::as_str),
        parse: |text, patch| set(&mut patch.currency, text, store_spellings::parse_currency),
    },
    StoreInput {
        name: "colour",
        control: Control::Colour,
        texts: |texts| texts.member_colour,
        stored: |profile| profile.colour.as_ref().map(Colour::as_str),
        parse: |text, patch| set(&mut patch.colour, text, parse_colour),
    },
];

/// Returns all inputs, in the order of the page.
pub(super) fn all_inputs() -> impl Iterator<Item = &'static StoreInput> {
    [IDENTITY_INPUTS, CONTACT_INPUTS, PAPER_INPUTS, PAGE_INPUTS]
        .into_iter()
        .flatten()
}

/// Parses a text, and sets a member of a patch to the value. An empty text clears the member.
fn set<T>(
    member: &mut Patch<T>,
    text: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<(), InvalidValue> {
    *member = if text.is_empty() {
        Patch::Clear
    } else {
        Patch::Set(parse(text).ok_or(InvalidValue)?)
    };
    Ok(())
}

fn parse_name(text: &str) -> Option<StoreName> {
    StoreName::new(text.to_owned())
}

fn parse_about(text: &str) -> Option<About> {
    About::new(text.to_owned())
}

fn parse_email(text: &str) -> Option<EmailAddress> {
    EmailAddress::new(text.to_owned())
}

/// Parses a telephone number. Replaces the dashes that people copy from documents by hyphens.
fn parse_telephone(text: &str) -> Option<TelephoneNumber> {
    TelephoneNumber::new(text.replace(['–', '—'], "-"))
}

/// Parses the URL of the store's contact page, in which `https://` is optional. Rejects several
/// URLs that were pasted together.
fn parse_contact_page(text: &str) -> Option<ContactPage> {
    if store_spellings::contains_several_urls(text) {
        return None;
    }
    ContactPage::new(store_spellings::with_default_scheme(text))
}

fn parse_address(text: &str) -> Option<Address> {
    Address::new(text.to_owned())
}

fn parse_contract(text: &str) -> Option<ContractText> {
    ContractText::new(text.to_owned())
}

/// Parses a colour by its name or its hexadecimal code.
fn parse_colour(text: &str) -> Option<Colour> {
    Colour::new(store_spellings::colour_to_hex(text))
}

impl StoreInput {
    /// Returns the name of the input in the form, such as `store.timeZone`.
    pub(super) fn id(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Returns the label, in the language of the request.
    pub(super) fn label(&self) -> &'static str {
        let [label, _, _] = (self.texts)(texts());
        label
    }

    /// Returns the error message for an invalid text. The message about a contract with an unknown
    /// placeholder names the placeholder.
    pub(super) fn error_message(&self, text: &str) -> String {
        if self.name == "contract"
            && let Some(name) = find_unknown_placeholder(text)
        {
            return texts().unknown_placeholder(&markup::readable(&name, SHORT_LENGTH));
        }
        let [_, _, message] = (self.texts)(texts());
        message.to_owned()
    }

    /// Returns the options of a dropdown, each with its value and its label. Returns none for any
    /// other control, and for the time zones, whose dropdown has groups.
    pub(super) fn choices(&self) -> Vec<(&'static str, &'static str)> {
        let no_choice = ("", texts().not_chosen);
        let mut choices = Vec::new();
        match self.control {
            Control::StoreKinds => {
                choices.push(no_choice);
                for kind in StoreKind::ALL {
                    choices.push((kind.as_str(), texts().store_kind(kind)));
                }
            }
            Control::Languages => {
                choices.push(no_choice);
                for language in Language::ALL {
                    choices.push((language.as_str(), name_of(language)));
                }
            }
            Control::Line { .. } | Control::Paragraph | Control::TimeZones | Control::Colour => {}
        }
        choices
    }

    /// Returns a value as people read it: the label of the chosen option, the words for an empty
    /// value, or the value itself.
    pub(super) fn value_in_words<'v>(&self, value: &'v str) -> &'v str {
        for (choice, label) in self.choices() {
            if choice == value {
                return label;
            }
        }
        if value.is_empty() {
            return texts().no_value;
        }
        value
    }
}
