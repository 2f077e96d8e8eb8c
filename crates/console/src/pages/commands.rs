//! Executes the commands of a submitted form, and turns a failure into messages for the member.
//!
//! A [`Command`] is a change that the domain decides about, such as placing an order. The domain
//! can refuse it.

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

/// The result of executing the commands of a form: the message for the next page, or the reason why
/// the commands were not carried out.
pub(super) type CommandResult = Result<Flash, CommandFailure>;

/// The reason why the commands of a form were not carried out. They run in one transaction, so
/// nothing was changed.
#[derive(Default)]
pub(super) struct CommandFailure {
    /// The index of the refused command; `None` if no single command is the cause.
    pub(super) index: Option<usize>,
    /// The present state of the subject of the refused command, if somebody else has changed it.
    pub(super) changed_subject: Option<Resource>,
    /// The explanation for the member.
    pub(super) message: String,
    /// The name of the unique field whose submitted value another animal already has; `None` if
    /// this is not the reason.
    duplicate_field: Option<String>,
    /// The link to the animal that has the value: its path and its label.
    owner_link: Option<(String, String)>,
}

impl CommandFailure {
    /// Returns the failure as an error of the form.
    ///
    /// If another animal has the value of a unique field, the error is at the input of this field.
    /// Otherwise, it is above the form. `fields` are the fields of the store.
    pub(super) fn to_errors(&self, fields: &FieldSet) -> Errors {
        let field_name = self.duplicate_field.as_ref();
        let mut errors = match field_name.and_then(|name| fields.find(name)) {
            Some(field) => Errors::for_field(values::input_of(field), &*self.message),
            None => Errors::from_text(&self.message),
        };
        errors.link = self.owner_link.clone();
        errors
    }

    /// Sets the explanation that another animal, the `owner`, already has the value of a unique
    /// field.
    ///
    /// `owner` is `None` if the same commands add the owner, so that it has no number yet.
    fn with_duplicate_value(
        self,
        fields: &FieldSet,
        field_name: String,
        owner: Option<&Resource>,
    ) -> Self {
        let label = match fields.find(&field_name) {
            Some(field) => field.label.as_str(),
            None => field_name.as_str(),
        };
        let mut owner_name = texts().other_new.to_owned();
        let mut owner_link = None;
        if let Some(Resource::Pet(pet)) = owner {
            owner_name = name_with_number(pet);
            let link_label = texts().show_animal(&owner_name);
            owner_link = Some((format!("/animals/{}", pet.id), link_label));
        }
        let message = texts().value_taken(&markup::readable(label, SHORT_LENGTH), &owner_name);
        Self {
            message,
            duplicate_field: Some(field_name),
            owner_link,
            ..self
        }
    }
}

/// Returns the name of an animal for a message, such as `Rex (number 7)`. It includes the number,
/// because names are not unique.
pub(super) fn name_with_number(pet: &StorePet) -> String {
    let name = markup::plain_name(pet.name.as_str());
    texts().animal_with_number(&name, pet.id.get())
}

impl Desk<'_> {
    /// Returns the time at which a reservation of the default duration expires if it is made now.
    pub(super) fn default_end(&self) -> Timestamp {
        self.app().commands.default_end(self.visit.now)
    }

    /// Returns the day of [`Self::default_end`] as the value of a date input, such as `2026-12-05`.
    pub(super) fn default_end_day(&self) -> String {
        self.visit.facts.day_of(self.default_end()).to_string()
    }

    /// Returns the precondition that the subject still has the version in the submitted form. It
    /// fails if somebody else has changed the subject since the form was shown.
    pub(super) fn preconditions(&self) -> Preconditions {
        // Versions begin with 1, so the precondition also fails if the form has no valid version.
        Preconditions::version(self.visit.form.integer("version").unwrap_or(0))
    }

    /// Loads the animal whose number is in the path.
    pub(super) async fn pet(&self) -> Result<Option<StorePet>, StoreError> {
        match self.path_id(PetId::new) {
            Some(id) => self.store().get_store_pet(id).await,
            None => Ok(None),
        }
    }

    /// Executes the commands of the submitted form in one transaction.
    ///
    /// Idempotent: if the same form was executed before, for example because of a double click,
    /// this executes nothing, and returns the message about the first execution.
    pub(super) async fn execute(&self, commands: Vec<Command>) -> Result<CommandResult, ApiError> {
        self.execute_once(commands, self.form_identity()).await
    }

    /// Executes commands in one transaction, at most once for each `identity`. Without an identity,
    /// every call executes them.
    pub(super) async fn execute_once(
        &self,
        commands: Vec<Command>,
        identity: Option<FormIdentity>,
    ) -> Result<CommandResult, ApiError> {
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
            // The idempotency key was already used for another request.
            ExecutionOutcome::IdempotencyConflict => Ok(Err(CommandFailure {
                message: texts().stale.to_owned(),
                ..CommandFailure::default()
            })),
            ExecutionOutcome::Refused { index, refusal } => {
                Ok(Err(self.command_failure(index, refusal).await?))
            }
        }
    }

    /// Returns the failure for the refusal of the command with this index. Loads what the message
    /// needs.
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
            Refusal::PreconditionFailed(subject) => CommandFailure {
                changed_subject: subject.map(|subject| *subject),
                ..failure
            },
            Refusal::DuplicateValue {
                field,
                current: owner,
                ..
            } => {
                let fields = self.store().fields().await?;
                failure.with_duplicate_value(&fields, field, owner.as_deref())
            }
            _ => failure,
        })
    }
}

/// Returns the explanation of a refusal for the member.
///
/// A refusal without a message of its own is explained as an edit conflict: somebody else has
/// changed the subject in the meantime.
pub(super) fn refusal_message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            present_state_message(&conflict.current)
        }
        // There is no message about the present state of a category.
        Refusal::MovedOn(Some(current)) if current.category().is_none() => {
            format!("{} {}", texts().stale, present_state_message(current))
        }
        Refusal::NotRevertible(reason) => not_revertible_message(reason).to_owned(),
        Refusal::NotFound(_) => texts().is_gone.to_owned(),
        // The forms have checked everything else, but the end of a reservation can pass in the
        // meantime.
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

/// Returns a sentence about the present state of a subject, such as "It is reserved by order 12."
///
/// Without a sentence for the type of the subject, returns the message about an edit conflict.
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

/// Returns the reason why an act cannot be undone, for the member.
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
