//! Handles the form that changes the photos of an animal: their order, alternative texts and focus,
//! and turning or deleting a photo.

use petstore_domain::{
    PetId,
    store_area::{
        AltText, Command, Focus, NewPhoto, Patch, Photo, PhotoId, PhotoPatch, Preconditions,
        StorePet,
    },
};
use petstore_formats::json;

use super::{
    commands::CommandFailure,
    parts::missing_page,
    photo_uploads::{UploadError, UploadProblem},
    photos::{self, alt_input, focus_input},
};
use crate::{
    ask::Question,
    merge::{MergedForm, ReportedChanges},
    prelude::*,
    reply::Flash,
};

/// The pressed button of the form, and the photo to which it belongs.
///
/// The button `delete-0123…` deletes a photo. The button `save` belongs to no photo.
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

    /// Returns the photo and its position, if the animal still has the photo.
    fn find_photo<'p>(&self, pet: &'p StorePet) -> Option<(usize, &'p Photo)> {
        let position = pet.photos.position(self.photo?)?;
        Some((position, pet.photos.all().get(position)?))
    }

    /// Returns the position to which the button moves the photo; `None` if it does not move it.
    fn new_position(&self, form: &Form, current_position: usize) -> Option<usize> {
        match self.verb {
            "first" => Some(0),
            "up" => Some(current_position.saturating_sub(1)),
            "down" => Some(current_position + 1),
            // The script sends this after the photo was dragged.
            "move" => form.get("position").parse().ok(),
            _ => None,
        }
    }
}

/// The commands for one animal. Only the first of them checks that nobody else has changed the
/// animal since the page was rendered, because it changes the version itself.
struct PhotoCommands {
    pet: PetId,
    first_preconditions: Option<Preconditions>,
    commands: Vec<Command>,
}

impl PhotoCommands {
    /// Returns the preconditions for the next command.
    fn preconditions(&mut self) -> Preconditions {
        self.first_preconditions
            .take()
            .unwrap_or(Preconditions::PRESENT)
    }

    /// Adds a command for each photo whose inputs were edited. Returns `None` if a text is too long.
    fn add_edits(&mut self, pet: &StorePet, form: &Form) -> Option<()> {
        for photo in pet.photos.all() {
            let patch = parse_patch(form, photo)?;
            if patch != PhotoPatch::default() {
                self.patch(photo.id, patch);
            }
        }
        Some(())
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

/// Saves the texts and the focus of all photos, and moves, turns or deletes one of them.
pub(super) async fn change(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let button = PressedButton::new(form);
    // After a second click on the confirmation, the photo is already gone. The command below then
    // gets the response of the first click.
    if button.verb == "delete"
        && let Some((position, photo)) = button.find_photo(&pet)
        && let Some(question_page) = confirm_deletion(desk, &pet, position, photo)
    {
        return Ok(question_page);
    }

    let merged_form = MergedForm::new(form, &photos::form_of(&pet));
    let mut commands = PhotoCommands {
        pet: pet.id,
        first_preconditions: Some(merged_form.preconditions(merged_form.is_conflict())),
        commands: Vec::new(),
    };
    if commands.add_edits(&pet, &merged_form.form).is_none() {
        return photos::show(desk, &Errors::from_text(texts().text_too_long)).await;
    }
    match add_button_command(desk, &pet, &button, &mut commands).await {
        Ok(()) => {}
        Err(UploadError::Problem(problem)) => {
            let errors = Errors::from_text(&problem.into_message());
            return photos::show(desk, &errors).await;
        }
        Err(UploadError::Request(error)) => return Err(error),
    }

    if commands.commands.is_empty() {
        return Ok(photos::redirect_to_photos(
            pet.id,
            Flash::new("saved", pet.id.get()),
        ));
    }
    match desk.execute(commands.commands).await? {
        Ok(flash) => Ok(photos::redirect_to_photos(pet.id, flash)),
        Err(_) if merged_form.is_conflict() => {
            photos::show(desk, &conflict_messages(&pet, &merged_form)).await
        }
        Err(CommandFailure { message, .. }) => {
            photos::show(desk, &Errors::from_text(&message)).await
        }
    }
}

/// Asks for confirmation before a photo is deleted, and shows the photo. Returns `None` if the form
/// already confirms it.
fn confirm_deletion(
    desk: &Desk<'_>,
    pet: &StorePet,
    position: usize,
    photo: &Photo,
) -> Option<Reply> {
    let name = markup::plain_name(pet.name.as_str());
    let question = Question {
        title: texts().really(texts().delete, &texts().this_photo(position + 1, &name)),
        effects: vec![texts().photo_is_gone.to_owned()],
        yes: texts().delete,
        back: &photos::photos_path(pet.id),
    };
    question.ask(desk, &photos::small_photo(photo, position, &name))
}

/// Adds the command for the pressed button.
async fn add_button_command(
    desk: &Desk<'_>,
    pet: &StorePet,
    button: &PressedButton<'_>,
    commands: &mut PhotoCommands,
) -> Result<(), UploadError> {
    let Some(id) = button.photo else {
        return Ok(());
    };
    let current_photo = button.find_photo(pet);
    let current_position = current_photo.map_or(0, |(position, _)| position);
    match button.verb {
        "delete" => commands.delete(id),
        "left" | "right" => {
            let Some((_, photo)) = current_photo else {
                // After a second click, the photo is gone, because turning replaces it by a new
                // photo. For this command, the store returns the response of the first click, or
                // refuses it.
                commands.patch(id, PhotoPatch::default());
                return Ok(());
            };
            let turned_photo = turn_photo(desk, photo, button.verb == "right").await?;
            commands.replace(id, turned_photo);
        }
        _ => {
            let position = button.new_position(&desk.visit.form, current_position);
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

/// Returns a message for each input that both this member and somebody else have changed since the
/// page was rendered.
fn conflict_messages(pet: &StorePet, merged_form: &MergedForm) -> Errors {
    merged_form.change_messages(ReportedChanges::Conflicts, |name, value| {
        let mut numbered_photos = pet.photos.all().iter().zip(1..);
        let label = numbered_photos.find_map(|(photo, number)| {
            if alt_input(photo.id) == name {
                Some(texts().alt_of(number))
            } else if focus_input(photo.id) == name {
                Some(texts().look_at(number))
            } else {
                None
            }
        });
        Some((label?, markup::readable(value, markup::SHORT_LENGTH)))
    })
}

/// Parses the inputs of a photo that differ from its current values. Returns `None` if its text is
/// too long.
fn parse_patch(form: &Form, photo: &Photo) -> Option<PhotoPatch> {
    let mut patch = PhotoPatch::default();
    let current_text = photo.alt.as_ref().map_or("", AltText::as_str);
    if let Some(text) = form.all(&alt_input(photo.id)).next() {
        let text = text.trim();
        if text.is_empty() && !current_text.is_empty() {
            patch.alt = Patch::Clear;
        } else if text != current_text {
            patch.alt = Patch::Set(AltText::new(text.to_owned())?);
        }
    }

    let chosen_point = form.all(&focus_input(photo.id)).next();
    if let Some(point) = chosen_point
        && point != photos::focus_value(photo.focus)
    {
        let focus = point
            .split_once(',')
            .and_then(|(x, y)| json::read_focus([x, y]));
        patch.focus = focus.map_or(Patch::Clear, Patch::Set);
    }
    if let Some(focus) = clicked_point(form, photo) {
        patch.focus = if photo.focus == Some(focus) {
            Patch::Keep
        } else {
            Patch::Set(focus)
        };
    }
    Some(patch)
}

/// Returns the point at which the picture of a photo was clicked, if it was. A click outside of the
/// picture counts as a click on its edge.
fn clicked_point(form: &Form, photo: &Photo) -> Option<Focus> {
    let [width, height] = photos::clickable_size(photo);
    let x = clicked_fraction(form, photo.id, "x", width)?;
    let y = clicked_fraction(form, photo.id, "y", height)?;
    Focus::new([x, y])
}

/// Returns the clicked position on one axis of the picture, in ten-thousandths of the side. `side`
/// is the length of the side in pixels. The result is rounded down to whole hundredths, the
/// precision in which the page displays a point.
fn clicked_fraction(form: &Form, photo: PhotoId, axis: &str, side: u32) -> Option<u16> {
    let pixel = form.integer(&format!("point-{photo}.{axis}"))?;
    let hundredths = pixel.clamp(0, side.into()) * 100 / i64::from(side);
    u16::try_from(hundredths * 100).ok()
}

/// Returns the photo turned by a right angle, with its focus turned accordingly.
async fn turn_photo(
    desk: &Desk<'_>,
    photo: &Photo,
    to_right: bool,
) -> Result<NewPhoto, UploadError> {
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
