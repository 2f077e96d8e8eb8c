//! The parts of pages that present the store itself: its name, contact details, text about itself,
//! footer, and structured data for search engines.

use std::borrow::Cow;

use maud::{Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::{
    store_area::{Link, Links},
    text::readable::readable,
};
use petstore_languages::{look::text, window_texts as texts};
use serde::Serialize;

use super::{contact, shop::Shop};

/// The structured data about the store: an `Organization` of schema.org.
#[derive(Serialize)]
pub(super) struct Organization {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    telephone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logo: Option<String>,
}

impl Organization {
    /// Whether nothing is known about the organization but its URL.
    fn has_only_url(&self) -> bool {
        self.name.is_none()
            && self.address.is_none()
            && self.telephone.is_none()
            && self.email.is_none()
            && self.logo.is_none()
    }
}

/// Returns the name of the store in a form that is safe to display. Returns `None` if the store has
/// no name.
pub(super) fn own_name(facts: &StoreFacts) -> Option<String> {
    facts.name().value.map(readable_untruncated)
}

/// Returns the name of the store, or a generic text if it has none.
pub(super) fn display_name(facts: &StoreFacts) -> String {
    own_name(facts).unwrap_or_else(|| texts().no_store.to_owned())
}

/// Returns a text in a form that is safe to display, like [`readable`], but without truncating it.
fn readable_untruncated(text: &str) -> String {
    readable(text, usize::MAX)
}

/// Renders the telephone number and email address of the store as links. The link texts are the
/// number and address themselves, because not every device has an application for `tel:` and
/// `mailto:` links.
pub(super) fn contact_links(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(number) = &facts.profile.telephone {
            a href=(contact::telephone_url(number.as_str())) { (number.as_str()) }
        }
        @if let Some(email) = &facts.profile.email {
            a href=(contact::mail_url(email.as_str())) {
                bdi { (readable_untruncated(email.as_str())) }
            }
        }
    }
}

/// Renders the section with the store's text about itself, if it has one.
pub(super) fn about_section(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(about) = &facts.profile.about {
            section.text.us {
                h2 { bdi { (display_name(facts)) } }
                (paragraphs(about.as_str()))
            }
        }
    }
}

/// Renders the footer of a page. `feed_query` is the query string of the Atom feed to which the footer
/// links.
pub(super) fn footer(facts: &StoreFacts, feed_query: &str) -> Markup {
    let profile = &facts.profile;
    let has_contact_links = profile.email.is_some() || profile.telephone.is_some();
    html! {
        footer.bottom {
            div {
                strong { bdi { (display_name(facts)) } }
                @if let Some(address) = &profile.address { p dir="auto" { (lines(address.as_str())) } }
            }
            @if let Some(hours) = &profile.hours {
                div {
                    strong { (texts().hours) }
                    p dir="auto" { (lines(hours.as_str())) }
                }
            }
            @if has_contact_links { div.ways { (contact_links(facts)) } }
            div.ways {
                @for Link { label, url } in profile.links.iter().flat_map(Links::all) {
                    a href=(contact::ascii_url(url.as_str())) {
                        bdi { (readable_untruncated(label.as_str())) }
                    }
                }
                a href={ "/animals.atom" (feed_query) } type="application/atom+xml" { (texts().feed) }
            }
        }
    }
}

/// Renders a long text with the line breaks and paragraphs of its author. An empty line separates
/// paragraphs.
///
/// Example: `a\nb` becomes one paragraph of two lines, and `a\n\nb` becomes two paragraphs.
pub(super) fn paragraphs(text: &str) -> Markup {
    let mut unix_text = Cow::Borrowed(text);
    if text.contains('\r') {
        unix_text = text.replace("\r\n", "\n").replace('\r', "\n").into();
    }
    let paragraphs = unix_text
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty());
    html! {
        @for paragraph in paragraphs { p dir="auto" { (lines(paragraph)) } }
    }
}

/// Renders a paragraph with its line breaks.
fn lines(paragraph: &str) -> Markup {
    html! {
        @for (index, line) in paragraph.trim().lines().enumerate() {
            @if index > 0 { br; }
            (text(&readable_untruncated(line)))
        }
    }
}

/// Builds the structured data about the store. Returns `None` if nothing is known about the store
/// except its URL.
pub(super) fn build_organization(shop: &Shop, facts: &StoreFacts) -> Option<Organization> {
    let profile = &facts.profile;
    let address = profile.address.as_ref();
    let telephone = profile.telephone.as_ref();
    let email = profile.email.as_ref();
    let organization = Organization {
        schema_type: "Organization",
        name: own_name(facts),
        url: shop.url("/"),
        address: address.map(|text| on_one_line(text.as_str())),
        telephone: telephone.map(|number| number.as_str().to_owned()),
        email: email.map(|text| readable_untruncated(text.as_str())),
        logo: profile.logo.map(|logo| shop.url(&logo.path())),
    };

    if organization.has_only_url() {
        return None;
    }
    Some(organization)
}

/// Joins the non-empty lines of a text with commas.
///
/// Example: `1 High Street\nOxford` becomes `1 High Street, Oxford`.
fn on_one_line(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    readable_untruncated(&lines.join(", "))
}
