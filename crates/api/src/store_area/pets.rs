//! The operations on animals.

use std::collections::BTreeMap;

use hyper::{StatusCode, header::HeaderValue};
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
    everyday, feed,
    members::{Body, bodies},
    page::{self, Element},
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{
    context::Call,
    etag,
    query::{self, PrefixedParameter, PrefixedParameters},
};

bodies! {
    WithdrawPet: reason, note;
}

/// The body of `withdrawPet`.
pub(super) struct WithdrawPet {
    pub(super) reason: WithdrawalReason,
    pub(super) note: Option<Note>,
}

/// The beginning of the name of a parameter that searches for the value of a field.
const FIELD_PREFIX: &str = "field.";

/// The parameters with this beginning, as an error shows them.
const FIELD_PARAMETERS: &str = "field.NAME=VALUE, field.NAME.from=DATE, field.NAME.to=DATE";

/// The names of the other parameters of a search.
const SEARCH_PARAMETERS: [&str; 8] = [
    "status",
    "categoryId",
    "name",
    "q",
    "withdrawn",
    "listed",
    "limit",
    "cursor",
];

/// `GET /v1/store/pets`: a page of animals, and a link to the next one.
pub(crate) async fn list_pets(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let parameters = query::prefixed_parameters(
        request.uri.query(),
        SEARCH_PARAMETERS,
        FIELD_PREFIX,
        FIELD_PARAMETERS,
    )?;
    let mut query = parse_query(&parameters)?;
    query::check_utf8(request.uri.query())?;
    let search = parse_fields(area, &parameters.prefixed).await?;
    query.values = search.values;
    query.dates = search.dates;

    let list_walk = walk(&parameters, &query);
    let [.., cursor] = &parameters.values;
    if let Some(cursor) = cursor {
        let (key, id) = list_walk.decode(cursor)?;
        // Cursors of a release that listed animals by name have a key.
        if !key.is_empty() {
            return Err(cursor::invalid());
        }
        query.after = Some(PetId::new(id).ok_or_else(cursor::invalid)?);
    }

    // Before the page, so that a client that follows the changes from here misses none.
    let log = if query.after.is_none() {
        Some(area.app.store.journal_state().await?)
    } else {
        None
    };
    let _turn = area.turns.take(caller).await?;
    if let Some(phrase) = query.phrase.take() {
        query.phrase = Some(everyday::understand(area, phrase).await?);
    }
    let (pets, next) = area.app.store.list_store_pets(&query).await?;
    let next =
        next.and_then(|id| next_link(area, &parameters, &query, &list_walk.encode("", id.get())));
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

/// The parameters of a search: [`SEARCH_PARAMETERS`], and the parameters for fields.
type SearchParameters<'q> = PrefixedParameters<'q, { SEARCH_PARAMETERS.len() }>;

/// Parses the parameters of a search, apart from the values of fields and the cursor.
fn parse_query(parameters: &SearchParameters<'_>) -> Result<PetQuery, ApiError> {
    let [
        status,
        category_id,
        name,
        phrase,
        withdrawn,
        listed,
        limit,
        _,
    ] = &parameters.values;
    let withdrawn = query::filter("withdrawn", withdrawn.as_ref(), boolean, "true or false")?;
    Ok(PetQuery {
        status: query::filter(
            "status",
            status.as_ref(),
            |text| text.parse().ok(),
            "one of available, pending and sold",
        )?,
        category_id: query::filter(
            "categoryId",
            category_id.as_ref(),
            text::parse_integer,
            query::AN_INTEGER,
        )?,
        name: query::filter(
            "name",
            name.as_ref(),
            prefix,
            "at most 64 letters and digits, counted without accents (64 characters if it has \
             none), and without U+0000",
        )?,
        phrase: query::filter("q", phrase.as_ref(), Phrase::new, Phrase::RULE)?,
        is_withdrawn: withdrawn.unwrap_or_default(),
        is_listed: query::filter("listed", listed.as_ref(), boolean, "true or false")?,
        limit: query::limit(limit.as_ref())?,
        ..PetQuery::default()
    })
}

/// Returns the walk through the animals of a query. The same filters in another order or case are the same walk.
fn walk(parameters: &SearchParameters<'_>, query: &PetQuery) -> Walk {
    let [status, category_id, _, _, withdrawn, ..] = &parameters.values;
    let withdrawn = if query.is_withdrawn {
        withdrawn.as_deref()
    } else {
        None
    };
    let name = query.name.as_ref().map(NamePrefix::as_str);
    let mut filters = vec![status.as_deref(), category_id.as_deref(), name, withdrawn];

    let mut values: Vec<_> = query
        .values
        .iter()
        .map(|value| (value.field.as_str(), value.key.as_str()))
        .collect();
    values.sort_unstable();
    for (field, key) in values {
        filters.extend([Some(field), Some(key)]);
    }

    // No field has a name with a question mark.
    if let Some(is_listed) = query.is_listed {
        filters.push(Some(if is_listed { "?listed" } else { "?unlisted" }));
    }
    if let Some(phrase) = &query.phrase {
        filters.extend([Some("?q"), Some(phrase.as_str())]);
    }
    let Some(dates) = &query.dates else {
        return Walk::new(cursor::PETS, &filters);
    };
    let [from, to] = dates.bounds();
    filters.extend(["?dates", dates.field.as_str(), &from, &to].map(Some));
    Walk::new(cursor::PETS, &filters)
}

/// Returns the link to the next page of a search.
fn next_link(
    area: &StoreArea,
    parameters: &SearchParameters<'_>,
    query: &PetQuery,
    cursor: &str,
) -> Option<HeaderValue> {
    let [status, category_id, name, phrase, withdrawn, listed, ..] = &parameters.values;
    let withdrawn = if query.is_withdrawn {
        withdrawn.as_deref()
    } else {
        None
    };
    let fields: Vec<_> = parameters
        .prefixed
        .iter()
        .map(|field| (format!("{FIELD_PREFIX}{}", field.name), &*field.value))
        .collect();

    let mut filters = vec![
        ("status", status.as_deref()),
        ("categoryId", category_id.as_deref()),
        ("name", name.as_deref()),
        ("q", phrase.as_deref()),
        ("withdrawn", withdrawn),
        ("listed", listed.as_deref()),
    ];
    for (name, value) in &fields {
        filters.push((name.as_str(), Some(*value)));
    }
    page::next_link(area, "/store/pets", query.limit, &filters, cursor)
}

/// The values and the dates that the animals of a search must have.
#[derive(Default)]
struct FieldSearch {
    values: Vec<ValueFilter>,
    dates: Option<DateRange>,
}

/// Parses the parameters of fields.
///
/// Example: `field.breed=Beagle` is a value, and `field.born.from=2024-01-01` is a range of dates.
async fn parse_fields(
    area: &StoreArea,
    parameters: &[PrefixedParameter<'_>],
) -> Result<FieldSearch, ApiError> {
    if parameters.is_empty() {
        return Ok(FieldSearch::default());
    }
    let mut values = Vec::new();
    let mut ranges = BTreeMap::<&str, [Option<&str>; 2]>::new();
    for PrefixedParameter { name, value } in parameters {
        if let Some(name) = name.strip_suffix(".from") {
            ranges.entry(name).or_default()[0] = Some(value);
        } else if let Some(name) = name.strip_suffix(".to") {
            ranges.entry(name).or_default()[1] = Some(value);
        } else {
            values.push((name.as_str(), &**value));
        }
    }
    check_fields(&values, &ranges)?;

    let fields = area.app.store.fields().await?;
    let mut search = FieldSearch::default();
    for (name, value) in values {
        let filter = fields.parse_filter(name, value).map_err(field_error)?;
        search.values.push(filter);
    }
    if let Some((name, [from, to])) = ranges.pop_first() {
        let dates = fields.date_range(name, from, to).map_err(field_error)?;
        search.dates = Some(dates);
    }
    Ok(search)
}

/// Checks that a search can have these values and ranges of fields.
fn check_fields(
    values: &[(&str, &str)],
    ranges: &BTreeMap<&str, [Option<&str>; 2]>,
) -> Result<(), ApiError> {
    if ranges.len() > 1 {
        return Err(invalid_parameter(format!(
            "Ranges of {} fields are given as field.NAME.from and field.NAME.to. A search has at most one.",
            ranges.len()
        )));
    }
    if let Some((name, _)) = values.iter().find(|(name, _)| ranges.contains_key(name)) {
        return Err(invalid_parameter(format!(
            "field.{name} is given with field.{name}.from or field.{name}.to. Give a value or a range."
        )));
    }
    let count = values.len() + ranges.len();
    let max = PetQuery::MAX_VALUE_FILTERS;
    if count > max {
        return Err(invalid_parameter(format!(
            "{count} fields are given as field.NAME. A search has at most {max}."
        )));
    }
    Ok(())
}

/// Returns the error for a value that the field cannot have, or for a field that does not exist.
fn field_error(problem: FieldProblem) -> ApiError {
    match problem {
        FieldProblem::Unknown(message) => ApiError::new(Problem::UnknownField, message),
        FieldProblem::Invalid(message) => invalid_parameter(message),
    }
}

/// Returns the error for an invalid parameter.
fn invalid_parameter(message: String) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}

/// Parses the beginning of a name. A name with U+0000 does not exist.
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
            wire::created_result,
        )
        .await
}

/// `PATCH /v1/store/pets/{petId}`.
pub(crate) async fn patch_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(PetPatch::NAMES)?.read()?;
    let command = Command::PatchPet {
        id: write.pet_id()?,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// `POST /v1/store/pets/{petId}/withdraw`.
pub(crate) async fn withdraw_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let WithdrawPet { reason, note } = write.members(WithdrawPet::NAMES)?.read()?;
    let command = Command::WithdrawPet {
        id: write.pet_id()?,
        reason,
        note,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// `POST /v1/store/pets/{petId}/restore`.
pub(crate) async fn restore_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    let command = Command::RestorePet {
        id: write.pet_id()?,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Responds with how many animals there are.
pub(crate) async fn inventory(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let inventory = area.app.inventory.read().await?;
    let body = area.http.memory.hold(wire::inventory(&inventory))?;
    let etag = area.http.etag_key.etag(&body);
    Ok(etag::respond(
        &request.headers,
        response::json(StatusCode::OK, body),
        etag,
    ))
}
