//! The common steps of all changes: read the request, execute its commands in one transaction, and respond.

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use jiff::Timestamp;
use petstore_app::{Caller, Changed};
use petstore_domain::{
    IdempotencyKey, PetId, Problem, StoredResponse, WriteContext,
    rate_limit::MeterReading,
    store_area::{Command, OrderId, Refusal},
};
use petstore_formats::json::times;
use petstore_store::{ExecutionOutcome, ExecutionRenderer};
use petstore_web::edge::{
    ApiError, Reservation, Response,
    body::{self, Accepted, Pictures},
    response,
};

use super::{
    contacts, fingerprint, members::Members, note_texts, refusals, shared::StoreArea, subjects,
};
use crate::{access::auth, context::Call, idempotency, query};

/// The number of bytes by which a response is usually longer than the request body, because it also has the
/// unchanged parts of the resource. Very long names can exceed it.
const USUAL_GROWTH: usize = 16 << 10;

/// The factor by which the time limit for receiving a picture exceeds the limit for another body.
const PICTURE_TIMEOUT_FACTOR: u32 = 4;

/// A request for a change that has been read completely, with the reserved memory for its response.
pub(super) struct Write<'r> {
    // These are taken from the `Call`.
    pub(super) request: &'r Parts,
    pub(super) parameter: &'r str,
    pub(super) second_parameter: &'r str,
    pub(super) rate: &'r mut Option<MeterReading>,
    request_id: &'r HeaderValue,
    operation: &'static str,
    pub(super) caller: &'r Caller,
    /// The `Idempotency-Key`, if the request has one.
    idempotency_key: Option<IdempotencyKey>,
    /// The time of the change.
    pub(super) now: Timestamp,
    /// The body; an empty JSON object if the request has none.
    pub(super) body: Bytes,
    /// The fingerprint of a request with a picture and an idempotency key: see [`fingerprint`].
    picture_fingerprint: Option<[u8; 32]>,
    reserved_memory: Reservation,
}

/// The body of a request, with its fingerprint if it is a picture, and the reserved memory for the response.
struct Content {
    body: Bytes,
    picture_fingerprint: Option<[u8; 32]>,
    reserved_memory: Reservation,
}

/// Whether the error for a refused command contains the index of the command among the executed ones.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommandIndex {
    /// The client has sent the commands as a batch, so it needs the index.
    Show,
    /// The client has not sent a list of commands, so an index would mean nothing to it.
    Omit,
}

impl<'r> Write<'r> {
    /// Reads the request of an operation. Fails with 400, 408, 413 or 415, like every request with a body.
    ///
    /// `accepted_body` is the kind of body that the operation accepts. It is `None` if the operation accepts
    /// no body.
    pub(super) async fn read(
        area: &StoreArea,
        call: Call<'r>,
        accepted_body: Option<Accepted>,
    ) -> Result<Self, ApiError> {
        query::reject_parameters(call.request.uri.query())?;
        let idempotency_key = idempotency::parse_key(&call.request.headers)?;
        // Reserve memory for the response first: after the change is made, it is too late to reject the
        // request.
        let reserved_memory = area
            .http
            .memory
            .reserve(body::max_length(&call.body) + USUAL_GROWTH)?;
        let headers = &call.request.headers;
        let timeout = area.http.body_timeout;
        let mut body = match accepted_body {
            Some(accepted) => body::read_json(headers, &mut *call.body, accepted, timeout).await?,
            None => Bytes::new(),
        };
        let may_be_empty = matches!(accepted_body, None | Some(Accepted::JsonOrNothing));
        if body.is_empty() && may_be_empty {
            body = Bytes::from_static(b"{}");
        }
        let content = Content {
            body,
            picture_fingerprint: None,
            reserved_memory,
        };
        Self::new(area, call, idempotency_key, content)
    }

    /// Reads the request of an operation that requires an `Idempotency-Key`. Fails with 400 if it has none.
    pub(super) async fn read_with_key(area: &StoreArea, call: Call<'r>) -> Result<Self, ApiError> {
        if idempotency::parse_key(&call.request.headers)?.is_none() {
            // An unknown parameter is reported before the missing key, like in `read`.
            query::reject_parameters(call.request.uri.query())?;
            return Err(ApiError::new(
                Problem::MissingIdempotencyKey,
                "This operation needs an Idempotency-Key. Send a new key, such as a UUID, with each \
                 new request, and the same key with a retry.",
            ));
        }
        Self::read(area, call, Some(Accepted::Json)).await
    }

    /// Reads the request of an operation that accepts a picture. Fails like [`Self::read`].
    pub(super) async fn read_picture(
        area: &StoreArea,
        call: Call<'r>,
        accepted_pictures: &Pictures,
    ) -> Result<Self, ApiError> {
        let idempotency_key = idempotency::parse_key(&call.request.headers)?;
        let size = body::max_length_within(&call.body, accepted_pictures.max) + USUAL_GROWTH;
        let reserved_memory = area.http.memory.reserve_for_picture(size)?;
        let picture = body::read_picture(
            &call.request.headers,
            &mut *call.body,
            accepted_pictures,
            area.http.body_timeout * PICTURE_TIMEOUT_FACTOR,
        )
        .await?;
        let picture_fingerprint = if idempotency_key.is_some() {
            Some(fingerprint::of_picture(call.request, &picture))
        } else {
            None
        };
        let content = Content {
            body: picture,
            picture_fingerprint,
            reserved_memory,
        };
        Self::new(area, call, idempotency_key, content)
    }

    /// Combines a call with its content. Fails with 401 if the call has no caller.
    fn new(
        area: &StoreArea,
        call: Call<'r>,
        idempotency_key: Option<IdempotencyKey>,
        content: Content,
    ) -> Result<Self, ApiError> {
        let Call {
            request,
            request_id,
            operation,
            parameter,
            second_parameter,
            caller,
            rate,
            ..
        } = call;
        let Content {
            body,
            picture_fingerprint,
            reserved_memory,
        } = content;
        let caller = caller.ok_or_else(auth::missing_key)?;
        let now = times::truncate_to_milliseconds(area.app.clock.now());
        Ok(Self {
            request,
            parameter,
            second_parameter,
            rate,
            request_id,
            operation,
            caller,
            idempotency_key,
            now,
            body,
            picture_fingerprint,
            reserved_memory,
        })
    }

    /// Parses the members of the body. Fails with 400 if the body is not a JSON object, or has a member
    /// that is not among `names`.
    pub(super) fn members(&self, names: &[&str]) -> Result<Members<'_>, ApiError> {
        Ok(Members::parse(&self.body, "The body", names)?)
    }

    /// Fails with 400 if the body is not a JSON object, or has any member.
    pub(super) fn reject_members(&self) -> Result<(), ApiError> {
        self.members(&[])?;
        Ok(())
    }

    /// Parses the first parameter in the path as the id of an animal.
    pub(super) fn pet_id(&self) -> Result<PetId, ApiError> {
        subjects::pet_id_in_path(self.parameter)
    }

    /// Parses the first parameter in the path as the id of an order.
    pub(super) fn order_id(&self) -> Result<OrderId, ApiError> {
        subjects::order_id_in_path(self.parameter)
    }

    /// Executes one command, and responds with what `render` returns.
    pub(super) async fn execute(
        self,
        area: &StoreArea,
        command: Command,
        render: ExecutionRenderer,
    ) -> Result<Response, ApiError> {
        self.execute_all(area, vec![command], render, CommandIndex::Omit)
            .await
    }

    /// Executes several commands in one transaction, and responds with what `render` returns. Fails if one
    /// of them is refused, and then none takes effect.
    pub(super) async fn execute_all(
        self,
        area: &StoreArea,
        commands: Vec<Command>,
        render: ExecutionRenderer,
        command_index: CommandIndex,
    ) -> Result<Response, ApiError> {
        let context = self.make_context(area).await?;
        let _in_flight = area.app.requests.enter(&context)?;
        let is_one_command = commands.len() == 1;
        let is_about_note = matches!(
            commands[..],
            [Command::AddNote { .. } | Command::PatchNote { .. }]
        );
        let execution = area.app.commands.execute(commands, context, render);
        let (mut response, changes) = match execution.await? {
            ExecutionOutcome::Done { response, changes } => (response, changes),
            ExecutionOutcome::Replayed(response) => (response, Vec::new()),
            ExecutionOutcome::IdempotencyConflict => return Err(idempotency_conflict()),
            ExecutionOutcome::Refused { index, refusal } => {
                return Err(self.refusal_error(index, refusal, command_index));
            }
        };

        // The changes of a single command include its order. A command of a batch may change nothing, and
        // still have its order in the response.
        let may_have_contact = !is_one_command || contacts::may_exist_after(&changes);
        if is_about_note {
            response.body = note_texts::add_text(area, response.body, &changes).await?;
        } else if may_have_contact {
            response.body = contacts::add_contacts(area, response.body, &changes).await?;
        }
        Ok(self.into_response(area, response))
    }

    /// Returns the error for the refusal of the command with this index.
    fn refusal_error(
        self,
        index: usize,
        refusal: Refusal,
        command_index: CommandIndex,
    ) -> ApiError {
        let failed_index = match command_index {
            CommandIndex::Show => Some(index),
            CommandIndex::Omit => None,
        };
        refusals::refusal_error(refusal, failed_index, self.reserved_memory)
    }

    /// Returns the context of the change: who makes it, when, and with which idempotency key.
    pub(super) async fn make_context(&self, area: &StoreArea) -> Result<WriteContext, ApiError> {
        let idempotency = match &self.idempotency_key {
            Some(key) => {
                let fingerprint = match self.picture_fingerprint {
                    Some(fingerprint) => fingerprint,
                    None => fingerprint::of_json(self.request, &self.body),
                };
                let requests = &area.app.requests;
                let key_id = self.caller.key_id();
                let request =
                    requests.describe_request(key_id, self.operation, key.clone(), fingerprint);
                Some(request.await?)
            }
            None => None,
        };
        // A request id is ASCII, so it is never left out.
        let request_id = self.request_id.to_str().ok().map(str::to_owned);
        Ok(WriteContext {
            actor: self.caller.actor(),
            now: self.now,
            request_id,
            idempotency,
        })
    }

    /// Responds with the outcome of a change of a field, the profile or a webhook. `refusal_error` converts a
    /// refusal into an error.
    pub(super) fn respond_with_outcome<R>(
        self,
        area: &StoreArea,
        outcome: Changed<R>,
        refusal_error: impl FnOnce(R) -> ApiError,
    ) -> Result<Response, ApiError> {
        match outcome {
            Changed::Done(response) => Ok(self.into_response(area, response)),
            Changed::Refused(refusal) => Err(refusal_error(refusal)),
            Changed::IdempotencyConflict => Err(idempotency_conflict()),
        }
    }

    /// Converts a stored response into an HTTP response.
    pub(super) fn into_response(
        self,
        area: &StoreArea,
        stored_response: StoredResponse,
    ) -> Response {
        // The service made the status, the ETag and the path, so all of them are valid.
        let status = StatusCode::from_u16(stored_response.status).unwrap_or(StatusCode::OK);
        let mut response = response::json(status, self.reserved_memory.fill(stored_response.body));
        let headers = response.headers_mut();
        if status == StatusCode::NO_CONTENT {
            headers.remove(header::CONTENT_TYPE);
        }
        if let Some(tag) = stored_response.etag
            && let Ok(tag) = HeaderValue::try_from(tag)
        {
            headers.insert(header::ETAG, tag);
        }
        if let Some(path) = stored_response.location
            && let Ok(location) = HeaderValue::try_from(format!("{}{path}", area.http.base_path))
        {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}

/// Returns the error for an idempotency key that was used for a different request.
pub(super) fn idempotency_conflict() -> ApiError {
    let message =
        "This Idempotency-Key was used for another request. Choose a new one for each request.";
    ApiError::new(Problem::IdempotencyConflict, message)
}
