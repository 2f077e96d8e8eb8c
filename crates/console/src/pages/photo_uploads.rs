//! Adding several photos at once.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use petstore_domain::{
    PetId, StaffId,
    store_area::{Command, Photos, StorePet},
};
use petstore_photos::{Format, PhotoError, StoredPhoto};
use petstore_web::edge::{UnreadBody, multipart::Multipart};
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

/// The factor by which a picture may take longer to arrive than a form.
pub(super) const PICTURE_TIMES: u32 = 4;

/// The number of forms with photos of one member that can arrive at once.
const MAX_FORMS_OF_MEMBER: usize = 3;

/// Counts a form with photos of a member that arrives, until the result is dropped. Fails if too many arrive.
pub(super) fn count_arriving_form(
    console: &Console,
    member: StaffId,
) -> Result<Arc<StaffId>, PhotoError> {
    let mut arriving = console.uploads.lock();
    arriving.retain(|form| form.strong_count() > 0);
    let forms = arriving.iter().filter_map(Weak::upgrade);
    if forms.filter(|owner| **owner == member).count() >= MAX_FORMS_OF_MEMBER {
        return Err(PhotoError::Busy);
    }
    let form = Arc::new(member);
    arriving.push(Arc::downgrade(&form));
    Ok(form)
}

/// The pictures of a form that have arrived so far.
#[derive(Default)]
struct Uploads {
    /// The key of the form, by which a second click is recognized; empty if it has none.
    key: String,
    added_count: u32,
    failed: Vec<FailedUpload>,
    /// The photos that wait for the animal that is being added.
    waiting: Vec<Markup>,
}

/// A picture that was not added.
struct FailedUpload {
    file: String,
    problem: UploadProblem,
}

/// The reason why a picture was not added, for people.
pub(super) enum UploadProblem {
    /// The picture itself, so it can never be added.
    Picture(String),
    /// The state of the service or of the animal, which can change.
    State(String),
}

/// The reason why there is no photo of a picture.
pub(super) enum UploadError {
    /// The picture is not added. The other pictures of the form can still be added.
    Problem(UploadProblem),
    /// The request fails.
    Request(ApiError),
}

impl From<UploadProblem> for UploadError {
    fn from(problem: UploadProblem) -> Self {
        Self::Problem(problem)
    }
}

impl From<ApiError> for UploadError {
    fn from(error: ApiError) -> Self {
        Self::Request(error)
    }
}

impl UploadProblem {
    /// Returns the message for people.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Picture(message) | Self::State(message) => message,
        }
    }

    /// Renders the message. The script offers no further attempt for a picture that can never be added.
    fn show(&self) -> Markup {
        match self {
            Self::Picture(message) => html! { span data-final { (message) } },
            Self::State(message) => html! { span { (message) } },
        }
    }
}

impl Uploads {
    /// Returns the number of the next picture in the form, from 0.
    fn next_number(&self) -> usize {
        self.added_count as usize + self.failed.len()
    }

    /// Notes whether a picture was added. Fails if the request fails.
    fn add_result(
        &mut self,
        file: String,
        result: Result<(), UploadError>,
    ) -> Result<(), ApiError> {
        match result {
            Ok(()) => self.added_count += 1,
            Err(UploadError::Problem(problem)) => self.failed.push(FailedUpload { file, problem }),
            Err(UploadError::Request(error)) => return Err(error),
        }
        Ok(())
    }
}

/// Adds the pictures of a form, each independently: a picture that arrives is kept, even if another one fails. Without an
/// animal in the path, the photos wait for the animal that is being added.
pub(crate) async fn add(desk: &Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let pet = desk.pet().await?;
    if pet.is_none() && !desk.visit.parameter.is_empty() {
        return Ok(missing_page(texts().no_pet));
    }

    let console = desk.visit.console;
    let _counted = count_arriving_form(console, desk.session.member.id)?;
    let max_picture = desk.app().photos.max_size();
    // For one picture, because they are read one after the other.
    let _room = console
        .edge
        .response_memory
        .reserve_for_picture(max_picture)?;
    let timeout = console.edge.body_timeout * PICTURE_TIMES;
    // For as many as an animal has.
    let max_form = (Photos::MAX + 1) * max_picture;
    let headers = &desk.visit.request.headers;
    let mut form =
        Multipart::new(headers, body, timeout, max_form).map_err(translate_unreadable_form)?;

    let mut uploads = Uploads::default();
    while let Some(part) = form
        .next(max_picture)
        .await
        .map_err(translate_unreadable_form)?
    {
        match (part.file, part.content) {
            (None, Some(content)) if part.name == KEY_FIELD => {
                uploads.key = String::from_utf8_lossy(&content).into_owned();
                if is_of_another_member(desk, &uploads.key) {
                    return show_problem(desk, &Errors::from_text(texts().another_member)).await;
                }
            }
            // A form without a choice has an empty file.
            (Some(file), Some(content)) if !file.is_empty() || !content.is_empty() => {
                let result = add_picture(desk, pet.as_ref(), &mut uploads, content).await;
                uploads.add_result(file, result)?;
            }
            (Some(file), None) => {
                let problem = UploadProblem::Picture(texts().picture_too_large.to_owned());
                uploads.add_result(file, Err(problem.into()))?;
            }
            _ => {}
        }
    }
    show_uploads(desk, pet.as_ref(), uploads).await
}

/// Whether a form with this key is on a page that another member has left open.
fn is_of_another_member(desk: &Desk<'_>, key: &str) -> bool {
    let owner = owner_of(&Form::from_encoded_pairs(&[(KEY_FIELD, key)]));
    owner.is_some_and(|owner| owner != desk.session.member.id)
}

/// Adds a picture to the animal, or lets it wait for the animal that is being added.
async fn add_picture(
    desk: &Desk<'_>,
    pet: Option<&StorePet>,
    uploads: &mut Uploads,
    picture: Bytes,
) -> Result<(), UploadError> {
    if let Some(pet) = pet {
        return add_to_pet(desk, pet.id, &uploads.key, uploads.next_number(), picture).await;
    }
    let stored_photo = store_picture(desk, picture).await?;
    let token = waiting_photos::waiting_photo_token(desk, stored_photo);
    uploads.waiting.push(photos::waiting_photo(&token));
    Ok(())
}

/// Shows what became of the pictures.
async fn show_uploads(
    desk: &Desk<'_>,
    pet: Option<&StorePet>,
    uploads: Uploads,
) -> Result<Reply, ApiError> {
    if !uploads.failed.is_empty() {
        return show_problem(desk, &Errors::from_markup(failed_list(&uploads))).await;
    }
    let Some(pet) = pet else {
        let list = html! { ol.photos { @for photo in uploads.waiting { (photo) } } };
        return Ok(Page::new(texts().photos, list).into());
    };
    // The script says it by itself, and the message on the next page is another one.
    if session::is_in_background(desk.visit.request) {
        return Ok(Reply::See(photos::photos_path(pet.id), None));
    }
    let flash = Flash::new("photos-added", uploads.added_count.into());
    Ok(photos::see_photos(pet.id, flash))
}

/// Shows which pictures were not added, and why.
fn failed_list(uploads: &Uploads) -> Markup {
    let added_count = usize::try_from(uploads.added_count).unwrap_or(usize::MAX);
    html! {
        @if added_count > 0 { p { (texts().photos_added(added_count)) } }
        ul {
            @for FailedUpload { file, problem } in &uploads.failed {
                li { (markup::text(file, markup::SHORT_LENGTH)) (window_texts().colon) (problem.show()) }
            }
        }
    }
}

/// Shows the page with what is wrong about pictures.
async fn show_problem(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    if desk.visit.parameter.is_empty() {
        let page = Page::new(texts().photos, errors.summary());
        return Ok(page.with_error_status_if(true).into());
    }
    photos::show(desk, errors).await
}

/// Adds the picture with this number in its form to an animal. A repetition of the same form adds it once.
async fn add_to_pet(
    desk: &Desk<'_>,
    id: PetId,
    key: &str,
    number: usize,
    picture: Bytes,
) -> Result<(), UploadError> {
    let digest = Sha256::digest(&picture);
    let stored_photo = store_picture(desk, picture).await?;
    // A form without a key has its effect each time.
    let identity = if key.is_empty() {
        None
    } else {
        desk.identity(&format!("{key}-{number}"), &digest)
    };
    let photo = stored_photo.into_photo(None);
    let command = Command::AddPhoto { id, photo };
    match desk.execute_once(vec![command], identity).await? {
        Ok(_) => Ok(()),
        Err(not_done) => Err(UploadProblem::State(not_done.why).into()),
    }
}

/// Makes a photo of a picture, and stores its files.
async fn store_picture(desk: &Desk<'_>, picture: Bytes) -> Result<StoredPhoto, UploadError> {
    if let Some(format) = Format::detect(&picture) {
        return Ok(desk.app().photos.add(picture, format).await?);
    }
    // `ftyp` and the name of the format, after a length of four bytes.
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

/// The problems of a picture, in words for people.
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
