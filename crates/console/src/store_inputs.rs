//! The editable members of the store profile. Each is declared once, for the form, for messages
//! about concurrent changes, and for the page that shows a form saved during a sign-in.

use maud::{Markup, html};
use petstore_app::{Contact, Source, StoreFacts};
use petstore_domain::store_area::{
    About, Address, Colour, ContactPage, ContractText, Currency, EmailAddress, Language, Link,
    LinkLabel, LinkUrl, Links, Patch, Profile, ProfilePatch, StoreKind, StoreName, StoreTimeZone,
    TelephoneNumber, unknown_placeholder,
};
use petstore_languages::{console::Texts, console_texts as texts, name_of, window_texts};

use super::{
    colour_picker,
    forms::{Errors, Input},
    markup::{self, SHORT_LENGTH},
    store_spellings,
    visit::Form,
};

/// The prefix of each input's name. It distinguishes `store.name` from the `name` of other forms.
const PREFIX: &str = "store.";

/// An editable member of the profile, with its input.
pub(super) struct StoreInput {
    /// The name of the member in JSON, such as `timeZone`.
    name: &'static str,
    /// `textarea`, `select`, `zone`, `colour`, or the `inputmode` of a single-line text, which
    /// selects the on-screen keyboard; empty for the default keyboard.
    kind: &'static str,
    /// Returns the label, the hint, and the error message for an invalid value.
    texts: fn(&Texts) -> [&'static str; 3],
    /// Returns the current value in the profile.
    stored: fn(&Profile) -> Option<&str>,
    /// Parses the submitted text into the patch. An empty text clears the member.
    parse: fn(&str, &mut ProfilePatch) -> Result<(), InvalidValue>,
}

/// The error for a text that is not a valid value of its member.
struct InvalidValue;

/// Declares groups of inputs, one input per line: the member of [`Profile`], its name in JSON, its
/// texts, the kind of input, and the function that parses a text. It is a macro because `stored`
/// and `parse` of each input both need the member.
///
/// `IDENTITY_INPUTS { about "about" member_about "textarea": |text| About::new(text.to_owned()); }`
/// declares a static `IDENTITY_INPUTS` with one [`StoreInput`], which reads and writes `about`. The
/// function `all` returns the inputs of all groups.
macro_rules! groups {
    ($($group:ident { $($member:ident $name:literal $texts:ident $kind:literal: $parse:expr;)+ })+) => {
        $(pub(super) static $group: &[StoreInput] = &[$(StoreInput {
            name: $name,
            kind: $kind,
            texts: |texts| texts.$texts,
            stored: |profile| profile.$member.as_ref().map(|value| value.as_str()),
            parse: |text, patch| set(&mut patch.$member, text, $parse),
        }),+];)+

        /// Returns all inputs, in the order of the page.
        fn all() -> impl Iterator<Item = &'static StoreInput> {
            [$($group),+].into_iter().flatten()
        }
    };
}

groups! {
    IDENTITY_INPUTS {
        name "name" member_name "": |text| StoreName::new(text.to_owned());
        kind "kind" member_kind "select": |text| text.parse().ok();
        about "about" member_about "textarea": |text| About::new(text.to_owned());
    }
    CONTACT_INPUTS {
        email "email" member_email "email": |text| EmailAddress::new(text.to_owned());
        telephone "telephone" member_telephone "tel": |text| TelephoneNumber::new(text.replace(['–', '—'], "-"));
        contact_page "contactPage" member_contact_page "url": parse_contact_page;
        address "address" member_address "textarea": |text| Address::new(text.to_owned());
        hours "hours" member_hours "textarea": |text| Address::new(text.to_owned());
    }
    PAPER_INPUTS {
        contract "contract" member_contract "textarea": |text| ContractText::new(text.to_owned());
    }
    PAGE_INPUTS {
        language "language" member_language "select": |text| text.parse().ok();
        time_zone "timeZone" member_time_zone "zone": StoreTimeZone::from_name;
        currency "currency" member_currency "": store_spellings::parse_currency;
        colour "colour" member_colour "colour": |text| Colour::new(store_spellings::colour_to_hex(text));
    }
}

/// Parses the URL of the store's contact page, in which `https://` is optional. Rejects several
/// URLs that were pasted together.
fn parse_contact_page(text: &str) -> Option<ContactPage> {
    if store_spellings::contains_several_urls(text) {
        return None;
    }
    ContactPage::new(store_spellings::with_default_scheme(text))
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

impl StoreInput {
    /// Returns the name of the input in the form, such as `store.timeZone`.
    fn id(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Returns the label, in the language of the request.
    fn label(&self) -> &'static str {
        let [label, _, _] = (self.texts)(texts());
        label
    }

    /// Returns the error message for an invalid text. The message about a contract with an unknown
    /// placeholder names the placeholder.
    fn error_message(&self, text: &str) -> String {
        if self.name == "contract"
            && let Some(name) = unknown_placeholder(text)
        {
            return texts().unknown_placeholder(&markup::readable(&name, SHORT_LENGTH));
        }
        let [_, _, message] = (self.texts)(texts());
        message.to_owned()
    }

    /// Returns the values and labels of the options of a dropdown.
    fn choices(&self) -> Vec<(&'static str, &'static str)> {
        let mut choices = vec![("", texts().not_chosen)];
        if self.name == "kind" {
            for kind in StoreKind::ALL {
                choices.push((kind.as_str(), texts().store_kind(kind)));
            }
        } else {
            for language in Language::ALL {
                choices.push((language.as_str(), name_of(language)));
            }
        }
        choices
    }

    /// Returns the hint about the value that applies while the profile has none: the operator's
    /// option or a default. `None` if the profile has a value, or if nothing else applies.
    fn fallback_hint(&self, facts: &StoreFacts) -> Option<String> {
        if self.name == "name" && facts.name().value.is_none() {
            return Some(texts().nameless(texts().site, window_texts().no_store));
        }
        let fallback = self.fallback_value(facts)?;
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

    /// Returns the value that currently applies and its source; `None` for a member without an
    /// option or a default.
    fn fallback_value<'f>(&self, facts: &'f StoreFacts) -> Option<Fallback<'f>> {
        match self.name {
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

    /// Renders the input with its value and its error from the form, and a hint about the value
    /// that applies while the profile has none.
    pub(super) fn show(&self, form: &Form, errors: &Errors, facts: &StoreFacts) -> Markup {
        let id = self.id();
        let [label, hint, _] = (self.texts)(texts());
        let fallback = self.fallback_hint(facts).unwrap_or_default();
        let hint = format!("{hint} {fallback}");
        let mut input = Input::from_form(&id, label, form, errors);
        if !hint.trim().is_empty() {
            input.hint = Some(hint.trim());
        }
        match self.kind {
            "select" if self.name == "language" => html! {
                (input.show_dropdown(&self.choices())) (labels_checkbox())
            },
            "select" => input.show_dropdown(&self.choices()),
            "zone" => input.show_zone_dropdown(),
            "textarea" => input.make_multiline().show(),
            "colour" => html! { (input.show()) (colour_picker::picker(form)) },
            inputmode => {
                input.inputmode = inputmode;
                input.show()
            }
        }
    }
}

/// The name of the checkbox by which a change of the store's language also translates the labels of
/// the store's fields.
pub(super) const WITH_LABELS: &str = "with-labels";

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

/// The value that applies to a member, and where it comes from.
struct Fallback<'f> {
    source: Source,
    /// The value; `None` for a name or a currency that is not set anywhere.
    value: Option<&'f str>,
}

/// Returns the names of the two inputs of a link: `store.link1.label` and `store.link1.url` for the
/// first link.
fn link_ids(number: usize) -> [String; 2] {
    ["label", "url"].map(|part| format!("{PREFIX}link{number}.{part}"))
}

/// The two inputs of a link.
pub(super) struct LinkInputs {
    /// Whether at least one of them is filled in.
    pub(super) is_used: bool,
    pub(super) label: Markup,
    pub(super) url: Markup,
}

/// Renders the inputs of all links.
pub(super) fn link_inputs(form: &Form, errors: &Errors) -> Vec<LinkInputs> {
    let mut links = Vec::new();
    for number in 1..=Links::MAX {
        let [label_id, url_id] = link_ids(number);
        let label_text = texts().link_label(number);
        let url_text = texts().link_url(number);
        let label = Input::from_form(&label_id, &label_text, form, errors);
        let mut url = Input::from_form(&url_id, &url_text, form, errors);
        url.inputmode = "url";
        links.push(LinkInputs {
            is_used: !label.value.is_empty() || !url.value.is_empty(),
            label: label.show(),
            url: url.show(),
        });
    }
    links
}

/// Returns the form for a stored profile, before anybody edits it: the current value of each input,
/// and the version.
pub(super) fn form_of(profile: &Profile) -> Form {
    let mut fields = vec![("version".to_owned(), profile.version.to_string())];
    for input in all() {
        let value = (input.stored)(profile).unwrap_or_default();
        fields.push((input.id(), value.to_owned()));
    }
    let links = profile.links.as_ref().map_or(&[][..], |links| links.all());
    for number in 1..=Links::MAX {
        let [label_id, url_id] = link_ids(number);
        let link = links.get(number - 1);
        let label = link.map_or("", |link| link.label.as_str());
        let url = link.map_or("", |link| link.url.as_str());
        fields.push((label_id, label.to_owned()));
        fields.push((url_id, url.to_owned()));
    }
    fields.into_iter().collect()
}

/// Parses a submitted form into a patch of the profile. Adds an error for each invalid input.
/// Inputs that the form does not have are left unchanged.
pub(super) fn parse_patch(form: &Form, errors: &mut Errors) -> ProfilePatch {
    let mut patch = ProfilePatch::default();
    for input in all() {
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
    // A form has the inputs of all links or of none.
    let [first_label_id, _] = link_ids(1);
    if form.all(&first_label_id).next().is_some() {
        patch.links = Links::new(links).map_or(Patch::Keep, Patch::Set);
    }
    patch
}

/// Parses the links in a form. Adds an error for each invalid input. Skips links whose label and
/// URL are both empty.
fn parse_links(form: &Form, errors: &mut Errors) -> Vec<Link> {
    let mut links = Vec::new();
    for number in 1..=Links::MAX {
        let [label_id, url_id] = link_ids(number);
        if form.get(&label_id).is_empty() && form.get(&url_id).is_empty() {
            continue;
        }
        let label = LinkLabel::new(form.get(&label_id).to_owned());
        let typed_url = form.get(&url_id);
        let has_several_urls = store_spellings::contains_several_urls(typed_url);
        let url = LinkUrl::new(store_spellings::with_default_scheme(typed_url));
        if label.is_none() {
            errors.add(label_id, texts().link_label_invalid);
        }
        if has_several_urls {
            errors.add(url_id, texts().several_urls);
        } else if url.is_none() {
            errors.add(url_id, texts().link_url_invalid);
        }
        if let (Some(label), Some(url)) = (label, url) {
            links.push(Link { label, url });
        }
    }
    links
}

/// Returns the label of an input, and a value of the input as people read it; `None` if this is not
/// the name of an input of the store profile.
pub(super) fn in_words(name: &str, value: &str) -> Option<(String, String)> {
    let name = name.strip_prefix(PREFIX)?;
    if let Some(input) = all().find(|input| input.name == name) {
        let words = markup::readable(value_in_words(input, value), SHORT_LENGTH);
        return Some((input.label().to_owned(), words));
    }
    let (number, part) = name.strip_prefix("link")?.split_once('.')?;
    let number = number.parse().ok()?;
    let label = if part == "url" {
        (texts().link_url)(number)
    } else {
        (texts().link_label)(number)
    };
    let words = if value.is_empty() {
        texts().no_value
    } else {
        value
    };
    Some((label, markup::readable(words, SHORT_LENGTH)))
}

/// Returns a value as people read it: the label of the chosen option, the words for an empty value,
/// or the value itself.
fn value_in_words<'v>(input: &StoreInput, value: &'v str) -> &'v str {
    if input.kind == "select" {
        for (choice, label) in input.choices() {
            if choice == value {
                return label;
            }
        }
    }
    if value.is_empty() {
        return texts().no_value;
    }
    value
}
