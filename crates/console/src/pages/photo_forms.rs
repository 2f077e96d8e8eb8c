//! Adding several photos at once, their order, their texts, and deleting them.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use petstore_domain::{
    PetId, StaffId,
    store_area::{
        AltText, Command, Focus, NewPhoto, Patch, Photo, PhotoId, PhotoPatch, Photos,
        Preconditions, StorePet,
    },
    text,
};
use petstore_formats::json;
use petstore_photos::{Format, PhotoError, StoredPhoto};
use petstore_web::edge::{UnreadBody, multipart::Multipart};
use sha2::{Digest, Sha256};

use super::{
    commands::NotDone,
    history::{self, Deleted},
    parts::missing_page,
    photos::{self, alt_input, look_input},
    waiting_photos,
};
use crate::{
    Console,
    ask::Question,
    desk::{KEY_FIELD, owner_of},
    merge::MergedForm,
    prelude::*,
    problem::translate_unreadable_form,
    reply::Flash,
    session,
};

/// How much longer a picture may take to arrive than a form.
pub(super) const PICTURE_TIMES: u32 = 4;

/// How many forms with photos of a member can arrive at once.
const FORMS_OF_MEMBER: usize = 3;

/// Counts a form with photos of a member that arrives, until the result is dropped.
pub(super) fn arriving(console: &Console, member: StaffId) -> Result<Arc<StaffId>, PhotoError> {
    let mut all = console.uploads.lock();
    all.retain(|form| form.strong_count() > 0);
    if all
        .iter()
        .filter_map(Weak::upgrade)
        .filter(|of| **of == member)
        .count()
        >= FORMS_OF_MEMBER
    {
        return Err(PhotoError::Busy);
    }
    let form = Arc::new(member);
    all.push(Arc::downgrade(&form));
    Ok(form)
}

/// Saves the texts of all photos, and moves or deletes one of them.
pub(super) async fn change(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let id = pet.id;
    let (act, photo) = form.get("do").split_once('-').unwrap_or(("save", ""));
    let chosen = PhotoId::parse(photo);
    if let (Some(photo), "restore") = (chosen, act) {
        return restore(desk, &pet, photo).await;
    }
    let at = chosen
        .and_then(|photo| pet.photos.position(photo))
        .unwrap_or_default();
    // A second click on the answer finds no photo, and gets the response of the first one.
    if act == "delete" && pet.photos.all().get(at).map(|photo| photo.id) == chosen {
        let name = markup::plain_name(pet.name.as_str());
        let question = Question {
            title: texts().really(texts().delete, &texts().this_photo(at + 1, &name)),
            effects: vec![texts().photo_is_gone.to_owned()],
            yes: texts().delete,
            back: &path_of(id),
        };
        let shown = pet
            .photos
            .all()
            .get(at)
            .map(|photo| photos::small_photo(photo, at, &name));
        if let Some(asked) = question.ask(desk, &html! { @if let Some(shown) = shown { (shown) } })
        {
            return Ok(asked);
        }
    }
    let merged = MergedForm::new(form, &photos::form_of(&pet));
    let conflicts = merged.errors(true, |name, value| {
        let mut all = pet.photos.all().iter().zip(1..);
        let label = all.find_map(|(photo, number)| {
            let is_alt = (alt_input(photo.id) == name).then(|| texts().alt_of(number));
            is_alt.or_else(|| (look_input(photo.id) == name).then(|| texts().look_at(number)))
        });
        Some((label?, markup::readable(value, markup::SHORT)))
    });
    // The first of them checks that nobody else changes the animal meanwhile.
    let mut first = Some(merged.preconditions(merged.is_conflict()));
    let mut preconditions = || first.take().unwrap_or(Preconditions::PRESENT);
    let mut commands = Vec::new();
    for photo in pet.photos.all() {
        let Some(patch) = typed(&merged.form, photo) else {
            return photos::show(desk, &Errors::from_text(texts().text_too_long)).await;
        };
        if patch != PhotoPatch::default() {
            let preconditions = preconditions();
            commands.push(Command::PatchPhoto {
                id,
                photo: photo.id,
                patch,
                preconditions,
            });
        }
    }
    let position = match act {
        "first" => Some(0),
        "up" => Some(at.saturating_sub(1)),
        "down" => Some(at + 1),
        // By dragging.
        "move" => form.get("position").parse().ok(),
        _ => None,
    };
    match chosen {
        Some(photo) if act == "delete" => {
            commands.push(Command::DeletePhoto {
                id,
                photo,
                preconditions: preconditions(),
            });
        }
        Some(photo) if ["left", "right"].contains(&act) => {
            // After a second click, it is gone, and the first response is what counts.
            let present = pet
                .photos
                .all()
                .get(at)
                .filter(|present| present.id == photo);
            match turned(desk, present, act == "right").await? {
                Ok(by) => commands.push(Command::ReplacePhoto { id, photo, by }),
                Err(why) => return photos::show(desk, &Errors::from_text(&why)).await,
            }
        }
        Some(photo) if position.is_some() => {
            let patch = PhotoPatch {
                position,
                ..PhotoPatch::default()
            };
            commands.push(Command::PatchPhoto {
                id,
                photo,
                patch,
                preconditions: preconditions(),
            });
        }
        _ => {}
    }
    if commands.is_empty() {
        return Ok(see(id, Flash::new("saved", id.get())));
    }
    match desk.execute(commands).await? {
        Ok(flash) => Ok(see(id, flash)),
        Err(_) if merged.is_conflict() => photos::show(desk, &conflicts).await,
        Err(NotDone { why, .. }) => photos::show(desk, &Errors::from_text(&why)).await,
    }
}

/// What a form says of a photo that differs from what is there; `None` if its text is too long.
fn typed(form: &Form, photo: &Photo) -> Option<PhotoPatch> {
    let mut patch = PhotoPatch::default();
    let text = form.all(&alt_input(photo.id)).next().map(str::trim);
    let present = photo.alt.as_ref().map_or("", AltText::as_str);
    if let Some(text) = text.filter(|text| *text != present) {
        patch.alt = if text.is_empty() {
            Patch::Clear
        } else {
            Patch::Set(AltText::new(text.to_owned())?)
        };
    }
    let chosen = form.all(&look_input(photo.id)).next();
    if let Some(chosen) = chosen.filter(|chosen| *chosen != photos::look_value(photo.focus)) {
        let point = chosen
            .split_once(',')
            .and_then(|(x, y)| json::read_focus([x, y]));
        patch.focus = point.map_or(Patch::Clear, Patch::Set);
    }
    // Where its picture was pressed, in pixels.
    let part = |axis, side: u32| {
        let at = form.integer(&format!("point-{}.{axis}", photo.id))?;
        let share = at.clamp(0, side.into()) * 100 / i64::from(side);
        u16::try_from(share * 100).ok()
    };
    let [width, height] = photos::pressed_sides(photo);
    if let (Some(x), Some(y)) = (part("x", width), part("y", height)) {
        let pressed = Focus::new([x, y]).filter(|&focus| photo.focus != Some(focus));
        patch.focus = pressed.map_or(Patch::Keep, Patch::Set);
    }
    Some(patch)
}

/// A photo turned by a right angle, or why it is not turned.
async fn turned(
    desk: &Desk<'_>,
    photo: Option<&Photo>,
    to_right: bool,
) -> Result<Result<NewPhoto, String>, ApiError> {
    let Some(photo) = photo else {
        return Ok(Ok(NewPhoto {
            id: PhotoId(0),
            alt: None,
            width: 0,
            height: 0,
            focus: None,
        }));
    };
    let focus = photo.focus.map(|focus| focus.turned(to_right));
    let turned = of_stored(desk.app().photos.turn(photo.id, to_right).await)?;
    Ok(turned.and_then(|turned| {
        let turned = turned.ok_or(texts().photo_file_missing)?;
        Ok(NewPhoto {
            focus,
            ..turned.into_photo(None)
        })
    }))
}

/// Gives an animal a photo again that was deleted or turned, at its place and with its text, while its files are
/// there.
async fn restore(desk: &Desk<'_>, pet: &StorePet, photo: PhotoId) -> Result<Reply, ApiError> {
    let deleted = history::deleted_photo(desk, pet.id, photo).await?;
    let is_there = deleted.is_some() && desk.app().photos.has_large_file(photo).await?;
    let Some(Deleted {
        photo,
        position,
        replaced_by,
    }) = deleted.filter(|_| is_there)
    else {
        return photos::show(desk, &Errors::from_text(texts().photo_not_kept)).await;
    };
    let (id, preconditions) = (pet.id, Preconditions::PRESENT);
    let patch = PhotoPatch {
        position: Some(position),
        ..PhotoPatch::default()
    };
    let in_its_place = replaced_by.filter(|&by| pet.photos.position(by).is_some());
    let commands = if let Some(replaced) = in_its_place {
        vec![Command::ReplacePhoto {
            id,
            photo: replaced,
            by: photo,
        }]
    } else {
        let to = Command::PatchPhoto {
            id,
            photo: photo.id,
            patch,
            preconditions,
        };
        vec![Command::AddPhoto { id, photo }, to]
    };
    match desk.execute(commands).await? {
        Ok(_) => Ok(see(id, Flash::new("photo-restored", id.get()))),
        Err(NotDone { why, .. }) => photos::show(desk, &Errors::from_text(&why)).await,
    }
}

fn path_of(id: PetId) -> String {
    format!("/animals/{id}/photos")
}

fn see(id: PetId, flash: Flash) -> Reply {
    Reply::See(path_of(id), Some(flash))
}

/// Adds the pictures of a form, each by itself: those that arrive are kept, whatever becomes of the
/// others. Without an animal in the path, they wait for the one that is being added.
pub(crate) async fn add(desk: &mut Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let pet = desk.pet().await?;
    if pet.is_none() && !desk.visit.parameter.is_empty() {
        return Ok(missing_page(texts().no_pet));
    }
    let console = desk.visit.console;
    let (edge, _arriving) = (&console.edge, arriving(console, desk.session.member.id)?);
    let max = desk.app().photos.max_size();
    // For one picture, because they are read one after the other.
    let _room = edge.response_memory.reserve_for_picture(max)?;
    let timeout = edge.body_timeout * PICTURE_TIMES;
    // For as many as an animal has.
    let max_form = (Photos::MAX + 1) * max;
    let mut form = Multipart::new(&desk.visit.request.headers, body, timeout, max_form)
        .map_err(translate_unreadable_form)?;
    let (mut key, mut added, mut failed) = (String::new(), 0_u32, Vec::new());
    let mut waiting = Vec::new();
    while let Some(part) = form.next(max).await.map_err(translate_unreadable_form)? {
        match (part.file, part.content) {
            (None, Some(content)) if part.name == KEY_FIELD => {
                key = String::from_utf8_lossy(&content).into_owned();
                // A page that another member has left open.
                let owner = owner_of(&Form::from_encoded_pairs(&[(KEY_FIELD, &key)]));
                if owner.is_some_and(|owner| owner != desk.session.member.id) {
                    return wrong(desk, &Errors::from_text(texts().another_member)).await;
                }
            }
            // A form without a choice has an empty file.
            (Some(file), Some(content)) if !file.is_empty() || !content.is_empty() => {
                let number = added as usize + failed.len();
                let one = match &pet {
                    Some(pet) => add_one(desk, pet.id, &key, number, content).await?,
                    None => stored(desk, content).await?.map(|stored| {
                        waiting.push(photos::waiting_photo(&waiting_photos::waiting_photo_token(
                            desk, stored,
                        )));
                    }),
                };
                match one {
                    Ok(()) => added += 1,
                    Err(why) => failed.push((file, why)),
                }
            }
            (Some(file), None) => failed.push((file, texts().picture_too_large.to_owned())),
            _ => {}
        }
    }
    if failed.is_empty() && pet.is_none() {
        let list = html! { ol.photos { @for photo in waiting { (photo) } } };
        return Ok(Page::new(texts().photos, list).into());
    }
    if let (Some(pet), true) = (&pet, failed.is_empty()) {
        let flash = Flash::new("photos-added", added.into());
        // The script says it by itself, and the message on the next page is another one.
        if session::is_in_background(desk.visit.request) {
            return Ok(Reply::See(path_of(pet.id), None));
        }
        return Ok(see(pet.id, flash));
    }
    let problem = html! {
        @if added > 0 { p { (texts().photos_added(usize::try_from(added).unwrap_or(usize::MAX))) } }
        ul {
            @for (file, why) in &failed {
                li { (markup::text(file, markup::SHORT)) (window_texts().colon) span { (why) } }
            }
        }
    };
    wrong(desk, &Errors::from_markup(problem)).await
}

/// The page with what is wrong about pictures.
async fn wrong(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    if desk.visit.parameter.is_empty() {
        return Ok(Page::new(texts().photos, errors.summary())
            .wrong_if(true)
            .into());
    }
    photos::show(desk, errors).await
}

/// Adds a picture. A repetition of the same form adds it once.
async fn add_one(
    desk: &mut Desk<'_>,
    id: PetId,
    key: &str,
    number: usize,
    picture: Bytes,
) -> Result<Result<(), String>, ApiError> {
    let digest = Sha256::digest(&picture);
    let stored = match stored(desk, picture).await? {
        Ok(stored) => stored,
        Err(why) => return Ok(Err(why)),
    };
    let (key, digest) = (format!("{key}-{number}"), text::hex_digits(&digest));
    let fields = [("picture", &*digest), (KEY_FIELD, &*key)];
    // A form without a key has its effect each time.
    desk.visit.form = Form::from_encoded_pairs(&fields[..if key.starts_with('-') { 1 } else { 2 }]);
    let photo = stored.into_photo(None);
    Ok(desk
        .execute(vec![Command::AddPhoto { id, photo }])
        .await?
        .map(drop)
        .map_err(|not| not.why))
}

/// The photo that is made of a picture, or why none is.
async fn stored(desk: &Desk<'_>, picture: Bytes) -> Result<Result<StoredPhoto, String>, ApiError> {
    let Some(format) = Format::detect(&picture) else {
        // `ftyp` and the name of the format, behind a length of four bytes.
        let is_heic = matches!(
            picture.get(4..12),
            Some(b"ftypheic" | b"ftypheix" | b"ftypmif1")
        );
        return Ok(Err(if is_heic {
            texts().heic
        } else {
            texts().no_picture
        }
        .to_owned()));
    };
    of_stored(desk.app().photos.add(picture, format).await)
}

pub(super) fn of_stored<T>(stored: Result<T, PhotoError>) -> Result<Result<T, String>, ApiError> {
    match stored {
        Ok(stored) => Ok(Ok(stored)),
        Err(PhotoError::Invalid(problem)) => Ok(Err(texts().picture_problem(problem))),
        Err(PhotoError::Busy) => Ok(Err(texts().too_many_pictures.to_owned())),
        Err(error) => Err(error.into()),
    }
}
