//! The photos of an animal, and the forms that change them.

use super::parts::{live, missing};
use crate::console::prelude::*;
use crate::{
    console::{layout, layout::Follows, merge},
    domain::store_area::{AltText, Focus, Photo, PhotoId, Photos, StorePet},
    look,
};

/// The field of the form with the pictures.
const PICTURES: &str = "pictures";

/// The field of the form of a new animal with each photo that has arrived.
pub(super) const PHOTO: &str = "photo";

/// The page of the photos of an animal.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else { return Ok(missing(texts::NO_PET)) };
    let title = texts::photos_of(&markup::plain_name(pet.name.as_str()));
    let content = html! {
        div.head {
            h1 { (title) }
            a href={ "/animals/" (pet.id) } { (texts::TO_ANIMAL) }
        }
        (card(desk, &pet))
    };
    let content = html! { (live(errors, &content)) (script()) };
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
                            (merge::shown(&form_of(pet)))
                            // For the Enter key, which presses the first button.
                            button.hidden name="do" value="save" tabindex="-1" aria-hidden="true" { (texts::SAVE) }
                            (list(desk, all, &name, may_change))
                            div.buttons { button name="do" value="save" { (texts::SAVE_TEXTS) } }
                        }
                    } @else if !all.is_empty() {
                        (list(desk, all, &name, may_change))
                    }
                    @if may_add && all.len() >= Photos::MAX { p.hint { (texts::TOO_MANY_PHOTOS) } }
                }
                @if may_add {
                    form.fields #upload data-kept method="post" action={ (path) "/photos" } enctype="multipart/form-data"
                        hidden[all.len() >= Photos::MAX] {
                        (desk.key("photos"))
                        (input(false))
                        noscript {
                            @if !all.is_empty() { p.hint { (texts::SAVE_TEXTS_FIRST) } }
                            div.buttons { button.main { (texts::UPLOAD) } }
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
            label for="pictures" { (texts::ADD_PHOTOS) }
            p.hint #pictures-hint { (texts::PHOTOS_HINT) }
            input #pictures type="file" name=(PICTURES) accept="image/jpeg,image/png,image/webp,image/gif" multiple
                required[!is_disabled] disabled[is_disabled] aria-describedby="pictures-hint";
        }
    }
}

/// The list of the pictures that the script sends, with its texts about them; to this path, if no form has one.
fn uploads(target: Option<&str>) -> Markup {
    html! {
        div #uploads data-kept data-most=(Photos::MAX) data-target=[target] {
            @for (name, text) in texts::UPLOADS { span hidden data-text=(name) { (text) } }
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
            noscript { p.hint { (texts::PHOTOS_AFTER) } }
            ol.photos.waiting #waiting data-label=(texts::TAKE_PHOTO) { @for field in form.all(PHOTO) { (waiting(field)) } }
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
                (texts::TAKE_PHOTO)
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
    let alt = texts::photo_of(at + 1, animal, photo.alt.as_ref().map(AltText::as_str));
    html! { img class=[look::focus(photo.focus)] src={ "/photos/" (photo.id) "-small.jpg" } loading="lazy" alt=(alt); }
}

/// The input with the text of a photo, and its buttons.
fn change(desk: &Desk<'_>, at: usize, photo: &Photo, is_last: bool) -> Markup {
    let id = alt_input(photo.id);
    let kept = photo.alt.as_ref().map_or("", AltText::as_str);
    let sent = &desk.visit.form;
    let alt = sent.all(&id).next().filter(|_| merge::is_touched(sent, &id)).unwrap_or(kept);
    let press = |act: &str, label: &str| {
        html! {
            button name="do" value={ (act) "-" (photo.id) } aria-label=(texts::photo_button(label, at + 1)) {
                (label)
            }
        }
    };
    html! {
        div.fields {
            div.field {
                label for=(id) { (texts::alt_of(at + 1)) }
                input #(id) name=(id) type="text" value=(alt) maxlength="500" dir="auto" autocomplete="off";
            }
            div.buttons {
                @if at > 0 {
                    (press("first", texts::MAKE_MAIN))
                    (press("up", texts::MOVE_UP))
                }
                @if !is_last { (press("down", texts::MOVE_DOWN)) }
                (press("left", texts::TURN_LEFT))
                (press("right", texts::TURN_RIGHT))
                (press("delete", texts::DELETE))
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
    let value = sent.all(&id).next().filter(|_| merge::is_touched(sent, &id)).unwrap_or(&kept);
    let point = |&(value, label): &(&str, &str)| (value.to_owned(), label.to_owned());
    let mut points: Vec<_> = texts::LOOK_AT.iter().map(point).collect();
    if points.iter().all(|(of, _)| of != value) {
        points.push((value.to_owned(), texts::LOOK_AT_PRESSED.to_owned()));
    }
    let label = texts::look_at(number);
    let [width, height] = pressed_sides(photo);
    html! {
        details {
            summary { (texts::LOOK_MORE) }
            p.hint { (texts::LOOK_HINT) }
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
    focus.map(|focus| focus.to_string().replace(['[', ']'], "")).unwrap_or_default()
}

/// The values of the inputs of the photos.
pub(super) fn form_of(pet: &StorePet) -> Form {
    let inputs = |photo: &Photo| {
        let text = photo.alt.as_ref().map_or("", AltText::as_str);
        [(alt_input(photo.id), text.to_owned()), (look_input(photo.id), look_value(photo.focus))]
    };
    let inputs = pet.photos.all().iter().flat_map(inputs);
    std::iter::once(("version".to_owned(), pet.version.to_string())).chain(inputs).collect()
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
