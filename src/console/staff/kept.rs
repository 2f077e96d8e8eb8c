//! A form that was filled in during an earlier session. The service sends it for the same member, or
//! for another member after a question.

use hyper::StatusCode;

use crate::console::prelude::*;
use crate::{
    console::{desk, layout, merge, visit::Visit, words},
    domain::{PetId, Role, staff::StaffMember, store_area::OrderId},
    edge::Response,
    store::StaffKey,
    text,
};

/// How many of the ticked animals the page names.
const MOST_ANIMALS: usize = 50;

/// A page that offers to send the form to this path. The script sends it at once, unless another
/// member has filled it in.
pub(crate) async fn page(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Response, ApiError> {
    let mine = member.name.as_str();
    let what = what(visit, member, path, form).await?;
    let Some(owner) = desk::owner_of(form).filter(|owner| *owner != member.id) else {
        let content = html! {
            p { (texts().send_kept_hint) }
            (what)
            (send(path, form, true, &html! { button.main autofocus { (texts().send_kept) } }))
        };
        return Ok(layout::page(StatusCode::OK, &visit.facts, texts().continue_label, &content));
    };
    let owner = visit.console.app.store.find_staff(StaffKey::Id(owner)).await?;
    let owner = owner.map_or_else(|| texts().somebody.to_owned(), |of| of.name.as_str().to_owned());
    let content = html! {
        p { (texts().form_of(&owner, mine)) }
        (what)
        (send(path, &desk::given_to(form, member.id), false, &html! { button { (texts().send_as(mine)) } }))
    };
    Ok(layout::page(StatusCode::CONFLICT, &visit.facts, texts().form_of_another, &content))
}

pub(super) fn send(path: &str, form: &Form, at_once: bool, button: &Markup) -> Markup {
    html! {
        form method="post" action=(path) data-resubmit[at_once] {
            @for (name, value) in form.fields() {
                input type="hidden" name=(name) value=(value);
            }
            div.buttons { (button) a href="/" { (texts().drop_kept) } }
        }
    }
}

/// The action of the form, and the typed values, for the member who is signed in.
async fn what(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Markup, ApiError> {
    let store = &visit.console.app.store;
    let page = path.split('?').next().unwrap_or_default();
    let found = (visit.find)(&hyper::Method::POST, page);
    let number = found.and_then(|(_, parameter)| text::integer(parameter));
    let order = number.and_then(OrderId::new).filter(|_| page.starts_with("/orders/"));
    let order = match order {
        Some(id) => store.get_order(id).await?,
        None => None,
    };
    let of_page = number.and_then(PetId::new).filter(|_| page.starts_with("/animals/"));
    let of_page = order.as_ref().map(|order| order.pet_id).or(of_page);
    let ticked =
        form.all("pet").filter_map(|pet| PetId::new(text::integer(pet.split(':').next()?)?));
    let mut animals = Vec::new();
    for id in of_page.into_iter().chain(ticked.take(MOST_ANIMALS)) {
        animals.extend(store.get_store_pet(id).await?);
    }
    let fields = store.fields().await?;
    let currency = visit.facts.currency().value;
    // The form for several animals also has the filters of their list.
    let is_filter =
        |name: &str| !form.raw("pet").is_empty() && !["to", "until", "why"].contains(&name);
    let is_typed = |name: &str, value: &str| match merge::was(form, name) {
        Some(_) if name != "price" => merge::is_touched(form, name),
        _ => !value.is_empty(),
    };
    let may_see = |name: &str| name != "contact" || member.role >= Role::Clerk;
    let (mut typed, mut photos) = (Vec::new(), 0);
    for (name, value) in form.fields().iter().filter(|(name, _)| !is_filter(name) && may_see(name))
    {
        photos += usize::from(name.starts_with("alt-"));
        if !is_typed(name, value.trim()) {
            continue;
        }
        if name.starts_with("alt-") {
            typed.push((texts().alt_of(photos), markup::readable(value, SHORT)));
        }
        typed.extend(words::in_words(fields.all(), currency, name, value.trim()));
    }
    Ok(html! {
        dl.card {
            @if let Some((does, _)) = found {
                dt { (texts().what) }
                dd { (wording::form(does, form.get("do"))) }
            }
            @if let Some(order) = order { dt { (texts().order) } dd { (order.id) } }
            @for pet in animals {
                dt { (texts().animal) }
                dd { (markup::name(pet.name.as_str(), SHORT)) " (" (pet.id) ")" }
            }
            @for (label, value) in typed {
                dt { (label) }
                dd { (markup::text(&value, SHORT)) }
            }
        }
    })
}
