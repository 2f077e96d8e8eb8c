//! The steps of every change: what a request asks for becomes commands, which the store carries out
//! in one transaction.

use std::borrow::Cow;

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::{request::Parts, uri::PathAndQuery},
};
use jiff::Timestamp;
use petstore_app::{Caller, Changed};
use petstore_domain::{
    IdempotencyKey, PetId, Problem, StoredResponse, WriteContext,
    rate_limit::Reading,
    store_area::{Command, Conflict, FieldProblem, OrderId, Photos, Refusal, Resource},
};
use petstore_formats::json::{self, times};
use petstore_store::{ExecutionOutcome, ExecutionRenderer, cause};
use petstore_web::edge::{
    ApiError, Reservation, Response,
    body::{self, Accepted, Pictures},
    response,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{contacts, members::Members, shared::StoreArea, wire};
use crate::{access::auth, context::Call, idempotency, query};

/// How much longer, in bytes, a response usually is than the body: by what the request does not
/// change. Very long names can exceed it.
const USUAL_GROWTH: usize = 16 << 10;

/// How much longer a picture may take to arrive than another body.
const PICTURE_TIMES: u32 = 4;

/// Why a batch is refused whose animals and orders are too long.
const BATCH_TOO_LONG: &str = "The animals and orders of a batch must not exceed 2 MiB together, \
     before and after each command, as JSON. This command exceeds the limit. Send the commands in \
     smaller batches.";

/// A request for a change, read completely.
pub(super) struct Write<'r> {
    pub(super) request: &'r Parts,
    pub(super) parameter: &'r str,
    pub(super) second: &'r str,
    pub(super) rate: &'r mut Option<Reading>,
    request_id: &'r HeaderValue,
    operation: &'static str,
    caller: &'r Caller,
    key: Option<IdempotencyKey>,
    pub(super) now: Timestamp,
    /// The body, an empty object if the request has none.
    pub(super) body: Bytes,
    /// The fingerprint of a request without JSON, which is the same for each repetition.
    fingerprint: Option<[u8; 32]>,
    room: Reservation,
}

impl<'r> Write<'r> {
    /// Reads the request of an operation that accepts such a body, or none. Fails with 400, 408,
    /// 413 and 415, as for every request with a body.
    pub(super) async fn read(
        area: &StoreArea,
        call: Call<'r>,
        accepted: Option<Accepted>,
    ) -> Result<Self, ApiError> {
        let [] = query::parameters(call.request.uri.query(), [])?;
        let key = idempotency::key(&call.request.headers)?;
        // Reserved now, because a change cannot be rejected after it is made.
        let room = area
            .http
            .memory
            .reserve(body::max_length(&call.body) + USUAL_GROWTH)?;
        let (headers, timeout) = (&call.request.headers, area.http.body_timeout);
        let mut text = match accepted {
            Some(accepted) => body::read(headers, &mut *call.body, accepted, timeout).await?,
            None => Bytes::new(),
        };
        if text.is_empty() && accepted.is_none_or(|accepted| accepted == Accepted::JsonOrNothing) {
            text = Bytes::from_static(b"{}");
        }
        Self::of(area, call, key, (text, None), room)
    }

    /// The same for a picture.
    pub(super) async fn read_picture(
        area: &StoreArea,
        call: Call<'r>,
        accepted: &Pictures,
    ) -> Result<Self, ApiError> {
        let key = idempotency::key(&call.request.headers)?;
        let size = body::max_length_within(&call.body, accepted.max) + USUAL_GROWTH;
        let room = area.http.memory.reserve_for_picture(size)?;
        let (headers, timeout) = (
            &call.request.headers,
            area.http.body_timeout * PICTURE_TIMES,
        );
        let picture = body::read_picture(headers, &mut *call.body, accepted, timeout).await?;
        let fingerprint = key
            .is_some()
            .then(|| fingerprint_of_picture(call.request, &picture));
        Self::of(area, call, key, (picture, fingerprint), room)
    }

    fn of(
        area: &StoreArea,
        Call {
            request,
            request_id,
            operation,
            parameter,
            second,
            caller,
            rate,
            ..
        }: Call<'r>,
        key: Option<IdempotencyKey>,
        (body, fingerprint): (Bytes, Option<[u8; 32]>),
        room: Reservation,
    ) -> Result<Self, ApiError> {
        let caller = caller.ok_or_else(auth::missing_key)?;
        let now = times::to_milliseconds(area.app.clock.now());
        Ok(Self {
            request,
            parameter,
            second,
            rate,
            request_id,
            operation,
            caller,
            key,
            now,
            body,
            fingerprint,
            room,
        })
    }

    /// The same for an operation that requires an `Idempotency-Key`. Fails with 400 without it.
    pub(super) async fn read_with_key(area: &StoreArea, call: Call<'r>) -> Result<Self, ApiError> {
        if idempotency::key(&call.request.headers)?.is_none() {
            let [] = query::parameters(call.request.uri.query(), [])?;
            return Err(ApiError::new(
                Problem::MissingIdempotencyKey,
                "This operation needs an Idempotency-Key. Send a new key, such as a UUID, with each \
                 new request, and the same key with a retry.",
            ));
        }
        Self::read(area, call, Some(Accepted::Json)).await
    }

    /// The members of the body, which can have only these. Fails with 400.
    pub(super) fn members(&self, names: &[&str]) -> Result<Members<'_>, ApiError> {
        Ok(Members::of(&self.body, "The body", names)?)
    }

    pub(super) fn pet_id(&self) -> Result<PetId, ApiError> {
        pet_id(query::path_integer(self.parameter))
    }

    pub(super) fn order_id(&self) -> Result<OrderId, ApiError> {
        order_id(query::path_integer(self.parameter))
    }

    /// Carries out one command, and responds with what it is about.
    pub(super) async fn execute(
        self,
        area: &StoreArea,
        command: Command,
        respond: ExecutionRenderer,
    ) -> Result<Response, ApiError> {
        self.execute_all(area, vec![command], respond, |_| None)
            .await
    }

    /// Carries out several commands. `failed_index` is what the error of a command shows of its
    /// position.
    pub(super) async fn execute_all(
        self,
        area: &StoreArea,
        commands: Vec<Command>,
        respond: ExecutionRenderer,
        failed_index: fn(usize) -> Option<usize>,
    ) -> Result<Response, ApiError> {
        let context = self.context(area).await?;
        let _entered = area.app.requests.enter(&context)?;
        let is_one = commands.len() == 1;
        let (stored, changes) = match area
            .app
            .commands
            .execute(commands, context, respond)
            .await?
        {
            ExecutionOutcome::Done { response, changes } => (response, changes),
            ExecutionOutcome::Replayed(response) => (response, Vec::new()),
            ExecutionOutcome::IdempotencyConflict => return Err(idempotency_conflict()),
            ExecutionOutcome::Refused { index, refusal } => {
                return Err(refused(refusal, failed_index(index), self.room));
            }
        };
        let has_all = is_one && !changes.is_empty();
        let body = contacts::add(area, stored.body, &changes, has_all).await?;
        Ok(self.respond_with(area, StoredResponse { body, ..stored }))
    }

    pub(super) async fn context(&self, area: &StoreArea) -> Result<WriteContext, ApiError> {
        let idempotency = match &self.key {
            Some(key) => {
                let fingerprint = self
                    .fingerprint
                    .unwrap_or_else(|| fingerprint(self.request, &self.body));
                let (requests, caller) = (&area.app.requests, self.caller.key_id());
                Some(
                    requests
                        .of_key(caller, self.operation, key.clone(), fingerprint)
                        .await?,
                )
            }
            None => None,
        };
        let request_id = self.request_id.to_str().ok().map(str::to_owned);
        Ok(WriteContext {
            actor: self.caller.actor(),
            now: self.now,
            request_id,
            idempotency,
        })
    }

    /// The response to a change of administration. `refused` says why it was not made.
    pub(super) fn respond_to<R>(
        self,
        area: &StoreArea,
        changed: Changed<R>,
        refused: impl FnOnce(R) -> ApiError,
    ) -> Result<Response, ApiError> {
        match changed {
            Changed::Done(stored) => Ok(self.respond_with(area, stored)),
            Changed::Refused(refusal) => Err(refused(refusal)),
            Changed::IdempotencyConflict => Err(idempotency_conflict()),
        }
    }

    pub(super) fn respond_with(self, area: &StoreArea, stored: StoredResponse) -> Response {
        let status = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::OK);
        let mut response = response::json(status, self.room.fill(stored.body));
        let headers = response.headers_mut();
        if status == StatusCode::NO_CONTENT {
            headers.remove(header::CONTENT_TYPE);
        }
        if let Some(tag) = stored.etag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            headers.insert(header::ETAG, tag);
        }
        let location = stored
            .location
            .map(|path| format!("{}{path}", area.http.base_path));
        if let Some(location) = location.and_then(|location| HeaderValue::try_from(location).ok()) {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}

/// 422: the idempotency key was used for another request.
pub(super) fn idempotency_conflict() -> ApiError {
    let message =
        "This Idempotency-Key was used for another request. Choose a new one for each request.";
    ApiError::new(Problem::IdempotencyConflict, message)
}

/// Differs for a request with another method, path, condition or body. Two bodies with the same
/// JSON values have the same fingerprint, however they are written.
fn fingerprint(request: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    };
    add(request.method.as_str().as_bytes());
    add(request.uri.path().as_bytes());
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        let values = request.headers.get_all(name);
        add(&values
            .iter()
            .map(HeaderValue::as_bytes)
            .collect::<Vec<_>>()
            .join(&b','));
    }
    // The body was parsed before.
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.sort_all_objects();
    normalize_numbers(&mut body);
    add(body.to_string().as_bytes());
    hash.finalize().into()
}

/// The same of a picture: of its bytes, and of the query.
fn fingerprint_of_picture(request: &Parts, picture: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let target = request
        .uri
        .path_and_query()
        .map_or("", PathAndQuery::as_str);
    hash.update(target.len().to_be_bytes());
    hash.update(target);
    hash.update(picture);
    hash.finalize().into()
}

/// Gives each integer one spelling.
fn normalize_numbers(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(normalize_numbers),
        Value::Array(elements) => elements.iter_mut().for_each(normalize_numbers),
        Value::Number(number) => {
            if let Some(integer) = json::integer_in(&number.to_string()) {
                *number = integer.into();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

pub(super) fn refused(
    refusal: Refusal,
    failed_index: Option<usize>,
    room: Reservation,
) -> ApiError {
    let is_batch = failed_index.is_some();
    let of_conflict = |problem, conflict: Conflict| {
        (
            ApiError::new(problem, conflict.message),
            Some(wire::current(&conflict.current)),
        )
    };
    let (error, current) = match refusal {
        Refusal::Invalid(message) => (ApiError::new(Problem::InvalidBody, message), None),
        Refusal::TooLong => (ApiError::new(Problem::InvalidBody, BATCH_TOO_LONG), None),
        Refusal::NotFound(message) => (ApiError::new(Problem::NotFound, message), None),
        Refusal::PreconditionRequired(_) if is_batch => {
            let message = "This command needs ifMatch with the version of the animal that you want \
                           to change, such as 7. Read the animal first.";
            (ApiError::new(Problem::PreconditionRequired, message), None)
        }
        Refusal::PreconditionRequired(message) => {
            (ApiError::new(Problem::PreconditionRequired, message), None)
        }
        Refusal::PreconditionFailed(current) => {
            let message = stale_resource(current.as_deref(), is_batch);
            let current = current.map_or(b"null".to_vec(), |current| wire::current(&current));
            (
                ApiError::new(Problem::PreconditionFailed, message),
                Some(current),
            )
        }
        Refusal::InvalidTransition(conflict) => of_conflict(Problem::InvalidTransition, *conflict),
        Refusal::OpenOrder(conflict) => of_conflict(Problem::OpenOrder, *conflict),
        Refusal::Fields(FieldProblem::Unknown(message)) => {
            (ApiError::new(Problem::UnknownField, message), None)
        }
        Refusal::Fields(FieldProblem::Invalid(message)) => {
            (ApiError::new(Problem::InvalidBody, message), None)
        }
        Refusal::DuplicateValue {
            message, current, ..
        } => {
            let current = current.map(|current| wire::resource(&current));
            (ApiError::new(Problem::DuplicateValue, message), current)
        }
        Refusal::TooManyPhotos => {
            let message = format!(
                "An animal can have at most {} photos. Delete one first.",
                Photos::MAX
            );
            (ApiError::new(Problem::TooManyPhotos, message), None)
        }
        Refusal::NoIdentifierLeft => {
            return ApiError::internal(cause("every identifier was given"));
        }
    };
    if failed_index.is_none() && current.is_none() {
        return error;
    }
    error.with_state(failed_index, current.as_deref(), Some(room))
}

/// The error of a change that the present state forbids, with this state.
pub(super) fn conflict(
    problem: Problem,
    message: impl Into<Cow<'static, str>>,
    current: &[u8],
) -> ApiError {
    ApiError::new(problem, message).with_state(None, Some(current), None)
}

/// The next step when the version is another one.
fn stale_resource(current: Option<&Resource>, is_batch: bool) -> String {
    let (what, version) = match current {
        Some(Resource::Pet(pet)) => ("animal", pet.version),
        Some(Resource::Order(order)) => ("order", order.version),
        Some(Resource::Category(category)) => ("category", category.version),
        None => return absent("category"),
    };
    if is_batch {
        let retry = format!("ifMatch {version}, plus 1 for each earlier command that changes the");
        return stale_with(what, version, &format!("{retry} {what}"));
    }
    stale(what, version)
}

/// The next step when this has another version.
pub(super) fn stale(what: &str, version: i64) -> String {
    stale_with(what, version, &format!("If-Match: \"{version}\""))
}

fn stale_with(what: &str, version: i64, retry: &str) -> String {
    format!(
        "The {what} has version {version} now; see current. If you still want the change, send it \
         again with {retry}."
    )
}

/// The next step when a condition is for something that does not exist.
pub(super) fn absent(what: &str) -> String {
    format!("The {what} does not exist. To create it, send If-None-Match: *.")
}

/// The identifier in the path or body as that of an animal: 404 if no animal can have it.
pub(super) fn pet_id(id: Option<i64>) -> Result<PetId, ApiError> {
    id.and_then(PetId::new).ok_or_else(no_pet)
}

/// The same for an order.
pub(super) fn order_id(id: Option<i64>) -> Result<OrderId, ApiError> {
    id.and_then(OrderId::new).ok_or_else(no_order)
}

pub(super) fn no_pet() -> ApiError {
    ApiError::new(Problem::NotFound, "No animal has this id.")
}

pub(super) fn no_order() -> ApiError {
    ApiError::new(Problem::NotFound, "No order has this id.")
}
