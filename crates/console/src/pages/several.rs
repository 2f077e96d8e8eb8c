//! Carries out a bulk action on the animals that are selected in the list.

use std::sync::Arc;

use petstore_domain::{
    Limit, PetId,
    store_area::{Command, FieldSet, OrderId, PresentState, Refusal, StorePet, decide},
    text::parse_integer,
};

use super::{
    animal_filters::is_list_parameter,
    animals,
    commands::{CommandFailure, refusal_message},
    order_contacts, order_rows,
    parts::link,
    photos,
    selected_acts::{BulkAction, SelectedAnimal, parse_action},
    values,
};
use crate::{
    ask::Question,
    order_inputs,
    prelude::*,
    reply::{Flash, Undo},
};

/// The reason why an animal was not changed.
pub(super) struct AnimalProblem {
    pub(super) pet: StorePet,
    /// The reason, for the member.
    pub(super) message: String,
}

/// The commands of a bulk action.
struct BulkCommands<'a> {
    commands: Vec<Command>,
    /// The animal of each command, at the index of the command.
    command_pets: Vec<&'a StorePet>,
    /// The animals whose commands would be refused.
    problems: Vec<AnimalProblem>,
}

/// An animal as the form selects it.
struct Selection {
    id: PetId,
    /// The version of the animal that the list showed.
    shown_version: i64,
}

/// Handles `POST /animals/selected`: changes the selected animals in one transaction. Asks for
/// confirmation if there are several.
pub(super) async fn change_selected(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let animals = load_selected_animals(desk).await?;
    let mut errors = Errors::default();
    if animals.is_empty() {
        errors.add("results", texts().none_selected);
    }
    let fields = Arc::new(desk.store().fields().await?);
    let parsed_action = parse_action(desk, &fields, animals.len(), &mut errors).await?;
    let action = match parsed_action {
        Some(action) if errors.is_empty() => action,
        _ => return animals::show(desk, form, &errors).await,
    };

    let bulk = BulkCommands::new(desk, &animals, &action, &fields);
    // A single animal is changed without a question.
    let needs_question = animals.len() > 1;
    let has_problems = !bulk.problems.is_empty();
    if needs_question && has_problems && !Question::is_answered(form) {
        return show_problems(desk, &bulk.problems).await;
    }
    if needs_question
        && !has_problems
        && let Some(question_page) = ask_to_confirm(desk, &animals, action)
    {
        return Ok(question_page);
    }
    // A confirmed form with problems is executed, too. It may come from the second click of a
    // double click, of which the first one has changed the animals and so caused the problems. The
    // store then returns the response to the first click.
    execute_commands(desk, bulk).await
}

/// Executes the commands of a bulk action, and redirects to the list. If they are refused, renders
/// the list with the reasons.
async fn execute_commands(desk: &Desk<'_>, bulk: BulkCommands<'_>) -> Result<Reply, ApiError> {
    let failure = match desk.execute(bulk.commands).await? {
        Ok(flash) => return Ok(redirect_to_list(desk, flash)),
        Err(failure) => failure,
    };
    // The store names only the first refused command. Problems that were found before are complete.
    if !bulk.problems.is_empty() {
        return show_problems(desk, &bulk.problems).await;
    }
    let CommandFailure { index, message, .. } = failure;
    let refused_pet = index.and_then(|index| bulk.command_pets.get(index).copied());
    match refused_pet {
        Some(pet) => {
            let pet = pet.clone();
            show_problems(desk, &[AnimalProblem { pet, message }]).await
        }
        None => animals::show(desk, &desk.visit.form, &Errors::from_text(&message)).await,
    }
}

/// Renders the list of animals with the message that nothing was changed because of `problems`.
async fn show_problems(desk: &Desk<'_>, problems: &[AnimalProblem]) -> Result<Reply, ApiError> {
    let list = problem_list(texts().nothing_changed, problems);
    animals::show(desk, &desk.visit.form, &Errors::from_markup(list)).await
}

impl<'a> BulkCommands<'a> {
    /// Builds the commands for all selected animals, and checks them.
    fn new(
        desk: &Desk<'_>,
        animals: &'a [SelectedAnimal],
        action: &BulkAction,
        fields: &Arc<FieldSet>,
    ) -> Self {
        let mut bulk = Self {
            commands: Vec::new(),
            command_pets: Vec::new(),
            problems: Vec::new(),
        };
        for animal in animals {
            let animal_commands = action.commands_for(animal);
            if let Some(refusal) = find_refusal(desk, animal, fields, &animal_commands) {
                let has_no_reservation = action.cancels_reservations() && animal.order.is_none();
                let message = if has_no_reservation {
                    texts().has_no_reservation.to_owned()
                } else {
                    refusal_message(&refusal)
                };
                bulk.problems.push(AnimalProblem {
                    pet: animal.pet.clone(),
                    message,
                });
            }
            for command in animal_commands {
                bulk.commands.push(command);
                bulk.command_pets.push(&animal.pet);
            }
        }
        bulk
    }
}

impl Selection {
    /// Parses the id and the version, such as `7:3`.
    fn parse(text: &str) -> Option<Self> {
        let (id, version) = text.split_once(':')?;
        Some(Self {
            id: PetId::new(parse_integer(id)?)?,
            shown_version: parse_integer(version)?,
        })
    }
}

/// Loads the animals that are selected in the form, with their open orders.
///
/// The form has a field `pet` for each animal. Skips unknown animals, and reads at most
/// [`Limit::MAX`] of the fields, which are more than a page of the list has.
async fn load_selected_animals(desk: &Desk<'_>) -> Result<Vec<SelectedAnimal>, StoreError> {
    let selections = desk.visit.form.all("pet").filter_map(Selection::parse);
    let mut animals = Vec::new();
    for selection in selections.take(usize::from(Limit::MAX)) {
        if let Some(pet) = desk.store().get_store_pet(selection.id).await? {
            animals.push(SelectedAnimal {
                pet,
                order: None,
                shown_version: selection.shown_version,
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
pub(super) fn problem_list(introduction: &str, problems: &[AnimalProblem]) -> Markup {
    html! {
        div {
            p { (introduction) }
            ul {
                @for AnimalProblem { pet, message } in problems {
                    li {
                        a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT_LENGTH)) }
                        (window_texts().colon) (message)
                    }
                }
            }
        }
    }
}

/// Checks the commands for an animal by the rules of the domain, without the store.
///
/// Each command is checked against the present state of the animal, as if it were the only one.
/// Returns the refusal of the last command that would be refused, or `None` if all would be
/// accepted.
fn find_refusal(
    desk: &Desk<'_>,
    animal: &SelectedAnimal,
    fields: &Arc<FieldSet>,
    commands: &[Command],
) -> Option<Refusal> {
    let present_state = PresentState {
        pet: Some(animal.pet.clone()),
        order: animal.order.clone(),
        // The open order of an animal holds it.
        holding_order: animal.order.clone(),
        fields: Arc::clone(fields),
        // Any id will do, because the decision is not carried out.
        next_order: OrderId::new(1),
        ..PresentState::default()
    };
    // The last command comes first, because the first one often only checks the version, and its
    // refusal is the least informative.
    commands
        .iter()
        .rev()
        .find_map(|command| decide(command, &present_state, desk.visit.now).err())
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
    flash.begin_with_animal_name();
    if let Some(undo) = flash.undo {
        flash.undo = Some(Undo {
            page: path.clone(),
            ..undo
        });
    }
    Reply::Redirect(path, Some(flash))
}

/// Returns the page that lists the animals and asks for confirmation of the action. Returns `None`
/// if the form already confirms it.
fn ask_to_confirm(
    desk: &Desk<'_>,
    animals: &[SelectedAnimal],
    action: BulkAction,
) -> Option<Reply> {
    let details = html! {
        @if action.places_orders() { (new_order_summary(desk)) }
        ul { @for animal in animals { li { (animal_row(desk, animal, &action)) } } }
    };
    let question = Question {
        title: action.question,
        effects: vec![texts().all_or_none.to_owned()],
        confirm_label: action.confirm_label,
        back_path: &list_path(&desk.visit.form),
    };
    question.ask(desk, &details)
}

/// Renders the customer and the price of the new orders, as the member typed them.
fn new_order_summary(desk: &Desk<'_>) -> Markup {
    let mut labelled_values = Vec::new();
    for name in [order_inputs::CONTACT, order_inputs::PRICE] {
        let typed_value = desk.visit.form.get(name);
        if !typed_value.is_empty() {
            labelled_values.extend(values::in_words(
                values::NO_FIELDS,
                desk.currency(),
                name,
                typed_value,
            ));
        }
    }
    html! {
        dl {
            @for (label, value) in labelled_values {
                dt { (label) }
                dd { (markup::text(&value, LONG_LENGTH)) }
            }
        }
    }
}

/// Renders an animal for the page on which the member confirms the action, with the customer of its
/// order. If the action sets a field, also renders its present value, or a dash, and its new value.
fn animal_row(desk: &Desk<'_>, animal: &SelectedAnimal, action: &BulkAction) -> Markup {
    let pet = &animal.pet;
    html! {
        (photos::thumbnail(pet))
        (markup::name(pet.name.as_str(), SHORT_LENGTH))
        " " small.muted { (texts().number) " " (pet.id) }
        " " (markup::pet_badges(pet))
        @if let Some(order) = &animal.order
            && let Some(contact) = order_contacts::visible_contact(desk, order)
        {
            " " (markup::text(contact, SHORT_LENGTH))
        }
        @if let Some(value) = &action.value {
            " "
            @match pet.fields.get(value.field.name.as_str()) {
                Some(present_value) => (values::value_markup(desk, &value.field, present_value)),
                None => "–",
            }
            " → " bdi { (value.words) }
        }
    }
}
