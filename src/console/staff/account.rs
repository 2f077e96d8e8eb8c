//! A member's own account: the password, the second factor and the sessions.

use jiff::Timestamp;
use maud::{Markup, html};

use super::{
    done, link::chosen, new_password, password_input, problem, sign_in::changed_meanwhile,
    status_of,
};
use crate::{
    console::{call::PageCall, layout, markup, redirect, texts},
    domain::{
        staff::{EndedSessions, StaffChange, StaffSession},
        store_area::ActType,
    },
    http::{ApiError, Response},
    store::{StaffKey, StaffWritten},
};

/// `GET /account`.
pub(in crate::console) async fn account(call: &PageCall<'_>) -> Result<Response, ApiError> {
    page(call, None).await
}

async fn page(call: &PageCall<'_>, wrong: Option<&str>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let own = visit.console.app.store.list_sessions().await?;
    let own = own.into_iter().filter(|of| of.staff == session.member.id);
    let message = match visit.form.get("done") {
        "password" => Some(texts::PASSWORD_CHANGED),
        "session" => Some(texts::SESSION_ENDED),
        "second-factor" => Some(texts::SECOND_FACTOR_REMOVED),
        _ => None,
    };
    let second = session.member.second_factor.as_ref();
    let content = html! {
        (done(message))
        (problem(wrong))
        p { (texts::you_are(session.member.name.as_str(), session.member.role)) }
        div.stack {
            section.card {
                h2 { (texts::SECOND_FACTOR) }
                @if let Some(second) = second {
                    p { (texts::second_factor_on(second.recovery.len())) }
                } @else {
                    p { (texts::SECOND_FACTOR_OFF) }
                }
                p { a href="/account/second-factor" {
                    (if second.is_some() { texts::CHANGE_SECOND_FACTOR } else { texts::SET_UP })
                } }
            }
            section.card {
                h2 { (texts::PASSWORD) }
                form.fields method="post" action="/account/password" {
                    (call.key_field())
                    (password_input("current", texts::CURRENT_PASSWORD, None))
                    (new_password())
                    div.buttons { button { (texts::CHANGE_PASSWORD) } }
                }
            }
            section {
                h2 { (texts::OWN_SESSIONS) }
                (sessions(own, visit.now, Some(&session.record), "/account/sessions/end", |_| None))
            }
        }
    };
    Ok(layout::page_with_status(status_of(wrong), texts::ACCOUNT, Some(session), &content))
}

/// How many sessions a page shows.
const SHOWN: usize = 100;

/// A table of the sessions that were used last, each with a button to end it.
pub(super) fn sessions(
    sessions: impl Iterator<Item = StaffSession>,
    now: Timestamp,
    present: Option<&StaffSession>,
    end: &str,
    of: impl Fn(&StaffSession) -> Option<String>,
) -> Markup {
    let alive = |session: &StaffSession| session.confirmed_at.is_some() && session.is_alive_at(now);
    let mut sessions: Vec<_> = sessions.filter(alive).collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.seen_at));
    let is_cut = sessions.len() > SHOWN;
    let labels = [texts::BROWSER, texts::IP_ADDRESS, texts::LAST_USED, texts::ACTIONS];
    html! {
        div.table {
            table {
                thead { tr { @for label in labels { th scope="col" { (label) } } } }
                tbody {
                    @for session in sessions.into_iter().take(SHOWN) {
                        tr {
                            td data-label=(texts::BROWSER) {
                                @if let Some(name) = of(&session) { bdi { (name) } ": " }
                                bdi { (texts::browser(&session.browser)) }
                                @if present.is_some_and(|present| present.digest == session.digest) {
                                    (texts::THIS_SESSION)
                                }
                            }
                            td data-label=(texts::IP_ADDRESS) { (session.address) }
                            td data-label=(texts::LAST_USED) { (markup::time(session.seen_at, now)) }
                            td data-label=(texts::ACTIONS) {
                                form method="post" action=(end) {
                                    input type="hidden" name="session" value=(session.digest.name());
                                    button {
                                        (texts::END_SESSION)
                                        span.hidden { (texts::session_in(&texts::browser(&session.browser))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if is_cut { p.muted { (texts::ONLY_LAST_SESSIONS) } }
    }
}

const PASSWORD_SET: &str = "/account?done=password";

/// `POST /account/password`.
pub(in crate::console) async fn set_password(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let member = &session.member;
    // In a browser that is known, because the member is signed in.
    if let Err(error) = visit.guess(&member.name.key(), true) {
        return page(call, Some(error.message())).await;
    }
    let password = match chosen(visit, member) {
        Ok(password) => password,
        Err(wrong) => return page(call, Some(&wrong)).await,
    };
    let passwords = &visit.console.passwords;
    let hash = passwords.hash(password, call.random_of_form()).await?;
    // A second click: the form makes the same hash each time.
    if member.password.as_ref() == Some(&hash) {
        return Ok(redirect(PASSWORD_SET));
    }
    if !passwords.is_right(visit.form.get("current"), member.password.clone()).await? {
        return page(call, Some(texts::CURRENT_PASSWORD_WRONG)).await;
    }
    let after = member.clone().with_password(hash.clone());
    let ends = EndedSessions::Others(session.record.digest);
    let change = StaffChange::new(member.version, after, ActType::StaffPasswordSet).ending(ends);
    if visit.write(change, session.actor()).await? == StaffWritten::Stale {
        let present = visit.console.app.store.find_staff(StaffKey::Id(member.id)).await?;
        let is_set = present.is_some_and(|present| present.password == Some(hash));
        return if is_set { Ok(redirect(PASSWORD_SET)) } else { Err(changed_meanwhile()) };
    }
    Ok(redirect(PASSWORD_SET))
}

/// `POST /account/sessions/end`.
pub(in crate::console) async fn end_session(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let all = visit.console.app.store.list_sessions().await?;
    let named = |of: &&StaffSession| of.digest.name() == visit.form.get("session");
    let own = all.iter().filter(|of| of.staff == session.member.id).find(named);
    let Some(ended) = own else { return Ok(redirect("/account?done=session")) };
    let member = session.member.clone();
    let change = StaffChange::new(member.version, member, ActType::StaffSessionsEnded)
        .ending(EndedSessions::One(ended.digest));
    call.change(change, "/account?done=session").await
}

impl PageCall<'_> {
    /// Makes a change of a member, and shows this page. Fails with 409 if the member was changed
    /// meanwhile, and those of the store.
    pub(super) async fn change(
        &self,
        change: StaffChange,
        next: &str,
    ) -> Result<Response, ApiError> {
        match self.visit.write(change, self.session.actor()).await? {
            StaffWritten::Done(_) => Ok(redirect(next)),
            _ => Err(changed_meanwhile()),
        }
    }
}
