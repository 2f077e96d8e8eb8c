//! Photos that wait for their animal: the script uploads them while the member fills in the form of
//! a new animal.
//!
//! A signed token in the form holds all that the service needs to know about such a photo, so the
//! service keeps no list of waiting photos. If a photo is not added within a day, the service
//! deletes its files.

use jiff::SignedDuration;
use petstore_domain::store_area::{NewPhoto, PhotoId, Photos};
use petstore_photos::StoredPhoto;

use super::photos::PHOTO;
use crate::prelude::*;

/// How long a photo can wait for its animal. This is less than a day, after which the service
/// deletes the files of the photo.
const MAX_WAIT: SignedDuration = SignedDuration::from_hours(20);

/// The waiting photos in the form of a new animal.
#[derive(Default)]
pub(super) struct WaitingPhotos {
    /// The photos that can be added. Their files exist.
    pub(super) photos: Vec<NewPhoto>,
    /// The tokens of `photos`, in the same order.
    pub(super) tokens: Vec<String>,
    /// The number of photos that cannot be added. The token of such a photo is invalid or has
    /// expired, its files are gone, or it is one photo too many for an animal.
    pub(super) lost_count: usize,
}

/// Creates the token of a waiting photo. Only this member can use it.
///
/// Its format is `ID.WIDTH.HEIGHT.SECONDS.TAG`, with the sides in pixels, the Unix time of the
/// upload in seconds, and the signature.
pub(super) fn create_token(desk: &Desk<'_>, photo: StoredPhoto) -> String {
    let StoredPhoto { id, width, height } = photo;
    let text = format!("{id}.{width}.{height}.{}", desk.visit.now.as_second());
    let tag = desk.visit.sign(&signed_bytes(desk, &text));
    format!("{text}.{tag}")
}

/// Returns the bytes that the signature of a token covers. They name the member, so that no other
/// member can use the token.
fn signed_bytes(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("waiting photo of staff {} {text}", desk.session.member.id).into_bytes()
}

/// Verifies and parses a token of [`create_token`].
///
/// Returns `None` if the signature is not valid for this member, or if the photo has waited too
/// long.
fn parse_token(desk: &Desk<'_>, token: &str) -> Option<NewPhoto> {
    let (text, tag) = token.rsplit_once('.')?;
    if !desk.visit.is_signature_of(tag, &signed_bytes(desk, text)) {
        return None;
    }

    let parts: Vec<&str> = text.split('.').collect();
    let &[id, width, height, upload_second] = &parts[..] else {
        return None;
    };
    let upload_second: i64 = upload_second.parse().ok()?;
    let waited_seconds = desk.visit.now.as_second().saturating_sub(upload_second);
    if waited_seconds >= MAX_WAIT.as_secs() {
        return None;
    }

    let photo = StoredPhoto {
        id: PhotoId::parse(id)?,
        width: width.parse().ok()?,
        height: height.parse().ok()?,
    };
    Some(photo.into_photo(None))
}

/// Parses the tokens in the form of this request, and checks that the files of the photos exist.
pub(super) async fn load_waiting_photos(desk: &Desk<'_>) -> Result<WaitingPhotos, ApiError> {
    let mut waiting_photos = WaitingPhotos::default();
    for token in desk.visit.form.all(PHOTO) {
        let Some(photo) = parse_token(desk, token) else {
            waiting_photos.lost_count += 1;
            continue;
        };
        let has_file = desk.app().photos.has_large_file(photo.id).await?;
        if !has_file || waiting_photos.photos.len() >= Photos::MAX {
            waiting_photos.lost_count += 1;
        } else if !waiting_photos.photos.contains(&photo) {
            waiting_photos.photos.push(photo);
            waiting_photos.tokens.push(token.to_owned());
        }
    }
    Ok(waiting_photos)
}
