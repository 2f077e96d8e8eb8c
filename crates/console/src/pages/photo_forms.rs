//! The form of the photos of an animal: their order, their texts, turning and deleting them.

use petstore_domain::{
    PetId,
    store_area::{
        AltText, Command, Focus, NewPhoto, Patch, Photo, PhotoId, PhotoPatch, Preconditions,
        StorePet,
    },
};
use petstore_formats::json;

use super::{
    commands::NotDone,
    parts::missing_page,
    photo_uploads::{UploadError, UploadProblem},
    photos::{self, alt_input, look_input},
};
use crate::{
    ask::Question,
    merge::{MergedForm, ReportedChanges},
    prelude::*,
    reply::Flash,
};

/// The button that was pressed, with the photo that it is about.
///
/// `delete-0123…` deletes a photo, and `save` is about none.
struct PressedButton<'f> {
    verb: &'f str,
    photo: Option<PhotoId>,
}

impl<'f> PressedButton<'f> {
    fn new(form: &'f Form) -> Self {
        let (verb, photo) = form.get("do").split_once('-').unwrap_or(("save", ""));
        Self {
            verb,
            photo: PhotoId::parse(photo),
        }
    }

    /// Returns the photo with its position, if the animal still has it.
    fn photo_of<'p>(&self, pet: &'p StorePet) -> Option<(usize, &'p Photo)> {
        let position = pet.photos.position(self.photo?)?;
        Some((position, pet.photos.all().get(position)?))
    }

    /// Returns the position to which the photo moves; `None` if the button does not move it.
    fn new_position(&self, form: &Form, present_position: usize) -> Option<usize> {
        match self.verb {
            "first" => Some(0),
            "up" => Some(present_position.saturating_sub(1)),
            "down" => Some(present_position + 1),
            // By dragging.
            "move" => form.get("position").parse().ok(),
            _ => None,
        }
    }
}

/// Commands about one animal. The first one checks that nobody else has changed the animal since the page was made.
struct PhotoCommands {
    pet: PetId,
    first_preconditions: Option<Preconditions>,
    commands: Vec<Command>,
}

impl PhotoCommands {
    /// Returns the preconditions of the next command.
    fn preconditions(&mut self) -> Preconditions {
        self.first_preconditions
            .take()
            .unwrap_or(Preconditions::PRESENT)
    }

    fn patch(&mut self, photo: PhotoId, patch: PhotoPatch) {
        let preconditions = self.preconditions();
        self.commands.push(Command::PatchPhoto {
            id: self.pet,
            photo,
            patch,
            preconditions,
        });
    }

    fn delete(&mut self, photo: PhotoId) {
        let preconditions = self.preconditions();
        self.commands.push(Command::DeletePhoto {
            id: self.pet,
            photo,
            preconditions,
        });
    }

    fn replace(&mut self, photo: PhotoId, replacement: NewPhoto) {
        self.commands.push(Command::ReplacePhoto {
            id: self.pet,
            photo,
            replacement,
        });
    }
}

/// Saves the texts of all photos, and moves, turns or deletes one of them.
pub(super) async fn change(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let button = PressedButton::new(form);
    // A second click on the response to the question finds no photo, and gets the response of the first one.
    if button.verb == "delete"
        && let Some((position, photo)) = button.photo_of(&pet)
        && let Some(question_page) = ask_to_delete(desk, &pet, position, photo)
    {
        return Ok(question_page);
    }

    let merged_form = MergedForm::new(form, &photos::form_of(&pet));
    let mut commands = PhotoCommands {
        pet: pet.id,
        first_preconditions: Some(merged_form.preconditions(merged_form.is_conflict())),
        commands: Vec::new(),
    };
    for photo in pet.photos.all() {
        let Some(patch) = parse_patch(&merged_form.form, photo) else {
            return photos::show(desk, &Errors::from_text(texts().text_too_long)).await;
        };
        if patch != PhotoPatch::default() {
            commands.patch(photo.id, patch);
        }
    }
    match add_pressed(desk, &pet, &button, &mut commands).await {
        Ok(()) => {}
        Err(UploadError::Problem(problem)) => {
            let errors = Errors::from_text(&problem.into_message());
            return photos::show(desk, &errors).await;
        }
        Err(UploadError::Request(error)) => return Err(error),
    }

    if commands.commands.is_empty() {
        return Ok(photos::see_photos(
            pet.id,
            Flash::new("saved", pet.id.get()),
        ));
    }
    match desk.execute(commands.commands).await? {
        Ok(flash) => Ok(photos::see_photos(pet.id, flash)),
        Err(_) if merged_form.is_conflict() => {
            photos::show(desk, &conflicts(&pet, &merged_form)).await
        }
        Err(NotDone { why, .. }) => photos::show(desk, &Errors::from_text(&why)).await,
    }
}

/// Asks whether to delete a photo, and shows it. `None` if the form already says yes.
fn ask_to_delete(desk: &Desk<'_>, pet: &StorePet, position: usize, photo: &Photo) -> Option<Reply> {
    let name = markup::plain_name(pet.name.as_str());
    let question = Question {
        title: texts().really(texts().delete, &texts().this_photo(position + 1, &name)),
        effects: vec![texts().photo_is_gone.to_owned()],
        yes: texts().delete,
        back: &photos::photos_path(pet.id),
    };
    question.ask(desk, &photos::small_photo(photo, position, &name))
}

/// Adds the command of the pressed button.
async fn add_pressed(
    desk: &Desk<'_>,
    pet: &StorePet,
    button: &PressedButton<'_>,
    commands: &mut PhotoCommands,
) -> Result<(), UploadError> {
    let Some(id) = button.photo else {
        return Ok(());
    };
    let present = button.photo_of(pet);
    let present_position = present.map_or(0, |(position, _)| position);
    match button.verb {
        "delete" => commands.delete(id),
        "left" | "right" => {
            let Some((_, photo)) = present else {
                // After a second click, the photo is gone. The store refuses this command, or remembers the first click.
                commands.patch(id, PhotoPatch::default());
                return Ok(());
            };
            let turned_photo = turn(desk, photo, button.verb == "right").await?;
            commands.replace(id, turned_photo);
        }
        _ => {
            let position = button.new_position(&desk.visit.form, present_position);
            if position.is_some() {
                let patch = PhotoPatch {
                    position,
                    ..PhotoPatch::default()
                };
                commands.patch(id, patch);
            }
        }
    }
    Ok(())
}

/// Returns messages about the inputs that somebody else has changed since the page was made.
fn conflicts(pet: &StorePet, merged_form: &MergedForm) -> Errors {
    merged_form.change_messages(ReportedChanges::Conflicts, |name, value| {
        let mut numbered_photos = pet.photos.all().iter().zip(1..);
        let label = numbered_photos.find_map(|(photo, number)| {
            if alt_input(photo.id) == name {
                Some(texts().alt_of(number))
            } else if look_input(photo.id) == name {
                Some(texts().look_at(number))
            } else {
                None
            }
        });
        Some((label?, markup::readable(value, markup::SHORT_LENGTH)))
    })
}

/// Parses the values of a photo in a form that differ from the present ones. `None` if its text is too long.
fn parse_patch(form: &Form, photo: &Photo) -> Option<PhotoPatch> {
    let mut patch = PhotoPatch::default();
    let present_text = photo.alt.as_ref().map_or("", AltText::as_str);
    if let Some(text) = form.all(&alt_input(photo.id)).next() {
        let text = text.trim();
        if text.is_empty() && !present_text.is_empty() {
            patch.alt = Patch::Clear;
        } else if text != present_text {
            patch.alt = Patch::Set(AltText::new(text.to_owned())?);
        }
    }

    let chosen_point = form.all(&look_input(photo.id)).next();
    if let Some(point) = chosen_point
        && point != photos::look_value(photo.focus)
    {
        let focus = point
            .split_once(',')
            .and_then(|(x, y)| json::read_focus([x, y]));
        patch.focus = focus.map_or(Patch::Clear, Patch::Set);
    }
    if let Some(focus) = pressed_point(form, photo) {
        patch.focus = if photo.focus == Some(focus) {
            Patch::Keep
        } else {
            Patch::Set(focus)
        };
    }
    Some(patch)
}

/// Returns the point at which the picture of a photo was pressed, if it was. A press outside counts as its edge.
fn pressed_point(form: &Form, photo: &Photo) -> Option<Focus> {
    let [width, height] = photos::pressed_sides(photo);
    let x = pressed_part(form, photo.id, "x", width)?;
    let y = pressed_part(form, photo.id, "y", height)?;
    Focus::new([x, y])
}

/// Returns how far from the beginning of this axis the picture was pressed, in ten-thousandths of its side, which is
/// given in pixels. In whole hundredths, as the choice of points shows them.
fn pressed_part(form: &Form, photo: PhotoId, axis: &str, side: u32) -> Option<u16> {
    let pixel = form.integer(&format!("point-{photo}.{axis}"))?;
    let hundredths = pixel.clamp(0, side.into()) * 100 / i64::from(side);
    u16::try_from(hundredths * 100).ok()
}

/// Returns the photo turned by a right angle.
async fn turn(desk: &Desk<'_>, photo: &Photo, to_right: bool) -> Result<NewPhoto, UploadError> {
    let Some(turned_photo) = desk.app().photos.turn(photo.id, to_right).await? else {
        let message = texts().photo_file_missing.to_owned();
        return Err(UploadProblem::Picture(message).into());
    };
    let focus = photo.focus.map(|focus| focus.rotate(to_right));
    Ok(NewPhoto {
        focus,
        ..turned_photo.into_photo(None)
    })
}
