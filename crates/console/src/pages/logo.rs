//! Handles the upload of the logo of the store.

use bytes::Bytes;
use petstore_domain::{
    store_area::{Logo, ProfileChange},
    text,
};
use petstore_photos::Format;
use petstore_web::edge::{UnreadBody, multipart::Multipart};
use sha2::{Digest, Sha256};

use super::{
    photo_uploads::{self, UploadError, UploadProblem},
    store::{self, LOGO},
};
use crate::{desk::KEY_FIELD, prelude::*, problem::translate_unreadable_form};

/// The submitted form with the logo.
struct LogoForm {
    /// The idempotency key of the form; empty if it has none.
    key: String,
    /// The picture, or the message that says why there is none.
    picture: Result<Bytes, String>,
}

/// Handles `POST /settings/store/logo`: replaces the logo of the store with the uploaded picture.
///
/// Sets the form in `desk`, because the caller cannot read a multipart form.
pub(crate) async fn replace(desk: &mut Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let console = desk.visit.console;
    let member = desk.session.member.id;
    let _upload_guard = photo_uploads::track_upload(console, member)?;
    let _memory_guard = console
        .edge
        .response_memory
        .reserve_for_picture(Logo::MAX_PICTURE)?;
    let form = read_form(desk, body).await?;

    desk.visit.form = form.to_encoded_form();
    if photo_uploads::is_of_another_member(desk, &form.key) {
        return store::show(desk, &Errors::for_field(LOGO, texts().another_member)).await;
    }

    let result = match form.picture {
        Ok(picture) => store_logo(desk, picture).await,
        Err(message) => Err(UploadProblem::Picture(message).into()),
    };
    match result {
        Ok(change) => store::change_logo(desk, change).await,
        Err(UploadError::Problem(problem)) => {
            let errors = Errors::for_field(LOGO, problem.into_message());
            store::show(desk, &errors).await
        }
        Err(UploadError::Request(error)) => Err(error),
    }
}

impl LogoForm {
    /// Returns a form with the same key, and with the digest of the picture in its place.
    ///
    /// A double click is recognized by the encoded fields of a form, which a multipart form does
    /// not have. Because of the digest, a form with another picture is another form.
    fn to_encoded_form(&self) -> Form {
        let digest = match &self.picture {
            Ok(picture) => text::hex_digits(&Sha256::digest(picture)),
            Err(_) => String::new(),
        };
        let mut fields = vec![(LOGO, &*digest)];
        if !self.key.is_empty() {
            fields.push((KEY_FIELD, &self.key));
        }
        Form::from_encoded_pairs(&fields)
    }
}

/// Reads the idempotency key and the picture from the multipart form.
async fn read_form(desk: &Desk<'_>, body: UnreadBody<'_>) -> Result<LogoForm, ApiError> {
    let timeout = desk.visit.console.edge.body_timeout * photo_uploads::PICTURE_TIMEOUT_FACTOR;
    // Twice the size of a picture leaves room for the other parts and the part headers.
    let max_form = 2 * Logo::MAX_PICTURE;
    let mut parts = Multipart::new(&desk.visit.request.headers, body, timeout, max_form)
        .map_err(translate_unreadable_form)?;
    let mut form = LogoForm {
        key: String::new(),
        picture: Err(texts().logo_missing.to_owned()),
    };
    while let Some(part) = parts
        .next(Logo::MAX_PICTURE)
        .await
        .map_err(translate_unreadable_form)?
    {
        match (part.file, part.content) {
            (None, Some(content)) if part.name == KEY_FIELD => {
                form.key = String::from_utf8_lossy(&content).into_owned();
            }
            (Some(_), Some(content)) if !content.is_empty() => form.picture = Ok(content),
            // A part beyond the limit has no content.
            (Some(_), None) => form.picture = Err(texts().picture_too_large.to_owned()),
            // Browsers send an empty file if no file was chosen. Other parts are ignored.
            _ => {}
        }
    }
    Ok(form)
}

/// Stores the files of a logo, and returns the change of the profile that refers to them. Rejects a
/// GIF, and what is no picture.
async fn store_logo(desk: &Desk<'_>, picture: Bytes) -> Result<ProfileChange, UploadError> {
    let format = match Format::detect(&picture) {
        Some(format) if format != Format::Gif => format,
        _ => return Err(UploadProblem::Picture(texts().logo_invalid.to_owned()).into()),
    };
    let logo = desk.app().photos.make_logo(picture, format).await?;
    Ok(ProfileChange::Logo(Some(logo)))
}
