//! `listStorePets`: `GET /v1/store/pets`.

use super::super::{
    cursor::{self, Walk},
    feed,
    page::{self, Element},
};
use crate::{
    domain::{
        PetId,
        store_area::{NamePrefix, PetPosition, PetQuery, StorePet},
    },
    http::{App, Response, error::ApiError, query, routes::Call},
    json, text,
};

/// Responds with a page of animals and a link to the next one.
pub(in crate::http) async fn list(
    app: &App,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = ["status", "categoryId", "name", "withdrawn", "limit", "cursor"];
    let [status, category_id, name, withdrawn, limit, cursor] =
        query::parameters(request.uri.query(), names)?;
    let is_status = "one of available, pending and sold";
    let is_name = "at most 64 characters, counted without accents, and without U+0000";
    let mut query = PetQuery {
        status: page::filter("status", status.as_ref(), |text| text.parse().ok(), is_status)?,
        category_id: page::filter(
            "categoryId",
            category_id.as_ref(),
            text::integer,
            page::AN_INTEGER,
        )?,
        name: page::filter("name", name.as_ref(), prefix, is_name)?,
        withdrawn: page::filter("withdrawn", withdrawn.as_ref(), boolean, "true or false")?
            .unwrap_or_default(),
        limit: page::limit(limit.as_ref())?,
        after: None,
    };
    query::check_utf8(request.uri.query())?;
    let filters = [
        ("status", status.as_deref()),
        ("categoryId", category_id.as_deref()),
        ("name", name.as_deref()),
        ("withdrawn", withdrawn.as_deref().filter(|_| query.withdrawn)),
    ];
    let name = query.name.as_ref().map(NamePrefix::as_str);
    let of_walk = [filters[0].1, filters[1].1, name, filters[3].1];
    let walk = Walk::new(cursor::PETS, &of_walk);
    if let Some(cursor) = cursor {
        let (key, id) = walk.decode(&cursor)?;
        let key = query.prefix().map(|_| key);
        let id = PetId::new(id).ok_or_else(cursor::invalid)?;
        query.after = Some(PetPosition { key, id });
    }
    // Before the page, so that a client that follows the changes from here misses none.
    let log = if query.after.is_none() { Some(app.store.log_state().await?) } else { None };
    let (pets, next) = app.store.list_store_pets(&query).await?;
    let next = next.and_then(|PetPosition { key, id }| {
        let cursor = walk.encode(&key.unwrap_or_default(), id.get());
        page::next_link(app, "/store/pets", query.limit, &filters, &cursor)
    });
    let element: Element<StorePet> = Element {
        length: |pet| {
            let note = pet.withdrawn.as_ref().and_then(|withdrawal| withdrawal.note.as_ref());
            pet.name.as_str().len() + note.map_or(0, |note| note.as_str().len())
        },
        write: json::write_store_pet,
    };
    let mut response = page::respond(app, request, pets, element, next).await?;
    if let Some(log) = log {
        feed::add_link(app, &log, &mut response);
    }
    Ok(response)
}

fn prefix(text: &str) -> Option<NamePrefix> {
    if text.contains('\0') { None } else { NamePrefix::new(text) }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
