//! The rules for adding, replacing, changing, rearranging and deleting photos of an animal.

use jiff::Timestamp;

use super::{
    ChangeType, Decision, NewPhoto, Photo, PhotoId, PhotoPatch, Photos, Preconditions,
    PresentState, Refusal, StorePet,
    pet_rules::refuse_withdrawn,
    shared_rules::{NO_PET, next_version, require_preconditions, require_subject},
};

/// The message about a photo that does not exist.
const NO_PHOTO: &str = "The animal has no photo with this id.";

/// The rule for a request body that rearranges the photos of an animal.
pub const PHOTO_ORDER_RULE: &str =
    "The body must have the id of each photo of the animal once, and nothing else.";

/// The photo that a command is about: an animal, and the position of one of its photos.
struct PhotoSubject<'p> {
    pet: &'p StorePet,
    position: usize,
}

/// Decides how a photo is appended to the photos of an animal. A photo that the animal already has
/// is not added again, so that a retry has no effect.
pub(super) fn add_photo(
    new_photo: &NewPhoto,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    check_room_for_photo(pet)?;
    let id = new_photo.id;
    if pet.photos.position(id).is_some() {
        return Ok(Decision::without_change(pet).with_photo(id));
    }
    let mut photos = pet.photos.all().to_vec();
    photos.push(new_photo.clone().into_photo(now));
    Ok(change_photos(pet, photos, now).with_photo(id))
}

/// Refuses a new photo if the animal is withdrawn, or already has [`Photos::MAX`] photos.
pub fn check_room_for_photo(pet: &StorePet) -> Result<(), Refusal> {
    refuse_if_withdrawn(pet)?;
    if pet.photos.all().len() >= Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    Ok(())
}

/// Decides how the picture of a photo is replaced. The photo keeps its position, its alternative
/// text and the time at which it was added. A picture that is already among the photos of the
/// animal changes nothing, so that a retry has no effect.
pub(super) fn replace_photo(
    id: PhotoId,
    replacement: &NewPhoto,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let PhotoSubject { pet, position } = find_photo(id, &Preconditions::PRESENT, present)?;
    if pet.photos.position(replacement.id).is_some() {
        return Ok(Decision::without_change(pet).with_photo(replacement.id));
    }

    let mut photos = pet.photos.all().to_vec();
    let photo = &mut photos[position];
    photo.id = replacement.id;
    photo.width = replacement.width;
    photo.height = replacement.height;
    photo.focus = replacement.focus;
    Ok(change_photos(pet, photos, now).with_photo(replacement.id))
}

/// Decides how the alternative text, the focus or the position of a photo changes. A position past
/// the end moves the photo to the end.
pub(super) fn patch_photo(
    id: PhotoId,
    patch: &PhotoPatch,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let PhotoSubject { pet, position } = find_photo(id, preconditions, present)?;

    let mut photos = pet.photos.all().to_vec();
    let mut photo = photos.remove(position);
    patch.alt.apply(&mut photo.alt);
    patch.focus.apply(&mut photo.focus);
    let new_position = match patch.position {
        Some(new_position) => new_position.min(photos.len()),
        None => position,
    };
    photos.insert(new_position, photo);

    if photos == pet.photos.all() {
        return Ok(Decision::without_change(pet).with_photo(id));
    }
    Ok(change_photos(pet, photos, now).with_photo(id))
}

/// Decides how the photos of an animal are rearranged.
pub(super) fn rearrange_photos(
    order: &[PhotoId],
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    require_preconditions(preconditions, Some(pet))?;
    refuse_if_withdrawn(pet)?;

    let photos = pet.photos.all();
    // A list that is as long as the list of photos, and contains each of them, contains no
    // duplicates.
    let has_each_photo = photos.iter().all(|photo| order.contains(&photo.id));
    if order.len() != photos.len() || !has_each_photo {
        return Err(Refusal::Invalid(PHOTO_ORDER_RULE));
    }

    // Each id has a position, because `order` has exactly the ids of the photos.
    let ordered_photos: Vec<Photo> = order
        .iter()
        .filter_map(|&id| pet.photos.position(id))
        .map(|position| photos[position].clone())
        .collect();
    if ordered_photos == photos {
        return Ok(Decision::without_change(pet));
    }
    Ok(change_photos(pet, ordered_photos, now))
}

/// Decides how a photo is deleted: the photos after it move up by one position.
pub(super) fn delete_photo(
    id: PhotoId,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let PhotoSubject { pet, position } = find_photo(id, preconditions, present)?;
    let mut photos = pet.photos.all().to_vec();
    photos.remove(position);
    Ok(change_photos(pet, photos, now))
}

/// Finds the photo that a command changes. Refuses the command if there is no such photo, a
/// precondition fails, or the animal is withdrawn.
fn find_photo<'p>(
    id: PhotoId,
    preconditions: &Preconditions,
    present: &'p PresentState,
) -> Result<PhotoSubject<'p>, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    let position = pet.photos.position(id).ok_or(Refusal::NotFound(NO_PHOTO))?;
    require_preconditions(preconditions, Some(pet))?;
    refuse_if_withdrawn(pet)?;
    Ok(PhotoSubject { pet, position })
}

/// Refuses a command on the photos of a withdrawn animal.
fn refuse_if_withdrawn(pet: &StorePet) -> Result<(), Refusal> {
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "Restore it first."));
    }
    Ok(())
}

/// Returns the decision to replace the list of photos of an animal.
pub(super) fn change_photos(pet: &StorePet, photos: Vec<Photo>, now: Timestamp) -> Decision {
    let after = StorePet {
        photos: Photos::new(photos),
        ..pet.clone()
    };
    Decision::new(ChangeType::PetChanged, Some(pet), next_version(after, now))
}
