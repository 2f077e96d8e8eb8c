//! Handles the form that changes the photos of an animal. The form edits their alternative texts
//! and focus, and its buttons move, turn and delete them.

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
    photos::{self, alt_input_name, focus_input_name},
};
use crate::{
    ask::Question,
    merge::{MergedForm, ReportedChanges},
    prelude::*,
    reply::Flash,
};

/// The pressed button of the form. Every button also saves the inputs.
///
/// The value of a button for a photo ends with the id of the photo: `delete-0123…` deletes it.
#[derive(Clone, Copy)]
enum PressedButton {
    Save,
    Delete(PhotoId),
    Turn(PhotoId, TurnDirection),
    Move(PhotoId, MoveTarget),
}

/// The direction in which a photo is turned by a right angle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnDirection {
    Left,
    Right,
}

/// Where a photo is moved among the photos of its animal.
#[derive(Clone, Copy)]
enum MoveTarget {
    First,
    Up,
    Down,
    /// This position, from 0. The script sends it after the photo was dragged.
    Position(usize),
}

/// The commands for the photos of one animal.
///
/// Only the first command with preconditions checks that nobody else has changed the animal since
/// the page was rendered. Each command changes the version, so the same check would fail for the
/// next one.
struct PhotoCommands {
    pet: PetId,
    /// The preconditions of the form; `None` once a command has taken them.
    form_preconditions: Option<Preconditions>,
    commands: Vec<Command>,
}

/// The error that an alternative text is too long.
struct TextTooLong;

impl PressedButton {
    /// Parses the pressed button. An unknown button, or one without a photo, only saves.
    fn from_form(form: &Form) -> Self {
        let Some((verb, id)) = form.get("do").split_once('-') else {
            return Self::Save;
        };
        let Some(photo) = PhotoId::parse(id) else {
            return Self::Save;
        };
        match verb {
            "delete" => Self::Delete(photo),
            "left" => Self::Turn(photo, TurnDirection::Left),
            "right" => Self::Turn(photo, TurnDirection::Right),
            "first" => Self::Move(photo, MoveTarget::First),
            "up" => Self::Move(photo, MoveTarget::Up),
            "down" => Self::Move(photo, MoveTarget::Down),
            "move" => match form.get("position").parse() {
                Ok(position) => Self::Move(photo, MoveTarget::Position(position)),
                Err(_) => Self::Save,
            },
            _ => Self::Save,
        }
    }
}

impl MoveTarget {
    /// Returns the new position of a photo that is at this position now.
    fn new_position(self, current_position: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Up => current_position.saturating_sub(1),
            Self::Down => current_position + 1,
            Self::Position(position) => position,
        }
    }
}

impl PhotoCommands {
    /// Creates an empty list of commands for an animal, with the preconditions of the form.
    fn new(pet: PetId, form_preconditions: Preconditions) -> Self {
        Self {
            pet,
            form_preconditions: Some(form_preconditions),
            commands: Vec::new(),
        }
    }

    /// Takes the preconditions for the next command: the ones of the form for the first command,
    /// and only that the animal exists for the others.
    fn take_preconditions(&mut self) -> Preconditions {
        self.form_preconditions
            .take()
            .unwrap_or(Preconditions::PRESENT)
    }

    /// Adds a command for each photo whose inputs were edited. Fails if an alternative text is too
    /// long.
    fn add_edits(&mut self, pet: &StorePet, form: &Form) -> Result<(), TextTooLong> {
        for photo in pet.photos.all() {
            let patch = parse_patch(form, photo)?;
            if patch != PhotoPatch::default() {
                self.add_patch(photo.id, patch);
            }
        }
        Ok(())
    }

    /// Adds a command that changes a photo.
    fn add_patch(&mut self, photo: PhotoId, patch: PhotoPatch) {
        let preconditions = self.take_preconditions();
        self.commands.push(Command::PatchPhoto {
            id: self.pet,
            photo,
            patch,
            preconditions,
        });
    }

    /// Adds a command that deletes a photo.
    fn add_deletion(&mut self, photo: PhotoId) {
        let preconditions = self.take_preconditions();
        self.commands.push(Command::DeletePhoto {
            id: self.pet,
            photo,
            preconditions,
        });
    }

    /// Adds a command that replaces a photo with another one. It has no preconditions, because the
    /// store refuses it if the animal no longer has the photo.
    fn add_replacement(&mut self, photo: PhotoId, replacement: NewPhoto) {
        self.commands.push(Command::ReplacePhoto {
            id: self.pet,
            photo,
            replacement,
        });
    }
}

/// Handles `POST /animals/{id}/photos/change`: saves the texts and the focus of all photos, and
/// moves, turns or deletes the photo of the pressed button.
pub(super) async fn change(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let button = PressedButton::from_form(form);
    // After a second click on the confirmation, the photo is already gone, so the member is not
    // asked. The store then returns the response to the first click.
    if let PressedButton::Delete(photo) = button
        && let Some(question_page) = ask_to_delete(desk, &pet, photo)
    {
        return Ok(question_page);
    }

    let merged_form = MergedForm::new(form, &photos::form_of_photos(&pet));
    let preconditions = merged_form.preconditions(merged_form.is_conflict());
    let mut photo_commands = PhotoCommands::new(pet.id, preconditions);
    if let Err(TextTooLong) = photo_commands.add_edits(&pet, &merged_form.form) {
        return photos::show(desk, &Errors::from_text(texts().text_too_long)).await;
    }
    match add_button_command(desk, &pet, button, &mut photo_commands).await {
        Ok(()) => {}
        Err(UploadError::Problem(problem)) => {
            let errors = Errors::from_text(&problem.into_message());
            return photos::show(desk, &errors).await;
        }
        Err(UploadError::Request(error)) => return Err(error),
    }

    execute_commands(desk, &pet, photo_commands.commands, &merged_form).await
}

/// Executes the commands, and redirects to the photos of the animal. If the commands fail, renders
/// the page of the photos with the reason.
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

/// Returns the page that shows a photo and asks whether to delete it.
///
/// Returns `None` if the form already confirms the deletion, or if the animal no longer has the
/// photo.
fn ask_to_delete(desk: &Desk<'_>, pet: &StorePet, id: PhotoId) -> Option<Reply> {
    let position = pet.photos.position(id)?;
    let photo = pet.photos.all().get(position)?;
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
    button: PressedButton,
    photo_commands: &mut PhotoCommands,
) -> Result<(), UploadError> {
    match button {
        PressedButton::Save => {}
        PressedButton::Delete(id) => photo_commands.add_deletion(id),
        PressedButton::Turn(id, direction) => {
            let photo = pet.photos.all().iter().find(|photo| photo.id == id);
            let Some(photo) = photo else {
                // After a second click, the photo is gone, because turning replaces it with a new
                // one. With this empty patch, the store returns the response to the first click. If
                // there was no first click, the store refuses the patch.
                photo_commands.add_patch(id, PhotoPatch::default());
                return Ok(());
            };
            let turned_photo = turn_photo(desk, photo, direction).await?;
            photo_commands.add_replacement(id, turned_photo);
        }
        PressedButton::Move(id, target) => {
            // If the photo is gone, its position does not matter.
            let current_position = pet.photos.position(id).unwrap_or_default();
            let patch = PhotoPatch {
                position: Some(target.new_position(current_position)),
                ..PhotoPatch::default()
            };
            photo_commands.add_patch(id, patch);
        }
    }
    Ok(())
}

/// Returns a message for each input that both this member and somebody else have changed since the
/// page was rendered.
fn conflict_messages(pet: &StorePet, merged_form: &MergedForm) -> Errors {
    merged_form.change_messages(ReportedChanges::Conflicts, |input_name, value| {
        let label = label_of_input(pet, input_name)?;
        Some((label, markup::readable(value, markup::SHORT_LENGTH)))
    })
}

/// Returns the label of an input for a photo of the animal; `None` if no photo has this input.
fn label_of_input(pet: &StorePet, input_name: &str) -> Option<String> {
    for (photo, number) in pet.photos.all().iter().zip(1..) {
        if alt_input_name(photo.id) == input_name {
            return Some(texts().alt_of(number));
        }
        if focus_input_name(photo.id) == input_name {
            return Some(texts().look_at(number));
        }
    }
    None
}

/// Parses the inputs of a photo into a patch of the values that differ from the current ones.
fn parse_patch(form: &Form, photo: &Photo) -> Result<PhotoPatch, TextTooLong> {
    Ok(PhotoPatch {
        alt: parse_alt(form, photo)?,
        focus: parse_focus(form, photo),
        ..PhotoPatch::default()
    })
}

/// Parses the alternative text of a photo. A text that the form does not have stays unchanged.
fn parse_alt(form: &Form, photo: &Photo) -> Result<Patch<AltText>, TextTooLong> {
    let Some(submitted_text) = form.all(&alt_input_name(photo.id)).next() else {
        return Ok(Patch::Keep);
    };
    let text = submitted_text.trim();
    let current_text = photo.alt.as_ref().map_or("", AltText::as_str);
    if text == current_text {
        return Ok(Patch::Keep);
    }
    if text.is_empty() {
        return Ok(Patch::Clear);
    }
    let alt = AltText::new(text.to_owned()).ok_or(TextTooLong)?;
    Ok(Patch::Set(alt))
}

/// Parses the focus of a photo. A click on the picture takes precedence over the dropdown.
fn parse_focus(form: &Form, photo: &Photo) -> Patch<Focus> {
    if let Some(clicked_focus) = clicked_point(form, photo) {
        if photo.focus == Some(clicked_focus) {
            return Patch::Keep;
        }
        return Patch::Set(clicked_focus);
    }
    let Some(chosen_option) = form.all(&focus_input_name(photo.id)).next() else {
        return Patch::Keep;
    };
    if chosen_option == photos::format_focus(photo.focus) {
        return Patch::Keep;
    }
    let chosen_focus = chosen_option
        .split_once(',')
        .and_then(|(x, y)| json::read_focus([x, y]));
    match chosen_focus {
        Some(focus) => Patch::Set(focus),
        // The empty option stands for no focus, and so does any text that is no point.
        None => Patch::Clear,
    }
}

/// Returns the point at which the member clicked the picture of a photo. Without a click, returns
/// `None`.
///
/// A point outside of the picture counts as one on its edge.
fn clicked_point(form: &Form, photo: &Photo) -> Option<Focus> {
    let [width, height] = photos::clickable_size(photo);
    let x = clicked_fraction(form, photo.id, "x", width)?;
    let y = clicked_fraction(form, photo.id, "y", height)?;
    Focus::new([x, y])
}

/// Returns the clicked position on one axis of the picture, in ten-thousandths of `side`, the
/// length of the picture on this axis in pixels.
///
/// Browsers send the position as `point-ID.x` and `point-ID.y`. The result is rounded down to whole
/// hundredths, the precision in which the page displays a point.
fn clicked_fraction(form: &Form, photo: PhotoId, axis: &str, side: u32) -> Option<u16> {
    let pixel = form.integer(&format!("point-{photo}.{axis}"))?;
    let hundredths = pixel.clamp(0, side.into()) * 100 / i64::from(side);
    u16::try_from(hundredths * 100).ok()
}

/// Returns the photo turned by 90 degrees, with its focus turned accordingly.
async fn turn_photo(
    desk: &Desk<'_>,
    photo: &Photo,
    direction: TurnDirection,
) -> Result<NewPhoto, UploadError> {
    let is_to_right = direction == TurnDirection::Right;
    let Some(turned_photo) = desk.app().photos.turn(photo.id, is_to_right).await? else {
        let message = texts().photo_file_missing.to_owned();
        return Err(UploadProblem::Picture(message).into());
    };
    let focus = photo.focus.map(|focus| focus.rotate(is_to_right));
    // The animal's photo keeps its alternative text when its picture is replaced.
    let no_alternative_text = None;
    Ok(NewPhoto {
        focus,
        ..turned_photo.into_photo(no_alternative_text)
    })
}
