//! The settings page for the public profile of the store, such as its name, contact data, logo and
//! language, and the forms that change the profile.

use petstore_app::{Changed, StoreFacts, change_profile};
use petstore_domain::{
    StoredResponse,
    store_area::{
        About, Address, EmailAddress, Preconditions, Profile, ProfileChange, TelephoneNumber,
    },
};

use super::{field_labels, shelter_fields};
use crate::{
    ask::Question,
    colour_picker,
    merge::{self, MergedForm, ReportedChanges},
    prelude::*,
    staff, static_assets,
    store_inputs::{
        self, CONTACT_INPUTS, IDENTITY_INPUTS, LinkInputs, PAGE_INPUTS, PAPER_INPUTS, StoreInput,
        form_of, in_words,
    },
};

/// The path of this page.
const STORE_PATH: &str = "/settings/store";

/// The name of the file input for the logo.
pub(super) const LOGO: &str = "logo";

/// Handles `GET /settings/store`: renders the page with the saved profile, and the errors of a
/// rejected form if there are any.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let profile = desk.store().profile().await?;
    show_profile(desk, &profile, &form_of(&profile), errors).await
}

/// Renders the page of this profile, with these form values and errors.
async fn show_profile(
    desk: &Desk<'_>,
    profile: &Profile,
    form: &Form,
    errors: &Errors,
) -> Result<Reply, ApiError> {
    let relabel_form = field_labels::relabel_form(desk).await?;
    let missing_fields_form = shelter_fields::load_missing_fields_form(desk).await?;
    let facts = StoreFacts::new(profile.clone(), &desk.visit.console.settings.store);
    let nothing = html! {};
    let identity = profile_inputs(IDENTITY_INPUTS, form, errors, &facts);
    let contact = profile_inputs(CONTACT_INPUTS, form, errors, &facts);
    let paper = profile_inputs(PAPER_INPUTS, form, errors, &facts);
    let pages = profile_inputs(PAGE_INPUTS, form, errors, &facts);
    let content = html! {
        div.columns.wide {
            form.stack data-draft method="post" action=(STORE_PATH) {
                (desk.idempotency_field("store"))
                (merge::hidden_fields(&form_of(profile)))
                (input_group(texts().who_you_are, &identity, &nothing))
                (input_group(texts().how_to_reach_you, &contact, &link_group(form, errors)))
                (input_group(texts().paper_heading, &paper, &nothing))
                (input_group(texts().pages_heading, &pages, &nothing))
                div.buttons { button.main { (texts().save) } }
            }
            div.stack {
                (public_profile(desk, &facts))
                (logo_forms(desk, profile, errors))
            }
        }
        (relabel_form)
        (missing_fields_form)
        script defer src=(static_assets::zones_script()) {}
    };
    let hint = Some(texts().store_hint);
    Ok(staff::settings_page(texts().store, hint, errors, &content))
}

/// Renders these inputs of the profile.
fn profile_inputs(
    inputs: &[StoreInput],
    form: &Form,
    errors: &Errors,
    facts: &StoreFacts,
) -> Markup {
    html! { @for input in inputs { (input.show(form, errors, facts)) } }
}

/// Renders a group of inputs with its heading. `last_inputs` are further inputs, at its end.
fn input_group(title: &str, inputs: &Markup, last_inputs: &Markup) -> Markup {
    html! {
        fieldset.card {
            legend { h2 { (title) } }
            div.fields { (inputs) (last_inputs) }
        }
    }
}

/// Renders the saved profile as the public sees it.
fn public_profile(desk: &Desk<'_>, facts: &StoreFacts) -> Markup {
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
    let name = facts.name().value.unwrap_or(window_texts().no_store);
    html! {
        section.card #shown {
            h2 { (texts().as_shown) }
            p { strong { (markup::text(name, LONG_LENGTH)) } }
            @if let Some(colour) = colour { (colour_sample(colour.as_str())) }
            @for text in paragraphs.into_iter().flatten() { p { (markup::lines(text)) } }
            @if let Some(links) = links {
                ul {
                    @for link in links.all() {
                        li {
                            a href=(link.url.as_str()) { (markup::text(link.label.as_str(), SHORT_LENGTH)) }
                        }
                    }
                }
            }
            @if let Some(url) = &desk.visit.console.settings.window {
                a.button href=(url) { (texts().see_website) }
            }
        }
    }
}

/// Renders the colour of the store as a small square.
fn colour_sample(colour: &str) -> Markup {
    html! {
        p {
            (texts().member_colour[0]) (window_texts().colon)
            svg role="img" aria-label=(colour) width="24" height="24" {
                rect width="24" height="24" fill=(colour) {}
            }
        }
    }
}

/// Renders the logo, and the forms that replace and remove it.
fn logo_forms(desk: &Desk<'_>, profile: &Profile, errors: &Errors) -> Markup {
    let empty_form = Form::default();
    let mut picture = Input::from_form(LOGO, texts().upload_logo, &empty_form, errors)
        .with_hint(texts().logo_hint);
    picture.kind = InputKind::File;
    html! {
        section.card.stack {
            h2 { (texts().logo) }
            @if let Some(logo) = profile.logo {
                // Shown on both backgrounds, so that the member sees whether the logo is legible on
                // light and dark screens.
                div.logos {
                    @for class in ["light", "dark"] {
                        img class=(class) src=(logo.path()) alt=""
                            width=(logo.width) height=(logo.height);
                    }
                }
            }
            form.fields method="post" action={ (STORE_PATH) "/logo" } enctype="multipart/form-data" {
                (desk.idempotency_field(LOGO))
                (picture.show())
                div.buttons { button { (texts().upload) } }
            }
            @if profile.logo.is_some() {
                form method="post" action={ (STORE_PATH) "/logo/remove" } {
                    (desk.idempotency_field("remove"))
                    button { (texts().remove_logo) }
                }
            }
        }
    }
}

/// Renders the inputs for the links. The inputs for the used links and for one more link are
/// visible, and the others are collapsed.
fn link_group(form: &Form, errors: &Errors) -> Markup {
    let links = store_inputs::link_inputs(form, errors);
    // There can be unused links before the last used one.
    let next_free_index = match links.iter().rposition(|link| link.is_used) {
        Some(last_used_index) => last_used_index + 1,
        None => 0,
    };
    let open_count = links.len().min(next_free_index + 1);
    let (open_links, closed_links) = links.split_at(open_count);
    html! {
        fieldset.fields {
            legend { (texts().links) }
            p.hint { (texts().links_hint) }
            (link_rows(open_links))
            @if !closed_links.is_empty() {
                details {
                    summary { (texts().more_links) }
                    div.fields { (link_rows(closed_links)) }
                }
            }
        }
    }
}

/// Renders the inputs for links, one row for each link.
fn link_rows(links: &[LinkInputs]) -> Markup {
    html! {
        @for link in links { div.row.top { (link.label) (link.url) } }
    }
}

/// Handles `POST /settings/store`: saves the profile.
///
/// If this makes the store a shelter, the store gets the default fields of a shelter. If the
/// language changes and the member asked for it, the fields are relabelled.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let submitted_form = &colour_picker::with_picked_colour(&desk.visit.form);
    let profile = desk.store().profile().await?;
    let current_form = form_of(&profile);
    let merged_form = MergedForm::new(submitted_form, &current_form);
    let mut errors = Errors::default();
    let patch = store_inputs::parse_patch(&merged_form.form, &mut errors);
    if !errors.is_empty() {
        return show_profile(desk, &profile, &merged_form.form, &errors).await;
    }
    let preconditions = merged_form.preconditions(merged_form.is_conflict());
    let change = ProfileChange::Patch(Box::new(patch));
    let is_saved = execute_change(desk, change, &preconditions).await?;
    if !is_saved {
        return show_conflict(desk, submitted_form).await;
    }

    shelter_fields::add_to_new_shelter(desk, &profile).await?;
    let changes_language = merge::differs(&merged_form.form, &current_form, "store.language");
    let wants_new_labels = !submitted_form.get(store_inputs::WITH_LABELS).is_empty();
    if changes_language && wants_new_labels {
        field_labels::relabel_for_new_language(desk).await?;
    }
    Ok(staff::redirect_with_message(STORE_PATH, "saved"))
}

/// Renders the page with the submitted values, after somebody else has changed the profile.
///
/// The page compares the values with the current profile, so that the member can save them over it.
async fn show_conflict(desk: &Desk<'_>, submitted_form: &Form) -> Result<Reply, ApiError> {
    let profile = desk.store().profile().await?;
    let merged_form = MergedForm::new(submitted_form, &form_of(&profile));
    let mut errors = merged_form.change_messages(ReportedChanges::Conflicts, in_words);
    if errors.is_empty() {
        errors = Errors::from_text(texts().store_stale);
    }
    show_profile(desk, &profile, &merged_form.form, &errors).await
}

/// Changes the profile, at most once for all submissions of the same form.
///
/// Returns whether this or an earlier submission made the change. If neither did, the preconditions
/// failed.
async fn execute_change(
    desk: &Desk<'_>,
    change: ProfileChange,
    preconditions: &Preconditions,
) -> Result<bool, ApiError> {
    let respond = |_: &Profile| StoredResponse {
        status: 200,
        ..StoredResponse::default()
    };
    let context = desk.context();
    let result = change_profile(desk.store(), &change, preconditions, context, respond).await?;
    Ok(matches!(result, Changed::Done(_)))
}

/// Replaces or removes the logo, and redirects to the settings page of the store.
pub(super) async fn change_logo(
    desk: &Desk<'_>,
    logo_change: ProfileChange,
) -> Result<Reply, ApiError> {
    if execute_change(desk, logo_change, &Preconditions::default()).await? {
        return Ok(staff::redirect_with_message(STORE_PATH, "saved"));
    }
    show(desk, &Errors::from_text(texts().store_stale)).await
}

/// Handles `POST /settings/store/logo/remove`: removes the logo, after a confirmation.
pub(super) async fn remove_logo(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let question = Question {
        title: texts().remove_logo.to_owned(),
        effects: vec![texts().logo_removed_effect.to_owned()],
        confirm_label: texts().remove_logo,
        back_path: STORE_PATH,
    };
    if let Some(page) = question.ask(desk, &html! {}) {
        return Ok(page);
    }
    change_logo(desk, ProfileChange::Logo(None)).await
}
