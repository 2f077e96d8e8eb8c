//! What the store says about itself, in the settings.

use crate::console::prelude::*;
use crate::{
    app::{Changed, StoreFacts, change_profile},
    console::{
        layout,
        merge::{self, Merged},
        staff,
        store_inputs::{self, PAGES, REACH, StoreInput, WHO, form_of, in_words},
    },
    domain::{
        StoredResponse,
        store_area::{About, Address, EmailAddress, Profile, ProfileChange, TelephoneNumber},
    },
};

const PAGE: &str = "/settings/store";

pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let profile = desk.store().profile().await?;
    Ok(page(desk, &profile, &form_of(&profile), &Errors::default()))
}

fn page(desk: &Desk<'_>, profile: &Profile, form: &Form, errors: &Errors) -> Reply {
    let facts = StoreFacts::new(profile.clone(), &desk.visit.console.settings.store);
    let group = |title: &str, inputs: &[StoreInput], more: &Markup| {
        html! {
            fieldset.card {
                legend { h2 { (title) } }
                div.fields {
                    @for input in inputs { (input.show(form, errors, &facts)) }
                    (more)
                }
            }
        }
    };
    let none = html! {};
    let content = html! {
        h1 { (texts().store) }
        (staff::settings_menu(texts().store))
        p.muted { (texts().store_hint) }
        (errors.summary())
        div.columns.wide {
            form.stack method="post" action=(PAGE) {
                (desk.key("store"))
                (merge::shown(&form_of(profile)))
                (group(texts().who_you_are, WHO, &none))
                (group(texts().how_to_reach_you, REACH, &links(form, errors)))
                (group(texts().pages_heading, PAGES, &none))
                div.buttons { button.main { (texts().save) } }
            }
            (as_shown(desk, &facts))
        }
    };
    Page::new(texts().store, content).wrong_if(!errors.is_empty()).into()
}

/// The store as it is now for everybody.
fn as_shown(desk: &Desk<'_>, facts: &StoreFacts) -> Markup {
    let Profile { about, address, hours, telephone, email, links, colour, .. } = &facts.profile;
    let paragraphs = [
        about.as_ref().map(About::as_str),
        address.as_ref().map(Address::as_str),
        hours.as_ref().map(Address::as_str),
        telephone.as_ref().map(TelephoneNumber::as_str),
        email.as_ref().map(EmailAddress::as_str),
    ];
    html! {
        section.card #shown {
            h2 { (texts().as_shown) }
            p {
                strong { (markup::text(layout::store_name(facts), LONG)) }
                @if let Some(colour) = colour {
                    " " svg role="img" aria-label=(colour.as_str()) width="24" height="24" {
                        rect width="24" height="24" fill=(colour.as_str()) {}
                    }
                }
            }
            @for text in paragraphs.into_iter().flatten() {
                p { @for line in text.lines() { (markup::text(line, About::MAX)) br; } }
            }
            @if let Some(links) = links {
                ul { @for link in links.all() { li { a href=(link.url.as_str()) { (markup::text(link.label.as_str(), SHORT)) } } } }
            }
            @if let Some(url) = &desk.visit.console.settings.window {
                a.button href=(url) { (texts().see_web_site) }
            }
        }
    }
}

/// The links that are used and one more; the others are closed.
fn links(form: &Form, errors: &Errors) -> Markup {
    let links = store_inputs::links(form, errors);
    let used = links.iter().rposition(|(is_used, _)| *is_used).map_or(0, |last| last + 1);
    let (first, others) = links.split_at((used + 1).min(links.len()));
    let row = |[label, url]: &[Markup; 2]| html! { div.row.top { (label) (url) } };
    html! {
        fieldset.fields {
            legend { (texts().links) }
            p.hint { (texts().links_hint) }
            @for (_, inputs) in first { (row(inputs)) }
            @if !others.is_empty() {
                details {
                    summary { (texts().more_links) }
                    div.fields { @for (_, inputs) in others { (row(inputs)) } }
                }
            }
        }
    }
}

pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (sent, mut errors) = (&desk.visit.form, Errors::default());
    let present = desk.store().profile().await?;
    let merged = Merged::of(sent, &form_of(&present));
    let patch = store_inputs::read(&merged.form, &mut errors);
    if !errors.is_empty() {
        return Ok(page(desk, &present, &merged.form, &errors));
    }
    let preconditions = merged.preconditions(merged.is_conflict());
    let respond = |_: &Profile| StoredResponse { status: 200, ..StoredResponse::default() };
    let change = ProfileChange::Patch(Box::new(patch));
    let changed =
        change_profile(desk.store(), &change, &preconditions, desk.context(), respond).await?;
    if let Changed::Done(_) = changed {
        return Ok(staff::see(PAGE, "saved"));
    }
    // What is typed can be saved over what it is now.
    let present = desk.store().profile().await?;
    let merged = Merged::of(sent, &form_of(&present));
    let errors = merged.errors(true, in_words);
    let errors = if errors.is_empty() { Errors::text(texts().store_stale) } else { errors };
    Ok(page(desk, &present, &merged.form, &errors))
}
