//! Carries out a bulk action on the animals that are selected in the list.

use std::sync::Arc;

use petstore_domain::{
    Limit, PetId,
    store_area::{Command, FieldSet, OrderId, PresentState, StorePet, decide},
    text,
};

use super::{
    animal_filters::is_list_parameter,
    animals,
    commands::{CommandFailure, refusal_message},
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

/// Handles `POST /animals/selected`: changes the selected animals in one transaction. Asks for
/// confirmation if there are several.
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

    let BulkCommands {
        commands,
        command_pets,
        mut problems,
    } = BulkCommands::new(desk, &animals, &act, &fields);
    let needs_confirmation = animals.len() > 1;
    if needs_confirmation
        && problems.is_empty()
        && let Some(question_page) = confirm(desk, &animals, act)
    {
        return Ok(question_page);
    }
    // A confirmed form is executed even if there are problems: on a second click, the changes of the
    // first click cause them, and the store returns the response of the first click.
    if !needs_confirmation || problems.is_empty() || Question::is_answered(form) {
        match desk.execute(commands).await? {
            Ok(flash) => return Ok(redirect_to_list(desk, flash)),
            Err(CommandFailure { index, message, .. }) if problems.is_empty() => {
                let Some(pet) = index.and_then(|index| command_pets.get(index)) else {
                    return animals::show(desk, form, &Errors::from_text(&message)).await;
                };
                problems.push(((*pet).clone(), message));
            }
            Err(_) => {}
        }
    }
    let list = problem_list(texts().nothing_changed, &problems);
    animals::show(desk, form, &Errors::from_markup(list)).await
}

/// The commands of a bulk action.
struct BulkCommands<'a> {
    commands: Vec<Command>,
    /// The animal of each command, at the index of the command.
    command_pets: Vec<&'a StorePet>,
    /// The animals whose commands would be refused, each with the reason.
    problems: Vec<(StorePet, String)>,
}

impl<'a> BulkCommands<'a> {
    /// Builds the commands for all selected animals, and checks them.
    fn new(
        desk: &Desk<'_>,
        animals: &'a [SelectedAnimal],
        act: &Act,
        fields: &Arc<FieldSet>,
    ) -> Self {
        let mut bulk = Self {
            commands: Vec::new(),
            command_pets: Vec::new(),
            problems: Vec::new(),
        };
        for animal in animals {
            let animal_commands = act.commands_for(animal);
            if let Some(problem) = find_problem(desk, animal, fields, &animal_commands) {
                bulk.problems.push((animal.pet.clone(), problem));
            }
            for command in animal_commands {
                bulk.commands.push(command);
                bulk.command_pets.push(&animal.pet);
            }
        }
        bulk
    }
}

/// Loads the animals that are selected in the form, with their open orders. Skips unknown animals, and
/// reads at most [`Limit::MAX`] ids.
///
/// The form has a field `pet` for each animal, with its id and the version that the list showed,
/// such as `7:3`.
async fn load_selected(desk: &Desk<'_>) -> Result<Vec<SelectedAnimal>, StoreError> {
    let selected_ids = desk.visit.form.all("pet").filter_map(|value| {
        let (id, version) = value.split_once(':')?;
        Some((
            PetId::new(text::parse_integer(id)?)?,
            text::parse_integer(version)?,
        ))
    });
    let mut animals = Vec::new();
    for (id, shown_version) in selected_ids.take(usize::from(Limit::MAX)) {
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

/// Renders the animals that were not changed, each with the reason, below an introductory sentence.
pub(super) fn problem_list(introduction: &str, problems: &[(StorePet, String)]) -> Markup {
    html! {
        div {
            p { (introduction) }
            ul {
                @for (pet, message) in problems {
                    li {
                        a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT_LENGTH)) }
                        (window_texts().colon) (message)
                    }
                }
            }
        }
    }
}

/// Checks the commands for an animal by the rules of the domain, without the store. Returns the reason
/// why one of them would be refused; `None` if all would be accepted.
fn find_problem(
    desk: &Desk<'_>,
    animal: &SelectedAnimal,
    fields: &Arc<FieldSet>,
    commands: &[Command],
) -> Option<String> {
    let present_state = PresentState {
        pet: Some(animal.pet.clone()),
        order: animal.order.clone(),
        holder: animal.order.clone(),
        fields: Arc::clone(fields),
        // Any id will do, because the decision is not carried out.
        next_order: OrderId::new(1),
        ..PresentState::default()
    };
    // Start with the last command, because the first one often only checks the version, and its
    // refusal is the least informative.
    let refusal = commands
        .iter()
        .rev()
        .find_map(|command| decide(command, &present_state, desk.visit.now).err())?;
    if desk.visit.form.get("do") == CANCEL && animal.order.is_none() {
        return Some(texts().has_no_reservation.to_owned());
    }
    Some(refusal_message(&refusal))
}

/// Returns the path of the list from which the form was sent, with its filters.
fn list_path(form: &Form) -> String {
    let parameters: Vec<(&str, &str)> = form
        .fields()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| is_list_parameter(name))
        .collect();
    link("/animals", &parameters)
}

/// Redirects to the list from which the form was sent, with a message. The "Undo" button of the
/// message leads back to the same list.
pub(super) fn redirect_to_list(desk: &Desk<'_>, mut flash: Flash) -> Reply {
    let path = list_path(&desk.visit.form);
    flash.add_animal_name();
    if let Some(undo) = flash.undo {
        flash.undo = Some(Undo {
            page: path.clone(),
            ..undo
        });
    }
    Reply::Redirect(path, Some(flash))
}

/// Returns the page that lists the animals and asks for confirmation of the action; `None` if the form
/// already confirms it.
fn confirm(desk: &Desk<'_>, animals: &[SelectedAnimal], act: Act) -> Option<Reply> {
    let details = html! {
        @if act.places_orders() { (typed_order(desk)) }
        ul { @for animal in animals { li { (animal_row(desk, animal, &act)) } } }
    };
    let question = Question {
        title: act.question,
        effects: vec![texts().all_or_none.to_owned()],
        confirm_label: act.confirm_label,
        back_path: &list_path(&desk.visit.form),
    };
    question.ask(desk, &details)
}

/// Renders the customer and the price of the new orders, as the member typed them.
fn typed_order(desk: &Desk<'_>) -> Markup {
    let mut rows = Vec::new();
    for name in [order_inputs::CONTACT, order_inputs::PRICE] {
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

/// Renders an animal for the confirmation, with the customer of its order. If the action sets a field,
/// also renders its present and its new value.
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
                Some(present_value) => (values::value_markup(desk, &value.field, present_value)),
                None => "–",
            }
            " → " bdi { (value.words) }
        }
    }
}
