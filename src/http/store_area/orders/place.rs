//! `placeOrder`: `POST /v1/store/orders`.

use jiff::Timestamp;

use super::super::{
    members::{self, INTEGER, IS_COMPLETED, Members, NOTE, REFERENCE, TIME},
    wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::{Command, NewOrder, OrderTerms},
    http::{App, Response, error::ApiError, routes::Call},
};

/// The members of the body.
pub(in super::super) const MEMBERS: [&str; 5] =
    ["petId", "status", "reference", "note", "expiresAt"];

/// Reserves or sells an animal.
pub(in crate::http) async fn place(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read_with_key(app, call).await?;
    let new = parse(app, &write.members(&MEMBERS)?, write.now)?;
    write.execute(app, Command::PlaceOrder(new), wire::created).await
}

pub(in super::super) fn parse(
    app: &App,
    members: &Members<'_>,
    now: Timestamp,
) -> Result<NewOrder, ApiError> {
    let pet_id = members.required("petId", &INTEGER)?;
    let is_completed = members.optional("status", &IS_COMPLETED)?.unwrap_or_default();
    let reference = members.optional("reference", &REFERENCE)?;
    let note = members.optional("note", &NOTE)?;
    let expires_at = members.optional("expiresAt", &TIME)?;
    if is_completed && expires_at.is_some() {
        let message = "expiresAt is only for a reservation; an order with the status completed \
                       has no end.";
        return Err(members::invalid(message));
    }
    let terms = if is_completed {
        OrderTerms::Completed
    } else {
        OrderTerms::ReservedUntil(expires_at.unwrap_or(now + app.store_area.reservation))
    };
    Ok(NewOrder { pet_id: write::pet_id(Some(pet_id))?, terms, reference, note })
}
