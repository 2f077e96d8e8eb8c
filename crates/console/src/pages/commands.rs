//! Executes the commands of a submitted form, and turns a failure into messages for the member of
//! the staff.

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{Command, FieldSet, NotRevertible, Preconditions, Refusal, Resource, StorePet},
};
use petstore_store::ExecutionOutcome;

use super::{
    messages::{message_about, remembered_response},
    values,
};
use crate::{desk::FormIdentity, prelude::*, reply::Flash};

/// Why the commands of a form were not carried out. They run in one transaction, so nothing was
/// changed.
#[derive(Default)]
pub(super) struct CommandFailure {
    /// The position of the refused command; `None` if no single command is the cause.
    pub(super) index: Option<usize>,
    /// The subject of the refused command in its present state, if somebody else has changed it.
    pub(super) changed: Option<Resource>,
    /// The explanation for the member.
    pub(super) message: String,
    /// The unique field whose submitted value another animal already has.
    field: Option<String>,
    /// The path of the page of that other animal, and the text of the link to it.
    link: Option<(String, String)>,
}

impl CommandFailure {
    /// Returns the failure as errors of the form: at the input of the unique field if its value is
    /// taken, or else above the form.
    pub(super) fn errors(&self, fields: &FieldSet) -> Errors {
        let mut errors = Errors::default();
        match self.field.as_ref().and_then(|name| fields.find(name)) {
            Some(field) => errors.add(values::input_of(field), &*self.message),
            None => errors = Errors::from_text(&self.message),
        }
        errors.link.clone_from(&self.link);
        errors
    }

    /// Explains that the value of a unique field belongs to another animal, `owner`.
    ///
    /// `owner` is `None` if the other animal is a new one, added by the same commands.
    fn with_duplicate_value(
        self,
        fields: &FieldSet,
        field: String,
        owner: Option<&Resource>,
    ) -> Self {
        let label = fields
            .find(&field)
            .map_or(&*field, |field| field.label.as_str());
        let (owner_name, link) = match owner {
            Some(Resource::Pet(pet)) => {
                let name = name_with_number(pet);
                let link = (format!("/animals/{}", pet.id), texts().show_animal(&name));
                (name, Some(link))
            }
            _ => (texts().other_new.to_owned(), None),
        };
        let message = texts().value_taken(&markup::readable(label, SHORT_LENGTH), &owner_name);
        Self {
            message,
            field: Some(field),
            link,
            ..self
        }
    }
}

/// Returns how messages name an animal: `Rex (number 7)`. The number is there because names are not
/// unique.
pub(super) fn name_with_number(pet: &StorePet) -> String {
    let name = markup::plain_name(pet.name.as_str());
    texts().animal_with_number(&name, pet.id.get())
}

impl Desk<'_> {
    /// Returns the time at which a reservation expires that is made now with the default duration.
    pub(super) fn default_end(&self) -> Timestamp {
        self.app().commands.default_end(self.visit.now)
    }

    /// Returns the day of [`Self::default_end`] as the value of a date input, such as `2026-12-05`.
    pub(super) fn default_end_day(&self) -> String {
        self.visit.facts.day_of(self.default_end()).to_string()
    }

    /// Returns the precondition that the subject still has the version in the submitted form, so
    /// that nobody else has changed it since the form was shown.
    pub(super) fn preconditions(&self) -> Preconditions {
        Preconditions::version(self.visit.form.integer("version").unwrap_or(0))
    }

    /// Loads the animal whose number is in the path.
    pub(super) async fn pet(&self) -> Result<Option<StorePet>, StoreError> {
        match self.id(PetId::new) {
            Some(id) => self.store().get_store_pet(id).await,
            None => Ok(None),
        }
    }

    /// Executes the commands of the submitted form in one transaction.
    ///
    /// Idempotent: if the same form was executed before, for example because of a double click,
    /// nothing is executed, and the result is the message about the first execution.
    pub(super) async fn execute(
        &self,
        commands: Vec<Command>,
    ) -> Result<Result<Flash, CommandFailure>, ApiError> {
        self.execute_once(commands, self.form_identity()).await
    }

    /// Executes commands at most once for each `identity`. Without an identity, executes them on
    /// every call.
    pub(super) async fn execute_once(
        &self,
        commands: Vec<Command>,
        identity: Option<FormIdentity>,
    ) -> Result<Result<Flash, CommandFailure>, ApiError> {
        let context = self.context_of(identity);
        let outcome = self
            .app()
            .commands
            .execute(commands, context, remembered_response)
            .await?;
        match outcome {
            ExecutionOutcome::Done { response, .. } | ExecutionOutcome::Replayed(response) => {
                Ok(Ok(message_about(self, &response.body).await))
            }
            ExecutionOutcome::IdempotencyConflict => Ok(Err(CommandFailure {
                message: texts().stale.to_owned(),
                ..CommandFailure::default()
            })),
            ExecutionOutcome::Refused { index, refusal } => {
                Ok(Err(self.command_failure(index, refusal).await?))
            }
        }
    }

    /// Returns the failure for the refusal of the command with this index.
    async fn command_failure(
        &self,
        index: usize,
        refusal: Refusal,
    ) -> Result<CommandFailure, StoreError> {
        let failure = CommandFailure {
            index: Some(index),
            message: refusal_message(&refusal),
            ..CommandFailure::default()
        };
        Ok(match refusal {
            Refusal::PreconditionFailed(present) => CommandFailure {
                changed: present.map(|present| *present),
                ..failure
            },
            Refusal::DuplicateValue { field, current, .. } => {
                let fields = self.store().fields().await?;
                failure.with_duplicate_value(&fields, field, current.as_deref())
            }
            _ => failure,
        })
    }
}

/// Returns the explanation of a refusal for the member.
///
/// A refusal without a message of its own is explained as an edit conflict: somebody else has changed
/// this in the meantime.
pub(super) fn refusal_message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            present_state_message(&conflict.current)
        }
        Refusal::MovedOn(Some(current)) if current.category().is_none() => {
            format!("{} {}", texts().stale, present_state_message(current))
        }
        Refusal::NotRevertible(reason) => not_revertible_message(reason).to_owned(),
        Refusal::NotFound(_) => texts().is_gone.to_owned(),
        Refusal::Invalid(_) => texts().day_invalid.to_owned(),
        Refusal::TooManyPhotos => texts().too_many_photos.to_owned(),
        Refusal::TooManyNotes => texts().too_many_notes.to_owned(),
        Refusal::NoteOfAnotherAuthor => texts().not_your_note.to_owned(),
        Refusal::DuplicateLabel(category) => {
            let name = markup::readable(category.label.as_str(), SHORT_LENGTH);
            texts().label_taken(&name, category.id)
        }
        Refusal::PreconditionFailed(_)
        | Refusal::PreconditionRequired(_)
        | Refusal::MovedOn(_)
        | Refusal::TooLong
        | Refusal::Fields(_)
        | Refusal::DuplicateValue { .. }
        | Refusal::NoIdentifierLeft => texts().stale.to_owned(),
    }
}

/// Returns a sentence about the present state of a subject, such as that an animal is reserved by
/// order 12.
fn present_state_message(current: &Resource) -> String {
    match current {
        Resource::Pet(pet) if pet.withdrawal.is_some() => texts().is_withdrawn.to_owned(),
        Resource::Pet(pet) => match pet.order_id {
            Some(order_id) => texts().is_reserved(order_id.get()),
            None => texts().is_in_status(pet.status),
        },
        Resource::Order(order) => texts().order_is(order.id.get(), order.status),
        Resource::Category(_) | Resource::Note(_) => texts().stale.to_owned(),
    }
}

/// Returns the explanation for the member why an act cannot be undone.
fn not_revertible_message(reason: &NotRevertible) -> &'static str {
    match reason {
        NotRevertible::PhotosGone => texts().photo_not_kept,
        NotRevertible::Kind
        | NotRevertible::SeveralOrders
        | NotRevertible::NoDifference
        | NotRevertible::EndHasPassed
        | NotRevertible::Value(_) => texts().not_undoable,
    }
}
