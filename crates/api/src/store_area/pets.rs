//! The operations on animals.

use std::{borrow::Cow, collections::BTreeMap};

use hyper::StatusCode;
use petstore_domain::{
    PetId, Problem,
    store_area::{
        Command, DateRange, FieldProblem, NamePrefix, Note, PetPatch, PetQuery, Phrase, Resource,
        StorePet, ValueFilter, WithdrawalReason,
    },
    text,
};
use petstore_formats::json::{self, AddPet};
use petstore_web::edge::{ApiError, Response, body::Accepted, response};

use super::{
    cursor::{self, Walk},
    feed,
    members::{Body, bodies},
    page::{self, Element},
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{context::Call, etag, query};

bodies! {
    WithdrawPet: reason, note;
}

/// The body of `withdrawPet`.
pub(super) struct WithdrawPet {
    pub(super) reason: WithdrawalReason,
    pub(super) note: Option<Note>,
}

/// The beginning of the name of a parameter that searches for the value of a field.
const FIELD: &str = "field.";
const FIELDS: &str = "field.NAME=VALUE, field.NAME.from=DATE, field.NAME.to=DATE";

/// `GET /v1/store/pets`: a page of animals, and a link to the next one.
pub(crate) async fn list_pets(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = [
        "status",
        "categoryId",
        "name",
        "q",
        "withdrawn",
        "limit",
        "cursor",
    ];
    let ([status, category_id, name, q, withdrawn, limit, cursor], values) =
        query::parameters_and(request.uri.query(), names, FIELD, FIELDS)?;
    let is_status = "one of available, pending and sold";
    let is_name = "at most 64 letters and digits, counted without accents (64 characters if it has \
                   none), and without U+0000";
    let mut query = PetQuery {
        status: query::filter(
            "status",
            status.as_ref(),
            |text| text.parse().ok(),
            is_status,
        )?,
        category_id: query::filter(
            "categoryId",
            category_id.as_ref(),
            text::integer,
            query::AN_INTEGER,
        )?,
        name: query::filter("name", name.as_ref(), prefix, is_name)?,
        phrase: query::filter("q", q.as_ref(), Phrase::new, Phrase::IS)?,
        withdrawn: query::filter("withdrawn", withdrawn.as_ref(), boolean, "true or false")?
            .unwrap_or_default(),
        limit: query::limit(limit.as_ref())?,
        ..PetQuery::default()
    };
    query::check_utf8(request.uri.query())?;
    (query.values, query.dates) = searched(area, &values).await?;
    let values: Vec<_> = values
        .iter()
        .map(|(name, value)| (format!("{FIELD}{name}"), &**value))
        .collect();
    let mut filters = vec![
        ("status", status.as_deref()),
        ("categoryId", category_id.as_deref()),
        ("name", name.as_deref()),
        ("q", q.as_deref()),
        (
            "withdrawn",
            withdrawn.as_deref().filter(|_| query.withdrawn),
        ),
    ];
    let name = query.name.as_ref().map(NamePrefix::as_str);
    let mut of_walk = vec![filters[0].1, filters[1].1, name, filters[4].1];
    filters.extend(
        values
            .iter()
            .map(|(name, value)| (name.as_str(), Some(*value))),
    );
    // The same filters in another order or case are the same walk.
    let mut wanted: Vec<_> = query
        .values
        .iter()
        .map(|value| (value.field.as_str(), value.key.as_str()))
        .collect();
    wanted.sort_unstable();
    of_walk.extend(
        wanted
            .into_iter()
            .flat_map(|(field, key)| [Some(field), Some(key)]),
    );
    // As no field is called.
    let phrase = query
        .phrase
        .iter()
        .flat_map(|phrase| ["?q", phrase.as_str()]);
    of_walk.extend(phrase.map(Some));
    let dates = query
        .dates
        .iter()
        .map(|dates| (dates.field.as_str(), dates.bounds()));
    let dates: Vec<_> = dates.collect();
    let dates = dates
        .iter()
        .flat_map(|(field, [from, to])| ["?dates", field, from, to]);
    of_walk.extend(dates.map(Some));
    let walk = Walk::new(cursor::PETS, &of_walk);
    if let Some(cursor) = cursor {
        let (key, id) = walk.decode(&cursor)?;
        // Cursors of a release that listed animals by name have a key.
        let id = PetId::new(id).filter(|_| key.is_empty());
        query.after = Some(id.ok_or_else(cursor::invalid)?);
    }
    // Before the page, so that a client that follows the changes from here misses none.
    let log = if query.after.is_none() {
        Some(area.app.store.journal_state().await?)
    } else {
        None
    };
    let _turn = area.turns.take(caller).await?;
    let (pets, next) = area.app.store.list_store_pets(&query).await?;
    let next = next.and_then(|id| {
        let cursor = walk.encode("", id.get());
        page::next_link(area, "/store/pets", query.limit, &filters, &cursor)
    });
    let element: Element<StorePet> = Element {
        length: StorePet::length,
        write: json::write_store_pet,
    };
    let mut response = page::respond(area, request, pets, element, next).await?;
    if let Some(log) = log {
        feed::add_link(area, &log, &mut response);
    }
    Ok(response)
}

/// The values and the dates that the animals must have.
async fn searched(
    area: &StoreArea,
    given: &[(String, Cow<'_, str>)],
) -> Result<(Vec<ValueFilter>, Option<DateRange>), ApiError> {
    if given.is_empty() {
        return Ok((Vec::new(), None));
    }
    let invalid = |message: String| Err(ApiError::new(Problem::InvalidParameter, message));
    let (mut values, mut ranges) = (Vec::new(), BTreeMap::<&str, [Option<&str>; 2]>::new());
    for (name, value) in given {
        if let Some(name) = name.strip_suffix(".from") {
            ranges.entry(name).or_default()[0] = Some(value);
        } else if let Some(name) = name.strip_suffix(".to") {
            ranges.entry(name).or_default()[1] = Some(value);
        } else {
            values.push((name.as_str(), value));
        }
    }
    if ranges.len() > 1 {
        return invalid(format!(
            "Ranges of {} fields are given as field.NAME.from and field.NAME.to. A search has at most one.",
            ranges.len()
        ));
    }
    if let Some((name, _)) = values.iter().find(|(name, _)| ranges.contains_key(name)) {
        return invalid(format!(
            "field.{name} is given with field.{name}.from or field.{name}.to. Give a value or a range."
        ));
    }
    let count = values.len() + ranges.len();
    if count > PetQuery::MOST_VALUES {
        let most = PetQuery::MOST_VALUES;
        return invalid(format!(
            "{count} fields are given as field.NAME. A search has at most {most}."
        ));
    }
    let fields = area.app.store.fields().await?;
    let values: Result<Vec<_>, _> = values
        .into_iter()
        .map(|(name, value)| fields.searched(name, value))
        .collect();
    let dates = ranges
        .pop_first()
        .map(|(name, ends)| fields.dates(name, ends))
        .transpose();
    let searched = values.and_then(|values| Ok((values, dates?)));
    searched.map_err(|problem| match problem {
        FieldProblem::Unknown(message) => ApiError::new(Problem::UnknownField, message),
        FieldProblem::Invalid(message) => ApiError::new(Problem::InvalidParameter, message),
    })
}

fn prefix(text: &str) -> Option<NamePrefix> {
    if text.contains('\0') {
        None
    } else {
        NamePrefix::new(text)
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// `GET /v1/store/pets/{petId}`: an animal, withdrawn or not.
pub(crate) async fn get_pet(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let id = write::pet_id(query::path_integer(parameter))?;
    let pet = area
        .app
        .store
        .get_store_pet(id)
        .await?
        .ok_or_else(write::no_pet)?;
    wire::respond(area, request, &Resource::Pet(pet))
}

/// `POST /v1/store/pets`: adds an animal.
pub(crate) async fn add_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let (pet, fields) = write.members(AddPet::NAMES)?.read::<AddPet>()?.pet()?;
    write
        .execute(
            area,
            Command::AddPet(pet, fields, Vec::new()),
            wire::created,
        )
        .await
}

/// `PATCH /v1/store/pets/{petId}`.
pub(crate) async fn patch_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(PetPatch::NAMES)?.read()?;
    let command = Command::PatchPet {
        id: write.pet_id()?,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::one).await
}

/// `POST /v1/store/pets/{petId}/withdraw`.
pub(crate) async fn withdraw_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let WithdrawPet { reason, note } = write.members(WithdrawPet::NAMES)?.read()?;
    let command = Command::WithdrawPet {
        id: write.pet_id()?,
        reason,
        note,
        preconditions,
    };
    write.execute(area, command, wire::one).await
}

/// `POST /v1/store/pets/{petId}/restore`.
pub(crate) async fn restore_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    let command = Command::RestorePet {
        id: write.pet_id()?,
        preconditions,
    };
    write.execute(area, command, wire::one).await
}

/// Responds with how many animals there are.
pub(crate) async fn inventory(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let inventory = area.app.inventory.read().await?;
    let body = area.http.memory.hold(wire::inventory(&inventory))?;
    let tag = area.http.tags.tag(&body);
    Ok(etag::respond(
        &request.headers,
        response::json(StatusCode::OK, body),
        tag,
    ))
}
