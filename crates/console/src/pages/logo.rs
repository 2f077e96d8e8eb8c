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
    photo_forms,
    store::{self, LOGO},
};
use crate::{
    desk::{KEY_FIELD, owner_of},
    prelude::*,
    problem::translate_unreadable_form,
};

/// Takes the first picture of the form.
pub(crate) async fn add(desk: &mut Desk<'_>, body: UnreadBody<'_>) -> Result<Reply, ApiError> {
    let (console, member) = (desk.visit.console, desk.session.member.id);
    let _arriving = photo_forms::arriving(console, member)?;
    let _room = console
        .edge
        .response_memory
        .reserve_for_picture(Logo::MAX_PICTURE)?;
    let timeout = console.edge.body_timeout * photo_forms::PICTURE_TIMES;
    let max_form = 2 * Logo::MAX_PICTURE;
    let form = Multipart::new(&desk.visit.request.headers, body, timeout, max_form);
    let mut form = form.map_err(translate_unreadable_form)?;
    let (mut key, mut picture) = (String::new(), Err(texts().logo_missing.to_owned()));
    while let Some(part) = form
        .next(Logo::MAX_PICTURE)
        .await
        .map_err(translate_unreadable_form)?
    {
        match (part.file, part.content) {
            (None, Some(content)) if part.name == KEY_FIELD => {
                key = String::from_utf8_lossy(&content).into_owned();
            }
            (Some(_), Some(content)) if !content.is_empty() => picture = Ok(content),
            (Some(_), None) => picture = Err(texts().picture_too_large.to_owned()),
            _ => {}
        }
    }
    let digest = picture
        .as_ref()
        .map(|of| text::hex_digits(&Sha256::digest(of)));
    let fields = [(LOGO, digest.unwrap_or_default()), (KEY_FIELD, key)];
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    desk.visit.form =
        Form::from_encoded_pairs(&fields[..if fields[1].1.is_empty() { 1 } else { 2 }]);
    if owner_of(&desk.visit.form).is_some_and(|owner| owner != member) {
        return store::show(desk, &Errors::for_field(LOGO, texts().another_member)).await;
    }
    let made = match picture {
        Ok(picture) => made(desk, picture).await?,
        Err(why) => Err(why),
    };
    match made {
        Ok(change) => store::change_logo(desk, change).await,
        Err(why) => store::show(desk, &Errors::for_field(LOGO, why)).await,
    }
}

async fn made(desk: &Desk<'_>, picture: Bytes) -> Result<Result<ProfileChange, String>, ApiError> {
    let Some(format) = Format::of(&picture).filter(|format| *format != Format::Gif) else {
        return Ok(Err(texts().logo_invalid.to_owned()));
    };
    let made = photo_forms::of_stored(desk.app().photos.logo(picture, format).await)?;
    Ok(made.map(|new| ProfileChange::Logo(Some(new))))
}
