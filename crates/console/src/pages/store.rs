//! What the store says about itself, in the settings.

use petstore_app::{Changed, StoreFacts, change_profile};
use petstore_domain::{
    StoredResponse,
    store_area::{
        About, Address, EmailAddress, Preconditions, Profile, ProfileChange, TelephoneNumber,
    },
};

use super::field_labels;
use crate::{
    ask::Question,
    merge::{self, MergedForm},
    prelude::*,
    staff,
    store_inputs::{self, PAGES, REACH, StoreInput, WHO, form_of, in_words},
};

const PAGE: &str = "/settings/store";

/// The field with the picture of the logo.
pub(super) const LOGO: &str = "logo";

pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let profile = desk.store().profile().await?;
    page(desk, &profile, &form_of(&profile), errors).await
}

async fn page(
    desk: &Desk<'_>,
    profile: &Profile,
    form: &Form,
    errors: &Errors,
) -> Result<Reply, ApiError> {
    let labels = field_labels::offer(desk).await?;
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
        div.columns.wide {
            form.stack data-draft method="post" action=(PAGE) {
                (desk.key("store"))
                (merge::hidden_fields(&form_of(profile)))
                (group(texts().who_you_are, WHO, &none))
                (group(texts().how_to_reach_you, REACH, &links(form, errors)))
                (group(texts().pages_heading, PAGES, &none))
                div.buttons { button.main { (texts().save) } }
            }
            div.stack { (as_shown(desk, &facts)) (logo(desk, profile, errors)) }
        }
        (labels)
    };
    let title = (texts().store, Some(texts().store_hint));
    Ok(staff::settings_page(title, errors, &content))
}

/// The store as it is now for everybody.
fn as_shown(desk: &Desk<'_>, facts: &StoreFacts) -> Markup {
    let Profile {
        about,
        address,
        hours,
        telephone,
        email,
        links,
        colour,
        ..
    } = &facts.profile;
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
            p { strong { (markup::text(facts.name().value.unwrap_or(window_texts().no_store), LONG)) } }
            @if let Some(colour) = colour {
                p {
                    (texts().member_colour[0]) (window_texts().colon)
                    svg role="img" aria-label=(colour.as_str()) width="24" height="24" {
                        rect width="24" height="24" fill=(colour.as_str()) {}
                    }
                }
            }
            @for text in paragraphs.into_iter().flatten() {
                p { (markup::lines(text)) }
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

/// The forms of the logo.
fn logo(desk: &Desk<'_>, profile: &Profile, errors: &Errors) -> Markup {
    let none = Form::default();
    let picture =
        Input::from_form(LOGO, texts().upload_logo, &none, errors).with_hint(texts().logo_hint);
    html! {
        section.card.stack {
            h2 { (texts().logo) }
            @if let Some(logo) = profile.logo {
                // As it is on light and on dark screens.
                div.logos {
                    @for of in ["light", "dark"] {
                        img class=(of) src=(logo.path()) alt="" width=(logo.width) height=(logo.height);
                    }
                }
            }
            form.fields method="post" action={ (PAGE) "/logo" } enctype="multipart/form-data" {
                (desk.key(LOGO))
                (Input { kind: "file", ..picture }.show())
                div.buttons { button { (texts().upload) } }
            }
            @if profile.logo.is_some() {
                form method="post" action={ (PAGE) "/logo/remove" } {
                    (desk.key("remove"))
                    button { (texts().remove_logo) }
                }
            }
        }
    }
}

/// The links that are used and one more; the others are closed.
fn links(form: &Form, errors: &Errors) -> Markup {
    let links = store_inputs::links(form, errors);
    let used = links
        .iter()
        .rposition(|(is_used, _)| *is_used)
        .map_or(0, |last| last + 1);
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
    let merged = MergedForm::new(sent, &form_of(&present));
    let patch = store_inputs::read(&merged.form, &mut errors);
    if !errors.is_empty() {
        return page(desk, &present, &merged.form, &errors).await;
    }
    let preconditions = merged.preconditions(merged.is_conflict());
    if change(desk, ProfileChange::Patch(Box::new(patch)), &preconditions).await? {
        return Ok(staff::see(PAGE, "saved"));
    }
    // What is typed can be saved over what it is now.
    let present = desk.store().profile().await?;
    let merged = MergedForm::new(sent, &form_of(&present));
    let errors = merged.errors(true, in_words);
    let errors = if errors.is_empty() {
        Errors::from_text(texts().store_stale)
    } else {
        errors
    };
    page(desk, &present, &merged.form, &errors).await
}

/// Makes a change, once for all clicks on its form. Returns whether it is made.
async fn change(
    desk: &Desk<'_>,
    change: ProfileChange,
    preconditions: &Preconditions,
) -> Result<bool, ApiError> {
    let respond = |_: &Profile| StoredResponse {
        status: 200,
        ..StoredResponse::default()
    };
    let changed = change_profile(
        desk.store(),
        &change,
        preconditions,
        desk.context(),
        respond,
    )
    .await?;
    Ok(matches!(changed, Changed::Done(_)))
}

/// Gives the store another logo, or none.
pub(super) async fn change_logo(desk: &Desk<'_>, to: ProfileChange) -> Result<Reply, ApiError> {
    if change(desk, to, &Preconditions::default()).await? {
        return Ok(staff::see(PAGE, "saved"));
    }
    show(desk, &Errors::from_text(texts().store_stale)).await
}

pub(super) async fn remove_logo(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let effects = vec![texts().logo_removed_effect.to_owned()];
    let title = texts().remove_logo.to_owned();
    let question = Question {
        title,
        effects,
        yes: texts().remove_logo,
        back: PAGE,
    };
    if let Some(asked) = question.ask(desk, &html! {}) {
        return Ok(asked);
    }
    change_logo(desk, ProfileChange::Logo(None)).await
}
