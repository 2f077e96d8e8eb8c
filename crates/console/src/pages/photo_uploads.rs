//! Handles the upload of one or more photos.
//!
//! A picture is a file as the browser sends it. A photo is what the service makes of a picture and
//! stores.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use petstore_domain::{
    PetId, StaffId,
    store_area::{Command, Photos, StorePet},
};
use petstore_photos::{Format, PhotoError, StoredPhoto};
use petstore_web::edge::{
    UnreadBody,
    multipart::{Multipart, Part},
};
use sha2::{Digest, Sha256};

use super::{parts::missing_page, photos, waiting_photos};
use crate::{
    Console,
    desk::{KEY_FIELD, owner_of},
    prelude::*,
    problem::translate_unreadable_form,
    reply::Flash,
    session,
};

/// How many times longer one picture may take to arrive than a whole form without pictures.
pub(super) const PICTURE_TIMEOUT_FACTOR: u32 = 4;

/// The maximum number of uploads of one member that can be in flight at once.
const MAX_UPLOADS_PER_MEMBER: usize = 3;

/// What has been read of a form so far: its key, and the results for its pictures.
#[derive(Default)]
struct FormProgress {
    /// The idempotency key of the form, by which a second click is recognized; empty if the form
    /// has none.
    key: String,
    /// The number of pictures that became photos.
    added_count: u32,
    failed: Vec<FailedUpload>,
    /// The photos for an animal that is not added yet, rendered for its form.
    waiting: Vec<Markup>,
}

/// A picture that was not added.
struct FailedUpload {
    file_name: String,
    problem: UploadProblem,
}

/// A problem of one picture, with the message that explains it to the member.
pub(super) enum UploadProblem {
    /// The picture itself is unsuitable, so another attempt cannot succeed.
    Picture(String),
    /// The state of the service or of the animal does not allow it, but that can change.
    State(String),
}

/// The reason why a picture did not become a photo.
pub(super) enum UploadError {
    /// Only this picture fails. The other pictures of the form can still be added.
    Problem(UploadProblem),
    /// The whole request fails.
    Request(ApiError),
}

/// A problem of one picture is not an error of the whole request.
impl From<UploadProblem> for UploadError {
    fn from(problem: UploadProblem) -> Self {
        Self::Problem(problem)
    }
}

/// An error of the service fails the whole request.
impl From<ApiError> for UploadError {
    fn from(error: ApiError) -> Self {
        Self::Request(error)
    }
}

/// The problems that the member can solve become messages. Other errors fail the whole request.
impl From<PhotoError> for UploadError {
    fn from(error: PhotoError) -> Self {
        match error {
            PhotoError::Invalid(problem) => {
                let message = texts().picture_problem(problem);
                Self::Problem(UploadProblem::Picture(message))
            }
            PhotoError::Busy => {
                let message = texts().too_many_pictures.to_owned();
                Self::Problem(UploadProblem::State(message))
            }
            error => Self::Request(error.into()),
        }
    }
}

impl UploadProblem {
    /// Returns the message for the member.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Picture(message) | Self::State(message) => message,
        }
    }

    /// Renders the message. For an unsuitable picture, the attribute `data-final` tells the script
    /// not to offer a retry.
    fn show(&self) -> Markup {
        match self {
            Self::Picture(message) => html! { span data-final { (message) } },
            Self::State(message) => html! { span { (message) } },
        }
    }
}

impl FormProgress {
    /// Returns the zero-based position of the next picture in the form.
    fn next_position(&self) -> usize {
        self.added_count as usize + self.failed.len()
    }

    /// Records the result for a picture. Returns the error if it makes the whole request fail.
    fn record_result(
        &mut self,
        file_name: String,
        result: Result<(), UploadError>,
    ) -> Result<(), ApiError> {
        match result {
            Ok(()) => self.added_count += 1,
            Err(UploadError::Problem(problem)) => {
                self.failed.push(FailedUpload { file_name, problem });
            }
            Err(UploadError::Request(error)) => return Err(error),
        }
        Ok(())
    }
}

/// Registers an upload of a member. Fails if the member already has [`MAX_UPLOADS_PER_MEMBER`]
/// uploads in flight.
///
/// The upload counts as in flight until the returned guard is dropped, because the console holds
/// only a weak reference to the guard.
pub(super) fn track_upload(console: &Console, member: StaffId) -> Result<Arc<StaffId>, PhotoError> {
    let mut uploads = console.uploads.lock();
    uploads.retain(|upload| upload.strong_count() > 0);
    let count_of_member = uploads
        .iter()
        .filter_map(Weak::upgrade)
        .filter(|owner| **owner == member)
        .count();
    if count_of_member >= MAX_UPLOADS_PER_MEMBER {
        return Err(PhotoError::Busy);
    }
    let guard = Arc::new(member);
    uploads.push(Arc::downgrade(&guard));
    Ok(guard)
}

/// Handles a form with pictures: stores them as photos of the animal in the path.
///
/// Each picture is added separately, so the failure of one does not affect the others. Without an
/// animal in the path, the photos wait for the animal that the member is adding.
pub(crate) async fn add_pictures(desk: &Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let pet = desk.load_pet_in_path().await?;
    if pet.is_none() && !desk.visit.parameter.is_empty() {
        return Ok(missing_page(texts().no_pet));
    }

    let console = desk.visit.console;
    let _upload_guard = track_upload(console, desk.session.member.id)?;
    let max_picture = desk.app().photos.max_size();
    // Memory for one picture is enough, because the pictures are read one after the other.
    let _memory_guard = console
        .edge
        .response_memory
        .reserve_for_picture(max_picture)?;
    let mut form = open_form(desk, body, max_picture)?;

    let mut progress = FormProgress::default();
    while let Some(part) = form
        .next(max_picture)
        .await
        .map_err(translate_unreadable_form)?
    {
        handle_part(desk, pet.as_ref(), part, &mut progress).await?;
        // The key is the first part of the form, so this ends the form of another member before any
        // picture is read.
        if is_of_another_member(desk, &progress.key) {
            return show_problem(desk, &Errors::from_text(texts().another_member)).await;
        }
    }
    show_uploads(desk, pet.as_ref(), progress).await
}

/// Handles a part of the form: remembers the key, adds a picture, and ignores any other part. Fails
/// if the error of a picture makes the whole request fail.
async fn handle_part(
    desk: &Desk<'_>,
    pet: Option<&StorePet>,
    part: Part,
    progress: &mut FormProgress,
) -> Result<(), ApiError> {
    match (part.file, part.content) {
        (None, Some(content)) if part.name == KEY_FIELD => {
            progress.key = String::from_utf8_lossy(&content).into_owned();
        }
        // Browsers send an empty file if no file was chosen.
        (Some(file_name), Some(content)) if !file_name.is_empty() || !content.is_empty() => {
            let result = add_picture(desk, pet, progress, content).await;
            progress.record_result(file_name, result)?;
        }
        // A part beyond the limit has no content.
        (Some(file_name), None) => {
            let problem = UploadProblem::Picture(texts().picture_too_large.to_owned());
            progress.record_result(file_name, Err(problem.into()))?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns a reader of the submitted form, whose pictures have at most `max_picture` bytes each.
fn open_form<'r>(
    desk: &Desk<'_>,
    body: UnreadBody<'r>,
    max_picture: usize,
) -> Result<Multipart<'r>, ApiError> {
    let timeout = desk.visit.console.edge.body_timeout * PICTURE_TIMEOUT_FACTOR;
    // A form can have as many pictures as an animal can have photos. The size of one more picture
    // leaves room for the other parts.
    let max_form = (Photos::MAX + 1) * max_picture;
    let headers = &desk.visit.request.headers;
    Multipart::new(headers, body, timeout, max_form).map_err(translate_unreadable_form)
}

/// Whether a form with this key was rendered for another member, who used this browser before. A
/// form without a key counts as one for this member.
pub(super) fn is_of_another_member(desk: &Desk<'_>, key: &str) -> bool {
    let owner = owner_of(&Form::from_encoded_pairs(&[(KEY_FIELD, key)]));
    owner.is_some_and(|owner| owner != desk.session.member.id)
}

/// Adds a picture to the animal. Without an animal, stores it as a photo that waits for the animal
/// that the member is adding.
async fn add_picture(
    desk: &Desk<'_>,
    pet: Option<&StorePet>,
    progress: &mut FormProgress,
    picture: Bytes,
) -> Result<(), UploadError> {
    if let Some(pet) = pet {
        let position = progress.next_position();
        return add_to_pet(desk, pet.id, &progress.key, position, picture).await;
    }
    let stored_photo = store_picture(desk, picture).await?;
    let token = waiting_photos::create_token(desk, stored_photo);
    progress.waiting.push(photos::waiting_photo(&token));
    Ok(())
}

/// Returns the response to an upload.
///
/// This is the page with the errors, the list of the photos that wait for an animal, or a redirect
/// to the photos of the animal.
async fn show_uploads(
    desk: &Desk<'_>,
    pet: Option<&StorePet>,
    progress: FormProgress,
) -> Result<Reply, ApiError> {
    if !progress.failed.is_empty() {
        return show_problem(desk, &Errors::from_markup(failed_list(&progress))).await;
    }
    let Some(pet) = pet else {
        let list = html! { ol.photos { @for photo in progress.waiting { (photo) } } };
        return Ok(Page::new(texts().photos, list).into());
    };
    // The script reports the result of its own uploads, so the next page must not show a message.
    if session::is_in_background(desk.visit.request) {
        return Ok(Reply::redirect_to(&photos::photos_path(pet.id)));
    }
    let flash = Flash::new("photos-added", progress.added_count.into());
    Ok(photos::redirect_to_photos(pet.id, flash))
}

/// Renders the list of pictures that were not added, with the reasons.
fn failed_list(progress: &FormProgress) -> Markup {
    let added_count = usize::try_from(progress.added_count).unwrap_or(usize::MAX);
    html! {
        @if added_count > 0 { p { (texts().photos_added(added_count)) } }
        ul {
            @for FailedUpload { file_name, problem } in &progress.failed {
                li { (markup::text(file_name, SHORT_LENGTH)) (window_texts().colon) (problem.show()) }
            }
        }
    }
}

/// Renders the page of the photos with errors about pictures. Without an animal in the path,
/// renders only the errors.
async fn show_problem(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    if desk.visit.parameter.is_empty() {
        let page = Page::new(texts().photos, errors.summary());
        return Ok(page.with_error_status_if(true).into());
    }
    photos::show(desk, errors).await
}

/// Adds a picture to an animal. `key` is the key of the form, and `position` is the position of the
/// picture in it.
///
/// The key and the position identify the picture, so that a repetition of the form does not add it
/// again.
async fn add_to_pet(
    desk: &Desk<'_>,
    id: PetId,
    key: &str,
    position: usize,
    picture: Bytes,
) -> Result<(), UploadError> {
    let digest = Sha256::digest(&picture);
    let stored_photo = store_picture(desk, picture).await?;
    // Without a key, a repetition of the form adds the picture again.
    let identity = if key.is_empty() {
        None
    } else {
        desk.identity_of(&format!("{key}-{position}"), &digest)
    };
    let photo = stored_photo.into_photo(None);
    let command = Command::AddPhoto { id, photo };
    match desk.execute_once(vec![command], identity).await? {
        Ok(_) => Ok(()),
        Err(failure) => Err(UploadProblem::State(failure.message).into()),
    }
}

/// Converts a picture into a photo, and stores its files.
async fn store_picture(desk: &Desk<'_>, picture: Bytes) -> Result<StoredPhoto, UploadError> {
    if let Some(format) = Format::detect(&picture) {
        return Ok(desk.app().photos.add(picture, format).await?);
    }
    // An HEIC file begins with a length of four bytes, `ftyp`, and the name of the format.
    let is_heic = matches!(
        picture.get(4..12),
        Some(b"ftypheic" | b"ftypheix" | b"ftypmif1")
    );
    let problem = if is_heic {
        texts().heic
    } else {
        texts().no_picture
    };
    Err(UploadProblem::Picture(problem.to_owned()).into())
}
