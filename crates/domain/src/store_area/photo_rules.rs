//! The changes of commands about the photos of an animal.

use jiff::Timestamp;

use super::{
    ChangeType, Decision, NewPhoto, Photo, PhotoId, PhotoPatch, Photos, Preconditions,
    PresentState, Refusal, StorePet,
    pet_rules::withdrawn,
    rules::{NO_PET, existing, next_version, require},
};

const NO_PHOTO: &str = "The animal has no photo with this id.";

/// Why a list is not an order of the photos of an animal.
pub const PHOTO_ORDER_RULE: &str =
    "The body must have the id of each photo of the animal once, and nothing else.";

pub(super) fn add_photo(
    new: &NewPhoto,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    check_room_for_photo(pet)?;
    let id = new.id;
    if pet.photos.position(id).is_some() {
        return Ok(Decision {
            photo: Some(id),
            ..Decision::without_change(pet)
        });
    }
    let all = pet
        .photos
        .all()
        .iter()
        .cloned()
        .chain([new.clone().into_photo(now)]);
    Ok(with_photos(pet, all.collect(), Some(id), now))
}

pub(super) fn replace_photo(
    id: PhotoId,
    by: &NewPhoto,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let (pet, at) = subject(id, &Preconditions::PRESENT, present)?;
    if pet.photos.position(by.id).is_some() {
        return Ok(Decision {
            photo: Some(by.id),
            ..Decision::without_change(pet)
        });
    }
    let mut all = pet.photos.all().to_vec();
    let NewPhoto {
        id,
        width,
        height,
        focus,
        ..
    } = *by;
    all[at] = Photo {
        id,
        width,
        height,
        focus,
        ..all[at].clone()
    };
    Ok(with_photos(pet, all, Some(id), now))
}

/// Rejects a photo of an animal that cannot get one.
pub fn check_room_for_photo(pet: &StorePet) -> Result<(), Refusal> {
    if pet.withdrawal.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    if pet.photos.all().len() >= Photos::MAX {
        Err(Refusal::TooManyPhotos)
    } else {
        Ok(())
    }
}

pub(super) fn patch_photo(
    id: PhotoId,
    patch: &PhotoPatch,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let (pet, from) = subject(id, preconditions, present)?;
    let mut all = pet.photos.all().to_vec();
    let mut photo = all.remove(from);
    patch.alt.apply(&mut photo.alt);
    patch.focus.apply(&mut photo.focus);
    let to = patch
        .position
        .map_or(from, |position| position.min(all.len()));
    all.insert(to, photo);
    if all == pet.photos.all() {
        return Ok(Decision {
            photo: Some(id),
            ..Decision::without_change(pet)
        });
    }
    Ok(with_photos(pet, all, Some(id), now))
}

pub(super) fn order_photos(
    order: &[PhotoId],
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    may_change(pet, preconditions)?;
    let all = pet.photos.all();
    // As many as there are, and none is missing, so none is there twice.
    if order.len() != all.len() || !all.iter().all(|photo| order.contains(&photo.id)) {
        return Err(Refusal::Invalid(PHOTO_ORDER_RULE));
    }
    let at = |id: &PhotoId| pet.photos.position(*id).and_then(|at| all.get(at)).cloned();
    let ordered: Vec<_> = order.iter().filter_map(at).collect();
    if ordered == all {
        return Ok(Decision::without_change(pet));
    }
    Ok(with_photos(pet, ordered, None, now))
}

pub(super) fn delete_photo(
    id: PhotoId,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let (pet, at) = subject(id, preconditions, present)?;
    let mut all = pet.photos.all().to_vec();
    all.remove(at);
    Ok(with_photos(pet, all, None, now))
}

/// Returns the animal of a photo that may change, and the position of the photo.
fn subject<'p>(
    id: PhotoId,
    preconditions: &Preconditions,
    present: &'p PresentState,
) -> Result<(&'p StorePet, usize), Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    let at = pet.photos.position(id).ok_or(Refusal::NotFound(NO_PHOTO))?;
    may_change(pet, preconditions)?;
    Ok((pet, at))
}

/// Rejects a change of the photos that an animal has.
fn may_change(pet: &StorePet, preconditions: &Preconditions) -> Result<(), Refusal> {
    require(preconditions, Some(pet))?;
    if pet.withdrawal.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    Ok(())
}

/// The change that gives an animal these photos. `photo` is the one that the command is about, if it is about one.
pub(super) fn with_photos(
    pet: &StorePet,
    all: Vec<Photo>,
    photo: Option<PhotoId>,
    now: Timestamp,
) -> Decision {
    let after = StorePet {
        photos: Photos::new(all),
        ..pet.clone()
    };
    let decision = Decision::new(ChangeType::PetChanged, Some(pet), next_version(after, now));
    Decision { photo, ..decision }
}
