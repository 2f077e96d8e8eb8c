//! The page with the photos of an animal, and the inputs for photos of a new animal.

use petstore_domain::{
    PetId,
    store_area::{AltText, Focus, Photo, PhotoId, Photos, StorePet},
};
use petstore_languages::look;

use super::parts::{live_content, missing_page};
use crate::{layout::Follows, merge, prelude::*, reply::Flash, static_assets};

/// The name of the file input for pictures.
pub(super) const PICTURES: &str = "pictures";

/// The name of the field for a waiting photo, in the form of a new animal. A waiting photo is
/// uploaded before its animal is added: see [`super::waiting_photos`].
pub(super) const PHOTO: &str = "photo";

/// The names by which the script looks up its texts, in the order of the texts.
const UPLOAD_TEXT_NAMES: [&str; 16] = [
    "waiting", "sending", "answer", "added", "failed", "again", "drop", "large", "lost", "out",
    "same", "fit", "one", "many", "unsent", "wait",
];

/// The values of the dropdown for the focus of a photo. Each is a point, as fractions of the width
/// and of the height, from the top left corner. The first one, an empty text, stands for no focus.
const POINTS: [&str; 10] = [
    "", "0.2,0.2", "0.5,0.2", "0.8,0.2", "0.2,0.5", "0.5,0.5", "0.8,0.5", "0.2,0.8", "0.5,0.8",
    "0.8,0.8",
];

/// The longer side of the clickable picture, in pixels. The size is fixed, because the browser
/// sends the position of a click in pixels, which mean nothing without the size of the picture.
const CLICKABLE_SIDE: u32 = 240;

/// What sends the pictures that are chosen in an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PictureInput {
    /// The browser sends them with the form, or the script sends them.
    Submitted,
    /// Only the script sends them. The input is disabled until the script of the page enables it.
    ScriptOnly,
}

/// Renders the page of the photos of an animal, with the errors of a rejected form.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let title = texts().photos_of(&markup::plain_name(pet.name.as_str()));
    // The part of the page that the script replaces when the animal changes.
    let live_part = html! {
        div.head {
            h1 { (title) }
            a href={ "/animals/" (pet.id) } { (texts().to_animal) }
        }
        (photos_card(desk, &pet))
    };
    let content = html! { (live_content(errors, &live_part)) (script()) };
    let page = Page::new(title, content).following(Follows::Pet(pet.id.get()));
    Ok(page.with_error_status_if(!errors.is_empty()).into())
}

/// Returns the path of the page with the photos of an animal.
pub(super) fn photos_path(id: PetId) -> String {
    format!("/animals/{id}/photos")
}

/// Redirects to the photos of an animal, with a message.
pub(super) fn redirect_to_photos(id: PetId, flash: Flash) -> Reply {
    Reply::Redirect(photos_path(id), Some(flash))
}

/// Renders the photos, and the forms that change them.
fn photos_card(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let photos = pet.photos.all();
    let may_change = desk.may_write() && pet.withdrawal.is_none();
    let may_add = may_change && desk.app().photos.storage().is_some();
    let is_full = photos.len() >= Photos::MAX;
    html! {
        @if !photos.is_empty() || may_add {
            section.card.no-print #photos {
                div #shown {
                    @if !photos.is_empty() && may_change {
                        (change_form(desk, pet))
                    } @else if !photos.is_empty() {
                        (photo_list(pet))
                    }
                    @if may_add && is_full { p.hint { (texts().too_many_photos) } }
                }
                @if may_add {
                    (upload_form(desk, pet, is_full))
                    // The script sends the pictures to the path of the form above.
                    (upload_list(None))
                }
            }
        }
    }
}

/// Renders the form that changes photos.
fn change_form(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    html! {
        form method="post" action={ "/animals/" (pet.id) "/photos/change" } {
            (desk.idempotency_field("photos-change"))
            (merge::hidden_fields(&form_of_photos(pet)))
            // The Enter key presses the first button of a form, so the first button saves.
            div.buttons { button.main name="do" value="save" { (texts().save) } }
            (editable_photo_list(desk, pet))
        }
    }
}

/// Renders the form that adds photos. With a script, choosing pictures uploads them, so the button
/// is only for browsers without scripts.
fn upload_form(desk: &Desk<'_>, pet: &StorePet, is_hidden: bool) -> Markup {
    html! {
        form.fields #upload data-kept method="post" action={ "/animals/" (pet.id) "/photos" }
            enctype="multipart/form-data" hidden[is_hidden] {
            (desk.idempotency_field("photos"))
            (picture_input(PictureInput::Submitted))
            noscript {
                @if !pet.photos.all().is_empty() { p.hint { (texts().save_texts_first) } }
                div.buttons { button.main { (texts().upload) } }
            }
        }
    }
}

/// Renders the input for pictures. Phones convert pictures of other types into an accepted one.
fn picture_input(kind: PictureInput) -> Markup {
    let is_disabled = kind == PictureInput::ScriptOnly;
    html! {
        div.field {
            // The label of a file input is in the language of the browser, so with a script, our
            // label takes its place.
            div.picker {
                label.button for="pictures" { (texts().add_photos) }
                input #pictures type="file" name=(PICTURES)
                    accept="image/jpeg,image/png,image/webp,image/gif" multiple
                    required[!is_disabled] disabled[is_disabled] aria-describedby="pictures-hint";
            }
            p.hint #pictures-hint { (texts().photos_hint) }
        }
    }
}

/// Renders the empty list in which the script shows its uploads, and the texts of the script.
///
/// `target` is the path to which the script sends the pictures if the page has no form for them.
fn upload_list(target: Option<&str>) -> Markup {
    html! {
        div #uploads data-kept data-most=(Photos::MAX) data-target=[target] {
            @for (name, text) in UPLOAD_TEXT_NAMES.iter().zip(texts().uploads) {
                span hidden data-text=(name) { (text) }
            }
            p #sent role="status" tabindex="-1" {}
            ul.uploads {}
        }
    }
}

/// Renders the script of the pages with pictures. It must be outside of the content that the script
/// replaces, because replacing it would not run it again.
fn script() -> Markup {
    html! { script defer src=(static_assets::photos_script()) {} }
}

/// Renders the input for the photos of a new animal, and the photos that are already uploaded.
/// Their tokens are in `form`.
///
/// Only the script can upload photos while the member fills in the form. Without scripts, the page
/// says that photos can be added later.
pub(super) fn new_animal_photos(desk: &Desk<'_>, form: &Form) -> Markup {
    html! {
        @if desk.app().photos.storage().is_some() {
            div hidden data-scripted { (picture_input(PictureInput::ScriptOnly)) }
            noscript { p.hint { (texts().photos_after) } }
            // The script gives each added photo a checkbox with this label.
            ol.photos.waiting #waiting data-label=(texts().take_photo) {
                @for token in form.all(PHOTO) { (waiting_photo(token)) }
            }
            (upload_list(Some("/add/photo")))
            (script())
        }
    }
}

/// Renders a photo that waits for its animal, with a checkbox. An unchecked photo is not added.
///
/// `token` is the token of the photo, which begins with its id.
pub(super) fn waiting_photo(token: &str) -> Markup {
    let id = token.split('.').next().unwrap_or_default();
    html! {
        li {
            label {
                img src={ "/photos/" (id) "-small.jpg" } alt="";
                input type="checkbox" name=(PHOTO) value=(token) checked;
                (texts().take_photo)
            }
        }
    }
}

/// Renders the photos of an animal as a list.
fn photo_list(pet: &StorePet) -> Markup {
    let name = markup::plain_name(pet.name.as_str());
    html! {
        ol.photos {
            @for (index, photo) in pet.photos.all().iter().enumerate() {
                li data-photo=(photo.id) { (linked_photo(photo, index, &name)) }
            }
        }
    }
}

/// Renders the photos of an animal as a list. Each photo has inputs and buttons, which belong to
/// the form around the list.
fn editable_photo_list(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let photos = pet.photos.all();
    let name = markup::plain_name(pet.name.as_str());
    html! {
        ol.photos {
            @for (index, photo) in photos.iter().enumerate() {
                @let is_last = index + 1 == photos.len();
                li data-photo=(photo.id) {
                    (linked_photo(photo, index, &name))
                    (photo_inputs(desk, index, photo, is_last))
                }
            }
        }
    }
}

/// Renders a photo in its small size, with a link to its large size. For the parameters, see
/// [`small_photo`].
fn linked_photo(photo: &Photo, index: usize, pet_name: &str) -> Markup {
    html! {
        a href={ "/photos/" (photo.id) "-large.jpg" } { (small_photo(photo, index, pet_name)) }
    }
}

/// Renders a photo in its small size. `index` is its zero-based position among the photos of the
/// animal, and `pet_name` is the name of the animal.
pub(super) fn small_photo(photo: &Photo, index: usize, pet_name: &str) -> Markup {
    let text = photo.alt.as_ref().map(AltText::as_str);
    let alt = texts().photo_of(index + 1, pet_name, text);
    html! {
        img class=[look::focus(photo.focus)] src={ "/photos/" (photo.id) "-small.jpg" }
            loading="lazy" alt=(alt);
    }
}

/// Renders the inputs for the alternative text and the focus of a photo, and the buttons that move,
/// turn and delete it.
fn photo_inputs(desk: &Desk<'_>, index: usize, photo: &Photo, is_last: bool) -> Markup {
    let number = index + 1;
    let alt_name = alt_input_name(photo.id);
    let stored_alt = photo.alt.as_ref().map_or("", AltText::as_str);
    let alt = edited_value(desk, &alt_name).unwrap_or(stored_alt);
    // The verb is one that `photo_forms` parses.
    let button = |verb: &str, label: &str| {
        let full_label = texts().photo_button(label, number);
        html! {
            button name="do" value={ (verb) "-" (photo.id) } aria-label=(full_label) { (label) }
        }
    };
    html! {
        div.fields {
            div.field {
                label for=(alt_name) { (texts().alt_of(number)) }
                input #(alt_name) name=(alt_name) type="text" value=(alt) maxlength="500"
                    dir="auto" autocomplete="off";
            }
            div.buttons {
                @if index > 0 {
                    (button("first", texts().make_main))
                    (button("up", texts().move_up))
                }
                @if !is_last { (button("down", texts().move_down)) }
                (button("left", texts().turn_left))
                (button("right", texts().turn_right))
                (button("delete", texts().delete))
            }
            (focus_inputs(desk, number, photo))
        }
    }
}

/// Returns the submitted value of an input, if the member edited it.
fn edited_value<'d>(desk: &'d Desk<'_>, name: &str) -> Option<&'d str> {
    let submitted_form = &desk.visit.form;
    if !merge::is_touched(submitted_form, name) {
        return None;
    }
    submitted_form.all(name).next()
}

/// Returns the width and the height of the clickable picture of a photo, in pixels.
pub(super) fn clickable_size(photo: &Photo) -> [u32; 2] {
    let longer_side = photo.width.max(photo.height).max(1);
    [photo.width, photo.height].map(|side| (side * CLICKABLE_SIDE / longer_side).max(1))
}

/// Renders the inputs for the focus of a photo, the point that stays visible when the photo is
/// cropped.
///
/// The inputs are a picture to click, and a dropdown for people who use a keyboard. They are
/// collapsed, because few photos need them.
fn focus_inputs(desk: &Desk<'_>, number: usize, photo: &Photo) -> Markup {
    let input_name = focus_input_name(photo.id);
    let stored_value = format_focus(photo.focus);
    let value = edited_value(desk, &input_name).unwrap_or(&stored_value);
    let label = texts().look_at(number);
    let input = Input {
        id: &input_name,
        label: &label,
        value,
        ..Input::default()
    };
    let [width, height] = clickable_size(photo);
    html! {
        details {
            summary { (texts().look_more) }
            p.hint { (texts().look_hint) }
            div.point {
                input type="image" name={ "point-" (photo.id) }
                    src={ "/photos/" (photo.id) "-small.jpg" }
                    width=(width) height=(height) alt=(label) tabindex="-1";
                @if let Some(class) = look::focus(photo.focus) { span.{ "mark " (class) } {} }
            }
            (input.show_dropdown(&point_options(value)))
        }
    }
}

/// Returns the options of the dropdown for the focus of a photo. A point that was chosen by a click
/// is not one of [`POINTS`], so a `value` of this kind gets an option of its own.
fn point_options(value: &str) -> Vec<(String, String)> {
    let mut options = Vec::new();
    for (point, label) in POINTS.into_iter().zip(texts().points) {
        options.push((point.to_owned(), label.to_owned()));
    }
    if !POINTS.contains(&value) {
        options.push((value.to_owned(), texts().look_at_pressed.to_owned()));
    }
    options
}

/// Formats a focus as an input value, such as `0.2,0.5`; empty without a focus.
pub(super) fn format_focus(focus: Option<Focus>) -> String {
    match focus {
        // A focus is displayed as an array, such as `[0.2,0.5]`.
        Some(focus) => focus.to_string().replace(['[', ']'], ""),
        None => String::new(),
    }
}

/// Returns the version of an animal, and the current values of the inputs for all of its photos.
pub(super) fn form_of_photos(pet: &StorePet) -> Form {
    let mut fields = vec![("version".to_owned(), pet.version.to_string())];
    for photo in pet.photos.all() {
        let alt = photo.alt.as_ref().map_or("", AltText::as_str);
        fields.push((alt_input_name(photo.id), alt.to_owned()));
        fields.push((focus_input_name(photo.id), format_focus(photo.focus)));
    }
    fields.into_iter().collect()
}

/// Returns the name of the input for the focus of a photo.
pub(super) fn focus_input_name(photo: PhotoId) -> String {
    format!("look-{photo}")
}

/// Returns the name of the input for the alternative text of a photo.
pub(super) fn alt_input_name(photo: PhotoId) -> String {
    format!("alt-{photo}")
}

/// Renders the main photo as a thumbnail for a list, or nothing if the animal has no photo.
pub(super) fn thumbnail(pet: &StorePet) -> Markup {
    html! {
        @if let Some(photo) = pet.photos.all().first() {
            img.thumbnail class=[look::focus(photo.focus)]
                src={ "/photos/" (photo.id) "-small.jpg" }
                alt="" loading="lazy" width="40" height="40";
        }
    }
}
