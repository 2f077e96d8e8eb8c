//! The operations on fields.

use hyper::StatusCode;
use petstore_domain::{
    Problem, StoredResponse,
    store_area::{
        FieldCommand, FieldDecision, FieldDefinition, FieldName, FieldRefusal, Preconditions,
    },
};
use petstore_formats::json::{self, FieldInput};
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    members::Body,
    page::{self, ElementRenderer},
    preconditions, refusals,
    shared::StoreArea,
    wire,
    write::Write,
};
use crate::{context::Call, query};

/// Lists all fields in display order: `GET /v1/store/fields`.
pub(crate) async fn list_fields(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let fields = area.app.store.fields().await?.all().to_vec();
    let renderer: ElementRenderer<FieldDefinition> = ElementRenderer {
        texts_length: FieldDefinition::length,
        write: json::write_field,
    };
    page::respond(area, request, fields, renderer, None).await
}

/// Creates or changes a field: `PUT /v1/store/fields/{name}`.
pub(crate) async fn put_field(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_put(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let members = write.members(FieldInput::NAMES)?;
    let field = json::read_field(name_in_path(&write), &members)?;
    let command = FieldCommand::Put(field.ok_or_else(no_field)?);
    execute(area, write, command, preconditions).await
}

/// Deletes a field: `DELETE /v1/store/fields/{name}`.
pub(crate) async fn delete_field(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let command = FieldCommand::Delete(name_in_path(&write).ok_or_else(no_field)?);
    execute(area, write, command, preconditions).await
}

/// Executes a change of a field, and responds with its result.
async fn execute(
    area: &StoreArea,
    write: Write<'_>,
    command: FieldCommand,
    preconditions: Preconditions,
) -> Result<Response, ApiError> {
    let context = write.make_context(area).await?;
    let _in_flight = area.app.requests.enter(&context)?;
    let outcome = area
        .app
        .fields
        .change(&command, &preconditions, context, render_response)
        .await?;
    write.respond_with_outcome(area, outcome, refusal_error)
}

/// Parses the name of the field in the path. Returns `None` if it is not a valid name.
fn name_in_path(write: &Write<'_>) -> Option<FieldName> {
    FieldName::new(write.parameter)
}

/// Renders the response to a change of a field.
fn render_response(decision: &FieldDecision) -> StoredResponse {
    let Some(field) = &decision.field else {
        return wire::no_content();
    };
    let status = if decision.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    wire::stored_response(status, Some(field.version), field_json(field))
}

/// Renders a field as JSON.
fn field_json(field: &FieldDefinition) -> Vec<u8> {
    wire::render(|out| json::write_field(out, field))
}

/// Returns the error for a change that was refused.
fn refusal_error(refusal: FieldRefusal) -> ApiError {
    match refusal {
        FieldRefusal::NotFound => no_field(),
        FieldRefusal::PreconditionRequired => ApiError::new(
            Problem::PreconditionRequired,
            "A field is put with If-None-Match: * to create it, and changed or deleted with If-Match \
             and its ETag.",
        ),
        FieldRefusal::PreconditionFailed(current) => {
            let (message, current_json) = match current {
                Some(field) => (
                    refusals::stale_message("field", field.version),
                    field_json(&field),
                ),
                None => (refusals::absent_message("field"), b"null".to_vec()),
            };
            refusals::conflict_error(Problem::PreconditionFailed, message, &current_json)
        }
        FieldRefusal::InUse(field) => {
            let message = "An animal, perhaps a withdrawn one, has a value of this field. The field \
                           cannot be deleted, and its kind and unique cannot change. Remove its \
                           values first.";
            refusals::conflict_error(Problem::FieldInUse, message, &field_json(&field))
        }
        FieldRefusal::DuplicateLabel(field) => {
            let message = format!(
                "The field {} has the same label, regardless of upper and lower case. Labels of \
                 fields must differ.",
                field.name.as_str()
            );
            refusals::conflict_error(Problem::DuplicateValue, message, &field_json(&field))
        }
        FieldRefusal::TooMany => {
            let max = FieldDefinition::MAX;
            let message = format!("There are {max} fields already. Delete one first.");
            ApiError::new(Problem::TooManyFields, message)
        }
    }
}

/// Returns the 404 for a field.
fn no_field() -> ApiError {
    let expectation = FieldName::RULE;
    let message = format!("No field has this name. The name of a field is {expectation}.");
    ApiError::new(Problem::NotFound, message)
}
