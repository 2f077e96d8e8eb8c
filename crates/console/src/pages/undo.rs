//! Handles the button "Undo" of a message, and the button "Put it back" of a deleted photo in the
//! history. Both revert an act: the changes that one form made.

use petstore_domain::{
    PetId,
    store_area::{ChangeType, Command, OrderId, PetReversal, Refusal, Reversal, StorePet},
};

use super::{
    animal, animals,
    commands::{CommandFailure, refusal_message},
    orders, photos, several,
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
    // No change has the number 0.
    let seq = desk.visit.form.integer(CHANGE_FIELD).unwrap_or(0);
    let Some(act) = desk.app().act(seq).await? else {
        return show_problem(desk, page, texts().not_undoable).await;
    };
    let commands = desk.app().reverting_commands(&act).await?;
    if !is_about_page(desk, page, &commands) {
        return show_problem(desk, page, texts().not_undoable).await;
    }

    match desk.execute(commands.clone()).await? {
        Ok(flash) => Ok(redirect_to_result(desk, page, &commands, flash)),
        Err(failure) if page == UndoPage::Animals => {
            let changes = act.changes().unwrap_or_default();
            let allows_partial_undo = changes
                .iter()
                .all(|change| change.kind == ChangeType::PetChanged);
            undo_unchanged_pets(desk, commands, failure, allows_partial_undo).await
        }
        Err(failure) => show_problem(desk, page, &failure.message).await,
    }
}

/// Whether the commands revert what the page is about: the animal or order in its path, or any animals
/// if the page is the list. If not, this page did not render the form.
fn is_about_page(desk: &Desk<'_>, page: UndoPage, commands: &[Command]) -> bool {
    let reversals: Vec<&PetReversal> = commands.iter().filter_map(pet_reversal).collect();
    let is_one_pet = reversals.len() == 1;
    let Some(reversal) = reversals.first() else {
        return false;
    };
    match page {
        UndoPage::Animals => true,
        UndoPage::Animal | UndoPage::Photos => {
            is_one_pet && desk.path_id(PetId::new) == Some(reversal.id)
        }
        UndoPage::Order => {
            let order_id = reversal.order.as_ref().map(|order| order.after.id);
            is_one_pet && order_id.is_some() && desk.path_id(OrderId::new) == order_id
        }
    }
}

/// Returns the reversal of an animal, and of its order, that a command makes.
fn pet_reversal(command: &Command) -> Option<&PetReversal> {
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
    let pet_id = commands
        .iter()
        .find_map(pet_reversal)
        .map(|reversal| reversal.id);
    let animal_path = match pet_id {
        Some(id) => format!("/animals/{id}"),
        None => "/animals".to_owned(),
    };
    let path = match page {
        UndoPage::Animals => return several::redirect_to_list(desk, flash.into_undone()),
        UndoPage::Order if desk.visit.form.get(FROM_FIELD) == FROM_TODAY => "/".to_owned(),
        UndoPage::Order | UndoPage::Animal => animal_path,
        UndoPage::Photos => format!("{animal_path}/photos"),
    };
    let brings_photo_back = commands
        .iter()
        .filter_map(pet_reversal)
        .any(|reversal| !reversal.lost_photos.is_empty());
    let flash = if brings_photo_back {
        Flash::new("photo-restored", flash.id)
    } else {
        flash.into_undone()
    };
    Reply::Redirect(path, Some(flash))
}

/// Reverts an act only for the animals that nobody has changed since, if the act allows a partial
/// undo. Renders the list of animals with the reason why each of the others was not changed.
///
/// `failure` says why the act could not be reverted as a whole.
async fn undo_unchanged_pets(
    desk: &Desk<'_>,
    commands: Vec<Command>,
    failure: CommandFailure,
    allows_partial_undo: bool,
) -> Result<Reply, ApiError> {
    let mut applicable_commands = Vec::new();
    let mut problems: Vec<(StorePet, String)> = Vec::new();
    for (index, command) in commands.into_iter().enumerate() {
        let Some(reversal) = pet_reversal(&command) else {
            continue;
        };
        let Some(pet) = desk.store().get_store_pet(reversal.id).await? else {
            continue;
        };
        let pet_change = reversal.pet_change.as_ref();
        let expected_version = pet_change.map(|change| change.after.version);
        if expected_version.is_some_and(|version| version != pet.version) {
            let refusal = Refusal::MovedOn(Some(Box::new(pet.clone().into())));
            problems.push((pet, refusal_message(&refusal)));
        } else if failure.index == Some(index) {
            problems.push((pet, failure.message.clone()));
        } else {
            applicable_commands.push(command);
        }
    }

    let mut introduction = texts().nothing_changed;
    if allows_partial_undo
        && !applicable_commands.is_empty()
        && desk.execute(applicable_commands).await?.is_ok()
    {
        introduction = texts().undone_without;
    }
    let list = several::problem_list(introduction, &problems);
    animals::show(desk, &desk.visit.form, &Errors::from_markup(list)).await
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
