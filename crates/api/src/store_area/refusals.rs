//! Converts refusals of the domain rules into error responses.

use std::borrow::Cow;

use petstore_domain::{
    Problem, Scope,
    store_area::{Category, Conflict, FieldProblem, PetNote, Photos, Refusal, Resource},
};
use petstore_store::cause;
use petstore_web::edge::{ApiError, ErrorDetails, Reservation};

use super::wire;

/// The message for a batch whose animals and orders are too large.
const BATCH_TOO_LONG: &str = "The animals and orders of a batch must not exceed 2 MiB together, \
     before and after each command, as JSON. This command exceeds the limit. Send the commands in \
     smaller batches.";

/// The message for a command of a batch that lacks the required `ifMatch`.
const IF_MATCH_MISSING_IN_BATCH: &str = "This command needs ifMatch with the version of the animal that you want \
     to change, such as 7. Read the animal first.";

/// The form in which the client has sent a command. Preconditions have another form in a batch.
#[derive(Clone, Copy)]
enum RequestForm {
    /// A request with one command, and its preconditions in header fields.
    Single,
    /// A batch, whose commands have the member `ifMatch`.
    Batch,
}

/// The error for a refusal, before the details for the client are added.
struct Rejection {
    error: ApiError,
    /// The JSON of the state that caused the error, if it helps the client.
    current: Option<Vec<u8>>,
}

/// Returns the error for a refused command, with the state that caused the refusal.
///
/// `failed_index` is the index of the command in its batch. It is `None` if the request is not a batch.
/// `reserved_memory` is for the response.
pub(super) fn refusal_error(
    refusal: Refusal,
    failed_index: Option<usize>,
    reserved_memory: Reservation,
) -> ApiError {
    let form = match failed_index {
        Some(_) => RequestForm::Batch,
        None => RequestForm::Single,
    };
    let Rejection { error, current } = to_rejection(refusal, form);
    // An internal error names no command, because the command is not its cause.
    let is_internal = error.problem() == Problem::Internal;
    let has_details = failed_index.is_some() || current.is_some();
    if is_internal || !has_details {
        return error;
    }
    error.with_details(ErrorDetails {
        failed_index,
        current: current.as_deref(),
        reservation: Some(reserved_memory),
    })
}

impl Rejection {
    /// Returns a rejection without a state.
    fn new(problem: Problem, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            error: ApiError::new(problem, message),
            current: None,
        }
    }

    /// Returns a rejection with the present state of a resource: `null` if the resource does not exist.
    fn with_present_state(problem: Problem, message: String, current: Option<&Resource>) -> Self {
        let current_json = match current {
            Some(resource) => wire::full_resource_json(resource),
            None => b"null".to_vec(),
        };
        Self {
            error: ApiError::new(problem, message),
            current: Some(current_json),
        }
    }

    /// Returns the rejection of a value for a field.
    fn for_field(problem: FieldProblem) -> Self {
        match problem {
            FieldProblem::Unknown(message) => Self::new(Problem::UnknownField, message),
            FieldProblem::Invalid(message) => Self::new(Problem::InvalidBody, message),
        }
    }

    /// Returns the rejection of a label that `category` has.
    fn for_duplicate_label(category: Category) -> Self {
        let message = format!(
            "Category {} has the same label, regardless of upper and lower case. Labels of \
             categories must differ.",
            category.id
        );
        Self {
            error: ApiError::new(Problem::DuplicateValue, message),
            current: Some(wire::resource_json(&Resource::Category(category))),
        }
    }

    /// Returns a rejection with the state that conflicts with the command.
    fn for_conflict(problem: Problem, conflict: Conflict) -> Self {
        Self {
            error: ApiError::new(problem, conflict.message),
            current: Some(wire::full_resource_json(&conflict.current)),
        }
    }
}

/// Returns the rejection that reports a refusal to the client: the error, and the present state if
/// the client needs it.
fn to_rejection(refusal: Refusal, form: RequestForm) -> Rejection {
    match refusal {
        Refusal::Invalid(message) => Rejection::new(Problem::InvalidBody, message),
        Refusal::TooLong => Rejection::new(Problem::InvalidBody, BATCH_TOO_LONG),
        Refusal::NotFound(message) => Rejection::new(Problem::NotFound, message),
        Refusal::PreconditionRequired(message) => {
            let message: Cow<'static, str> = match form {
                RequestForm::Single => message.into(),
                RequestForm::Batch => IF_MATCH_MISSING_IN_BATCH.into(),
            };
            Rejection::new(Problem::PreconditionRequired, message)
        }
        Refusal::PreconditionFailed(current) => {
            let message = stale_resource_message(current.as_deref(), form);
            Rejection::with_present_state(Problem::PreconditionFailed, message, current.as_deref())
        }
        Refusal::MovedOn(current) => {
            let message = moved_on_message(current.as_deref());
            Rejection::with_present_state(Problem::InvalidTransition, message, current.as_deref())
        }
        Refusal::NotRevertible(reason) => {
            Rejection::new(Problem::InvalidTransition, reason.message())
        }
        Refusal::InvalidTransition(conflict) => {
            Rejection::for_conflict(Problem::InvalidTransition, *conflict)
        }
        Refusal::OpenOrder(conflict) => Rejection::for_conflict(Problem::OpenOrder, *conflict),
        Refusal::Fields(problem) => Rejection::for_field(problem),
        Refusal::DuplicateValue {
            message, current, ..
        } => Rejection {
            error: ApiError::new(Problem::DuplicateValue, message),
            current: current.map(|current| wire::resource_json(&current)),
        },
        Refusal::DuplicateLabel(category) => Rejection::for_duplicate_label(*category),
        Refusal::TooManyPhotos => {
            let max = Photos::MAX;
            let message = format!("An animal can have at most {max} photos. Delete one first.");
            Rejection::new(Problem::TooManyPhotos, message)
        }
        Refusal::TooManyNotes => {
            let max = PetNote::MAX_COUNT;
            let message = format!("An animal can have at most {max} notes. Delete one first.");
            Rejection::new(Problem::TooManyNotes, message)
        }
        // With this scope, a client may change the notes of all authors.
        Refusal::NoteOfAnotherAuthor => Rejection {
            error: ApiError::insufficient_scope(Scope::StoreAdmin),
            current: None,
        },
        Refusal::NoIdentifierLeft => Rejection {
            error: ApiError::internal(cause("every identifier was given")),
            current: None,
        },
    }
}

/// Returns the error for a change that the present state does not allow. `current` is the JSON of this state.
pub(super) fn conflict_error(
    problem: Problem,
    message: impl Into<Cow<'static, str>>,
    current: &[u8],
) -> ApiError {
    ApiError::new(problem, message).with_details(ErrorDetails {
        current: Some(current),
        ..ErrorDetails::default()
    })
}

/// Returns the message for a change that cannot be reverted, because its resource has changed since.
fn moved_on_message(current: Option<&Resource>) -> String {
    let present_state = match current {
        Some(Resource::Pet(pet)) => format!("Animal {} has version {} now", pet.id, pet.version),
        Some(Resource::Order(order)) => {
            format!("Order {} has version {} now", order.id, order.version)
        }
        Some(Resource::Category(category)) => {
            format!(
                "Category {} has version {} now",
                category.id, category.version
            )
        }
        Some(Resource::Note(note)) => format!("Note {} has version {} now", note.id, note.version),
        // A revert of another resource that does not exist is refused as `NotFound`.
        None => "The category does not exist now".to_owned(),
    };
    format!(
        "{present_state}, so the change cannot be reverted: it was reverted before, or something else \
         has changed since; see current."
    )
}

/// Returns the message for a resource whose version is not the one that a command requires.
fn stale_resource_message(current: Option<&Resource>, form: RequestForm) -> String {
    let (noun, version) = match current {
        Some(Resource::Pet(pet)) => ("animal", pet.version),
        Some(Resource::Order(order)) => ("order", order.version),
        Some(Resource::Category(category)) => ("category", category.version),
        Some(Resource::Note(note)) => ("note", note.version),
        // Only a command on a category is refused like this when it does not exist, except that a batch
        // has no present state of what an earlier command of it adds.
        None => return absent_message("category"),
    };
    match form {
        RequestForm::Single => stale_message(noun, version),
        RequestForm::Batch => {
            let retry = format!(
                "ifMatch {version}, plus 1 for each earlier command that changes the {noun}"
            );
            stale_message_with(noun, version, &retry)
        }
    }
}

/// Returns the message for a resource whose version is not the one that a request requires. `noun` is what
/// the resource is called, such as `field`.
pub(super) fn stale_message(noun: &str, version: i64) -> String {
    stale_message_with(noun, version, &format!("If-Match: \"{version}\""))
}

/// Returns the message for a stale version. `retry` completes the sentence "Send it again with …".
fn stale_message_with(noun: &str, version: i64, retry: &str) -> String {
    format!(
        "The {noun} has version {version} now; see current. If you still want the change, send it \
         again with {retry}."
    )
}

/// Returns the message for a request that requires a version of a resource that does not exist. `noun` is
/// what the resource is called, such as `field`.
pub(super) fn absent_message(noun: &str) -> String {
    format!("The {noun} does not exist. To create it, send If-None-Match: *.")
}
