//! The sign-in page, which offers the sign-in methods that the member has.

use hyper::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::staff::StaffMember;
use petstore_web::edge::Response;

use super::{
    destination::{DONE_PATH, Destination},
    passkey_button, password_field, problem_banner,
};
use crate::{
    browser_secret::BrowserSecret,
    layout,
    openid::Provider,
    prelude::*,
    session::{self, Session},
    visit::Visit,
};

/// What is known about the person who is signing in.
#[derive(Clone, Copy, Default)]
pub(super) struct Candidate<'m> {
    /// The name to show in the form; empty if it is not known yet.
    pub(super) name: &'m str,
    /// The member, if a signed-in member must authenticate again.
    pub(super) member: Option<&'m StaffMember>,
}

/// A builder for the sign-in page.
pub(super) struct SignInPage<'a> {
    destination: &'a Destination,
    candidate: Candidate<'a>,
    message: Option<&'a str>,
    status: StatusCode,
}

/// Returns the response to a request that needs a sign-in, because there is no session, or because
/// the member of `session` must authenticate again.
///
/// A request for a page without a session is redirected to the sign-in page. In the other cases,
/// the response is the sign-in page itself.
pub(crate) fn sign_in_page(visit: &Visit<'_>, session: Option<&Session>) -> Response {
    // A sign-out without a session is not worth saving: it comes from a double click on "Sign out",
    // or from a page whose session has ended.
    if visit.request.uri.path() == "/sign-out" {
        return layout::redirect("/sign-in");
    }
    let browser = BrowserSecret::from_cookie_or_new(visit);
    let destination = Destination::from_request(visit, &browser);
    let is_page = destination.saved_form.is_none() && destination.loss_reason.is_none();
    if is_page && session.is_none() {
        return redirect_to_sign_in(visit, &destination);
    }

    let member = session.map(|session| &session.member);
    let candidate = Candidate {
        name: member.map_or("", |member| member.name.as_str()),
        member,
    };
    let mut response = SignInPage::new(&destination)
        .with_candidate(candidate)
        .with_status(StatusCode::FORBIDDEN)
        .render(visit);
    if destination.saved_form.is_some() {
        browser.set_cookie(visit, &mut response);
    }
    response
}

/// Redirects to the sign-in page, or directly to the provider if its settings say so.
fn redirect_to_sign_in(visit: &Visit<'_>, destination: &Destination) -> Response {
    let skips_page = visit
        .console
        .provider
        .as_ref()
        .is_some_and(|provider| provider.settings.redirects);
    // A background request of a script cannot follow a redirect to another site.
    let path = if skips_page && !session::is_in_background(visit.request) {
        "/sign-in/provider"
    } else {
        "/sign-in"
    };
    let next = utf8_percent_encode(&destination.path, NON_ALPHANUMERIC);
    layout::redirect(&format!("{path}?next={next}"))
}

impl<'a> SignInPage<'a> {
    /// Returns the page for a sign-in that leads to this destination, with the status 200.
    pub(super) fn new(destination: &'a Destination) -> Self {
        Self {
            destination,
            candidate: Candidate::default(),
            message: None,
            status: StatusCode::OK,
        }
    }

    /// Sets the person who is signing in.
    pub(super) fn with_candidate(mut self, candidate: Candidate<'a>) -> Self {
        self.candidate = candidate;
        self
    }

    /// Sets the message about a rejected attempt.
    pub(super) fn with_message(mut self, message: &'a str) -> Self {
        self.message = Some(message);
        self
    }

    /// Sets the status of the response.
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Renders the page with the sign-in methods of the member. If the member is not known, it has
    /// all methods of the console.
    pub(super) fn render(self, visit: &Visit<'_>) -> Response {
        let member = self.candidate.member;
        let (can_have_password, can_use_provider) = match member {
            Some(member) => (member.password.is_some(), member.identity.is_some()),
            None => (true, true),
        };
        let has_password = can_have_password && visit.console.has_passwords();
        let provider = if can_use_provider {
            visit.console.provider.as_ref()
        } else {
            None
        };
        let hint = self.choose_hint(has_password, provider.is_some());
        let content = html! {
            (problem_banner(self.message))
            (problem_banner(self.destination.loss_reason))
            @if let Some(hint) = hint { p { (hint) } }
            @if let Some(provider) = provider {
                (provider_card(provider, self.destination, member))
            }
            @if has_password { (password_form(visit, self.destination, self.candidate)) }
        };
        layout::public_page(self.status, &visit.facts, texts().sign_in, &content)
    }

    /// Chooses the sentence above the sign-in methods. Returns `None` if the page needs none.
    fn choose_hint(&self, has_password: bool, has_provider: bool) -> Option<&'static str> {
        if self.destination.loss_reason.is_some() {
            return None;
        }
        if !has_password && !has_provider {
            return Some(texts().link_needed);
        }
        if self.message.is_some() {
            return None;
        }
        if self.candidate.member.is_some() && has_password {
            return Some(texts().password_again);
        }
        if self.destination.saved_form.is_some() {
            return Some(texts().form_saved);
        }
        None
    }
}

/// Renders the form for a name and a password. A known member without a passkey gets no passkey
/// button.
fn password_form(visit: &Visit<'_>, destination: &Destination, candidate: Candidate<'_>) -> Markup {
    let has_name = !candidate.name.is_empty();
    let name = Input {
        id: "name",
        label: texts().name,
        value: candidate.name,
        autocomplete: "username",
        is_required: true,
        has_autofocus: !has_name,
        ..Input::default()
    };
    let mut password_input = password_field("password", texts().password);
    password_input.has_autofocus = has_name;
    let can_have_passkey = match candidate.member {
        Some(member) => !member.passkeys.is_empty(),
        None => true,
    };
    html! {
        form.fields.card method="post" action="/sign-in" {
            (name.show())
            (password_input.show())
            (destination.hidden_fields())
            div.buttons { button.main { (texts().sign_in) } }
            @if can_have_passkey { (passkey_button::sign_in_button(visit, candidate.member)) }
        }
        p.hint { (texts().no_password) }
    }
}

/// Renders the button that leads to the provider. If a signed-in member must authenticate again,
/// the provider asks again, although the member has a session there.
///
/// A saved form stays on this page, because it must not leave this site. The member signs in in a
/// new tab, and then continues here with a second button.
fn provider_card(
    provider: &Provider,
    destination: &Destination,
    member: Option<&StaffMember>,
) -> Markup {
    let host = provider.settings.issuer.host();
    let next = if destination.saved_form.is_some() {
        DONE_PATH
    } else {
        &destination.path
    };
    let mut path = provider_path(next);
    if member.is_some() {
        path.push_str("&again=1");
    }
    let label = texts().sign_in_at(host);
    html! {
        div.card {
            @if destination.saved_form.is_some() {
                p { (texts().sign_in_in_new_tab(host)) }
                div.buttons { a.button.main href=(path) target="_blank" { (label) } }
                form method="post" action=(DONE_PATH) {
                    (destination.hidden_fields())
                    div.buttons {
                        button { (texts().continue_label) }
                        a href="/" { (texts().discard_saved_form) }
                    }
                }
            } @else {
                div.buttons { a.button.main href=(path) { (label) } }
            }
        }
    }
}

/// Returns the path that begins a sign-in at the provider, which then leads to the page at
/// `next_path`.
pub(super) fn provider_path(next_path: &str) -> String {
    let encoded_path = utf8_percent_encode(next_path, NON_ALPHANUMERIC);
    format!("/sign-in/provider?next={encoded_path}")
}
