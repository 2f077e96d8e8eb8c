//! The page of a form that was filled in before a sign-in. The member reads its action and its values, and then sends it
//! or not.

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

/// The maximum number of ticked animals that the page names.
const MAX_NAMED_ANIMALS: usize = 50;

/// The form for ticked animals, which also has the filters of their list.
const SELECTED: &str = "/animals/selected";

/// The inputs of the form for ticked animals that are no filters.
const INPUTS_OF_SELECTED: [&str; 6] = ["to", "until", "why", "value", "contact", "price"];

/// The inputs whose values nobody may read on the screen: passwords, codes, and the parts of passkeys and sessions.
const SECRETS: [&str; 13] = [
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

/// The inputs that nobody types, and the inputs that the page shows in another way.
const UNTYPED: [&str; 10] = [
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

/// Returns a page that shows the form to this path, and sends it when the member presses the button. The status is 409 if
/// another member filled in the form.
pub(crate) async fn page(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Response, ApiError> {
    let form_description = description(visit, member, path, form).await?;
    let owner = match desk::owner_of(form) {
        Some(owner) if owner != member.id => owner,
        _ => {
            let button = html! { button.main { (texts().send_kept) } };
            let content = html! {
                p { (texts().send_kept_hint) }
                (form_description)
                (send_form(path, form, &button))
            };
            let title = texts().continue_label;
            return Ok(layout::page(StatusCode::OK, &visit.facts, title, &content));
        }
    };

    let key = StaffKey::Id(owner);
    let owner = visit.console.app.store.find_staff(key).await?;
    let owner_name = match &owner {
        Some(owner) => owner.name.as_str(),
        None => texts().somebody,
    };
    let member_name = member.name.as_str();
    let button = html! { button { (texts().send_as(member_name)) } };
    let own_form = desk::given_to(form, member.id);
    let content = html! {
        p { (texts().form_of(owner_name, member_name)) }
        (form_description)
        (send_form(path, &own_form, &button))
    };
    let title = texts().form_of_another;
    Ok(layout::page(
        StatusCode::CONFLICT,
        &visit.facts,
        title,
        &content,
    ))
}

/// Renders the fields of a form as hidden ones, with the button that sends them.
fn send_form(path: &str, form: &Form, button: &Markup) -> Markup {
    html! {
        form method="post" action=(path) {
            @for (name, value) in form.fields() {
                input type="hidden" name=(name) value=(value);
            }
            div.buttons { (button) a href="/" { (texts().drop_kept) } }
        }
    }
}

/// Renders the action of the form, its subjects, and the typed values, as far as this member may see them.
async fn description(
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
                dd { (wording::form(action.name, form.get("do"))) }
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

/// The entries of the store that a form is about.
struct Subjects {
    order: Option<Order>,
    /// The name of a member of the staff.
    member: Option<String>,
    animals: Vec<StorePet>,
}

impl Subjects {
    /// Reads the entry with the number in the path of the form, as far as the member may see it, and the ticked
    /// animals.
    async fn load(
        store: &dyn Store,
        member: &StaffMember,
        page: &str,
        number: Option<i64>,
        form: &Form,
    ) -> Result<Self, ApiError> {
        let mut subjects = Self {
            order: None,
            member: None,
            animals: Vec::new(),
        };
        let mut animals = Vec::new();
        if page.starts_with("/orders/")
            && let Some(id) = number.and_then(OrderId::new)
        {
            subjects.order = store.get_order(id).await?;
            animals.extend(subjects.order.as_ref().map(|order| order.pet_id));
        }
        if page.starts_with("/animals/") {
            animals.extend(number.and_then(PetId::new));
        }
        if page.starts_with("/settings/staff/")
            && member.role == Role::Manager
            && let Some(id) = number
        {
            let subject = store.find_staff(StaffKey::Id(StaffId(id))).await?;
            subjects.member = subject.map(|subject| subject.name.as_str().to_owned());
        }
        let ticked_animals = form.all("pet").filter_map(ticked_animal);
        animals.extend(ticked_animals.take(MAX_NAMED_ANIMALS));
        for id in animals {
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
            @if let Some(name) = &self.member {
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

/// Parses the value of the box of a ticked animal, such as `7:12`: its number, and its version.
fn ticked_animal(value: &str) -> Option<PetId> {
    let number = value.split(':').next()?;
    PetId::new(text::parse_integer(number)?)
}

/// A value that somebody has typed or chosen, with the label of its input.
struct TypedValue {
    label: String,
    words: String,
}

/// Returns what somebody has typed into the form, as far as this member may see it. Values with an effect of their own
/// and without a label in the console have the name of their input.
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
    let mut photos = 0;
    for (name, value) in form.fields() {
        photos += usize::from(name.starts_with("alt-"));
        let is_contact = name == "contact" && member.role < Role::Clerk;
        if is_contact || !is_shown(action.as_ref(), page, form, name, value.trim()) {
            continue;
        }

        if name.starts_with("alt-") {
            let label = texts().alt_of(photos);
            values.push(TypedValue {
                label,
                words: markup::readable(value, SHORT_LENGTH),
            });
            continue;
        }
        let in_words = words::in_words(fields.all(), currency, name, value.trim());
        let (label, words) = in_words.unwrap_or_else(|| wording::detail(name, value.trim()));
        values.push(TypedValue { label, words });
    }
    Ok(values)
}

/// Whether the page shows this value.
fn is_shown(
    action: Option<&FormAction<'_>>,
    page: &str,
    form: &Form,
    name: &str,
    value: &str,
) -> bool {
    if SECRETS.contains(&name) || UNTYPED.contains(&name) || merge::is_initial_value_name(name) {
        return false;
    }
    if page == SELECTED {
        let is_field = name == "of" && !form.get("value").is_empty();
        return !value.is_empty() && (is_field || INPUTS_OF_SELECTED.contains(&name));
    }
    // The forms that need a password are carried out as they are, whatever they say about what they showed.
    let is_merged = name != "price" && action.is_some_and(|action| !action.needs_recent_sign_in);
    if is_merged && merge::initial_value(form, name).is_some() {
        return merge::is_touched(form, name);
    }
    !value.is_empty()
}
