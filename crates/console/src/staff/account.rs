//! A member's own account: the password, the second factor and the sessions.

use jiff::Timestamp;
use petstore_domain::{
    Problem, StaffId,
    staff::{EndedSessions, StaffChange, StaffMember, StaffSession},
    store_area::{ActType, Language},
};
use petstore_languages::{self as languages, browser};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{
    account_page, changed_meanwhile, link::chosen, make, new_password, password_input, see,
};
use crate::prelude::*;

const PAGE: &str = "/account";

/// `GET /account`.
pub(crate) async fn account(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let (session, now) = (&desk.session, desk.visit.now);
    let own = desk
        .store()
        .list_sessions(Some(session.member.id))
        .await?
        .into_iter();
    let second = session.member.second_factor.as_ref();
    let has_password = session.member.password.is_some() && desk.visit.console.has_passwords();
    let content = html! {
        p { (texts().you_are(session.member.name.as_str(), session.member.role)) }
        div.stack {
            @if let Some(issuer) = session.member.identity.as_ref().map(|of| &*of.issuer) {
                p { (texts().provider) (window_texts().colon) (issuer) }
            }
            @if has_password { section.card {
                h2 { (texts().second_factor) }
                @if let Some(second) = second {
                    p { (texts().second_factor_on(second.recovery.len())) }
                } @else {
                    p { (texts().second_factor_off) }
                }
                p { a href="/account/second-factor" {
                    (if second.is_some() { texts().change_second_factor } else { texts().set_up })
                } }
            }
            section.card {
                h2 { (texts().passkeys) }
                p { (texts().passkeys_short) }
                p { a href="/account/passkeys" { (texts().change_passkeys) } }
            }
            section.card {
                h2 { (texts().password) }
                form.fields method="post" action="/account/password" {
                    (desk.key("password"))
                    (password_input("current", texts().current_password, None))
                    (new_password())
                    div.buttons { button { (texts().change_password) } }
                }
            } }
            section.card {
                h2 { (texts().language_label) }
                form.fields method="post" action="/account/language" {
                    (desk.key("language"))
                    (choose_language(desk))
                    div.buttons { button { (texts().save) } }
                }
            }
            section {
                h2 { (texts().own_sessions) }
                (sessions(own, now, &session.record, "/account/sessions/end", |_| None))
            }
        }
    };
    Ok(account_page(texts().account, errors, &content))
}

/// How many sessions a page shows.
const SHOWN: usize = 100;

/// A table of the sessions that were used last, each with a button to end it.
pub(super) fn sessions(
    sessions: impl Iterator<Item = StaffSession>,
    now: Timestamp,
    present: &StaffSession,
    end: &str,
    of: impl Fn(&StaffSession) -> Option<String>,
) -> Markup {
    let alive = |session: &StaffSession| session.confirmed_at.is_some() && session.is_alive_at(now);
    let mut sessions: Vec<_> = sessions.filter(alive).collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.seen_at));
    let is_cut = sessions.len() > SHOWN;
    let labels = [
        texts().browser_label,
        texts().ip_address,
        texts().last_used,
        texts().actions,
    ];
    let rows = html! {
        @for session in sessions.into_iter().take(SHOWN) {
            @let browser = shown_browser(&session.browser);
            tr {
                td data-label=(texts().browser_label) {
                    @if let Some(name) = of(&session) { bdi { (name) } (window_texts().colon) }
                    bdi { (browser) }
                    @if present.digest == session.digest { (texts().this_session) }
                }
                td data-label=(texts().ip_address) { (session.address) }
                td data-label=(texts().last_used) { (markup::time(session.seen_at, now)) }
                td data-label=(texts().actions) {
                    form method="post" action=(end) {
                        input type="hidden" name="session" value=(session.digest.name());
                        button {
                            (texts().end_session)
                            span.hidden { (texts().session_in(&browser)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        (markup::table(&markup::headings(&labels), &rows))
        @if is_cut { p.muted { (texts().only_last_sessions) } }
    }
}

/// The language of the member, or that of the store.
fn choose_language(desk: &Desk<'_>) -> Markup {
    let of_store = languages::name_of(desk.visit.facts.language().value);
    let of_store = texts().language_of_store(of_store);
    let all = Language::ALL.map(|one| (one.as_str(), languages::name_of(one)));
    let choices: Vec<_> = [("", &*of_store)].into_iter().chain(all).collect();
    let chosen = desk.session.member.language.map_or("", Language::as_str);
    let label = texts().language_label;
    Input {
        id: LANGUAGE,
        label,
        value: chosen,
        ..Input::default()
    }
    .choose(&choices)
}

/// The input for the language.
const LANGUAGE: &str = "language";

/// `POST /account/language`.
pub(crate) async fn set_language(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    let language = match desk.visit.form.get(LANGUAGE) {
        "" => None,
        code => Some(
            code.parse()
                .map_err(|_| ApiError::new(Problem::InvalidRequest, texts().incomplete_form))?,
        ),
    };
    if member.language == language {
        return Ok(see(PAGE, "saved"));
    }
    let after = member.clone().with_language(language);
    let (seen, ends) = (member.version, EndedSessions::None);
    let change = StaffChange {
        seen,
        after,
        ends,
        begins: None,
        act: None,
    };
    make(desk, change, PAGE, "saved").await
}

/// `POST /account/password`.
pub(crate) async fn set_password(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let passwords = &visit.console.passwords;
    let place = passwords.place(true)?;
    // In a browser that is known, because the member is signed in.
    if let Err(error) = visit.guess(&member.name.key(), Some(member.id)) {
        return account(desk, &Errors::from_text(error.message())).await;
    }
    let password = match chosen(visit, member) {
        Ok(password) => password,
        Err(wrong) => return account(desk, &Errors::from_text(&wrong)).await,
    };
    let hash = passwords
        .hash(place.clone(), password, desk.random_of_form())
        .await?;
    // A second click: the form makes the same hash each time.
    if member.password.as_ref() == Some(&hash) {
        return Ok(see(PAGE, "password-changed"));
    }
    let (typed, present) = (visit.form.raw("current"), member.password.clone());
    if !passwords.is_right(place, typed, present).await? {
        return account(desk, &Errors::from_text(texts().current_password_wrong)).await;
    }
    let after = |of: StaffMember| of.with_password(hash.clone());
    let ends = EndedSessions::Others(session.record.digest);
    let change = member
        .clone()
        .change(after, ActType::StaffPasswordSet)
        .ending(ends);
    if visit.write(change, session.actor()).await? == StaffWriteOutcome::Stale {
        let present = desk.store().find_staff(StaffKey::Id(member.id)).await?;
        if present.is_none_or(|present| present.password != Some(hash)) {
            return Err(changed_meanwhile());
        }
    }
    Ok(see(PAGE, "password-changed"))
}

/// `POST /account/sessions/end`.
pub(crate) async fn end_session(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    end_named_session(desk, Some(desk.session.member.id), PAGE).await
}

/// Ends the session that the form names, one of this member or of any, and shows the page `next`.
pub(super) async fn end_named_session(
    desk: &Desk<'_>,
    of: Option<StaffId>,
    next: &str,
) -> Result<Reply, ApiError> {
    let name = desk.visit.form.raw("session");
    let mut all = desk.store().list_sessions(of).await?.into_iter();
    let Some(ended) = all.find(|session| session.digest.name() == name) else {
        return Ok(see(next, "session-ended"));
    };
    let Some(member) = desk.store().find_staff(StaffKey::Id(ended.staff)).await? else {
        return Ok(see(next, "session-ended"));
    };
    let change = StaffChange::new(member.version, member, ActType::StaffSessionsEnded)
        .ending(EndedSessions::One(ended.digest));
    make(desk, change, next, "session-ended").await
}

/// What a session says of its browser. All of it, if the browser is unknown.
fn shown_browser(agent: &str) -> String {
    let known = browser(agent).map(|(browser, system)| texts().browser_on(browser, system));
    known.unwrap_or_else(|| agent.to_owned())
}
