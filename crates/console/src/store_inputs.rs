//! What people fill in about the store, each member of the profile declared once: for the form, for what others
//! have changed meanwhile, and for the form that a sign-in interrupts.

use maud::Markup;
use petstore_app::{Contact, Source, StoreFacts};
use petstore_domain::store_area::{
    About, Address, Colour, ContactPage, Currency, EmailAddress, Language, Link, LinkLabel,
    LinkUrl, Links, Patch, Profile, ProfilePatch, StoreKind, StoreName, TelephoneNumber,
};
use petstore_languages::{console::Texts, console_texts as texts, name_of, window_texts};

use super::{
    forms::{Errors, Input},
    markup::{self, SHORT},
    visit::Form,
};

/// How the name of each input begins, because other forms also have a name.
const PREFIX: &str = "store.";

/// A member of the profile that people fill in.
pub(super) struct StoreInput {
    /// The name of the member for programs.
    name: &'static str,
    /// `textarea`, `select`, or the keyboard of a phone; the one for texts if empty.
    kind: &'static str,
    /// Its label, its hint, and what is wrong with an invalid value.
    texts: fn(&Texts) -> [&'static str; 3],
    stored: fn(&Profile) -> Option<&str>,
    /// Reads what was typed. Nothing clears the value.
    read: fn(&str, &mut ProfilePatch) -> Result<(), ()>,
}

macro_rules! groups {
    ($($group:ident { $($member:ident $name:literal $texts:ident $kind:literal: $read:expr;)+ })+) => {
        $(pub(super) static $group: &[StoreInput] = &[$(StoreInput {
            name: $name,
            kind: $kind,
            texts: |texts| texts.$texts,
            stored: |profile| profile.$member.as_ref().map(|value| value.as_str()),
            read: |typed, patch| set(&mut patch.$member, typed, $read),
        }),+];)+

        /// All of them, in the order of the page.
        fn all() -> impl Iterator<Item = &'static StoreInput> {
            [$($group),+].into_iter().flatten()
        }
    };
}

groups! {
    WHO {
        name "name" member_name "": |typed| StoreName::new(typed.to_owned());
        kind "kind" member_kind "select": |typed| typed.parse().ok();
        about "about" member_about "textarea": |typed| About::new(typed.to_owned());
    }
    REACH {
        email "email" member_email "email": |typed| EmailAddress::new(typed.to_owned());
        telephone "telephone" member_telephone "tel": |typed| TelephoneNumber::new(typed.replace(['–', '—'], "-"));
        contact_page "contactPage" member_contact_page "url": |typed| ContactPage::new(typed.to_owned());
        address "address" member_address "textarea": |typed| Address::new(typed.to_owned());
        hours "hours" member_hours "textarea": |typed| Address::new(typed.to_owned());
    }
    PAGES {
        language "language" member_language "select": |typed| typed.parse().ok();
        currency "currency" member_currency "": |typed| Currency::new(&typed.to_ascii_uppercase());
        colour "colour" member_colour "": |typed| Colour::new(typed.to_owned());
    }
}

fn set<T>(
    member: &mut Patch<T>,
    typed: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<(), ()> {
    *member = if typed.is_empty() {
        Patch::Clear
    } else {
        Patch::Set(read(typed).ok_or(())?)
    };
    Ok(())
}

impl StoreInput {
    fn id(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    /// Its values with what people read, if they choose one.
    fn choices(&self) -> Vec<(&'static str, &'static str)> {
        let mut all = vec![("", texts().not_chosen)];
        if self.name == "kind" {
            all.extend(StoreKind::ALL.map(|kind| (kind.as_str(), texts().store_kind(kind))));
        } else {
            all.extend(Language::ALL.map(|of| (of.as_str(), name_of(of))));
        }
        all
    }

    /// The value in force while the profile says nothing, and where it comes from; `None` if there is never
    /// one, or if the profile says something.
    fn fallback(&self, facts: &StoreFacts) -> Option<String> {
        let (from, value, option) = match self.name {
            "name" => (facts.name().from, facts.name().value, "--store-name"),
            "kind" if facts.profile.kind.is_none() => (
                Source::Default,
                Some(texts().store_kind(StoreKind::Shop)),
                "",
            ),
            "language" => {
                let language = facts.language();
                (language.from, Some(name_of(language.value)), "--language")
            }
            "currency" => (
                facts.currency().from,
                facts.currency().value.map(Currency::as_str),
                "--currency",
            ),
            "email" | "telephone" | "contactPage" => match facts.contact().value {
                Some(Contact::Url(url)) => (Source::Option, Some(url.shown()), "--store-contact"),
                _ => return None,
            },
            _ => return None,
        };
        if self.name == "name" && value.is_none() {
            return Some(texts().nameless(texts().site, window_texts().no_store));
        }
        let value = markup::readable(value.unwrap_or(texts().nothing), SHORT);
        match from {
            Source::Profile => None,
            Source::Option => Some(texts().option_counts(option, &value)),
            Source::Default => Some(texts().default_is(&value)),
        }
    }

    /// The input with what was typed into it, and with what is in force without it.
    pub(super) fn show(&self, form: &Form, errors: &Errors, facts: &StoreFacts) -> Markup {
        let (id, [label, hint, _]) = (self.id(), (self.texts)(texts()));
        let hint = format!("{hint} {}", self.fallback(facts).unwrap_or_default());
        let hint = Some(hint.trim()).filter(|hint| !hint.is_empty());
        let input = Input {
            hint,
            ..Input::from_form(&id, label, form, errors)
        };
        match self.kind {
            "select" => input.choose(&self.choices()),
            "textarea" => input.as_textarea().show(),
            inputmode => Input { inputmode, ..input }.show(),
        }
    }
}

/// The names of the inputs of a link, from 1.
fn link_ids(number: usize) -> [String; 2] {
    ["label", "url"].map(|part| format!("{PREFIX}link{number}.{part}"))
}

/// The two inputs of each link.
pub(super) fn links(form: &Form, errors: &Errors) -> Vec<(bool, [Markup; 2])> {
    let link = |number| {
        let [label, url] = link_ids(number);
        let is_used = [&label, &url].iter().any(|id| !form.raw(id).is_empty());
        let shown = [
            Input::from_form(&label, &texts().link_label(number), form, errors).show(),
            Input {
                inputmode: "url",
                ..Input::from_form(&url, &texts().link_url(number), form, errors)
            }
            .show(),
        ];
        (is_used, shown)
    };
    (1..=Links::MAX).map(link).collect()
}

/// The form of a profile as it is.
pub(super) fn form_of(profile: &Profile) -> Form {
    let version = ("version".to_owned(), profile.version.to_string());
    let stored = |of: &StoreInput| (of.id(), (of.stored)(profile).unwrap_or_default().to_owned());
    let links = (1..=Links::MAX).flat_map(|number| {
        let link = profile
            .links
            .as_ref()
            .and_then(|links| links.all().get(number - 1));
        let values = link.map_or(["", ""], |link| [link.label.as_str(), link.url.as_str()]);
        link_ids(number).into_iter().zip(values.map(str::to_owned))
    });
    [version]
        .into_iter()
        .chain(all().map(stored))
        .chain(links)
        .collect()
}

/// The change that was typed.
pub(super) fn read(form: &Form, errors: &mut Errors) -> ProfilePatch {
    let mut patch = ProfilePatch::default();
    for input in all() {
        let id = input.id();
        let Some(typed) = form.all(&id).next() else {
            continue;
        };
        // Browsers send CR LF, which counts as one character for people.
        if (input.read)(&typed.trim().replace("\r\n", "\n"), &mut patch).is_err() {
            errors.add(id, (input.texts)(texts())[2]);
        }
    }
    let mut links = Vec::new();
    for number in 1..=Links::MAX {
        let [label_id, url_id] = link_ids(number);
        let (label, url) = (form.get(&label_id), form.get(&url_id));
        if label.is_empty() && url.is_empty() {
            continue;
        }
        match (
            LinkLabel::new(label.to_owned()),
            LinkUrl::new(url.to_owned()),
        ) {
            (Some(label), Some(url)) => links.push(Link { label, url }),
            (label, url) => {
                if label.is_none() {
                    errors.add(label_id, texts().link_label_invalid);
                }
                if url.is_none() {
                    errors.add(url_id, texts().link_url_invalid);
                }
            }
        }
    }
    if form.all(&link_ids(1)[0]).next().is_some() {
        patch.links = Links::new(links).map_or(Patch::Keep, Patch::Set);
    }
    patch
}

/// The label of an input, and a value of it in words; `None` if it is not about the store.
pub(super) fn in_words(name: &str, value: &str) -> Option<(String, String)> {
    let name = name.strip_prefix(PREFIX)?;
    let words = if value.is_empty() {
        texts().no_value
    } else {
        value
    };
    if let Some(input) = all().find(|input| input.name == name) {
        let choices = if input.kind == "select" {
            input.choices()
        } else {
            Vec::new()
        };
        let chosen = choices
            .iter()
            .find(|(of, _)| *of == value)
            .map_or(words, |(_, words)| words);
        let label = (input.texts)(texts())[0].to_owned();
        return Some((label, markup::readable(chosen, SHORT)));
    }
    let (number, part) = name.strip_prefix("link")?.split_once('.')?;
    let label = if part == "url" {
        texts().link_url
    } else {
        texts().link_label
    };
    Some((label(number.parse().ok()?), markup::readable(words, SHORT)))
}
