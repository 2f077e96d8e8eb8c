//! The page of a form that was saved during a sign-in. It shows what the form does, and with which
//! values. The member then submits or discards the form.

use hyper::StatusCode;
use petstore_domain::{
    PetId, Role, StaffId,
    staff::StaffMember,
    store_area::{Order, OrderId, StorePet, SubjectKind},
    text,
};
use petstore_store::{StaffKey, Store};
use petstore_web::edge::Response;

use crate::{
    ask::CONFIRMATION,
    desk, layout, merge,
    prelude::*,
    visit::{FormAction, Visit},
    words,
};

/// The maximum number of selected animals whose names the page shows.
const MAX_NAMED_ANIMALS: usize = 50;

/// The path of the form for selected animals. The form also contains the filters of the list, which
/// have no effect on them.
const SELECTED_ANIMALS_PATH: &str = "/animals/selected";

/// The inputs of the form for selected animals that are not filters.
const SELECTED_ANIMALS_INPUTS: [&str; 6] = ["to", "until", "why", "value", "contact", "price"];

/// The inputs whose values must not be shown: passwords, codes, session names, and the parts of
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
    "do",
    "pet",
    "version",
    CONFIRMATION,
    "_key",
    "from",
    "change",
    "like",
    "photo",
    "until-offset",
];

/// Returns the page of a saved form, with a button that submits it to `path`. If another member
/// filled in the form, the page says so, and has the status 409.
pub(crate) async fn page(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Response, ApiError> {
    let form_description = describe_form(visit, member, path, form).await?;
    let other_owner_id = desk::owner_of(form).filter(|owner| *owner != member.id);
    let Some(owner_id) = other_owner_id else {
        let button = html! { button.main { (texts().submit_saved_form) } };
        let content = html! {
            p { (texts().submit_saved_form_hint) }
            (form_description)
            (hidden_form(path, form, &button))
        };
        let title = texts().continue_label;
        return Ok(layout::public_page(
            StatusCode::OK,
            &visit.facts,
            title,
            &content,
        ));
    };

    let key = StaffKey::Id(owner_id);
    let owner = visit.console.app.store.find_staff(key).await?;
    let owner_name = match &owner {
        Some(owner) => owner.name.as_str(),
        None => texts().somebody,
    };
    let member_name = member.name.as_str();
    let button = html! { button { (texts().send_as(member_name)) } };
    let own_form = desk::with_owner(form, member.id);
    let content = html! {
        p { (texts().form_of(owner_name, member_name)) }
        (form_description)
        (hidden_form(path, &own_form, &button))
    };
    let title = texts().form_of_another;
    Ok(layout::public_page(
        StatusCode::CONFLICT,
        &visit.facts,
        title,
        &content,
    ))
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

/// Renders what the form does, the entries that it changes, and its values, as far as this member
/// may see them.
async fn describe_form(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Markup, ApiError> {
    let page = path.split('?').next().unwrap_or_default();
    let action = (visit.find_form_action)(&hyper::Method::POST, page);
    let number = action
        .as_ref()
        .and_then(|action| text::parse_integer(action.parameter));
    let subjects = Subjects::load(&*visit.console.app.store, member, page, number, form).await?;
    let values = typed_values(visit, member, page, form).await?;
    let question = form.raw(CONFIRMATION);
    Ok(html! {
        dl.card {
            dt { (texts().what) }
            @if let Some(action) = action {
                dd { (wording::form_action(action.name, form.get("do"))) }
            }
            @if !question.is_empty() { dd { (markup::text(question, LONG_LENGTH)) } }
            dd.muted { code { (markup::readable(path, LONG_LENGTH)) } }
            (subjects.show())
            @for value in values {
                dt { (value.label) }
                dd { (markup::text(&value.words, SHORT_LENGTH)) }
            }
        }
    })
}

/// The entries that a form would change.
struct Subjects {
    order: Option<Order>,
    /// The name of the member of the staff that the form would change.
    staff_name: Option<String>,
    animals: Vec<StorePet>,
}

impl Subjects {
    /// Loads the entry whose number is in the path of the form, if the member may see it, and the
    /// selected animals. An order also names its animal.
    async fn load(
        store: &dyn Store,
        member: &StaffMember,
        page: &str,
        number: Option<i64>,
        form: &Form,
    ) -> Result<Self, ApiError> {
        let mut subjects = Self {
            order: None,
            staff_name: None,
            animals: Vec::new(),
        };
        let mut animal_ids = Vec::new();
        if page.starts_with("/orders/")
            && let Some(id) = number.and_then(OrderId::new)
        {
            subjects.order = store.get_order(id).await?;
            animal_ids.extend(subjects.order.as_ref().map(|order| order.pet_id));
        }
        if page.starts_with("/animals/") {
            animal_ids.extend(number.and_then(PetId::new));
        }
        if page.starts_with("/settings/staff/")
            && member.role == Role::Manager
            && let Some(id) = number
        {
            let subject_member = store.find_staff(StaffKey::Id(StaffId(id))).await?;
            subjects.staff_name = subject_member.map(|member| member.name.as_str().to_owned());
        }
        let selected_animals = form.all("pet").filter_map(parse_selected_animal);
        animal_ids.extend(selected_animals.take(MAX_NAMED_ANIMALS));
        for id in animal_ids {
            subjects.animals.extend(store.get_store_pet(id).await?);
        }
        Ok(subjects)
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

/// Parses the id of a selected animal from the value of its checkbox: `7` from `7:12`, which
/// consists of the id and the version.
fn parse_selected_animal(value: &str) -> Option<PetId> {
    let number = value.split(':').next()?;
    PetId::new(text::parse_integer(number)?)
}

/// A value that somebody typed or chose, in words, with the label of its input.
struct TypedValue {
    label: String,
    words: String,
}

/// Returns the values that somebody typed or chose in the form, as far as this member may see them.
/// A value may have an effect even if its input has no label in the console, so it is shown with a
/// label made from the name of the input.
async fn typed_values(
    visit: &Visit<'_>,
    member: &StaffMember,
    page: &str,
    form: &Form,
) -> Result<Vec<TypedValue>, ApiError> {
    let fields = visit.console.app.store.fields().await?;
    let currency = visit.facts.currency().value;
    let action = (visit.find_form_action)(&hyper::Method::POST, page);
    let mut values = Vec::new();
    let mut photo_number = 0;
    for (name, value) in form.fields() {
        // The inputs for descriptions of photos are numbered in the order of the form, whether
        // shown or not.
        let is_photo_description = name.starts_with("alt-");
        photo_number += usize::from(is_photo_description);
        let is_private = name == "contact" && member.role < Role::Clerk;
        if is_private || !is_shown(action.as_ref(), page, form, name, value.trim()) {
            continue;
        }

        if is_photo_description {
            values.push(TypedValue {
                label: texts().alt_of(photo_number),
                words: markup::readable(value, SHORT_LENGTH),
            });
            continue;
        }
        let known_input = words::in_words(fields.all(), currency, name, value.trim());
        let (label, words) = known_input.unwrap_or_else(|| wording::detail(name, value.trim()));
        values.push(TypedValue { label, words });
    }
    Ok(values)
}

/// Whether the page shows this value: it is not secret, people fill it in, and it may have an
/// effect.
fn is_shown(
    action: Option<&FormAction<'_>>,
    page: &str,
    form: &Form,
    name: &str,
    value: &str,
) -> bool {
    if SECRET_INPUTS.contains(&name)
        || HIDDEN_INPUTS.contains(&name)
        || merge::is_initial_value_name(name)
    {
        return false;
    }
    if page == SELECTED_ANIMALS_PATH {
        // `of` names the field that gets the `value`.
        let is_field = name == "of" && !form.get("value").is_empty();
        return !value.is_empty() && (is_field || SELECTED_ANIMALS_INPUTS.contains(&name));
    }
    // Of a merged form, only the touched values take effect. Forms that require a recent sign-in
    // are not merged, so all of their values are shown. The price is always shown, too.
    let is_merged = name != "price" && action.is_some_and(|action| !action.needs_recent_sign_in);
    if is_merged && merge::initial_value(form, name).is_some() {
        return merge::is_touched(form, name);
    }
    !value.is_empty()
}
