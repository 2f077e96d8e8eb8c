//! The commands of a form, and their outcome.

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

/// The reason why commands were not carried out. Nothing was changed.
#[derive(Default)]
pub(super) struct NotDone {
    /// The position of the command that is refused, if it is one of the commands.
    pub(super) index: Option<usize>,
    /// The subject, if somebody else has changed it.
    pub(super) changed: Option<Resource>,
    pub(super) why: String,
    /// The name of the field whose value another animal has.
    field: Option<String>,
    /// The page of that animal, and what it is called.
    link: Option<(String, String)>,
}

impl NotDone {
    /// Returns the problems of a form for the values of fields.
    pub(super) fn errors(&self, fields: &FieldSet) -> Errors {
        let mut errors = Errors::default();
        match self.field.as_ref().and_then(|name| fields.find(name)) {
            Some(field) => errors.add(values::input_of(field), &*self.why),
            None => errors = Errors::from_text(&self.why),
        }
        errors.link.clone_from(&self.link);
        errors
    }

    /// Adds that another animal has the value of this field.
    fn with_duplicate_value(
        self,
        fields: &FieldSet,
        field: String,
        other: Option<&Resource>,
    ) -> Self {
        let label = fields
            .find(&field)
            .map_or(&*field, |field| field.label.as_str());
        let (other, link) = match other {
            Some(Resource::Pet(pet)) => {
                let other = called(pet);
                let link = (format!("/animals/{}", pet.id), texts().show_animal(&other));
                (other, Some(link))
            }
            _ => (texts().other_new.to_owned(), None),
        };
        let why = texts().value_taken(&markup::readable(label, SHORT_LENGTH), &other);
        Self {
            why,
            field: Some(field),
            link,
            ..self
        }
    }
}

/// Returns the name by which a message knows an animal, such as `Rex (number 7)`.
pub(super) fn called(pet: &StorePet) -> String {
    let name = markup::plain_name(pet.name.as_str());
    texts().animal_with_number(&name, pet.id.get())
}

impl Desk<'_> {
    /// When a reservation ends that is made now.
    pub(super) fn default_end(&self) -> Timestamp {
        self.app().commands.default_end(self.visit.now)
    }

    /// Returns the day on which a reservation ends that is made now, as a form has it.
    pub(super) fn default_end_day(&self) -> String {
        self.visit.facts.day_of(self.default_end()).to_string()
    }

    /// Returns the condition of a change: nobody else has changed its subject since the form was made.
    pub(super) fn preconditions(&self) -> Preconditions {
        Preconditions::version(self.visit.form.integer("version").unwrap_or(0))
    }

    /// Returns the animal with the number in the path.
    pub(super) async fn pet(&self) -> Result<Option<StorePet>, StoreError> {
        match self.id(PetId::new) {
            Some(id) => self.store().get_store_pet(id).await,
            None => Ok(None),
        }
    }

    /// Carries out commands for the form of this request, once for all repetitions of the form.
    pub(super) async fn execute(
        &self,
        commands: Vec<Command>,
    ) -> Result<Result<Flash, NotDone>, ApiError> {
        self.execute_once(commands, self.form_identity()).await
    }

    /// Carries out commands, once for all that is sent with this identity; without one, each time.
    pub(super) async fn execute_once(
        &self,
        commands: Vec<Command>,
        identity: Option<FormIdentity>,
    ) -> Result<Result<Flash, NotDone>, ApiError> {
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
            ExecutionOutcome::IdempotencyConflict => Ok(Err(NotDone {
                why: texts().stale.to_owned(),
                ..NotDone::default()
            })),
            ExecutionOutcome::Refused { index, refusal } => {
                Ok(Err(self.not_done(index, refusal).await?))
            }
        }
    }

    /// Returns why the command with this index was refused.
    async fn not_done(&self, index: usize, refusal: Refusal) -> Result<NotDone, StoreError> {
        let not_done = NotDone {
            index: Some(index),
            why: refused(&refusal),
            ..NotDone::default()
        };
        Ok(match refusal {
            Refusal::PreconditionFailed(present) => NotDone {
                changed: present.map(|present| *present),
                ..not_done
            },
            Refusal::DuplicateValue { field, current, .. } => {
                let fields = self.store().fields().await?;
                not_done.with_duplicate_value(&fields, field, current.as_deref())
            }
            _ => not_done,
        })
    }
}

/// Returns why a command was refused, for people.
pub(super) fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            present_state(&conflict.current)
        }
        Refusal::MovedOn(Some(current)) if current.category().is_none() => {
            format!("{} {}", texts().stale, present_state(current))
        }
        Refusal::NotRevertible(reason) => not_revertible_text(reason).to_owned(),
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

/// Returns a sentence about the present state of an animal, an order or a category.
fn present_state(current: &Resource) -> String {
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

/// Returns why an act cannot be undone, for people.
fn not_revertible_text(reason: &NotRevertible) -> &'static str {
    match reason {
        NotRevertible::PhotosGone => texts().photo_not_kept,
        NotRevertible::Kind
        | NotRevertible::SeveralOrders
        | NotRevertible::NoDifference
        | NotRevertible::EndHasPassed
        | NotRevertible::Value(_) => texts().not_undoable,
    }
}
