//! Photos that wait for their animal. The script sends them while somebody fills in the form of a new animal.
//!
//! A field of the form has what the service needs to know about the photo, with a tag that only the service can make.
//! So the service needs no list of such photos. It deletes those that are never added after a day.

use jiff::SignedDuration;
use petstore_domain::store_area::{NewPhoto, PhotoId, Photos};
use petstore_photos::StoredPhoto;

use super::photos::PHOTO;
use crate::prelude::*;

/// The time for which a photo waits for its animal. The service keeps its files for a day.
const MAX_WAIT: SignedDuration = SignedDuration::from_hours(20);

/// Returns the value of a form field for a photo that waits, which only this member can add.
///
/// It has the form `ID.WIDTH.HEIGHT.SECONDS.TAG`, with the sides in pixels and the time in seconds since 1970.
pub(super) fn waiting_photo_token(desk: &Desk<'_>, photo: StoredPhoto) -> String {
    let StoredPhoto { id, width, height } = photo;
    let text = format!("{id}.{width}.{height}.{}", desk.visit.now.as_second());
    let tag = desk.visit.sign(&tagged_bytes(desk, &text));
    format!("{text}.{tag}")
}

/// Returns the bytes for which the tag of a token is made. They name the member, so no other member can use it.
fn tagged_bytes(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("waiting photo of staff {} {text}", desk.session.member.id).into_bytes()
}

/// Parses a token of [`waiting_photo_token`].
///
/// Returns `None` if the photo has waited too long, or if the token was made for another member.
fn parse_token(desk: &Desk<'_>, token: &str) -> Option<NewPhoto> {
    let (text, tag) = token.rsplit_once('.')?;
    if !desk.visit.is_signature_of(tag, &tagged_bytes(desk, text)) {
        return None;
    }

    let parts: Vec<&str> = text.split('.').collect();
    let &[id, width, height, arrival_second] = &parts[..] else {
        return None;
    };
    let arrival_second: i64 = arrival_second.parse().ok()?;
    let waited_seconds = desk.visit.now.as_second().saturating_sub(arrival_second);
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

/// The photos in the form of a new animal.
#[derive(Default)]
pub(super) struct WaitingPhotos {
    /// The photos that can be added, whose files exist.
    pub(super) photos: Vec<NewPhoto>,
    /// The tokens of `photos`, in the same order.
    pub(super) tokens: Vec<String>,
    /// The number of photos that cannot be added: they waited too long, or an animal cannot have more.
    pub(super) lost_count: usize,
}

/// Reads the photos in the form of this request, and looks for their files.
pub(super) async fn load_waiting_photos(desk: &Desk<'_>) -> Result<WaitingPhotos, ApiError> {
    let mut waiting = WaitingPhotos::default();
    for token in desk.visit.form.all(PHOTO) {
        let Some(photo) = parse_token(desk, token) else {
            waiting.lost_count += 1;
            continue;
        };
        let has_file = desk.app().photos.has_large_file(photo.id).await?;
        if !has_file || waiting.photos.len() >= Photos::MAX {
            waiting.lost_count += 1;
        } else if !waiting.photos.contains(&photo) {
            waiting.photos.push(photo);
            waiting.tokens.push(token.to_owned());
        }
    }
    Ok(waiting)
}
