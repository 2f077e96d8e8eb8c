//! What the pages say about the store.

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

/// The name of the store, if it has one, as people can read it.
pub(super) fn named(facts: &StoreFacts) -> Option<String> {
    facts.name().value.map(|name| readable(name, usize::MAX))
}

/// The name of the store, or what stands instead of it.
pub(super) fn name(facts: &StoreFacts) -> String {
    named(facts).unwrap_or_else(|| texts().no_store.to_owned())
}

/// The ways to a person, as text and as links: not every computer has a program for these.
pub(super) fn ways(facts: &StoreFacts) -> Markup {
    let (email, telephone) = (&facts.profile.email, &facts.profile.telephone);
    html! {
        @if let Some(number) = telephone {
            a href=(contact::tel(number.as_str())) { (number.as_str()) }
        }
        @if let Some(email) = email {
            a href=(contact::mailto(email.as_str())) {
                bdi { (readable(email.as_str(), usize::MAX)) }
            }
        }
    }
}

/// What the store tells about itself.
pub(super) fn about(facts: &StoreFacts) -> Markup {
    html! {
        @if let Some(about) = &facts.profile.about {
            section.text.us {
                h2 { bdi { (name(facts)) } }
                (paragraphs(about.as_str()))
            }
        }
    }
}

/// The end of a page. `feed` is the query of its feed.
pub(super) fn footer(facts: &StoreFacts, feed: &str) -> Markup {
    let profile = &facts.profile;
    let has_ways = profile.email.is_some() || profile.telephone.is_some();
    html! {
        footer.bottom {
            div {
                strong { bdi { (name(facts)) } }
                @if let Some(address) = &profile.address { p dir="auto" { (lines(address.as_str())) } }
            }
            @if let Some(hours) = &profile.hours {
                div {
                    strong { (texts().hours) }
                    p dir="auto" { (lines(hours.as_str())) }
                }
            }
            @if has_ways { div.ways { (ways(facts)) } }
            div.ways {
                @for Link { label, url } in profile.links.iter().flat_map(Links::all) {
                    a href=(contact::encoded(url.as_str())) { bdi { (readable(label.as_str(), usize::MAX)) } }
                }
                a href={ "/animals.atom" (feed) } type="application/atom+xml" { (texts().feed) }
            }
        }
    }
}

/// A long text with the lines and paragraphs that its author made.
pub(super) fn paragraphs(text: &str) -> Markup {
    let mut text = Cow::Borrowed(text);
    if text.contains('\r') {
        text = text.replace("\r\n", "\n").replace('\r', "\n").into();
    }
    let paragraphs = text
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty());
    html! {
        @for paragraph in paragraphs { p dir="auto" { (lines(paragraph)) } }
    }
}

fn lines(all: &str) -> Markup {
    html! {
        @for (at, line) in all.trim().lines().enumerate() {
            @if at > 0 { br; }
            (text(&readable(line, usize::MAX)))
        }
    }
}

/// The store, as schema.org describes it.
#[derive(Serialize)]
pub(super) struct Organization {
    #[serde(rename = "@type")]
    schema: &'static str,
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

/// `None` if the store says nothing about itself.
pub(super) fn organization(shop: &Shop, facts: &StoreFacts) -> Option<Organization> {
    let profile = &facts.profile;
    let in_one_line = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        readable(&lines.collect::<Vec<_>>().join(", "), usize::MAX)
    };
    let all = Organization {
        schema: "Organization",
        name: named(facts),
        url: shop.url("/"),
        address: profile
            .address
            .as_ref()
            .map(|address| in_one_line(address.as_str())),
        telephone: profile
            .telephone
            .as_ref()
            .map(|number| number.as_str().to_owned()),
        email: profile
            .email
            .as_ref()
            .map(|email| readable(email.as_str(), usize::MAX)),
        logo: profile.logo.map(|logo| shop.url(&logo.path())),
    };
    let said = [
        &all.name,
        &all.address,
        &all.telephone,
        &all.email,
        &all.logo,
    ];
    let has_any = said.into_iter().any(Option::is_some);
    has_any.then_some(all)
}
