//! Changing several animals at once.

use std::sync::Arc;

use petstore_domain::{
    Limit, PetId,
    store_area::{Command, FieldSet, OrderId, PresentState, StorePet, decide},
    text,
};

use super::{
    animal_filters::is_list_parameter,
    animals,
    commands::{NotDone, refused},
    order_rows,
    parts::link,
    photos,
    selected::CANCEL,
    selected_acts::{Act, SelectedAnimal, parse_act},
    values,
};
use crate::{
    ask::Question,
    order_inputs,
    prelude::*,
    reply::{Flash, Undo},
};

/// Changes the selected animals in one transaction. Asks first if there are several.
pub(super) async fn change_selected(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let animals = load_selected(desk).await?;
    let mut errors = Errors::default();
    if animals.is_empty() {
        errors.add("results", texts().none_selected);
    }
    let fields = Arc::new(desk.store().fields().await?);
    let act = parse_act(desk, &fields, animals.len(), &mut errors).await?;
    if !errors.is_empty() {
        return animals::show(desk, form, &errors).await;
    }
    let Some(act) = act else {
        return animals::show(desk, form, &errors).await;
    };

    let mut commands = Vec::new();
    let mut owners = Vec::new();
    let mut problems = Vec::new();
    for animal in &animals {
        let own_commands = act.commands_for(animal);
        if let Some(problem) = find_problem(desk, animal, &fields, &own_commands) {
            problems.push((animal.pet.clone(), problem));
        }
        for command in own_commands {
            commands.push(command);
            owners.push(&animal.pet);
        }
    }

    let is_asked = animals.len() > 1;
    if is_asked
        && problems.is_empty()
        && let Some(question_page) = ask(desk, &animals, act)
    {
        return Ok(question_page);
    }
    // A second click on the response to the question has the message of the first one.
    if !is_asked || problems.is_empty() || Question::is_answered(form) {
        match desk.execute(commands).await? {
            Ok(flash) => return Ok(see_list(desk, flash)),
            Err(NotDone { index, why, .. }) if problems.is_empty() => {
                let Some(pet) = index.and_then(|index| owners.get(index)) else {
                    return animals::show(desk, form, &Errors::from_text(&why)).await;
                };
                problems.push(((*pet).clone(), why));
            }
            Err(_) => {}
        }
    }
    let problems = problem_list(texts().nothing_changed, &problems);
    animals::show(desk, form, &Errors::from_markup(problems)).await
}

/// Loads the animals that are ticked in the form, as many as a request can change, with their open orders. Unknown
/// animals are left out.
///
/// The field `pet` of each has its number and the version that the list showed, such as `7:3`.
async fn load_selected(desk: &Desk<'_>) -> Result<Vec<SelectedAnimal>, StoreError> {
    let ticked_ids = desk.visit.form.all("pet").filter_map(|value| {
        let (id, version) = value.split_once(':')?;
        Some((
            PetId::new(text::parse_integer(id)?)?,
            text::parse_integer(version)?,
        ))
    });
    let mut animals = Vec::new();
    for (id, shown_version) in ticked_ids.take(usize::from(Limit::MAX)) {
        if let Some(pet) = desk.store().get_store_pet(id).await? {
            animals.push(SelectedAnimal {
                pet,
                order: None,
                shown_version,
            });
        }
    }

    let order_ids = animals.iter().filter_map(|animal| animal.pet.order_id);
    let orders = order_rows::load_orders(desk, order_ids).await?;
    for animal in &mut animals {
        let order = orders
            .iter()
            .find(|order| Some(order.id) == animal.pet.order_id);
        animal.order = order.cloned();
    }
    Ok(animals)
}

/// Shows the animals that stay as they are, each with the reason, below this sentence.
pub(super) fn problem_list(head: &str, problems: &[(StorePet, String)]) -> Markup {
    html! {
        div {
            p { (head) }
            ul {
                @for (pet, why) in problems {
                    li {
                        a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT_LENGTH)) }
                        (window_texts().colon) (why)
                    }
                }
            }
        }
    }
}

/// Returns why these commands about an animal cannot be carried out, as the store would decide it.
fn find_problem(
    desk: &Desk<'_>,
    animal: &SelectedAnimal,
    fields: &Arc<FieldSet>,
    commands: &[Command],
) -> Option<String> {
    let present = PresentState {
        pet: Some(animal.pet.clone()),
        order: animal.order.clone(),
        holder: animal.order.clone(),
        fields: Arc::clone(fields),
        next_order: OrderId::new(1),
        ..PresentState::default()
    };
    // The check of the version comes first, and says least.
    let refusal = commands
        .iter()
        .rev()
        .find_map(|command| decide(command, &present, desk.visit.now).err())?;
    if desk.visit.form.get("do") == CANCEL && animal.order.is_none() {
        return Some(texts().has_no_reservation.to_owned());
    }
    Some(refused(&refusal))
}

/// Returns the path of the list from which a form was sent.
fn list_of(form: &Form) -> String {
    let fields: Vec<(&str, &str)> = form
        .fields()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| is_list_parameter(name))
        .collect();
    link("/animals", &fields)
}

/// Shows the list from which the form was sent, with the message. Its button "Undo" leads back to the same list.
pub(super) fn see_list(desk: &Desk<'_>, mut flash: Flash) -> Reply {
    let list = list_of(&desk.visit.form);
    flash.name_animal();
    if let Some(undo) = flash.undo {
        flash.undo = Some(Undo {
            page: list.clone(),
            ..undo
        });
    }
    Reply::See(list, Some(flash))
}

/// Asks before several animals are changed, and shows which. `None` if the form already says yes.
fn ask(desk: &Desk<'_>, animals: &[SelectedAnimal], act: Act) -> Option<Reply> {
    let details = html! {
        @if act.places_orders() { (typed_order(desk)) }
        ul { @for animal in animals { li { (animal_row(desk, animal, &act)) } } }
    };
    let question = Question {
        title: act.question,
        effects: vec![texts().all_or_none.to_owned()],
        yes: act.yes,
        back: &list_of(&desk.visit.form),
    };
    question.ask(desk, &details)
}

/// Shows the customer and the price that were typed for the new orders.
fn typed_order(desk: &Desk<'_>) -> Markup {
    let mut rows = Vec::new();
    for name in ["contact", order_inputs::PRICE] {
        let typed_text = desk.visit.form.get(name);
        if !typed_text.is_empty() {
            rows.extend(values::in_words(
                values::NO_FIELDS,
                desk.currency(),
                name,
                typed_text,
            ));
        }
    }
    html! {
        dl { @for (label, typed_text) in rows { dt { (label) } dd { (markup::text(&typed_text, LONG_LENGTH)) } } }
    }
}

/// Shows an animal with its customer, and its value before and after the act.
fn animal_row(desk: &Desk<'_>, animal: &SelectedAnimal, act: &Act) -> Markup {
    let pet = &animal.pet;
    html! {
        (photos::thumbnail(pet))
        (markup::name(pet.name.as_str(), SHORT_LENGTH)) " " small.muted { (texts().number) " " (pet.id) } " "
        (markup::pet_badges(pet))
        @if let Some(order) = &animal.order {
            @if let Some(contact) = order_rows::contact(desk, order) { " " (markup::text(contact, SHORT_LENGTH)) }
        }
        @if let Some(value) = &act.value {
            " "
            @match pet.fields.get(value.field.name.as_str()) {
                Some(old) => (values::value_markup(desk, &value.field, old)),
                None => "–",
            }
            " → " bdi { (value.words) }
        }
    }
}
