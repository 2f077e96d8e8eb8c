//! Changing several animals at once.

use super::{
    animal_filters::is_of_list,
    animals,
    commands::{NotDone, refused},
    order_rows,
    parts::link,
};
use crate::console::prelude::*;
use crate::{
    console::{ask::Question, order_inputs},
    domain::{
        Limit, PetId,
        store_area::{
            Command, NewOrder, OrderId, OrderTerms, PetPatch, Preconditions, Present, StorePet,
            decide,
        },
    },
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
    let mut pets = Vec::with_capacity(selected.len());
    for &(id, _) in &selected {
        pets.extend(desk.store().get_store_pet(id).await?);
    }
    let commands: Vec<_> = selected.iter().map(|&(id, version)| command(id, version)).collect();
    let mut problems = problems(desk, &pets, &commands);
    let is_asked = selected.len() > 1;
    if is_asked
        && problems.is_empty()
        && let Some(asked) = ask(desk, &pets, verb, &rest).await?
    {
        return Ok(asked);
    }
    // A second click on the answer has the message of the first one.
    if !is_asked || problems.is_empty() || Question::is_answered(form) {
        match desk.execute(commands).await? {
            Ok(mut flash) => {
                if selected.len() == 1 && flash.code != "reserved" && flash.code != "sold" {
                    flash.code = "saved".to_owned();
                }
                return Ok(Reply::See(list_of(form), Some(flash)));
            }
            Err(NotDone { index, why, .. }) if problems.is_empty() => {
                let Some(pet) = index.and_then(|index| pets.get(index)) else {
                    return animals::show(desk, form, &Errors::text(&why)).await;
                };
                problems.push((pet, why));
            }
            Err(_) => {}
        }
    }
    let problem = html! {
        div {
            p { (texts::NOTHING_CHANGED) }
            ul {
                @for (pet, why) in problems {
                    li {
                        a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT)) }
                        ": " (why)
                    }
                }
            }
        }
    };
    animals::show(desk, form, &Errors::other(problem)).await
}

/// Why each of these commands cannot be carried out, as the store would find it.
fn problems<'p>(
    desk: &Desk<'_>,
    pets: &'p [StorePet],
    commands: &[Command],
) -> Vec<(&'p StorePet, String)> {
    let problem = |(pet, command): (&'p StorePet, &Command)| {
        let (pet_now, next_order) = (Some(pet.clone()), OrderId::new(1));
        let present = Present { pet: pet_now, next_order, ..Present::default() };
        decide(command, &present, desk.visit.now).err().map(|refusal| (pet, refused(&refusal)))
    };
    pets.iter().zip(commands).filter_map(problem).collect()
}

/// The list from which the form was sent.
fn list_of(form: &Form) -> String {
    let fields = form.fields().iter().map(|(name, value)| (name.as_str(), value.as_str()));
    link("/animals", &fields.filter(|(name, _)| is_of_list(name)).collect::<Vec<_>>())
}

/// Asks before several animals are changed, and shows which.
async fn ask(
    desk: &Desk<'_>,
    pets: &[StorePet],
    verb: &str,
    rest: &str,
) -> Result<Option<Reply>, StoreError> {
    let orders = order_rows::with_ids(desk, pets.iter().filter_map(|pet| pet.order_id)).await?;
    let details = html! {
        ul {
            @for pet in pets {
                li {
                    (markup::name(pet.name.as_str(), SHORT)) " " (markup::pet_badge(pet))
                    @if let Some(contact) = order_rows::contact_for(desk, &orders, pet) { " " (markup::text(contact, SHORT)) }
                }
            }
        }
    };
    let question = Question {
        title: texts::change_selected(verb, pets.len(), rest),
        effects: vec![texts::ALL_OR_NONE.to_owned()],
        yes: verb,
        back: &list_of(&desk.visit.form),
    };
    Ok(question.ask(desk, &details))
}

type ForPet = Box<dyn Fn(PetId, i64) -> Command + Send>;

/// The command of the pressed button, for each selected animal with its version; and in words, before
/// and after the number of animals.
async fn command(
    desk: &Desk<'_>,
    errors: &mut Errors,
) -> Result<Option<(ForPet, &'static str, String)>, StoreError> {
    let form = &desk.visit.form;
    // One customer, as for a litter. Without a price, each has its own.
    let values = order_inputs::read(form, |name| !form.get(name).is_empty(), errors);
    let order = |terms: OrderTerms| -> ForPet {
        Box::new(move |id, _| Command::PlaceOrder(NewOrder::of(id, terms).with(values.clone())))
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
