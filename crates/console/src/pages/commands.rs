//! Executes the commands of a submitted form, and turns a failure into messages for the member.
//!
//! A [`Command`] is a change that the domain decides about, such as placing an order. The domain
//! can refuse it. What many commands are made of is in this module, too: the animal in the path,
//! the version in the form, and the default end of a reservation.

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

/// The reason why the commands of a form were not carried out. They run in one transaction, so
/// nothing was changed.
#[derive(Default)]
pub(super) struct CommandFailure {
    /// The index of the refused command; `None` if no single command is the cause.
    pub(super) index: Option<usize>,
    /// The current state of the subject of the refused command, if somebody else has changed it.
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
            Some(field) => Errors::for_field(values::input_name_of(field), &*self.message),
            None => Errors::from_text(&self.message),
        };
        errors.link = self.owner_link.clone();
        errors
    }

    /// Explains the failure by a taken value of a unique field: another animal, the `owner`, has
    /// the value.
    ///
    /// `owner` is `None` if the same commands add the owner, which therefore has no number yet.
    fn explain_taken_value(
        &mut self,
        fields: &FieldSet,
        field_name: String,
        owner: Option<&Resource>,
    ) {
        let label = match fields.find(&field_name) {
            Some(field) => field.label.as_str(),
            None => field_name.as_str(),
        };
        let mut owner_name = texts().other_new.to_owned();
        if let Some(Resource::Pet(pet)) = owner {
            owner_name = name_with_number(pet);
            let link_label = texts().show_animal(&owner_name);
            self.owner_link = Some((format!("/animals/{}", pet.id), link_label));
        }
        self.message = texts().value_taken(&markup::readable(label, SHORT_LENGTH), &owner_name);
        self.duplicate_field = Some(field_name);
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

    /// Loads the animal whose number is in the path. Returns `None` if there is no such animal.
    pub(super) async fn load_pet_in_path(&self) -> Result<Option<StorePet>, StoreError> {
        match self.path_id(PetId::new) {
            Some(id) => self.store().get_store_pet(id).await,
            None => Ok(None),
        }
    }

    /// Executes the commands of the submitted form in one transaction. Returns the message for the
    /// next page, or the reason why the commands were not carried out.
    ///
    /// The outer error is a failure of the store. If the same form was executed before, for example
    /// because of a double click, this executes nothing, and returns the message about the first
    /// execution.
    pub(super) async fn execute(
        &self,
        commands: Vec<Command>,
    ) -> Result<Result<Flash, CommandFailure>, ApiError> {
        self.execute_once(commands, self.form_identity()).await
    }

    /// Executes commands like [`Self::execute`], at most once for each `identity`. Without an
    /// identity, every call executes them.
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
        let result = match outcome {
            ExecutionOutcome::Done { response, .. } | ExecutionOutcome::Replayed(response) => {
                Ok(message_about(self, &response.body).await)
            }
            // The idempotency key was already used for another request, so the form is an old one.
            ExecutionOutcome::IdempotencyConflict => Err(CommandFailure {
                message: texts().stale.to_owned(),
                ..CommandFailure::default()
            }),
            ExecutionOutcome::Refused { index, refusal } => {
                Err(self.explain_refusal(index, refusal).await?)
            }
        };
        Ok(result)
    }

    /// Returns the failure for the refusal of the command with this index. Loads what the message
    /// needs.
    async fn explain_refusal(
        &self,
        index: usize,
        refusal: Refusal,
    ) -> Result<CommandFailure, StoreError> {
        let mut failure = CommandFailure {
            index: Some(index),
            message: refusal_message(&refusal),
            ..CommandFailure::default()
        };
        match refusal {
            Refusal::PreconditionFailed(subject) => {
                failure.changed_subject = subject.map(|subject| *subject);
            }
            Refusal::DuplicateValue { field, current, .. } => {
                let fields = self.store().fields().await?;
                failure.explain_taken_value(&fields, field, current.as_deref());
            }
            _ => {}
        }
        Ok(failure)
    }
}

/// Returns the explanation of a refusal for the member.
///
/// A refusal without a message of its own is explained as an edit conflict: somebody else has
/// changed the subject in the meantime.
pub(super) fn refusal_message(refusal: &Refusal) -> String {
    let edit_conflict = texts().stale;
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            current_state_sentence(&conflict.current).unwrap_or_else(|| edit_conflict.to_owned())
        }
        Refusal::MovedOn(Some(current)) => match current_state_sentence(current) {
            Some(sentence) => format!("{edit_conflict} {sentence}"),
            None => edit_conflict.to_owned(),
        },
        Refusal::NotRevertible(reason) => not_revertible_message(reason).to_owned(),
        Refusal::NotFound(_) => texts().is_gone.to_owned(),
        // The pages have checked all values. Only the end of a reservation can become invalid
        // afterwards, because it can pass in the meantime.
        Refusal::Invalid(_) => texts().day_invalid.to_owned(),
        Refusal::TooManyPhotos => texts().too_many_photos.to_owned(),
        Refusal::TooManyNotes => texts().too_many_notes.to_owned(),
        Refusal::NoteOfAnotherAuthor => texts().not_your_note.to_owned(),
        Refusal::DuplicateLabel(category) => {
            let name = markup::readable(category.label.as_str(), SHORT_LENGTH);
            texts().label_taken(&name, category.id)
        }
        // `explain_taken_value` replaces the message about a duplicate value.
        Refusal::PreconditionFailed(_)
        | Refusal::PreconditionRequired(_)
        | Refusal::MovedOn(None)
        | Refusal::TooLong
        | Refusal::Fields(_)
        | Refusal::DuplicateValue { .. }
        | Refusal::NoIdentifierLeft => edit_conflict.to_owned(),
    }
}

/// Returns a sentence about the current state of a subject, such as "It is reserved by order 12."
/// Returns `None` for a category or a note, which have no such state.
fn current_state_sentence(subject: &Resource) -> Option<String> {
    match subject {
        Resource::Pet(pet) if pet.withdrawal.is_some() => Some(texts().is_withdrawn.to_owned()),
        Resource::Pet(pet) => Some(match pet.order_id {
            Some(order_id) => texts().is_reserved(order_id.get()),
            None => texts().is_in_status(pet.status),
        }),
        Resource::Order(order) => Some(texts().order_is(order.id.get(), order.status)),
        Resource::Category(_) | Resource::Note(_) => None,
    }
}

/// Returns the message that says why an act cannot be undone.
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
