//! A form that was filled in during an earlier session. The service sends it for the same member, or
//! for another member after a question.

use hyper::StatusCode;
use maud::{Markup, html};

use crate::{
    console::{
        desk, layout,
        markup::{self, SHORT},
        routes, texts,
        visit::{Form, Visit},
    },
    domain::staff::StaffMember,
    edge::{ApiError, Response},
    store::StaffKey,
};

/// A page that offers to send the form to this path. The script sends it at once, unless another
/// member has filled it in.
pub(in crate::console) async fn page(
    visit: &Visit<'_>,
    member: &StaffMember,
    path: &str,
    form: &Form,
) -> Result<Response, ApiError> {
    let mine = member.name.as_str();
    let Some(owner) = desk::owner_of(form).filter(|owner| *owner != member.id) else {
        let content = html! {
            p { (texts::SEND_KEPT_HINT) }
            (what(path, form))
            (send(path, form, true, &html! { button.main autofocus { (texts::SEND_KEPT) } }))
        };
        return Ok(layout::page(StatusCode::OK, texts::CONTINUE, &content));
    };
    let owner = visit.console.app.store.find_staff(StaffKey::Id(owner)).await?;
    let owner = owner.map_or_else(|| texts::SOMEBODY.to_owned(), |of| of.name.as_str().to_owned());
    let content = html! {
        p { (texts::form_of(&owner, mine)) }
        (what(path, form))
        (send(path, &desk::given_to(form, member.id), false, &html! { button { (texts::send_as(mine)) } }))
    };
    Ok(layout::page(StatusCode::CONFLICT, texts::FORM_OF_ANOTHER, &content))
}

fn send(path: &str, form: &Form, at_once: bool, button: &Markup) -> Markup {
    html! {
        form method="post" action=(path) data-resubmit[at_once] {
            @for (name, value) in form.fields() {
                input type="hidden" name=(name) value=(value);
            }
            div.buttons { (button) a href="/" { (texts::DROP_KEPT) } }
        }
    }
}

/// What the form does, and what was typed.
fn what(path: &str, form: &Form) -> Markup {
    let page = path.split('?').next().unwrap_or_default();
    let found = routes::find(&hyper::Method::POST, page).ok();
    // The form for several animals also has the filters of their list.
    let is_shown =
        |name: &str| form.raw("pet").is_empty() || ["pet", "to", "until", "why"].contains(&name);
    let typed = form.fields().iter().filter_map(|(name, value)| {
        let value = if name == "pet" { value.split(':').next()? } else { value.trim() };
        let is_shown = is_shown(name) && !value.is_empty();
        Some((texts::field(name).filter(|_| is_shown)?, value))
    });
    html! {
        dl.card {
            @if let Some((route, parameter)) = found {
                dt { (texts::WHAT) }
                dd { (texts::form(route.id, form.get("do"))) }
                @if !parameter.is_empty() { dt { (texts::NUMBER) } dd { (parameter) } }
            }
            @for (label, value) in typed {
                dt { (label) }
                dd { (markup::text(value, SHORT)) }
            }
        }
    }
}
