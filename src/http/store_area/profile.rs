//! The operations on the profile of the store.

use hyper::StatusCode;

use super::{
    members::Body,
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{
    app::change_profile,
    domain::{
        StoredResponse,
        store_area::{Profile, ProfilePatch, ProfileRefusal},
    },
    edge::{ApiError, Problem, Response, body::Accepted},
    http::{context::Call, query},
    json,
};

/// `GET /v1/store/profile`.
pub(crate) async fn get_profile(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let profile = area.app.store.profile().await?;
    wire::respond_with(area, request, shown(&profile), profile.version)
}

/// `PATCH /v1/store/profile`.
pub(crate) async fn patch_profile(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch: ProfilePatch = write.members(ProfilePatch::NAMES)?.read()?;
    let context = write.context(area).await?;
    let request = context.idempotency.clone();
    let _entered = request.as_ref().map(|request| area.app.requests.enter(request)).transpose()?;
    let store = area.app.store.as_ref();
    let changed = change_profile(store, &patch, &preconditions, context, response_to).await?;
    write.respond_to(area, changed, refused)
}

fn response_to(profile: &Profile) -> StoredResponse {
    let (status, etag) = (StatusCode::OK.as_u16(), Some(wire::tag(profile.version)));
    StoredResponse { status, location: None, etag, body: shown(profile) }
}

fn shown(profile: &Profile) -> Vec<u8> {
    let mut body = Vec::with_capacity(wire::USUAL_LENGTH);
    json::write_profile(&mut body, profile);
    body
}

fn refused(refusal: ProfileRefusal) -> ApiError {
    match refusal {
        ProfileRefusal::PreconditionRequired => ApiError::new(
            Problem::PreconditionRequired,
            "The profile is changed with If-Match and its ETag.",
        ),
        ProfileRefusal::PreconditionFailed(current) => {
            let message = write::stale("profile", current.version);
            let error = ApiError::new(Problem::PreconditionFailed, message);
            error.with_state(None, Some(&shown(&current)), None)
        }
    }
}
