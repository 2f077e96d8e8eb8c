//! The photos of an animal, and the forms that change them.

use petstore_domain::store_area::{AltText, Focus, Photo, PhotoId, Photos, StorePet};
use petstore_languages::look;

use super::parts::{live_content, missing_page};
use crate::{
    layout::{self, Follows},
    merge,
    prelude::*,
};

/// The field of the form with the pictures.
const PICTURES: &str = "pictures";

/// The field of the form of a new animal with each photo that has arrived.
pub(super) const PHOTO: &str = "photo";

/// The page of the photos of an animal.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let title = texts().photos_of(&markup::plain_name(pet.name.as_str()));
    let content = html! {
        div.head {
            h1 { (title) }
            a href={ "/animals/" (pet.id) } { (texts().to_animal) }
        }
        (card(desk, &pet))
    };
    let content = html! { (live_content(errors, &content)) (script()) };
    let page = Page::new(title, content).following(Follows::Pet(pet.id.get()));
    Ok(page.wrong_if(!errors.is_empty()).into())
}

/// The photos, and the forms that change them.
fn card(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let path = format!("/animals/{}", pet.id.get());
    let (all, name) = (pet.photos.all(), markup::plain_name(pet.name.as_str()));
    let may_change = desk.may_write() && pet.withdrawn.is_none();
    let may_add = may_change && desk.app().photos.place().is_some();
    html! {
        @if !all.is_empty() || may_add {
            section.card.no-print #photos {
                div #shown {
                    @if !all.is_empty() && may_change {
                        form method="post" action={ (path) "/photos/change" } {
                            (desk.key("photos-change"))
                            (merge::hidden_fields(&form_of(pet)))
                            // For the Enter key, which presses the first button.
                            button.hidden name="do" value="save" tabindex="-1" aria-hidden="true" { (texts().save) }
                            (list(desk, all, &name, may_change))
                            div.buttons { button name="do" value="save" { (texts().save) } }
                        }
                    } @else if !all.is_empty() {
                        (list(desk, all, &name, may_change))
                    }
                    @if may_add && all.len() >= Photos::MAX { p.hint { (texts().too_many_photos) } }
                }
                @if may_add {
                    form.fields #upload data-kept method="post" action={ (path) "/photos" } enctype="multipart/form-data"
                        hidden[all.len() >= Photos::MAX] {
                        (desk.key("photos"))
                        (input(false))
                        noscript {
                            @if !all.is_empty() { p.hint { (texts().save_texts_first) } }
                            div.buttons { button.main { (texts().upload) } }
                        }
                    }
                    (uploads(None))
                }
            }
        }
    }
}

/// The input for pictures. Phones convert others into one of these types.
fn input(is_disabled: bool) -> Markup {
    html! {
        div.field {
            label for="pictures" { (texts().add_photos) }
            p.hint #pictures-hint { (texts().photos_hint) }
            input #pictures type="file" name=(PICTURES) accept="image/jpeg,image/png,image/webp,image/gif" multiple
                required[!is_disabled] disabled[is_disabled] aria-describedby="pictures-hint";
        }
    }
}

/// The names by which the script finds its texts.
const UPLOADS: [&str; 16] = [
    "waiting", "sending", "answer", "added", "failed", "again", "drop", "large", "lost", "out",
    "same", "fit", "one", "many", "unsent", "wait",
];

/// The points of a photo that people can choose, from left and top; the first one is none.
const POINTS: [&str; 10] = [
    "", "0.2,0.2", "0.5,0.2", "0.8,0.2", "0.2,0.5", "0.5,0.5", "0.8,0.5", "0.2,0.8", "0.5,0.8",
    "0.8,0.8",
];

/// The list of the pictures that the script sends, with its texts about them; to this path, if no form has one.
fn uploads(target: Option<&str>) -> Markup {
    html! {
        div #uploads data-kept data-most=(Photos::MAX) data-target=[target] {
            @for (name, text) in UPLOADS.iter().zip(texts().uploads) { span hidden data-text=(name) { (text) } }
            p #sent role="status" tabindex="-1" {}
            ul.uploads {}
        }
    }
}

/// Outside of what is replaced, because a script runs only once.
fn script() -> Markup {
    html! { script defer src=(layout::photos_script()) {} }
}

/// The photos of an animal that is being added. Only the script can send them while the rest is typed.
pub(super) fn of_new_animal(desk: &Desk<'_>, form: &Form) -> Markup {
    html! {
        @if desk.app().photos.place().is_some() {
            div hidden data-scripted { (input(true)) }
            noscript { p.hint { (texts().photos_after) } }
            ol.photos.waiting #waiting data-label=(texts().take_photo) { @for field in form.all(PHOTO) { (waiting(field)) } }
            (uploads(Some("/add/photo")))
            (script())
        }
    }
}

/// A photo that waits for its animal. Without its tick, it is left out.
pub(super) fn waiting(field: &str) -> Markup {
    let id = field.split('.').next().unwrap_or_default();
    html! {
        li {
            label {
                img src={ "/photos/" (id) "-small.jpg" } alt="";
                input type="checkbox" name=(PHOTO) value=(field) checked;
                (texts().take_photo)
            }
        }
    }
}

/// The photos, with the inputs and buttons of the form around them.
fn list(desk: &Desk<'_>, all: &[Photo], name: &str, may_change: bool) -> Markup {
    html! {
        ol.photos {
            @for (at, photo) in all.iter().enumerate() {
                li data-photo=(photo.id) {
                    a href={ "/photos/" (photo.id) "-large.jpg" } {
                        (small(photo, at, name))
                    }
                    @if may_change { (change(desk, at, photo, at + 1 == all.len())) }
                }
            }
        }
    }
}

/// A photo of this animal, small.
pub(super) fn small(photo: &Photo, at: usize, animal: &str) -> Markup {
    let alt = texts().photo_of(at + 1, animal, photo.alt.as_ref().map(AltText::as_str));
    html! { img class=[look::focus(photo.focus)] src={ "/photos/" (photo.id) "-small.jpg" } loading="lazy" alt=(alt); }
}

/// The input with the text of a photo, and its buttons.
fn change(desk: &Desk<'_>, at: usize, photo: &Photo, is_last: bool) -> Markup {
    let id = alt_input(photo.id);
    let kept = photo.alt.as_ref().map_or("", AltText::as_str);
    let sent = &desk.visit.form;
    let alt = sent
        .all(&id)
        .next()
        .filter(|_| merge::is_touched(sent, &id))
        .unwrap_or(kept);
    let press = |act: &str, label: &str| {
        html! {
            button name="do" value={ (act) "-" (photo.id) } aria-label=(texts().photo_button(label, at + 1)) {
                (label)
            }
        }
    };
    html! {
        div.fields {
            div.field {
                label for=(id) { (texts().alt_of(at + 1)) }
                input #(id) name=(id) type="text" value=(alt) maxlength="500" dir="auto" autocomplete="off";
            }
            div.buttons {
                @if at > 0 {
                    (press("first", texts().make_main))
                    (press("up", texts().move_up))
                }
                @if !is_last { (press("down", texts().move_down)) }
                (press("left", texts().turn_left))
                (press("right", texts().turn_right))
                (press("delete", texts().delete))
            }
            (look_at(desk, at + 1, photo))
        }
    }
}

/// The longer side of the picture that people press, in pixels: without a script, the service cannot ask.
const PRESSED_SIDE: u32 = 240;

/// The sides of the picture that people press.
pub(super) fn pressed_sides(photo: &Photo) -> [u32; 2] {
    let longer = photo.width.max(photo.height).max(1);
    [photo.width, photo.height].map(|side| (side * PRESSED_SIDE / longer).max(1))
}

/// What says where to look when a photo is cropped: the whole photo, to be pressed there, and for a keyboard a
/// choice. It is closed, because few photos need it.
fn look_at(desk: &Desk<'_>, number: usize, photo: &Photo) -> Markup {
    let (id, sent) = (look_input(photo.id), &desk.visit.form);
    let kept = look_value(photo.focus);
    let value = sent
        .all(&id)
        .next()
        .filter(|_| merge::is_touched(sent, &id))
        .unwrap_or(&kept);
    let point = |(value, label): (&str, &str)| (value.to_owned(), label.to_owned());
    let mut points: Vec<_> = POINTS.into_iter().zip(texts().points).map(point).collect();
    if points.iter().all(|(of, _)| of != value) {
        points.push((value.to_owned(), texts().look_at_pressed.to_owned()));
    }
    let label = texts().look_at(number);
    let [width, height] = pressed_sides(photo);
    html! {
        details {
            summary { (texts().look_more) }
            p.hint { (texts().look_hint) }
            div.point {
                input type="image" name={ "point-" (photo.id) } src={ "/photos/" (photo.id) "-small.jpg" }
                    width=(width) height=(height) alt=(label) tabindex="-1";
                @if let Some(class) = look::focus(photo.focus) { span.{ "mark " (class) } {} }
            }
            (Input { id: &id, label: &label, value, ..Input::default() }.choose(&points))
        }
    }
}

/// A focus as an input has it.
pub(super) fn look_value(focus: Option<Focus>) -> String {
    focus
        .map(|focus| focus.to_string().replace(['[', ']'], ""))
        .unwrap_or_default()
}

/// The values of the inputs of the photos.
pub(super) fn form_of(pet: &StorePet) -> Form {
    let inputs = |photo: &Photo| {
        let text = photo.alt.as_ref().map_or("", AltText::as_str);
        [
            (alt_input(photo.id), text.to_owned()),
            (look_input(photo.id), look_value(photo.focus)),
        ]
    };
    let inputs = pet.photos.all().iter().flat_map(inputs);
    std::iter::once(("version".to_owned(), pet.version.to_string()))
        .chain(inputs)
        .collect()
}

/// The name of the input with the focus of a photo.
pub(super) fn look_input(photo: PhotoId) -> String {
    format!("look-{photo}")
}

/// The name of the input with the text of a photo.
pub(super) fn alt_input(photo: PhotoId) -> String {
    format!("alt-{photo}")
}

/// The portrait, small, for a list; nothing if the animal has no photo.
pub(super) fn thumbnail(pet: &StorePet) -> Markup {
    html! {
        @if let Some(photo) = pet.photos.all().first() {
            img.thumbnail class=[look::focus(photo.focus)] src={ "/photos/" (photo.id) "-small.jpg" } alt="" loading="lazy" width="40" height="40";
        }
    }
}
