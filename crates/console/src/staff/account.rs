//! The page of a member's own account: the password, the language, the sessions, and links to the
//! second factor and the passkeys.

use jiff::Timestamp;
use petstore_domain::{
    Problem,
    staff::{EndedSessions, PasswordHash, StaffChange, StaffMember, StaffSession},
    store_area::{ActType, Language},
};
use petstore_languages::{self as languages, browser};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{
    account_page, changed_meanwhile, link::parse_new_password, new_password_inputs, password_field,
    redirect_with_message, write_and_redirect,
};
use crate::{passwords::Sender, prelude::*};

/// The path of the page, to which its forms redirect.
const PAGE: &str = "/account";

/// The name of the input for the language.
const LANGUAGE: &str = "language";

/// The name of the input for the current password.
const CURRENT_PASSWORD: &str = "current";

/// The hidden form field that identifies the session to end, by the
/// [public id](petstore_domain::staff::TokenDigest::public_id) of the digest of its token.
const SESSION_ID: &str = "session";

/// The maximum number of sessions in a table.
const MAX_SHOWN_SESSIONS: usize = 100;

/// Responds to `GET /account`, and renders the page again after an invalid form.
pub(crate) async fn show_account(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let session = &desk.session;
    let member = &session.member;
    let sessions = desk.store().list_sessions(Some(member.id)).await?;
    let session_table = SessionTable {
        now: desk.visit.now,
        current_session: &session.record,
        end_path: "/account/sessions/end",
        members: &[],
    };
    let has_password = member.password.is_some() && desk.visit.console.has_passwords();
    let content = html! {
        p { (texts().you_are(member.name.as_str(), member.role)) }
        div.stack {
            @if let Some(identity) = &member.identity {
                p { (texts().provider) (window_texts().colon) (identity.issuer) }
            }
            @if has_password {
                (second_factor_section(member))
                (passkeys_section())
                (password_section(desk))
            }
            (language_section(desk))
            section {
                h2 { (texts().own_sessions) }
                (session_table.show(sessions))
            }
        }
    };
    Ok(account_page(texts().account, errors, &content))
}

/// Renders whether the member has a second factor, and the link to change it.
fn second_factor_section(member: &StaffMember) -> Markup {
    let link = if member.second_factor.is_some() {
        texts().change_second_factor
    } else {
        texts().set_up
    };
    html! {
        section.card {
            h2 { (texts().second_factor) }
            @if let Some(second_factor) = &member.second_factor {
                p { (texts().second_factor_on(second_factor.recovery.len())) }
            } @else {
                p { (texts().second_factor_off) }
            }
            p { a href="/account/second-factor" { (link) } }
        }
    }
}

/// Renders the link to the member's passkeys.
fn passkeys_section() -> Markup {
    html! {
        section.card {
            h2 { (texts().passkeys) }
            p { (texts().passkeys_short) }
            p { a href="/account/passkeys" { (texts().change_passkeys) } }
        }
    }
}

/// Renders the form for a new password.
fn password_section(desk: &Desk<'_>) -> Markup {
    html! {
        section.card {
            h2 { (texts().password) }
            form.fields method="post" action="/account/password" {
                (desk.idempotency_field("password"))
                (password_field(CURRENT_PASSWORD, texts().current_password).show())
                (new_password_inputs())
                div.buttons { button { (texts().change_password) } }
            }
        }
    }
}

/// Renders the form for the member's language. With the first option, the member has the language
/// of the store.
fn language_section(desk: &Desk<'_>) -> Markup {
    let store_language = languages::name_of(desk.visit.facts.language().value);
    let store_label = texts().language_of_store(store_language);
    let mut choices = vec![("", &*store_label)];
    for language in Language::ALL {
        choices.push((language.as_str(), languages::name_of(language)));
    }
    let member_language = desk.session.member.language;
    let input = Input {
        id: LANGUAGE,
        label: texts().language_label,
        value: member_language.map_or("", Language::as_str),
        ..Input::default()
    };
    html! {
        section.card #language-section {
            h2 { (texts().language_label) }
            form.fields method="post" action="/account/language" {
                (desk.idempotency_field("language"))
                (input.show_dropdown(&choices))
                div.buttons { button { (texts().save) } }
            }
        }
    }
}

/// A table of sessions, each with a button to end it. The account page shows the member's own
/// sessions, and the staff settings show all sessions.
pub(super) struct SessionTable<'a> {
    pub(super) now: Timestamp,
    /// The session of this request, which the table marks.
    pub(super) current_session: &'a StaffSession,
    /// The path to which the buttons post.
    pub(super) end_path: &'a str,
    /// The members, whose names the table shows next to their sessions; empty for a member's own
    /// sessions.
    pub(super) members: &'a [StaffMember],
}

impl SessionTable<'_> {
    /// Renders the sessions that are alive and fully signed in, the most recently used first. Says
    /// so if there are more than [`MAX_SHOWN_SESSIONS`].
    pub(super) fn show(&self, mut sessions: Vec<StaffSession>) -> Markup {
        sessions.retain(|session| session.confirmed_at.is_some() && session.is_alive_at(self.now));
        sessions.sort_by_key(|session| std::cmp::Reverse(session.seen_at));
        let is_cut = sessions.len() > MAX_SHOWN_SESSIONS;
        let labels = [
            texts().browser_label,
            texts().ip_address,
            texts().last_used,
            texts().actions,
        ];
        let rows = html! {
            @for session in sessions.iter().take(MAX_SHOWN_SESSIONS) { (self.row(session)) }
        };
        html! {
            (markup::table(&markup::headings(&labels), &rows))
            @if is_cut { p.muted { (texts().only_last_sessions) } }
        }
    }

    /// Renders the table row of a session. It names the member if the table shows members.
    fn row(&self, session: &StaffSession) -> Markup {
        let member = self
            .members
            .iter()
            .find(|member| member.id == session.staff);
        let browser = browser_label(&session.browser);
        html! {
            tr {
                td data-label=(texts().browser_label) {
                    @if let Some(member) = member {
                        bdi { (member.name.as_str()) } (window_texts().colon)
                    }
                    bdi { (browser) }
                    @if self.current_session.digest == session.digest { (texts().this_session) }
                }
                td data-label=(texts().ip_address) { (session.address) }
                td data-label=(texts().last_used) { (markup::time(session.seen_at, self.now)) }
                td data-label=(texts().actions) {
                    form method="post" action=(self.end_path) {
                        input type="hidden" name=(SESSION_ID) value=(session.digest.public_id());
                        button {
                            (texts().end_session)
                            span.hidden { (texts().session_in(&browser)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the browser and the operating system in a `User-Agent`, such as `Firefox on Linux`.
/// Returns the whole header if the browser is unknown.
fn browser_label(user_agent: &str) -> String {
    match browser(user_agent) {
        Some((browser, system)) => texts().browser_on(browser, system),
        None => user_agent.to_owned(),
    }
}

/// Responds to `POST /account/language`: sets the member's language, or removes it, so that the
/// language of the store applies.
pub(crate) async fn set_language(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    let language = match desk.visit.form.get(LANGUAGE) {
        "" => None,
        code => {
            let language: Language = code
                .parse()
                .map_err(|_| ApiError::new(Problem::InvalidRequest, texts().incomplete_form))?;
            Some(language)
        }
    };
    if member.language == language {
        return Ok(redirect_with_message(PAGE, "saved"));
    }
    let change = StaffChange {
        seen_version: member.version,
        after: member.clone().with_language(language),
        ended_sessions: EndedSessions::None,
        new_session: None,
        // The audit trail does not get this change, because it affects nobody else.
        act: None,
    };
    write_and_redirect(desk, change, PAGE, "saved").await
}

/// Responds to `POST /account/password`: changes the password if the typed current one is correct,
/// and ends the member's other sessions. Attempts are limited like sign-ins, because somebody could
/// guess the password in an open session.
pub(crate) async fn set_password(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let passwords = &visit.console.passwords;
    let slot = passwords.acquire_slot(Sender::KnownMember)?;
    // A browser in which the member is signed in counts as one of the member's known browsers.
    if let Err(error) = visit.count_attempt(&member.name.key(), Some(member.id)) {
        return show_account(desk, &Errors::from_text(error.message())).await;
    }
    let password = match parse_new_password(visit, member) {
        Ok(password) => password,
        Err(message) => return show_account(desk, &Errors::from_text(&message)).await,
    };
    let hash = passwords
        .hash(slot.clone(), password, desk.random_from_form())
        .await?;
    // The first request of a double click has already set this password. Both requests have the
    // same form, from which the salt is derived, so their hashes are equal.
    if member.password.as_ref() == Some(&hash) {
        return Ok(redirect_with_message(PAGE, "password-changed"));
    }
    let typed_password = visit.form.raw(CURRENT_PASSWORD);
    let current_hash = member.password.clone();
    if !passwords.verify(slot, typed_password, current_hash).await? {
        return show_account(desk, &Errors::from_text(texts().current_password_wrong)).await;
    }
    write_password(desk, hash).await?;
    Ok(redirect_with_message(PAGE, "password-changed"))
}

/// Writes the member's new password, and ends the member's other sessions. Fails with 409 if
/// somebody else has changed the member in the meantime.
async fn write_password(desk: &Desk<'_>, hash: PasswordHash) -> Result<(), ApiError> {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let change = member
        .clone()
        .change(
            |member| member.with_password(hash.clone()),
            ActType::StaffPasswordSet,
        )
        .with_ended_sessions(EndedSessions::Others(session.record.digest));
    if visit.write_member(change, session.actor()).await? == StaffWriteOutcome::Stale {
        // The other request of a double click may have set the same password in the meantime.
        let current_member = desk.store().find_staff(StaffKey::Id(member.id)).await?;
        let has_new_password = current_member.is_some_and(|member| member.password == Some(hash));
        if !has_new_password {
            return Err(changed_meanwhile());
        }
    }
    Ok(())
}

/// Responds to `POST /account/sessions/end`: ends one of the member's own sessions.
pub(crate) async fn end_session(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = desk.session.member.id;
    let own_sessions = desk.store().list_sessions(Some(member)).await?;
    end_session_in_form(desk, own_sessions, PAGE).await
}

/// Ends the session with the id in the form, and redirects to `next_path`. The member may end only
/// one of `sessions`. A session that is not among them has already ended, which is not an error.
pub(super) async fn end_session_in_form(
    desk: &Desk<'_>,
    sessions: Vec<StaffSession>,
    next_path: &str,
) -> Result<Reply, ApiError> {
    let already_ended = redirect_with_message(next_path, "session-ended");
    let id = desk.visit.form.raw(SESSION_ID);
    let session_in_form = sessions
        .into_iter()
        .find(|session| session.digest.public_id() == id);
    let Some(session) = session_in_form else {
        return Ok(already_ended);
    };
    let key = StaffKey::Id(session.staff);
    let Some(member) = desk.store().find_staff(key).await? else {
        return Ok(already_ended);
    };
    let change = StaffChange::new(member.version, member, ActType::StaffSessionsEnded)
        .with_ended_sessions(EndedSessions::One(session.digest));
    write_and_redirect(desk, change, next_path, "session-ended").await
}
