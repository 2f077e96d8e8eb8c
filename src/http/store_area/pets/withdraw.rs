//! `withdrawPet`: `POST /v1/store/pets/{petId}/withdraw`.

use super::super::{
    members::{Members, NOTE, WITHDRAWAL_REASON},
    preconditions, wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::{Command, Note, WithdrawalReason},
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// The members of the body.
pub(in super::super) const MEMBERS: [&str; 2] = ["reason", "note"];

/// Takes an animal out of the catalogue.
pub(in crate::http) async fn withdraw(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(app, call, Some(Accepted::Json)).await?;
    let (reason, note) = parse(&write.members(&MEMBERS)?)?;
    let command = Command::WithdrawPet { id: write::pet_id(id)?, reason, note, preconditions };
    write.execute(app, command, wire::one).await
}

pub(in super::super) fn parse(
    members: &Members<'_>,
) -> Result<(WithdrawalReason, Option<Note>), ApiError> {
    let reason = members.required("reason", &WITHDRAWAL_REASON)?;
    Ok((reason, members.optional("note", &NOTE)?))
}
