//! The button "Undo" of a message, and "Put it back" of the history: both revert an act in the journal.

use petstore_domain::{
    PetId,
    store_area::{ChangeType, Command, OrderId, PetReversal, Refusal, Reversal, StorePet},
};

use super::{
    animal, animals,
    commands::{NotDone, refused},
    orders, photos, several,
};
use crate::{
    prelude::*,
    reply::{CHANGE, FROM, Flash, TODAY},
};

/// The page with the button. It shows why something cannot be undone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoPage {
    Animals,
    Animal,
    Photos,
    Order,
}

/// Undoes the act that the form names.
pub(super) async fn undo(desk: &Desk<'_>, page: UndoPage) -> Result<Reply, ApiError> {
    let seq = desk.visit.form.integer(CHANGE).unwrap_or(0);
    let Some(act) = desk.app().act(seq).await? else {
        return show_problem(desk, page, texts().not_undoable).await;
    };
    let commands = desk.app().reverting_commands(&act).await?;
    if !is_about_page(desk, page, &commands) {
        return show_problem(desk, page, texts().not_undoable).await;
    }

    match desk.execute(commands.clone()).await? {
        Ok(flash) => Ok(see_result(desk, page, &commands, flash)),
        Err(not_done) if page == UndoPage::Animals => {
            let changes = act.changes().unwrap_or_default();
            let can_be_parted = changes
                .iter()
                .all(|change| change.kind == ChangeType::PetChanged);
            undo_rest(desk, commands, not_done, can_be_parted).await
        }
        Err(not_done) => show_problem(desk, page, &not_done.why).await,
    }
}

/// Whether the act is about what the path of the page names. A list can show any animals.
fn is_about_page(desk: &Desk<'_>, page: UndoPage, commands: &[Command]) -> bool {
    let reversals: Vec<&PetReversal> = commands.iter().filter_map(pet_reversal).collect();
    let is_one_pet = reversals.len() == 1;
    let Some(reversal) = reversals.first() else {
        return false;
    };
    match page {
        UndoPage::Animals => true,
        UndoPage::Animal | UndoPage::Photos => {
            is_one_pet && desk.id(PetId::new) == Some(reversal.id)
        }
        UndoPage::Order => {
            let order_id = reversal.order.as_ref().map(|order| order.after.id);
            is_one_pet && order_id.is_some() && desk.id(OrderId::new) == order_id
        }
    }
}

fn pet_reversal(command: &Command) -> Option<&PetReversal> {
    match command {
        Command::Revert(Reversal::Pet(reversal)) => Some(reversal),
        _ => None,
    }
}

/// Shows the page on which the member goes on, with the message.
fn see_result(desk: &Desk<'_>, page: UndoPage, commands: &[Command], flash: Flash) -> Reply {
    let pet_id = commands
        .iter()
        .find_map(pet_reversal)
        .map(|reversal| reversal.id);
    let animal_path = pet_id.map_or("/animals".to_owned(), |id| format!("/animals/{id}"));
    let path = match page {
        UndoPage::Animals => return several::see_list(desk, flash.into_undone()),
        UndoPage::Order if desk.visit.form.get(FROM) == TODAY => "/".to_owned(),
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
    Reply::See(path, Some(flash))
}

/// Undoes an act for the animals that nobody has changed since, if the act can be parted. Shows the other animals, and
/// why they stay as they are.
async fn undo_rest(
    desk: &Desk<'_>,
    commands: Vec<Command>,
    not_done: NotDone,
    can_be_parted: bool,
) -> Result<Reply, ApiError> {
    let mut unchanged_pets = Vec::new();
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
            let moved_on = Refusal::MovedOn(Some(Box::new(pet.clone().into())));
            problems.push((pet, refused(&moved_on)));
        } else if not_done.index == Some(index) {
            problems.push((pet, not_done.why.clone()));
        } else {
            unchanged_pets.push(command);
        }
    }

    let mut head = texts().nothing_changed;
    if can_be_parted && !unchanged_pets.is_empty() && desk.execute(unchanged_pets).await?.is_ok() {
        head = texts().undone_without;
    }
    let problems = several::problem_list(head, &problems);
    animals::show(desk, &desk.visit.form, &Errors::from_markup(problems)).await
}

/// Shows the page with the reason why nothing was undone.
async fn show_problem(desk: &Desk<'_>, page: UndoPage, problem: &str) -> Result<Reply, ApiError> {
    let errors = Errors::from_text(problem);
    match page {
        UndoPage::Animals => animals::show(desk, &desk.visit.form, &errors).await,
        UndoPage::Animal => animal::show(desk, &errors).await,
        UndoPage::Photos => photos::show(desk, &errors).await,
        UndoPage::Order => orders::show(desk, &errors).await,
    }
}
