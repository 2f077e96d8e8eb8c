//! The inputs for the links of the store profile. Each link has an input for its label, and one for
//! its URL.

use maud::Markup;
use petstore_domain::store_area::{Link, LinkLabel, LinkUrl, Links, Profile};
use petstore_languages::console_texts as texts;

use super::declarations::PREFIX;
use crate::{
    forms::{Errors, Input},
    markup::{self, SHORT_LENGTH},
    store_spellings,
    visit::Form,
};

/// The names of the two inputs of a link.
struct LinkInputNames {
    label: String,
    url: String,
}

impl LinkInputNames {
    /// Returns the names of the inputs of the link with this number, counted from 1:
    /// `store.link1.label` and `store.link1.url` for the first link.
    fn new(number: usize) -> Self {
        Self {
            label: format!("{PREFIX}link{number}.label"),
            url: format!("{PREFIX}link{number}.url"),
        }
    }
}

/// The two rendered inputs of a link.
pub(crate) struct LinkInputs {
    /// Whether at least one of the inputs is filled in.
    pub(crate) is_used: bool,
    pub(crate) label: Markup,
    pub(crate) url: Markup,
}

/// Renders the inputs of all links.
pub(crate) fn link_inputs(form: &Form, errors: &Errors) -> Vec<LinkInputs> {
    let mut links = Vec::new();
    for number in 1..=Links::MAX {
        let names = LinkInputNames::new(number);
        let label_text = texts().link_label(number);
        let url_text = texts().link_url(number);
        let label = Input::from_form(&names.label, &label_text, form, errors);
        let mut url = Input::from_form(&names.url, &url_text, form, errors);
        url.inputmode = "url";
        links.push(LinkInputs {
            is_used: !label.value.is_empty() || !url.value.is_empty(),
            label: label.show(),
            url: url.show(),
        });
    }
    links
}

/// Adds the current values of all links of a profile to the fields of a form.
pub(super) fn add_stored_values(profile: &Profile, fields: &mut Vec<(String, String)>) {
    let links = match &profile.links {
        Some(links) => links.all(),
        None => &[],
    };
    for number in 1..=Links::MAX {
        let names = LinkInputNames::new(number);
        let link = links.get(number - 1);
        let label = link.map_or("", |link| link.label.as_str());
        let url = link.map_or("", |link| link.url.as_str());
        fields.push((names.label, label.to_owned()));
        fields.push((names.url, url.to_owned()));
    }
}

/// Whether a form has the inputs of links. A form has the inputs of all links or of none.
pub(super) fn has_link_inputs(form: &Form) -> bool {
    let names_of_first_link = LinkInputNames::new(1);
    form.all(&names_of_first_link.label).next().is_some()
}

/// Parses the links in a form, at most [`Links::MAX`]. Skips links whose label and URL are both
/// empty. Adds an error for each invalid input; the caller must then not save the links.
pub(super) fn parse_links(form: &Form, errors: &mut Errors) -> Vec<Link> {
    let mut links = Vec::new();
    for number in 1..=Links::MAX {
        let names = LinkInputNames::new(number);
        let typed_label = form.get(&names.label);
        let typed_url = form.get(&names.url);
        if typed_label.is_empty() && typed_url.is_empty() {
            continue;
        }
        let label = LinkLabel::new(typed_label.to_owned());
        let has_several_urls = store_spellings::contains_several_urls(typed_url);
        let url = LinkUrl::new(store_spellings::with_default_scheme(typed_url));
        if label.is_none() {
            errors.add(names.label, texts().link_label_invalid);
        }
        if has_several_urls {
            errors.add(names.url, texts().several_urls);
        } else if url.is_none() {
            errors.add(names.url, texts().link_url_invalid);
        }
        if let (Some(label), Some(url)) = (label, url) {
            links.push(Link { label, url });
        }
    }
    links
}

/// Returns the label of an input of a link, and a value of the input as people read it. Returns
/// `None` if this is not the name of such an input. The name comes without its [`PREFIX`].
pub(super) fn in_words(name_without_prefix: &str, value: &str) -> Option<(String, String)> {
    let (number, part) = name_without_prefix.strip_prefix("link")?.split_once('.')?;
    let number = number.parse().ok()?;
    let label = if part == "url" {
        texts().link_url(number)
    } else {
        texts().link_label(number)
    };
    let words = if value.is_empty() {
        texts().no_value
    } else {
        value
    };
    Some((label, markup::readable(words, SHORT_LENGTH)))
}
