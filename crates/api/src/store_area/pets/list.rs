//! `listStorePets`: `GET /v1/store/pets`.

use hyper::header::HeaderValue;
use petstore_domain::{
    PetId,
    store_area::{NamePrefix, PetQuery, Phrase, StorePet},
    text,
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::field_search::{self, FIELD_PARAMETERS, FIELD_PREFIX, FieldSearch};
use crate::{
    context::Call,
    query::{self, PrefixedParameters},
    store_area::{
        cursor::{self, Walk},
        everyday, feed,
        page::{self, ElementRenderer},
        shared::StoreArea,
    },
};

/// The names of the parameters, except the parameters that search by fields.
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

/// The parameters of a search: [`SEARCH_PARAMETERS`], and the parameters for fields.
type SearchParameters<'q> = PrefixedParameters<'q, { SEARCH_PARAMETERS.len() }>;

/// Responds with a page of animals, and with a link to the next page. The first page also has a link to the
/// feed of changes, with which a client can keep its copy of the list up to date.
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
    let FieldSearch { values, dates } = field_search::parse(area, &parameters.prefixed).await?;
    query.values = values;
    query.dates = dates;
    let walk = make_walk(&parameters, &query);
    query.after = parse_cursor(&walk, &parameters)?;

    // Read the end of the journal before the page, so that a client that follows the changes from there
    // misses none.
    let journal_state = if query.after.is_none() {
        Some(area.app.store.journal_state().await?)
    } else {
        None
    };
    let _turn = area.turns.take(caller).await?;
    if let Some(phrase) = query.phrase.take() {
        query.phrase = Some(everyday::understand(area, phrase).await?);
    }
    let (pets, last_id) = area.app.store.list_store_pets(&query).await?;

    let next =
        last_id.and_then(|id| next_link(area, &parameters, &query, &walk.encode_id(id.get())));
    let renderer: ElementRenderer<StorePet> = ElementRenderer {
        texts_length: StorePet::length,
        write: json::write_store_pet,
    };
    let mut response = page::respond(area, request, pets, renderer, next).await?;
    if let Some(state) = journal_state {
        feed::add_changes_link(area, &state, &mut response);
    }
    Ok(response)
}

/// Parses all parameters, except the cursor and the parameters that search by fields.
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
    let is_withdrawn = query::parse_parameter(
        "withdrawn",
        withdrawn.as_ref(),
        parse_boolean,
        "true or false",
    )?;
    Ok(PetQuery {
        status: query::parse_parameter(
            "status",
            status.as_ref(),
            |text| text.parse().ok(),
            "one of available, pending and sold",
        )?,
        category_id: query::parse_parameter(
            "categoryId",
            category_id.as_ref(),
            text::parse_integer,
            query::AN_INTEGER,
        )?,
        name: query::parse_parameter(
            "name",
            name.as_ref(),
            parse_name_prefix,
            "at most 64 letters and digits, counted without accents (64 characters if it has \
             none), and without U+0000",
        )?,
        phrase: query::parse_parameter("q", phrase.as_ref(), Phrase::new, Phrase::RULE)?,
        is_withdrawn: is_withdrawn.unwrap_or_default(),
        is_listed: query::parse_parameter(
            "listed",
            listed.as_ref(),
            parse_boolean,
            "true or false",
        )?,
        limit: query::parse_limit(limit.as_ref())?,
        ..PetQuery::default()
    })
}

/// Returns the walk through the results of a search ([`Walk`]).
///
/// Uses the parsed values where they have a normal form, so that equal searches have the same walk even if
/// their parameters differ in order, or in upper and lower case.
fn make_walk(parameters: &SearchParameters<'_>, query: &PetQuery) -> Walk {
    let [status, category_id, ..] = &parameters.values;
    let name = query.name.as_ref().map(NamePrefix::as_str);
    let withdrawn = withdrawn_filter(parameters, query);
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

    // No field has a name with a question mark, so these filters cannot be confused with fields.
    match query.is_listed {
        Some(true) => filters.push(Some("?listed")),
        Some(false) => filters.push(Some("?unlisted")),
        None => {}
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

/// Returns the parameter `withdrawn` if it is `true`. The default value `false` does not filter.
fn withdrawn_filter<'q>(parameters: &'q SearchParameters<'_>, query: &PetQuery) -> Option<&'q str> {
    let [_, _, _, _, withdrawn, ..] = &parameters.values;
    if query.is_withdrawn {
        withdrawn.as_deref()
    } else {
        None
    }
}

/// Parses the cursor, and returns the animal after which the page begins. Returns `None` for the first page,
/// which has no cursor.
fn parse_cursor(walk: &Walk, parameters: &SearchParameters<'_>) -> Result<Option<PetId>, ApiError> {
    let [.., cursor] = &parameters.values;
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    let position = walk.decode(cursor)?;
    // Only cursors of an earlier release, which sorted animals by name, have a key.
    if !position.key.is_empty() {
        return Err(cursor::invalid());
    }
    let id = PetId::new(position.id).ok_or_else(cursor::invalid)?;
    Ok(Some(id))
}

/// Returns the link to the next page of a search.
fn next_link(
    area: &StoreArea,
    parameters: &SearchParameters<'_>,
    query: &PetQuery,
    cursor: &str,
) -> Option<HeaderValue> {
    let [status, category_id, name, phrase, _, listed, ..] = &parameters.values;
    let withdrawn = withdrawn_filter(parameters, query);
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

/// Parses the prefix of a name. Rejects U+0000, which no name contains.
fn parse_name_prefix(text: &str) -> Option<NamePrefix> {
    if text.contains('\0') {
        None
    } else {
        NamePrefix::new(text)
    }
}

/// Parses `true` or `false`.
fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
