//! `revertChange`: `POST /v1/store/changes/{seq}/revert`.

use petstore_domain::Problem;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    shared::StoreArea,
    wire,
    write::{CommandIndex, Write},
};
use crate::{context::Call, query};

/// Reverts a change, together with the other changes that the same request made.
pub(crate) async fn revert_change(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.reject_members()?;
    let seq = query::path_integer(write.parameter).ok_or_else(no_change)?;

    let act = area.app.act(seq).await?.ok_or_else(no_change)?;
    let commands = area.app.reverting_commands(&act).await?;
    write
        .execute_all(area, commands, wire::all_results, CommandIndex::Omit)
        .await
}

/// Returns the 404 for a change.
fn no_change() -> ApiError {
    ApiError::new(
        Problem::NotFound,
        "No change has this number, or the journal does not keep it any more.",
    )
}
