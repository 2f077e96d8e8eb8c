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
    /// What the button does: `save`, `delete`, turn to the `left` or `right`, or one of the moves in
    /// [`Self::new_position`].
    verb: &'f str,
    photo: Option<PhotoId>,
}

impl<'f> PressedButton<'f> {
    /// Parses the pressed button. Without a photo in its value, it is taken for `save`.
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

/// The commands for one animal. Only the first command with preconditions checks that nobody else has
/// changed the animal since the page was rendered: each command changes the version, so the same
/// check would fail for the next one.
struct PhotoCommands {
    pet: PetId,
    /// The preconditions of the first command; `None` once it has taken them.
    first_preconditions: Option<Preconditions>,
    commands: Vec<Command>,
}

/// The error that an alternative text is too long.
struct TextTooLong;

impl PhotoCommands {
    /// Returns the preconditions for the next command.
    fn preconditions(&mut self) -> Preconditions {
        self.first_preconditions
            .take()
            .unwrap_or(Preconditions::PRESENT)
    }

    /// Adds a command for each photo whose inputs were edited.
    fn add_edits(&mut self, pet: &StorePet, form: &Form) -> Result<(), TextTooLong> {
        for photo in pet.photos.all() {
            let patch = parse_patch(form, photo)?;
            if patch != PhotoPatch::default() {
                self.patch(photo.id, patch);
            }
        }
        Ok(())
    }

    /// Adds a command that changes a photo.
    fn patch(&mut self, photo: PhotoId, patch: PhotoPatch) {
        let preconditions = self.preconditions();
        self.commands.push(Command::PatchPhoto {
            id: self.pet,
            photo,
            patch,
            preconditions,
        });
    }

    /// Adds a command that deletes a photo.
    fn delete(&mut self, photo: PhotoId) {
        let preconditions = self.preconditions();
        self.commands.push(Command::DeletePhoto {
            id: self.pet,
            photo,
            preconditions,
        });
    }

    /// Adds a command that replaces a photo with another one.
    fn replace(&mut self, photo: PhotoId, replacement: NewPhoto) {
        self.commands.push(Command::ReplacePhoto {
            id: self.pet,
            photo,
            replacement,
        });
    }
}

/// Handles `POST /animals/{id}/photos/change`: saves the texts and the focus of all photos, and moves,
/// turns or deletes the photo of the pressed button.
pub(super) async fn change(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let button = PressedButton::new(form);
    // After a second click on the confirmation, the photo is already gone, so there is nothing to
    // confirm. The command below then gets the response of the first click.
    if button.verb == "delete"
        && let Some((position, photo)) = button.find_photo(&pet)
        && let Some(question_page) = confirm_deletion(desk, &pet, position, photo)
    {
        return Ok(question_page);
    }

    let merged_form = MergedForm::new(form, &photos::form_of_photos(&pet));
    let mut commands = PhotoCommands {
        pet: pet.id,
        first_preconditions: Some(merged_form.preconditions(merged_form.is_conflict())),
        commands: Vec::new(),
    };
    if let Err(TextTooLong) = commands.add_edits(&pet, &merged_form.form) {
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

    execute_commands(desk, &pet, commands.commands, &merged_form).await
}

/// Executes the commands, and redirects to the photos of the animal. If the commands fail, renders the
/// page of the photos with the reason.
async fn execute_commands(
    desk: &Desk<'_>,
    pet: &StorePet,
    commands: Vec<Command>,
    merged_form: &MergedForm,
) -> Result<Reply, ApiError> {
    if commands.is_empty() {
        let flash = Flash::new("saved", pet.id.get());
        return Ok(photos::redirect_to_photos(pet.id, flash));
    }
    match desk.execute(commands).await? {
        Ok(flash) => Ok(photos::redirect_to_photos(pet.id, flash)),
        Err(_) if merged_form.is_conflict() => {
            photos::show(desk, &conflict_messages(pet, merged_form)).await
        }
        Err(CommandFailure { message, .. }) => {
            photos::show(desk, &Errors::from_text(&message)).await
        }
    }
}

/// Returns the page that shows a photo and asks whether to delete it; `None` if the form already
/// confirms it.
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
        confirm_label: texts().delete,
        back_path: &photos::photos_path(pet.id),
    };
    question.ask(desk, &photos::small_photo(photo, position, &name))
}

/// Adds the command for the pressed button, if it belongs to a photo.
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
    match button.verb {
        "delete" => commands.delete(id),
        "left" | "right" => {
            let Some((_, photo)) = current_photo else {
                // After a second click, the photo is gone, because turning replaces it with a new
                // one. This empty patch makes the store return the response of the first click. If
                // there was none, the store refuses it.
                commands.patch(id, PhotoPatch::default());
                return Ok(());
            };
            let turned_photo = turn_photo(desk, photo, button.verb == "right").await?;
            commands.replace(id, turned_photo);
        }
        _ => {
            // If the photo is gone, its position does not matter.
            let current_position = current_photo.map_or(0, |(position, _)| position);
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

/// Parses the inputs of a photo into a patch of the values that differ from the current ones.
fn parse_patch(form: &Form, photo: &Photo) -> Result<PhotoPatch, TextTooLong> {
    let mut patch = PhotoPatch::default();
    let current_text = photo.alt.as_ref().map_or("", AltText::as_str);
    if let Some(text) = form.all(&alt_input(photo.id)).next() {
        let text = text.trim();
        if text.is_empty() && !current_text.is_empty() {
            patch.alt = Patch::Clear;
        } else if text != current_text {
            let alt = AltText::new(text.to_owned()).ok_or(TextTooLong)?;
            patch.alt = Patch::Set(alt);
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
    // A click on the picture takes precedence over the dropdown.
    if let Some(focus) = clicked_point(form, photo) {
        patch.focus = if photo.focus == Some(focus) {
            Patch::Keep
        } else {
            Patch::Set(focus)
        };
    }
    Ok(patch)
}

/// Returns the point at which the member clicked the picture of a photo; `None` without a click. A
/// point outside of the picture counts as one on its edge.
fn clicked_point(form: &Form, photo: &Photo) -> Option<Focus> {
    let [width, height] = photos::clickable_size(photo);
    let x = clicked_fraction(form, photo.id, "x", width)?;
    let y = clicked_fraction(form, photo.id, "y", height)?;
    Focus::new([x, y])
}

/// Returns the clicked position on one axis of the picture, in ten-thousandths of `side`, the length
/// of the picture on this axis in pixels. The result is rounded down to whole hundredths, the
/// precision in which the page displays a point.
///
/// Browsers send the position as `point-ID.x` and `point-ID.y`.
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
