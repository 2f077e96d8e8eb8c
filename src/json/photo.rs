//! A photo of an animal as JSON.

use super::{
    Invalid, Object, elements, integer,
    members::{Kind, Members},
    string,
};
use crate::domain::{
    PetId,
    clock::at_millisecond,
    store_area::{AltText, Photo, PhotoId, PhotoPatch, Photos},
};

const ALT: Kind<AltText> = Kind {
    read: |value| string(value).and_then(AltText::new),
    is: "a string of 1 to 500 characters without U+0000",
};

const POSITION: Kind<usize> = Kind {
    read: |value| integer(value).and_then(|position| position.try_into().ok()),
    is: "an integer from 0 on; 0 is the portrait",
};

const ID: Kind<PhotoId> = Kind {
    read: |value| string(value).and_then(|id| PhotoId::parse(&id)),
    is: "32 hexadecimal digits",
};

const SIDE: Kind<u32> = Kind {
    read: |value| integer(value).and_then(|side| side.try_into().ok()),
    is: "a number of pixels",
};

const ADDED_AT: Kind<jiff::Timestamp> =
    Kind { read: |value| integer(value).and_then(at_millisecond), is: "a time in milliseconds" };

/// The members that a request can change.
const PATCH: &[&str] = &["alt", "position"];

pub(crate) fn read_photo_patch(body: &[u8]) -> Result<PhotoPatch, Invalid> {
    let members = Members::of(body, "The body", PATCH)?;
    Ok(PhotoPatch {
        alt: members.patch("alt", &ALT)?,
        position: members.optional("position", &POSITION)?,
    })
}

/// The photos of an animal as a store keeps them. `None` if the service has never written this.
pub(crate) fn read_photos(stored: &str) -> Option<Photos> {
    let photo = |object: &[u8]| {
        let names = ["id", "width", "height", "addedAt", "alt"];
        let members = Members::of(object, "The photo", &names)?;
        Ok(Photo {
            id: members.required("id", &ID)?,
            alt: members.optional("alt", &ALT)?,
            width: members.required("width", &SIDE)?,
            height: members.required("height", &SIDE)?,
            added_at: members.required("addedAt", &ADDED_AT)?,
        })
    };
    let all = elements(stored.as_bytes()).ok()?;
    let all = all.into_iter().map(|object| photo(object.get().as_bytes()));
    all.collect::<Result<Vec<_>, Invalid>>().ok().map(Photos::new)
}

/// The photo of an animal at this position.
pub(crate) fn write_photo(out: &mut Vec<u8>, pet: PetId, position: usize, photo: &Photo) {
    let mut object = Object::begin(out);
    object.text("id", &photo.id.to_string());
    object.integer("petId", pet.get());
    object.integer("position", position);
    object.text_or_null("alt", photo.alt.as_ref().map(AltText::as_str));
    object.integer("width", photo.width);
    object.integer("height", photo.height);
    object.time("addedAt", photo.added_at);
    let mut urls = Object::begin(object.name("urls"));
    for size in ["small", "medium", "large"] {
        urls.text(size, &format!("/photos/{}-{size}.jpg", photo.id));
    }
    urls.end();
    object.end();
}

pub(super) fn write_photos(out: &mut Vec<u8>, pet: PetId, photos: &Photos) {
    out.push(b'[');
    for (position, photo) in photos.all().iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_photo(out, pet, position, photo);
    }
    out.push(b']');
}
