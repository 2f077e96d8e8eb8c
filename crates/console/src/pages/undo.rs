//! Handles the button "Undo" of a message, and the button "Put it back" of a deleted photo in the
//! history. Both revert an act, which is all changes that one form made.

use petstore_app::RecordedAct;
use petstore_domain::{
    PetId,
    store_area::{ChangeType, Command, OrderId, PetReversal, Refusal, Reversal},
};

use super::{
    animal, animals,
    commands::{CommandFailure, refusal_message},
    orders, photos,
    several::{self, AnimalProblem},
};
use crate::{
    prelude::*,
    reply::{CHANGE_FIELD, FROM_FIELD, FROM_TODAY, Flash},
};

/// The page that has the button. If the act cannot be undone, the same page shows the reason.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoPage {
    /// The list of animals.
    Animals,
    Animal,
    Photos,
    Order,
}

/// Reverts the act that includes the change in the form.
pub(super) async fn undo(desk: &Desk<'_>, page: UndoPage) -> Result<Reply, ApiError> {
    // Without a valid number, the form gets the number 0, which no change has.
    let seq = desk.visit.form.integer(CHANGE_FIELD).unwrap_or(0);
    let Some(act) = desk.app().act(seq).await? else {
        return show_problem(desk, page, texts().not_undoable).await;
    };
    let commands = desk.app().reverting_commands(&act).await?;
    if !is_form_of_page(desk, page, &commands) {
        return show_problem(desk, page, texts().not_undoable).await;
    }

    match desk.execute(commands.clone()).await? {
        Ok(flash) => Ok(redirect_to_result(desk, page, &commands, flash)),
        Err(failure) if page == UndoPage::Animals => {
            undo_unchanged_pets(desk, &act, commands, failure).await
        }
        Err(failure) => show_problem(desk, page, &failure.message).await,
    }
}

/// Whether the form with these commands can be from this page: they revert what the page shows.
///
/// The list shows any animals, and every other page only the animal or the order in its path.
fn is_form_of_page(desk: &Desk<'_>, page: UndoPage, commands: &[Command]) -> bool {
    let reversals: Vec<&PetReversal> = commands.iter().filter_map(as_pet_reversal).collect();
    match (page, &reversals[..]) {
        (UndoPage::Animals, reversals) => !reversals.is_empty(),
        (UndoPage::Animal | UndoPage::Photos, [reversal]) => {
            desk.path_id(PetId::new) == Some(reversal.id)
        }
        (UndoPage::Order, [reversal]) => match &reversal.order_change {
            Some(order) => desk.path_id(OrderId::new) == Some(order.after.id),
            None => false,
        },
        _ => false,
    }
}

/// Returns the reversal of an animal and its order that a command carries out. Returns `None` if
/// the command does something else.
fn as_pet_reversal(command: &Command) -> Option<&PetReversal> {
    match command {
        Command::Revert(Reversal::Pet(reversal)) => Some(reversal),
        _ => None,
    }
}

/// Redirects to the page that shows the result, with a message.
fn redirect_to_result(
    desk: &Desk<'_>,
    page: UndoPage,
    commands: &[Command],
    flash: Flash,
) -> Reply {
    let reversals: Vec<&PetReversal> = commands.iter().filter_map(as_pet_reversal).collect();
    let animal_path = match reversals.first() {
        Some(reversal) => format!("/animals/{}", reversal.id),
        None => "/animals".to_owned(),
    };
    let path = match page {
        UndoPage::Animals => return several::redirect_to_list(desk, flash.into_undone()),
        UndoPage::Order if desk.visit.form.get(FROM_FIELD) == FROM_TODAY => "/".to_owned(),
        UndoPage::Order | UndoPage::Animal => animal_path,
        UndoPage::Photos => format!("{animal_path}/photos"),
    };
    let brings_photo_back = reversals
        .iter()
        .any(|reversal| !reversal.lost_photos.is_empty());
    let flash = if brings_photo_back {
        Flash::new("photo-restored", flash.id)
    } else {
        flash.into_undone()
    };
    Reply::Redirect(path, Some(flash))
}

/// Reverts an act only for the animals that nobody has changed since, if the act allows that.
/// Renders the list of animals with the reason why each of the others was not changed.
///
/// `failure` says why the act could not be reverted as a whole.
async fn undo_unchanged_pets(
    desk: &Desk<'_>,
    act: &RecordedAct,
    commands: Vec<Command>,
    failure: CommandFailure,
) -> Result<Reply, ApiError> {
    let mut applicable_commands = Vec::new();
    let mut problems = Vec::new();
    for (index, command) in commands.into_iter().enumerate() {
        let Some(reversal) = as_pet_reversal(&command) else {
            continue;
        };
        let Some(pet) = desk.store().get_store_pet(reversal.id).await? else {
            continue;
        };
        let was_changed_since = match &reversal.pet_change {
            Some(pet_change) => pet_change.after.version != pet.version,
            None => false,
        };
        if was_changed_since {
            let refusal = Refusal::MovedOn(Some(Box::new(pet.clone().into())));
            let message = refusal_message(&refusal);
            problems.push(AnimalProblem { pet, message });
        } else if failure.index == Some(index) {
            let message = failure.message.clone();
            problems.push(AnimalProblem { pet, message });
        } else {
            applicable_commands.push(command);
        }
    }

    let mut is_undone = false;
    if allows_partial_undo(act) && !applicable_commands.is_empty() {
        is_undone = desk.execute(applicable_commands).await?.is_ok();
    }
    let introduction = if is_undone {
        texts().undone_without
    } else {
        texts().nothing_changed
    };
    let list = several::problem_list(introduction, &problems);
    animals::show(desk, &desk.visit.form, &Errors::from_markup(list)).await
}

/// Whether an act can be reverted for some of its animals only. This is so if the act changed
/// nothing but animals: the change of one animal then depends on no other resource, such as an
/// order.
fn allows_partial_undo(act: &RecordedAct) -> bool {
    // An act whose changes cannot be read has no commands for animals, and does not come this far.
    let changes = act.changes().unwrap_or_default();
    changes
        .iter()
        .all(|change| change.kind == ChangeType::PetChanged)
}

/// Renders the page of the button with the reason why nothing was undone.
async fn show_problem(desk: &Desk<'_>, page: UndoPage, problem: &str) -> Result<Reply, ApiError> {
    let errors = Errors::from_text(problem);
    match page {
        UndoPage::Animals => animals::show(desk, &desk.visit.form, &errors).await,
        UndoPage::Animal => animal::show(desk, &errors).await,
        UndoPage::Photos => photos::show(desk, &errors).await,
        UndoPage::Order => orders::show(desk, &errors).await,
    }
}
