//! The commands of a form, and their outcome.

use jiff::Timestamp;
use petstore_domain::{
    PetId, StoredResponse,
    store_area::{
        ChangeType, Command, Decision, FieldSet, OrderStatus, Preconditions, Refusal, Resource,
        StorePet,
    },
};
use petstore_store::ExecutionOutcome;

use super::{undo, values};
use crate::{
    prelude::*,
    reply::{Flash, UNDOES},
};

/// Why commands were not carried out. Nothing was changed.
#[derive(Default)]
pub(super) struct NotDone {
    /// Which of them is refused, if it is one of them.
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
    /// The problems of a form for the values of fields.
    pub(super) fn errors(&self, fields: &FieldSet) -> Errors {
        let mut errors = Errors::default();
        match self.field.as_ref().and_then(|name| fields.find(name)) {
            Some(field) => errors.add(values::input_of(field), &*self.why),
            None => errors = Errors::from_text(&self.why),
        }
        errors.link.clone_from(&self.link);
        errors
    }

    /// The same because another animal has the value of this field.
    fn about(self, fields: &FieldSet, field: String, other: Option<&Resource>) -> Self {
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
        let why = texts().value_taken(&markup::readable(label, SHORT), &other);
        Self {
            why,
            field: Some(field),
            link,
            ..self
        }
    }
}

/// How a message names an animal.
pub(super) fn called(pet: &StorePet) -> String {
    format!("{} ({})", markup::plain_name(pet.name.as_str()), pet.id)
}

impl Desk<'_> {
    /// When a reservation ends that is made now.
    pub(super) fn default_end(&self) -> Timestamp {
        self.app().commands.default_end(self.visit.now)
    }

    /// The condition of a change: nobody else has changed its subject since the form was made.
    pub(super) fn preconditions(&self) -> Preconditions {
        Preconditions::version(self.visit.form.integer("version").unwrap_or(0))
    }

    /// The animal with the number in the path.
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
        Ok(
            match self
                .app()
                .commands
                .execute(commands, self.context(), respond)
                .await?
            {
                ExecutionOutcome::Done { response, .. } | ExecutionOutcome::Replayed(response) => {
                    let text = String::from_utf8_lossy(&response.body);
                    let flash = Flash::parse(&text).unwrap_or_else(|| Flash::new("", 0));
                    let undoes = !self.visit.form.raw(UNDOES).is_empty();
                    Ok(if undoes { flash.undone() } else { flash })
                }
                ExecutionOutcome::IdempotencyConflict => {
                    let why = texts().stale.to_owned();
                    Err(NotDone {
                        why,
                        ..NotDone::default()
                    })
                }
                ExecutionOutcome::Refused { index, refusal } => {
                    let (index, why) = (Some(index), refused(&refusal));
                    let not_done = NotDone {
                        index,
                        why,
                        ..NotDone::default()
                    };
                    Err(match refusal {
                        Refusal::PreconditionFailed(present) => NotDone {
                            changed: present.map(|present| *present),
                            ..not_done
                        },
                        Refusal::DuplicateValue { field, current, .. } => {
                            not_done.about(&self.store().fields().await?, field, current.as_deref())
                        }
                        _ => not_done,
                    })
                }
            },
        )
    }
}

/// The remembered response of a form: the message about it.
fn respond(decisions: &[Decision]) -> StoredResponse {
    let flash = flash(decisions).to_string();
    StoredResponse {
        status: 303,
        body: flash.into_bytes(),
        ..StoredResponse::default()
    }
}

fn flash(decisions: &[Decision]) -> Flash {
    let (undo, is_unsold) = (undo::form(decisions), undo::undoes_sale(decisions));
    // Of several commands about one animal, the last one is what was asked for.
    let decisions = match decisions {
        [first, .., last]
            if undo::subject(first).is_some() && undo::subject(first) == undo::subject(last) =>
        {
            std::slice::from_ref(last)
        }
        all => all,
    };
    let first = decisions.first();
    let kind = first
        .and_then(|decision| decision.changes.first())
        .map(|change| change.kind);
    // Without checks of a version, which change nothing.
    let is_counted = |decision: &&Decision| {
        !decision.changes.is_empty() && !matches!(decision.result, Some(Resource::Category(_)))
    };
    let count = decisions.iter().filter(is_counted).count();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let subject = first.and_then(|decision| decision.result.as_ref());
    let id = subject.map_or(0, Resource::id);
    let (code, id) = match (kind, subject) {
        (Some(ChangeType::PetAdded), _) if count > 1 => ("added-many", count),
        _ if count > 1 => ("changed-many", count),
        (Some(ChangeType::PetAdded), _) => ("added", id),
        (Some(ChangeType::PetWithdrawn), _) => ("withdrawn", id),
        (Some(ChangeType::PetRestored), _) => ("restored", id),
        (Some(ChangeType::OrderChanged), _) if is_extended(first) => ("extended", id),
        _ if first.is_some_and(|of| undo::removes_photo(of) && of.photo.is_some()) => {
            ("photo-turned", id)
        }
        _ if first.is_some_and(undo::removes_photo) => ("photo-removed", id),
        (
            Some(ChangeType::OrderChanged | ChangeType::PetChanged | ChangeType::CategoryChanged),
            _,
        ) => ("saved", id),
        (_, Some(Resource::Order(_))) if is_unsold => ("sale-undone", id),
        // Even if the order was closed before.
        (_, Some(Resource::Order(order))) => match order.status {
            OrderStatus::Reserved => ("reserved", id),
            OrderStatus::Completed => ("sold", id),
            OrderStatus::Cancelled | OrderStatus::Expired => ("cancelled", id),
            OrderStatus::Returned => ("returned", id),
        },
        _ => ("saved", id),
    };
    Flash {
        undo,
        ..Flash::new(code, id)
    }
}

/// Whether a decision gives an order another end.
fn is_extended(decision: Option<&Decision>) -> bool {
    let change = decision.and_then(|decision| decision.changes.first());
    let end = |of: &Option<Resource>| of.as_ref()?.order()?.expires_at;
    change.is_some_and(|change| end(&change.before) != end(&change.after))
}

/// Why a command was refused, for people.
pub(super) fn refused(refusal: &Refusal) -> String {
    let of_state = |current: &Resource| match current {
        Resource::Pet(StorePet {
            withdrawn: Some(_), ..
        }) => texts().is_withdrawn.to_owned(),
        Resource::Pet(StorePet {
            order_id: Some(order),
            ..
        }) => texts().is_reserved(order.get()),
        Resource::Pet(pet) => texts().is_in_status(pet.status),
        Resource::Order(order) => texts().order_is(order.id.get(), order.status),
        Resource::Category(_) => texts().stale.to_owned(),
    };
    match refusal {
        Refusal::InvalidTransition(conflict) | Refusal::OpenOrder(conflict) => {
            of_state(&conflict.current)
        }
        Refusal::NotFound(_) => texts().is_gone.to_owned(),
        Refusal::Invalid(_) => texts().day_invalid.to_owned(),
        Refusal::TooManyPhotos => texts().too_many_photos.to_owned(),
        Refusal::PreconditionFailed(_)
        | Refusal::PreconditionRequired(_)
        | Refusal::MovedOn(_)
        | Refusal::NotRevertible(_)
        | Refusal::TooLong
        | Refusal::Fields(_)
        | Refusal::DuplicateValue { .. }
        | Refusal::NoIdentifierLeft => texts().stale.to_owned(),
    }
}
