//! Changing several animals at once.

use std::sync::Arc;

use petstore_domain::{
    Limit, PetId,
    store_area::{
        Command, FieldDefinition, FieldPatch, FieldSet, FieldValues, Given, NewOrder, Order,
        OrderId, OrderTerms, PetPatch, Preconditions, Present, StorePet, decide,
    },
    text,
};

use super::{
    animal_filters::is_list_parameter,
    animals, cells,
    commands::{NotDone, refused},
    order_rows,
    parts::link,
    photos,
    selected::{CANCEL, GIVE_BACK},
    undo,
    value_reader::ValueReader,
    values,
};
use crate::{ask::Question, order_inputs, prelude::*, reply::UNDOES};

/// The inputs that say which button the Enter key means.
const TYPED: [(&str, &str); 4] = [
    ("to", "move"),
    ("value", "value"),
    ("why", "withdraw"),
    ("contact", "reserve"),
];

/// What a button does.
struct Act {
    /// The commands for a selected animal, with its open order.
    commands: ForPet,
    /// The question before it is done, and the label of the button that says yes.
    question: String,
    yes: &'static str,
    /// Whether it places orders.
    is_order: bool,
    /// The field that gets a value, and the value in words.
    value: Option<(FieldDefinition, String)>,
}

type ForPet = Box<dyn Fn(Selected<'_>, Option<&Order>) -> Vec<Command> + Send + Sync>;

#[derive(Clone, Copy)]
struct Selected<'f> {
    id: PetId,
    version: i64,
    /// The value from before, if it is given back.
    before: &'f str,
}

/// Changes the selected animals in one transaction. Asks first if there are several.
pub(super) async fn change_selected(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let marked: Vec<Selected<'_>> = form
        .all("pet")
        .filter_map(|pet| {
            let (id, rest) = pet.split_once(':')?;
            let (version, before) = rest.split_once(':').unwrap_or((rest, ""));
            let id = PetId::new(text::integer(id)?)?;
            Some(Selected {
                id,
                version: text::integer(version)?,
                before,
            })
        })
        .take(usize::from(Limit::MAX))
        .collect();
    let mut selected = Vec::with_capacity(marked.len());
    let mut pets = Vec::with_capacity(marked.len());
    // An unknown animal is left out with its version and its value.
    for mark in marked {
        if let Some(pet) = desk.store().get_store_pet(mark.id).await? {
            selected.push(mark);
            pets.push(pet);
        }
    }
    let mut errors = Errors::default();
    if selected.is_empty() {
        errors.add("results", texts().none_selected);
    }
    let fields = Arc::new(desk.store().fields().await?);
    let act = act(desk, &fields, selected.len(), &mut errors).await?;
    let (Some(act), true) = (act, errors.is_empty()) else {
        return animals::show(desk, form, &errors).await;
    };
    let orders = order_rows::load_orders(desk, pets.iter().filter_map(|pet| pet.order_id)).await?;
    let (mut commands, mut owners, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (pet, of) in pets.iter().zip(&selected) {
        let order = orders.iter().find(|order| Some(order.id) == pet.order_id);
        let of_pet = (act.commands)(*of, order);
        let why = problem(desk, (pet, order), &fields, &of_pet);
        problems.extend(why.map(|why| (pet, why)));
        owners.extend(of_pet.iter().map(|_| pet));
        commands.extend(of_pet);
    }
    let is_asked = selected.len() > 1 && form.raw(UNDOES).is_empty();
    if is_asked
        && problems.is_empty()
        && let Some(asked) = ask(desk, (&pets, &orders), act)
    {
        return Ok(asked);
    }
    let mut head = texts().nothing_changed;
    // A second click on the answer has the message of the first one.
    if !is_asked || problems.is_empty() || Question::is_answered(form) {
        // What nobody has changed since gets its value back, whatever is with the others.
        let is_left = |of: &StorePet| problems.iter().any(|(pet, _)| pet.id == of.id);
        let others = commands
            .iter()
            .zip(&owners)
            .filter(|(_, pet)| !is_left(pet));
        let others: Vec<_> = others.map(|(command, _)| command.clone()).collect();
        match desk.execute(commands).await? {
            Ok(flash) => return Ok(undo::on_list(flash, list_of(form))),
            Err(NotDone { index, why, .. }) if problems.is_empty() => {
                let Some(pet) = index.and_then(|index| owners.get(index)) else {
                    return animals::show(desk, form, &Errors::from_text(&why)).await;
                };
                problems.push((*pet, why));
            }
            Err(_) if form.get("do") == GIVE_BACK && !others.is_empty() => {
                if desk.execute(others).await?.is_ok() {
                    head = texts().undone_without;
                }
            }
            Err(_) => {}
        }
    }
    let problem = html! {
        div {
            p { (head) }
            ul {
                @for (pet, why) in problems {
                    li {
                        a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), SHORT)) }
                        (window_texts().colon) (why)
                    }
                }
            }
        }
    };
    animals::show(desk, form, &Errors::from_markup(problem)).await
}

/// Why commands about an animal cannot be carried out, as the store would find it.
fn problem(
    desk: &Desk<'_>,
    (pet, order): (&StorePet, Option<&Order>),
    fields: &Arc<FieldSet>,
    commands: &[Command],
) -> Option<String> {
    let present = Present {
        pet: Some(pet.clone()),
        order: order.cloned(),
        holder: order.cloned(),
        fields: Arc::clone(fields),
        next_order: OrderId::new(1),
        ..Present::default()
    };
    // Behind the check of the version, which says least.
    let refusal = |command| decide(command, &present, desk.visit.now).err();
    let refusal = commands.iter().rev().find_map(refusal)?;
    let has_none = desk.visit.form.get("do") == CANCEL && order.is_none();
    Some(if has_none {
        texts().has_no_reservation.to_owned()
    } else {
        refused(&refusal)
    })
}

/// The list from which the form was sent.
fn list_of(form: &Form) -> String {
    let fields = form
        .fields()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    link(
        "/animals",
        &fields
            .filter(|(name, _)| is_list_parameter(name))
            .collect::<Vec<_>>(),
    )
}

/// Asks before several animals are changed, and shows which.
fn ask(desk: &Desk<'_>, (pets, orders): (&[StorePet], &[Order]), act: Act) -> Option<Reply> {
    let form = &desk.visit.form;
    let typed = ["contact", order_inputs::PRICE].map(|name| (name, form.get(name)));
    let typed = typed
        .into_iter()
        .filter(|(_, typed)| act.is_order && !typed.is_empty());
    let in_words = |(name, typed)| values::in_words(&[], desk.currency(), name, typed);
    let details = html! {
        dl { @for (label, typed) in typed.filter_map(in_words) { dt { (label) } dd { (markup::text(&typed, LONG)) } } }
        ul {
            @for pet in pets {
                li {
                    (photos::thumbnail(pet))
                    (markup::name(pet.name.as_str(), SHORT)) " " small.muted { (texts().number) " " (pet.id) } " "
                    (markup::pet_badge(pet))
                    @if let Some(contact) = order_rows::contact_for(desk, orders, pet) { " " (markup::text(contact, SHORT)) }
                    @if let Some((field, new)) = &act.value {
                        " " @if let Some(old) = pet.fields.get(field.name.as_str()) { (values::value_markup(desk, field, old)) } @else { "–" }
                        " → " bdi { (new) }
                    }
                }
            }
        }
    };
    let question = Question {
        title: act.question,
        effects: vec![texts().all_or_none.to_owned()],
        yes: act.yes,
        back: &list_of(&desk.visit.form),
    };
    question.ask(desk, &details)
}

/// A change of an animal, if it has this version.
fn change(of: Selected<'_>, patch: PetPatch) -> Command {
    Command::PatchPet {
        id: of.id,
        patch,
        preconditions: Preconditions::version(of.version),
    }
}

/// What the pressed button does. Nothing if something is wrong.
async fn act(
    desk: &Desk<'_>,
    fields: &FieldSet,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<Act>, StoreError> {
    let form = &desk.visit.form;
    let typed = TYPED.iter().filter(|(name, _)| !form.get(name).is_empty());
    let button = match (
        form.get("do"),
        &typed.map(|(_, button)| *button).collect::<Vec<_>>()[..],
    ) {
        ("", [button]) => *button,
        (button, _) => button,
    };
    let is_order = ["reserve", "sell"].contains(&button);
    let act = |yes, question, commands| {
        Some(Act {
            commands,
            question,
            yes,
            is_order,
            value: None,
        })
    };
    // One customer, as for a litter. Without a price, each has its own.
    let order = |terms: OrderTerms, errors: &mut Errors| -> ForPet {
        let values = order_inputs::parse_patch(
            form,
            desk.currency(),
            |name| !form.get(name).is_empty(),
            errors,
        );
        Box::new(move |of, _| {
            let new = NewOrder::of(of.id, terms).with(values.clone());
            vec![change(of, PetPatch::default()), Command::PlaceOrder(new)]
        })
    };
    let patched =
        |patch: PetPatch| -> ForPet { Box::new(move |of, _| vec![change(of, patch.clone())]) };
    Ok(match button {
        "reserve" => {
            let end = errors.take("until", forms::parse_end_of_day(form, desk.visit.now));
            let until = wording::day(form.get("until"));
            let terms = end.map(OrderTerms::ReservedUntil);
            terms.and_then(|terms| {
                act(
                    texts().reserve,
                    texts().reserve_animals(count, &until),
                    order(terms, errors),
                )
            })
        }
        "sell" => act(
            texts().sell,
            texts().sell_animals(count),
            order(OrderTerms::Completed, errors),
        ),
        CANCEL => act(
            texts().cancel_reservations,
            texts().cancel_reservations_of(count),
            Box::new(|of, order| {
                // No animal has the version 0.
                let version = order.map_or(0, |_| of.version);
                let check = change(Selected { version, ..of }, PetPatch::default());
                let cancel = order.map(|order| Command::CancelOrder {
                    id: order.id,
                    reason: None,
                    preconditions: Preconditions::version(order.version),
                });
                [check].into_iter().chain(cancel).collect()
            }),
        ),
        "withdraw" => {
            let reason = errors.take("why", forms::parse_withdrawal_reason(form.get("why")));
            reason.and_then(|reason| {
                let withdraw = move |of: Selected<'_>, _: Option<&Order>| {
                    let preconditions = Preconditions::version(of.version);
                    vec![Command::WithdrawPet {
                        id: of.id,
                        reason,
                        note: None,
                        preconditions,
                    }]
                };
                act(
                    texts().withdraw,
                    texts().withdraw_animals(count, reason),
                    Box::new(withdraw),
                )
            })
        }
        GIVE_BACK => fields.find(form.get("of")).cloned().and_then(|field| {
            let give_back = move |of: Selected<'_>, _: Option<&Order>| {
                let value = Some(of.before).filter(|text| !text.is_empty());
                let given = value.map_or(Given::Clear, |text| field.in_cell(text));
                let fields = FieldPatch::from([(field.name.as_str().to_owned(), given)]);
                vec![change(
                    of,
                    PetPatch {
                        fields,
                        ..PetPatch::default()
                    },
                )]
            };
            act(texts().undo, texts().undo.to_owned(), Box::new(give_back))
        }),
        "value" => errors
            .take("value", value(desk, fields))
            .map(|(field, given, words)| {
                let label = markup::readable(field.label.as_str(), SHORT);
                let (question, yes) = match given {
                    Given::Clear => (texts().clear_animals(count, &label), texts().remove_choice),
                    _ => (
                        texts().change_animals(count, &label, &words),
                        texts().change_verb,
                    ),
                };
                let fields = FieldPatch::from([(field.name.as_str().to_owned(), given)]);
                let commands = patched(PetPatch {
                    fields,
                    ..PetPatch::default()
                });
                let value = Some((field.clone(), words));
                Act {
                    commands,
                    question,
                    yes,
                    is_order,
                    value,
                }
            }),
        _ => {
            let categories = desk.load_categories_by_names([form.get("to")]).await?;
            let id = errors.take("to", forms::find_category(form.get("to"), &categories));
            id.and_then(|id| {
                let question = texts().move_animals(count, &markup::category(&categories, id));
                let patch = PetPatch {
                    category_id: Some(id),
                    ..PetPatch::default()
                };
                act(texts().move_label, question, patched(patch))
            })
        }
    })
}

/// The field that is chosen, and the value that is typed for it as in a cell of a spreadsheet, also in words.
fn value<'f>(
    desk: &Desk<'_>,
    fields: &'f FieldSet,
) -> Result<(&'f FieldDefinition, Given, String), String> {
    let field = fields
        .find(desk.visit.form.get("of"))
        .filter(|field| !field.is_unique);
    let field = field.ok_or_else(|| texts().field_missing.to_owned())?;
    let id = values::input_of(field);
    let typed = cells::normalize(field, desk.visit.form.get("value"), desk.currency())?;
    let words = values::in_words(fields.all(), desk.currency(), &id, &typed);
    let mut wrong = Errors::default();
    let form = Form::from_pairs(&[(&*id, &*typed)]);
    let reader = ValueReader::new(desk, fields);
    let given = reader
        .read_patch(&form, &FieldValues::NONE, &mut wrong)
        .remove(field.name.as_str());
    match wrong.messages().next() {
        Some(why) => Err(why.to_owned()),
        None => Ok((
            field,
            given.unwrap_or(Given::Clear),
            words.unwrap_or_default().1,
        )),
    }
}
