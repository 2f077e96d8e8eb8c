//! The page of a form that was saved during a sign-in. It shows what the form does, and with which
//! values. The member then submits or discards the form.
//!
//! The subjects of the form are the entries that it changes, such as an order or animals.

use hyper::{Method, StatusCode};
use petstore_domain::{
    PetId, Role, StaffId,
    staff::StaffMember,
    store_area::{Order, OrderId, StorePet, SubjectKind},
    text,
};
use petstore_store::StaffKey;
use petstore_web::edge::Response;

use super::ACTION;
use crate::{
    ask::CONFIRMATION,
    desk::{self, KEY_FIELD},
    forms::{RESERVATION_END, RESERVATION_END_OFFSET},
    layout, merge,
    order_inputs::{CONTACT, PRICE},
    prelude::*,
    reply::{CHANGE_FIELD, FROM_FIELD},
    visit::{FormAction, Visit},
    words,
};

/// The maximum number of selected animals whose names the page shows.
const MAX_NAMED_ANIMALS: usize = 50;

/// The path of the form for selected animals. The form also contains the filters of the list, which
/// have no effect on them.
const SELECTED_ANIMALS_PATH: &str = "/animals/selected";

/// The inputs of the form for selected animals that are not filters.
const SELECTED_ANIMALS_INPUTS: [&str; 6] = ["to", RESERVATION_END, "why", "value", CONTACT, PRICE];

/// The inputs whose values must not be shown: passwords, codes, session ids, and the parts of
/// passkeys.
const SECRET_INPUTS: [&str; 13] = [
    "current",
    "new",
    "again",
    "password",
    "code",
    "secret",
    "session",
    "id",
    "user",
    "client",
    "data",
    "signature",
    "key",
];

/// The inputs that people do not fill in, or that the page shows in another way.
const HIDDEN_INPUTS: [&str; 10] = [
    ACTION,
    "pet",
    "version",
    CONFIRMATION,
    KEY_FIELD,
    FROM_FIELD,
    CHANGE_FIELD,
    "like",
    "photo",
    RESERVATION_END_OFFSET,
];

/// A saved form, and what is known about it.
struct Submission<'a> {
    form: &'a Form,
    /// The path to which the form was submitted, possibly with a query.
    path: &'a str,
    /// The path without the query.
    path_only: &'a str,
    /// What submitting the form does; `None` if the console has no route for it.
    action: Option<FormAction<'a>>,
}

/// The entries that a form would change.
struct Subjects {
    order: Option<Order>,
    /// The name of the member of the staff that the form would change.
    staff_name: Option<String>,
    animals: Vec<StorePet>,
}

/// A value that somebody typed or chose, in words, with the label of its input.
struct TypedValue {
    label: String,
    words: String,
}

impl<'a> Submission<'a> {
    /// Returns the submission of a form to this path.
    fn new(visit: &Visit<'_>, path: &'a str, form: &'a Form) -> Self {
        let path_only = path.split('?').next().unwrap_or_default();
        Self {
            form,
            path,
            path_only,
            action: (visit.find_form_action)(&Method::POST, path_only),
        }
    }

    /// Returns the number in the path, such as the number of an order, if the path begins with this
    /// prefix.
    fn number_below(&self, prefix: &str) -> Option<i64> {
        if !self.path_only.starts_with(prefix) {
            return None;
        }
        let action = self.action.as_ref()?;
        text::parse_integer(action.parameter)
    }

    /// Whether the page shows this value of an input: it is not secret, people fill it in, and it
    /// may have an effect.
    fn shows(&self, name: &str, value: &str) -> bool {
        if SECRET_INPUTS.contains(&name)
            || HIDDEN_INPUTS.contains(&name)
            || merge::is_initial_value_name(name)
        {
            return false;
        }
        if self.path_only == SELECTED_ANIMALS_PATH {
            // `of` names the field that gets the `value`.
            let is_field = name == "of" && !self.form.get("value").is_empty();
            return !value.is_empty() && (is_field || SELECTED_ANIMALS_INPUTS.contains(&name));
        }
        // Of a merged form, only the touched values take effect. The price is always shown.
        let has_initial_value = merge::find_initial_value(self.form, name).is_some();
        if self.is_merged() && has_initial_value && name != PRICE {
            return merge::is_touched(self.form, name);
        }
        !value.is_empty()
    }

    /// Whether the submitted values are merged with the current ones. Forms that require a recent
    /// sign-in are not merged, so all of their values take effect.
    fn is_merged(&self) -> bool {
        self.action
            .as_ref()
            .is_some_and(|action| !action.needs_recent_sign_in)
    }
}

/// Returns the page of a saved form, with a button that submits it to `path`. If another member
/// filled in the form, the page says so, and has the status 409.
pub(crate) async fn saved_form_page(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Response, ApiError> {
    let submission = Submission::new(visit, path, form);
    let description = render_description(visit, member, &submission).await?;
    match desk::owner_of(form) {
        Some(owner) if owner != member.id => {
            let owner_name = find_name(visit, owner).await?;
            let owner_name = owner_name.as_deref().unwrap_or(texts().somebody);
            let explanation = html! {
                p { (texts().form_of(owner_name, member.name.as_str())) }
                (description)
            };
            let page = page_of_other_owner(visit, member, &submission, &explanation);
            Ok(page)
        }
        _ => Ok(page_of_own_form(visit, &submission, &description)),
    }
}

/// Returns the page of a form that the member filled in, or that was filled in without a session.
fn page_of_own_form(
    visit: &Visit<'_>,
    submission: &Submission<'_>,
    description: &Markup,
) -> Response {
    let button = html! { button.main { (texts().submit_saved_form) } };
    let content = html! {
        p { (texts().submit_saved_form_hint) }
        (description)
        (hidden_form(submission.path, submission.form, &button))
    };
    let title = texts().continue_label;
    layout::public_page(StatusCode::OK, &visit.facts, title, &content)
}

/// Returns the page of a form that another member filled in. `explanation` names that member, and
/// says what the form does. The button submits the form as `member`, who is signed in.
fn page_of_other_owner(
    visit: &Visit<'_>,
    member: &StaffMember,
    submission: &Submission<'_>,
    explanation: &Markup,
) -> Response {
    let button = html! { button { (texts().send_as(member.name.as_str())) } };
    let own_form = desk::with_owner(submission.form, member.id);
    let content = html! {
        (explanation)
        (hidden_form(submission.path, &own_form, &button))
    };
    let title = texts().form_of_another;
    layout::public_page(StatusCode::CONFLICT, &visit.facts, title, &content)
}

/// Returns the name of a member; `None` if there is no such member.
async fn find_name(visit: &Visit<'_>, id: StaffId) -> Result<Option<String>, ApiError> {
    let member = visit.console.app.store.find_staff(StaffKey::Id(id)).await?;
    Ok(member.map(|member| member.name.as_str().to_owned()))
}

/// Renders the form with all of its fields hidden, and the button that submits it.
fn hidden_form(path: &str, form: &Form, button: &Markup) -> Markup {
    html! {
        form method="post" action=(path) {
            @for (name, value) in form.fields() {
                input type="hidden" name=(name) value=(value);
            }
            div.buttons { (button) a href="/" { (texts().discard_saved_form) } }
        }
    }
}

/// Renders what the form does, the [`Subjects`] that it changes, and its values, as far as this
/// member may see them.
async fn render_description(
    visit: &Visit<'_>,
    member: &StaffMember,
    submission: &Submission<'_>,
) -> Result<Markup, ApiError> {
    let form = submission.form;
    let subjects = Subjects::load(visit, member, submission).await?;
    let values = read_typed_values(visit, member, submission).await?;
    // Empty unless the member has confirmed a question.
    let question = form.raw(CONFIRMATION);
    Ok(html! {
        dl.card {
            dt { (texts().what) }
            @if let Some(action) = &submission.action {
                dd { (wording::form_action(action.name, form.get(ACTION))) }
            }
            @if !question.is_empty() { dd { (markup::text(question, LONG_LENGTH)) } }
            dd.muted { code { (markup::readable(submission.path, LONG_LENGTH)) } }
            (subjects.show())
            @for value in values {
                dt { (value.label) }
                dd { (markup::text(&value.words, SHORT_LENGTH)) }
            }
        }
    })
}

impl Subjects {
    /// Loads the entry whose number is in the path of the form, if the member may see it, and the
    /// selected animals. An order also names its animal.
    async fn load(
        visit: &Visit<'_>,
        member: &StaffMember,
        submission: &Submission<'_>,
    ) -> Result<Self, ApiError> {
        let store = &visit.console.app.store;
        let order = match submission.number_below("/orders/").and_then(OrderId::new) {
            Some(id) => store.get_order(id).await?,
            None => None,
        };
        let staff_name = match submission.number_below("/settings/staff/") {
            Some(id) if member.role == Role::Manager => find_name(visit, StaffId(id)).await?,
            _ => None,
        };
        let mut animals = Vec::new();
        for id in animal_ids(submission, order.as_ref()) {
            animals.extend(store.get_store_pet(id).await?);
        }
        Ok(Self {
            order,
            staff_name,
            animals,
        })
    }

    /// Renders the entries.
    fn show(&self) -> Markup {
        html! {
            @if let Some(order) = &self.order {
                dt { (texts().order) }
                dd { (order.id) }
            }
            @if let Some(name) = &self.staff_name {
                dt { (texts().subject(SubjectKind::Staff)) }
                dd { (markup::name(name, SHORT_LENGTH)) }
            }
            @for pet in &self.animals {
                dt { (texts().animal) }
                dd { (markup::name(pet.name.as_str(), SHORT_LENGTH)) " (" (pet.id) ")" }
            }
        }
    }
}

/// Returns the ids of the animals that a form changes: the animal of the order, the animal in the
/// path, and the selected animals, up to [`MAX_NAMED_ANIMALS`].
fn animal_ids(submission: &Submission<'_>, order: Option<&Order>) -> Vec<PetId> {
    let id_in_path = submission.number_below("/animals/").and_then(PetId::new);
    let selected_ids = submission.form.all("pet").filter_map(parse_selected_animal);
    let mut ids = Vec::new();
    ids.extend(order.map(|order| order.pet_id));
    ids.extend(id_in_path);
    ids.extend(selected_ids.take(MAX_NAMED_ANIMALS));
    ids
}

/// Parses the id of a selected animal from the value of its checkbox: `7` from `7:12`, which
/// consists of the id and the version.
fn parse_selected_animal(value: &str) -> Option<PetId> {
    let number = value.split(':').next()?;
    PetId::new(text::parse_integer(number)?)
}

/// Reads the values that somebody typed or chose in the form, as far as this member may see them.
///
/// A value may have an effect even if its input has no label in the console. Such a value gets a
/// label made from the name of its input.
async fn read_typed_values(
    visit: &Visit<'_>,
    member: &StaffMember,
    submission: &Submission<'_>,
) -> Result<Vec<TypedValue>, ApiError> {
    let fields = visit.console.app.store.fields().await?;
    let currency = visit.facts.currency().value;
    let mut values = Vec::new();
    let mut photo_number = 0;
    for (name, untrimmed_value) in submission.form.fields() {
        let value = untrimmed_value.trim();
        // The inputs for descriptions of photos are numbered in the order of the form, whether
        // shown or not.
        let is_photo_description = name.starts_with("alt-");
        if is_photo_description {
            photo_number += 1;
        }
        let is_private = name == CONTACT && member.role < Role::Clerk;
        if is_private || !submission.shows(name, value) {
            continue;
        }

        if is_photo_description {
            values.push(TypedValue {
                label: texts().alt_of(photo_number),
                words: markup::readable(untrimmed_value, SHORT_LENGTH),
            });
            continue;
        }
        let (label, words) = words::in_words(fields.all(), currency, name, value)
            .unwrap_or_else(|| wording::detail(name, value));
        values.push(TypedValue { label, words });
    }
    Ok(values)
}
