//! Changing several animals at once.

use maud::html;

use super::{animals, commands::NotDone, parts::link};
use crate::{
    console::{
        ask::Question,
        desk::Desk,
        forms::{self, Errors},
        layout::Menu,
        markup::{self, SHORT},
        reply::Reply,
        texts,
        visit::Form,
    },
    domain::{
        Limit, PetId,
        store_area::{Command, NewOrder, OrderTerms, PetPatch, Preconditions},
    },
    edge::ApiError,
    store::StoreError,
    text,
};

/// Changes the selected animals in one transaction. Asks first if there are several.
pub(super) async fn change_selected(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let selected: Vec<(PetId, i64)> = form
        .all("pet")
        .filter_map(|pet| {
            let (id, version) = pet.split_once(':')?;
            Some((PetId::new(text::integer(id)?)?, text::integer(version)?))
        })
        .take(usize::from(Limit::MAX))
        .collect();
    let mut errors = Errors::default();
    if selected.is_empty() {
        errors.add("results", texts::NONE_SELECTED);
    }
    let command = command(desk, &mut errors).await?;
    let (Some((command, verb, rest)), true) = (command, errors.is_empty()) else {
        return animals::show(desk, form, &errors).await;
    };
    if selected.len() > 1
        && let Some(asked) = ask(desk, &selected, verb, &rest).await?
    {
        return Ok(asked);
    }
    let commands = selected.iter().map(|&(id, version)| command(id, version)).collect();
    let NotDone { index, why, .. } = match desk.execute(commands).await? {
        Ok(mut flash) => {
            if selected.len() == 1 && flash.code != "reserved" && flash.code != "sold" {
                flash.code = "saved".to_owned();
            }
            return Ok(Reply::See(list_of(form), Some(flash)));
        }
        Err(not_done) => not_done,
    };
    let Some(index) = index else { return animals::show(desk, form, &Errors::text(&why)).await };
    let pet = match selected.get(index) {
        Some(&(id, _)) => desk.store().get_store_pet(id).await?,
        None => None,
    };
    let problem = html! {
        div {
            p { (texts::NOTHING_CHANGED) }
            @if let Some(pet) = pet {
                p {
                    a href={ "/animals/" (pet.id.get()) } {
                        (markup::name(pet.name.as_str(), SHORT))
                    }
                    ": " (why)
                }
            } @else {
                p { (why) }
            }
        }
    };
    animals::show(desk, form, &Errors::other(problem)).await
}

/// The list from which the form was sent.
fn list_of(form: &Form) -> String {
    link("/animals", &["q", "status", "category"].map(|name| (name, form.get(name))))
}

/// Asks before several animals are changed, and shows which.
async fn ask(
    desk: &Desk<'_>,
    selected: &[(PetId, i64)],
    verb: &str,
    rest: &str,
) -> Result<Option<Reply>, StoreError> {
    let mut pets = Vec::with_capacity(selected.len());
    for &(id, _) in selected {
        pets.extend(desk.store().get_store_pet(id).await?);
    }
    let details = html! {
        ul {
            @for pet in &pets {
                li { (markup::name(pet.name.as_str(), SHORT)) " " (markup::pet_badge(pet)) }
            }
        }
    };
    let question = Question {
        menu: Menu::Animals,
        title: texts::change_selected(verb, selected.len(), rest),
        effects: vec![texts::ALL_OR_NONE.to_owned()],
        yes: verb,
        back: &list_of(&desk.visit.form),
    };
    Ok(question.ask(desk, &details))
}

type ForPet = Box<dyn Fn(PetId, i64) -> Command + Send>;

/// What the pressed button asks for, for each selected animal with its version; and in words, before
/// and after the number of animals.
async fn command(
    desk: &Desk<'_>,
    errors: &mut Errors,
) -> Result<Option<(ForPet, &'static str, String)>, StoreError> {
    let form = &desk.visit.form;
    let order = |terms: OrderTerms| -> ForPet {
        Box::new(move |pet_id, _| Command::PlaceOrder(NewOrder::of(pet_id, terms)))
    };
    Ok(match form.get("do") {
        "reserve" => {
            let end = errors.take("until", forms::end_of_day(form, desk.visit.now));
            let until = texts::until_day(form.get("until"));
            end.map(|end| (order(OrderTerms::ReservedUntil(end)), texts::RESERVE, until))
        }
        "sell" => Some((order(OrderTerms::Completed), texts::SELL, String::new())),
        "withdraw" => {
            let reason = errors.take("why", forms::withdrawal_reason(form.get("why")));
            reason.map(|reason| -> (ForPet, &'static str, String) {
                let withdraw = move |id, version| Command::WithdrawPet {
                    id,
                    reason,
                    note: None,
                    preconditions: Preconditions::version(version),
                };
                (Box::new(withdraw), texts::WITHDRAW, texts::because(reason))
            })
        }
        _ => {
            let categories = desk.categories_typed([form.get("to")]).await?;
            let id = errors.take("to", forms::category(form.get("to"), &categories));
            id.map(|id| -> (ForPet, &'static str, String) {
                let patch = PetPatch { category_id: Some(id), ..PetPatch::default() };
                let change = move |pet, version| Command::PatchPet {
                    id: pet,
                    patch: patch.clone(),
                    preconditions: Preconditions::version(version),
                };
                (
                    Box::new(change),
                    texts::MOVE_VERB,
                    texts::to_category(&markup::category(&categories, id)),
                )
            })
        }
    })
}
