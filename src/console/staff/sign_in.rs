//! Signing in and out.

use std::future::{Ready, ready};

use hyper::{Method, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{changed_meanwhile, code_input, kept, password, problem, status_of};
use crate::console::prelude::*;
use crate::{
    app::StoreFacts,
    console::{
        Console, layout,
        session::{self, Cookie, Session},
        visit::Visit,
    },
    domain::{
        Actor, NamedActor, StaffId, StaffName,
        staff::{EndedSessions, StaffChange, StaffMember, Token, TotpSecret},
        store_area::{Act, ActType, JournalSubject, SubjectKind},
    },
    edge::{Problem, Response},
    store::{StaffKey, StaffWritten},
};

/// The largest form that the forms to sign in keep, in bytes.
const MAX_KEPT: usize = 64 << 10;

/// Where the browser goes after signing in: to a page, or with a form that could not be carried out
/// before. The browser keeps the form in hidden fields, and the service keeps nothing.
struct Then {
    /// An own path.
    next: String,
    /// The path and the content of a form.
    kept: Option<(String, Form)>,
    /// Why the form is not kept.
    lost: Option<&'static str>,
    store: StoreFacts,
}

impl Then {
    /// The fields of a form to sign in.
    fn of(visit: &Visit<'_>, form: &Form) -> Self {
        let path = form.raw("kept_path");
        let kept = own_path(visit, &Method::POST, path)
            .map(|path| (path.to_owned(), Form::of(form.raw("kept").to_owned().into())));
        let next = own_path(visit, &Method::GET, form.raw("next")).unwrap_or("/").to_owned();
        Self { next, kept, lost: None, store: visit.facts.clone() }
    }

    /// Back to this request.
    fn back_to(visit: &Visit<'_>) -> Self {
        let store = visit.facts.clone();
        let path = visit.request.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        if visit.request.method != Method::POST {
            return Self { next: path, kept: None, lost: None, store };
        }
        if visit.has_pictures {
            return Self { next: path, kept: None, lost: Some(texts().photos_not_kept), store };
        }
        let is_too_long = visit.form.bytes().len() > MAX_KEPT;
        let kept = (!is_too_long).then(|| (path, visit.form.clone()));
        let lost = is_too_long.then_some(texts().form_too_long);
        Self { next: "/".to_owned(), kept, lost, store }
    }

    /// The hidden fields.
    fn fields(&self) -> Markup {
        html! {
            input type="hidden" name="next" value=(self.next);
            @if let Some((path, form)) = &self.kept {
                input type="hidden" name="kept_path" value=(path);
                input type="hidden" name="kept" value=(String::from_utf8_lossy(form.bytes()));
            }
        }
    }

    /// The response when the member is signed in, with the secret of the session.
    async fn go(
        &self,
        visit: &Visit<'_>,
        token: &Token,
        member: &StaffMember,
    ) -> Result<Response, ApiError> {
        let mut response = match &self.kept {
            Some((path, form)) => kept::page(visit, member, path, form).await?,
            None => layout::redirect(&self.next),
        };
        session::sign_in(visit, &mut response, token, member);
        Ok(response)
    }
}

/// The path, if it is one of the console with this method. So nobody can use a link to the console to
/// lead to another site.
fn own_path<'p>(visit: &Visit<'_>, method: &Method, path: &'p str) -> Option<&'p str> {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let (page, _) = path.split_once('?').unwrap_or((path, ""));
    (is_plain && page.starts_with('/') && (visit.find)(method, page).is_some()).then_some(path)
}

/// `GET /sign-in`.
pub(crate) fn sign_in_form(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    ready(Ok(form(&Then::of(visit, &visit.query), None, "", StatusCode::OK)))
}

/// The response of a page that needs a session, or one in which the password was given recently.
pub(crate) fn required(visit: &Visit<'_>, session: Option<&Session>) -> Response {
    // A second click, or the session has ended already.
    if visit.request.uri.path() == "/sign-out" {
        return layout::redirect("/sign-in");
    }
    let then = Then::back_to(visit);
    if then.kept.is_none() && then.lost.is_none() && session.is_none() {
        let next = utf8_percent_encode(&then.next, NON_ALPHANUMERIC);
        return layout::redirect(&format!("/sign-in?next={next}"));
    }
    let name = session.map_or("", |session| session.member.name.as_str());
    form(&then, None, name, StatusCode::FORBIDDEN)
}

fn form(then: &Then, wrong: Option<&str>, name: &str, status: StatusCode) -> Response {
    let name = Input {
        id: "name",
        label: texts().name,
        value: name,
        autocomplete: "username",
        is_required: true,
        is_first: name.is_empty(),
        ..Input::default()
    };
    let content = html! {
        (problem(wrong))
        @if let Some(lost) = then.lost {
            (problem(Some(lost)))
        } @else if wrong.is_none() && !name.value.is_empty() {
            p { (texts().password_again) }
        } @else if then.kept.is_some() && wrong.is_none() {
            p { (texts().form_kept) }
        }
        form.fields.card method="post" action="/sign-in" {
            (name.show())
            (Input { is_first: !name.value.is_empty(), ..password("password", texts().password) }.show())
            (then.fields())
            div.buttons { button.main { (texts().sign_in) } }
        }
        p.hint { (texts().no_password) }
    };
    layout::page(status, &then.store, texts().sign_in, &content)
}

/// `POST /sign-in`.
pub(crate) async fn sign_in(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let (form_name, then) = (visit.form.raw("name"), Then::of(visit, &visit.form));
    let again = |wrong: &str, status| form(&then, Some(wrong), form_name, status);
    let store = &visit.console.app.store;
    let key = StaffName::new(form_name).map(|name| name.key()).unwrap_or_default();
    let member = store.find_staff(StaffKey::Name(key.clone())).await?;
    let known = member.as_ref().filter(|member| session::is_known_browser(visit, member));
    let known = known.map(|member| member.id);
    // First, because an attempt that finds no place does not count.
    let place = visit.console.passwords.place(known.is_some())?;
    if let Err(error) = visit.guess(&key, known) {
        return Ok(again(error.message(), StatusCode::TOO_MANY_REQUESTS));
    }
    let active = member.filter(|member| member.disabled_at.is_none());
    let hash = active.as_ref().and_then(|member| member.password.clone());
    let typed = visit.form.raw("password");
    let is_right = visit.console.passwords.is_right(place, typed, hash).await?;
    let member = match active {
        Some(member) if is_right => member,
        wrong => {
            record_failure(visit, wrong.as_ref()).await?;
            return Ok(again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
        }
    };
    let needs_code = member.second_factor.is_some();
    let Some(token) = let_in(visit, &member, !needs_code).await? else {
        return Ok(again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
    };
    if needs_code {
        let mut response = code_form(&then, None);
        Cookie::Session.set(visit, &mut response, &token.reveal(), None);
        return Ok(response);
    }
    then.go(visit, &token, &member).await
}

/// Begins a session in place of that of the browser. `None` if the member has just changed.
pub(super) async fn let_in(
    visit: &Visit<'_>,
    member: &StaffMember,
    is_complete: bool,
) -> Result<Option<Token>, ApiError> {
    let (token, begun) = session::begin(visit, member.id, is_complete);
    let act = is_complete.then(|| member.act(ActType::StaffSignedIn));
    let ends = session::presented(visit).map_or(EndedSessions::None, EndedSessions::One);
    let (seen, after) = (member.version, member.clone());
    let change = StaffChange { seen, after, ends, begins: Some(begun), act };
    let written = visit.write(change, session::actor(member)).await?;
    Ok((written != StaffWritten::Stale).then_some(token))
}

fn code_form(then: &Then, wrong: Option<&str>) -> Response {
    let content = html! {
        (problem(wrong))
        form.fields.card method="post" action="/sign-in/code" {
            (code_input(texts().code, Some(texts().code_hint)))
            (then.fields())
            div.buttons { button.main { (texts().continue_label) } }
        }
    };
    layout::page(status_of(wrong), &then.store, texts().sign_in, &content)
}

/// `POST /sign-in/code`.
pub(crate) async fn give_code(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let then = Then::of(visit, &visit.form);
    let begun = session::with_or_without_code(visit).await?;
    let Some(Session { member, record }) =
        begun.filter(|begun| begun.record.confirmed_at.is_none())
    else {
        return Ok(form(&then, Some(texts().sign_in_ended), "", StatusCode::FORBIDDEN));
    };
    let known = session::is_known_browser(visit, &member).then_some(member.id);
    if let Err(error) = visit.guess(&member.name.key(), known) {
        return Ok(code_form(&then, Some(error.message())));
    }
    let accepted = match &member.second_factor {
        Some(second) => {
            let secret = visit.console.open_secret(member.id, &second.sealed_secret)?;
            second.after(visit.form.raw("code"), &secret, visit.now)
        }
        None => None,
    };
    let Some(second) = accepted else {
        record_failure(visit, Some(&member)).await?;
        return Ok(code_form(&then, Some(texts().code_wrong)));
    };
    let (token, begun) = session::begin(visit, member.id, true);
    let (seen, actor) = (member.version, session::actor(&member));
    let after = member.clone().with_second_factor(Some(second));
    let change = StaffChange {
        begins: Some(begun),
        ..StaffChange::new(seen, after, ActType::StaffSignedIn)
            .ending(EndedSessions::One(record.digest))
    };
    // Another request has used the code, or the member was changed.
    if visit.write(change, actor).await? == StaffWritten::Stale {
        return Ok(code_form(&then, Some(texts().code_wrong)));
    }
    then.go(visit, &token, &member).await
}

/// Records a failed attempt, for a known name with its member. The name that was typed is not
/// recorded, because it can be a password.
async fn record_failure(visit: &Visit<'_>, member: Option<&StaffMember>) -> Result<(), ApiError> {
    if !visit.console.guesses.is_recorded(visit.console.app.clock.instant()) {
        return Ok(());
    }
    let subject =
        JournalSubject { kind: SubjectKind::Staff.into(), id: member.map(|member| member.id.0) };
    let details = vec![("address".into(), visit.visitor.address.to_string())];
    let act = Act { kind: ActType::StaffSignInFailed.into(), subject, details };
    let context = visit.context(Actor::Clock.into());
    Ok(visit.console.app.store.record_act(act, context).await?)
}

/// How often the end of a session is tried when the member changes at the same moment.
const MAX_TRIES: u32 = 10;

/// `POST /sign-out`.
pub(crate) async fn sign_out(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let digest = session.record.digest;
    for _ in 0..MAX_TRIES {
        // Read again, because somebody may have changed the member meanwhile, or ended the session.
        let found = visit.console.app.store.find_session(digest).await?;
        let Some((_, member)) = found else { return Ok(Reply::Made(signed_out(visit))) };
        let change = StaffChange {
            seen: member.version,
            after: member,
            ends: EndedSessions::One(digest),
            begins: None,
            act: None,
        };
        if visit.write(change, session.actor()).await? != StaffWritten::Stale {
            return Ok(Reply::Made(signed_out(visit)));
        }
    }
    Err(changed_meanwhile())
}

/// The response to a member whose session has ended.
fn signed_out(visit: &Visit<'_>) -> Response {
    let mut response = layout::redirect("/sign-in");
    Cookie::Session.clear(visit, &mut response);
    response
}

impl Visit<'_> {
    /// Counts an attempt to sign in. Fails with 429 after too many attempts.
    pub(crate) fn guess(&self, name: &str, known: Option<StaffId>) -> Result<(), ApiError> {
        let now = self.console.app.clock.instant();
        self.console.guesses.take(name, self.visitor.address, known, now)
    }

    /// Makes a change of a member. A concurrent one is [`StaffWritten::Stale`].
    pub(crate) async fn write(
        &self,
        change: StaffChange,
        actor: NamedActor,
    ) -> Result<StaffWritten, ApiError> {
        Ok(self.console.app.store.write_staff(change, self.context(actor)).await?)
    }
}

impl Console {
    /// Reads the secret of a second factor. Fails with 500 without the key file.
    pub(crate) fn open_secret(
        &self,
        member: StaffId,
        sealed: &[u8],
    ) -> Result<TotpSecret, ApiError> {
        let internal = |error| ApiError::internal(std::sync::Arc::new(error));
        let bytes = self
            .app
            .webhooks
            .registrar
            .vault()
            .open(&secret_of(member), sealed)
            .map_err(internal)?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Of what a secret is encrypted.
pub(super) fn secret_of(member: StaffId) -> String {
    format!("staff {member}")
}
