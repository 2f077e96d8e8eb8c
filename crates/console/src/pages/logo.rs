//! The form with the logo of the store.

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
use crate::{
    desk::{KEY_FIELD, owner_of},
    prelude::*,
    problem::translate_unreadable_form,
};

/// Responds to `POST /settings/store/logo`: gives the store the picture in the form as its logo.
pub(crate) async fn add(desk: &mut Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let console = desk.visit.console;
    let member = desk.session.member.id;
    let _arriving = photo_uploads::count_arriving_form(console, member)?;
    let _memory = console
        .edge
        .response_memory
        .reserve_for_picture(Logo::MAX_PICTURE)?;
    let form = read_form(desk, body).await?;

    let digest = form
        .picture
        .as_ref()
        .map(|picture| text::hex_digits(&Sha256::digest(picture)))
        .unwrap_or_default();
    let mut fields = vec![(LOGO, &*digest)];
    if !form.key.is_empty() {
        fields.push((KEY_FIELD, &form.key));
    }
    desk.visit.form = Form::from_encoded_pairs(&fields);
    if owner_of(&desk.visit.form).is_some_and(|owner| owner != member) {
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

/// The fields of the form with the logo.
struct LogoForm {
    key: String,
    /// The picture, or the message that there is no suitable one.
    picture: Result<Bytes, String>,
}

/// Reads the fields of the form one by one.
async fn read_form(desk: &Desk<'_>, body: UnreadBody<'_>) -> Result<LogoForm, ApiError> {
    let timeout = desk.visit.console.edge.body_timeout * photo_uploads::PICTURE_TIMES;
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
            (Some(_), None) => form.picture = Err(texts().picture_too_large.to_owned()),
            _ => {}
        }
    }
    Ok(form)
}

/// Stores the files of a logo, and returns the change of the profile.
async fn store_logo(desk: &Desk<'_>, picture: Bytes) -> Result<ProfileChange, UploadError> {
    let format = match Format::detect(&picture) {
        Some(format) if format != Format::Gif => format,
        _ => return Err(UploadProblem::Picture(texts().logo_invalid.to_owned()).into()),
    };
    let logo = desk.app().photos.make_logo(picture, format).await?;
    Ok(ProfileChange::Logo(Some(logo)))
}
