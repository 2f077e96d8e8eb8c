//! The operations on the profile of the store.

use hyper::StatusCode;
use petstore_app::change_profile;
use petstore_domain::{
    Problem, StoredResponse,
    store_area::{Logo, Profile, ProfileChange, ProfilePatch, ProfileRefusal},
};
use petstore_formats::json;
use petstore_photos::Format;
use petstore_web::edge::{
    ApiError, Response,
    body::{Accepted, Pictures},
};

use super::{members::Body, preconditions, refusals, shared::StoreArea, wire, write::Write};
use crate::{context::Call, query};

/// The pictures that can become a logo. GIF is excluded, because an animation would become a still picture.
const LOGOS: Pictures = Pictures {
    formats: &[Format::Png, Format::Jpeg, Format::WebP],
    max: Logo::MAX_PICTURE,
};

/// Reads the profile: `GET /v1/store/profile`.
pub(crate) async fn get_profile(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let profile = area.app.store.profile().await?;
    wire::respond_with_body(area, request, profile_json(&profile), profile.version)
}

/// Changes the profile: `PATCH /v1/store/profile`.
pub(crate) async fn patch_profile(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch: ProfilePatch = write.members(ProfilePatch::NAMES)?.read()?;
    execute(area, write, ProfileChange::Patch(Box::new(patch))).await
}

/// Sets or replaces the logo: `PUT /v1/store/profile/logo`.
pub(crate) async fn put_logo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    query::reject_parameters(call.request.uri.query())?;
    let write = Write::read_picture(area, call, &LOGOS).await?;
    let Some(format) = Format::detect(&write.body) else {
        area.app.photos.metrics.invalid.count();
        let message = "The body is not a PNG, JPEG or WebP picture. Send the bytes of one.";
        return Err(ApiError::new(Problem::InvalidImage, message));
    };
    // A client can send a GIF under the media type of another format.
    if format == Format::Gif {
        let message = "A logo cannot be a GIF. Send a PNG, JPEG or WebP picture.";
        return Err(ApiError::new(Problem::UnsupportedMediaType, message));
    }
    let logo = area
        .app
        .photos
        .make_logo(write.body.clone(), format)
        .await?;
    execute(area, write, ProfileChange::Logo(Some(logo))).await
}

/// Removes the logo: `DELETE /v1/store/profile/logo`.
pub(crate) async fn delete_logo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, None).await?;
    execute(area, write, ProfileChange::Logo(None)).await
}

/// Executes a change of the profile, and responds with its result.
async fn execute(
    area: &StoreArea,
    write: Write<'_>,
    change: ProfileChange,
) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&write.request.headers)?;
    let context = write.make_context(area).await?;
    let _in_flight = area.app.requests.enter(&context)?;
    let store = area.app.store.as_ref();
    let outcome = change_profile(store, &change, &preconditions, context, render_response).await?;
    write.respond_with_outcome(area, outcome, refusal_error)
}

/// Renders the response to a change of the profile.
fn render_response(profile: &Profile) -> StoredResponse {
    wire::stored_response(StatusCode::OK, Some(profile.version), profile_json(profile))
}

/// Renders a profile as JSON.
fn profile_json(profile: &Profile) -> Vec<u8> {
    wire::render(|out| json::write_profile(out, profile))
}

/// Returns the error for a change that was refused.
fn refusal_error(refusal: ProfileRefusal) -> ApiError {
    match refusal {
        ProfileRefusal::PreconditionRequired => ApiError::new(
            Problem::PreconditionRequired,
            "The profile is changed with If-Match and its ETag.",
        ),
        ProfileRefusal::PreconditionFailed(current) => {
            let message = refusals::stale_message("profile", current.version);
            refusals::conflict_error(
                Problem::PreconditionFailed,
                message,
                &profile_json(&current),
            )
        }
    }
}
