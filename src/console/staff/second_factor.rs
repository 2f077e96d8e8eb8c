//! A member's second factor: setting it up, its recovery codes, and removing it.

use std::sync::Arc;

use maud::{Markup, PreEscaped, html};
use qrcode::{QrCode, render::svg};

use super::{
    code_input, done, problem,
    sign_in::{changed_meanwhile, secret_of},
    status_of,
};
use crate::{
    console::{call::PageCall, layout, redirect, texts},
    delivery,
    domain::{
        staff::{
            EndedSessions, RECOVERY_CODES, SecondFactor, StaffChange, StaffMember, TokenDigest,
            TotpSecret, recovery_code,
        },
        store_area::ActType,
    },
    http::{ApiError, Problem, Response},
    store::{StaffKey, StaffWritten},
};

/// `GET /account/second-factor`.
pub(in crate::console) fn second_factor(call: &PageCall<'_>) -> Response {
    page(call, &call.visit.console.with_random(TotpSecret::generate), None)
}

fn page(call: &PageCall<'_>, new: &TotpSecret, wrong: Option<&str>) -> Response {
    let PageCall { visit, session } = call;
    let member = &session.member;
    let is_required = visit.console.settings.second_factor.includes(member.role);
    let content = html! {
        (problem(wrong))
        @if is_required && member.second_factor.is_none() {
            p { (texts::SECOND_FACTOR_REQUIRED) }
        }
        section.card {
            h2 { (texts::SET_UP_APP) }
            ol {
                li { (texts::OPEN_APP) }
                li {
                    (texts::SCAN)
                    (qr_code(&new.uri(member.name.as_str())))
                    code.secret { (new.spelled()) }
                }
            }
            form.fields method="post" action="/account/second-factor" {
                (call.key_field())
                input type="hidden" name="secret" value=(new.spelled());
                (code_input(texts::APP_CODE, None))
                div.buttons { button.main { (texts::USE_APP) } }
            }
        }
        @if member.second_factor.is_some() {
            section.card {
                h2 { (texts::RECOVERY_CODES) }
                p { (texts::NEW_CODES_HINT) }
                form method="post" action="/account/recovery-codes" {
                    (call.key_field())
                    button { (texts::NEW_CODES) }
                }
            }
            @if !is_required {
                section.card {
                    h2 { (texts::WITHOUT_SECOND_FACTOR) }
                    form method="post" action="/account/second-factor/remove" {
                        button.danger { (texts::REMOVE_SECOND_FACTOR) }
                    }
                }
            }
        }
    };
    layout::page_with_status(status_of(wrong), texts::SECOND_FACTOR, Some(session), &content)
}

/// The picture of a URI. Black on white, because apps cannot read the opposite.
fn qr_code(uri: &str) -> Markup {
    let Ok(code) = QrCode::new(uri) else { return html! {} };
    let picture = code
        .render::<svg::Color<'_>>()
        .min_dimensions(200, 200)
        .dark_color(svg::Color("#000"))
        .light_color(svg::Color("#fff"))
        .build();
    // Without the declaration of XML, which is not allowed within a page.
    let picture = picture.split_once("?>").map_or(&*picture, |(_, rest)| rest);
    html! { p role="img" aria-label=(texts::QR_CODE) { (PreEscaped(picture)) } }
}

/// `POST /account/second-factor`.
pub(in crate::console) async fn set_second_factor(
    call: &PageCall<'_>,
) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let Some(new) = TotpSecret::parse(visit.form.get("secret")) else {
        return Ok(redirect("/account/second-factor"));
    };
    let member = session.member.clone();
    if let Some(shown) = shown_again(call, &member) {
        return Ok(shown);
    }
    let unused = SecondFactor { sealed_secret: vec![], last_period: 0, recovery: vec![] };
    let Some(used) = unused.after(visit.form.get("code"), &new, visit.now) else {
        return Ok(page(call, &new, Some(texts::APP_CODE_WRONG)));
    };
    // A key file that exists already, on another machine, has encrypted what is there.
    let is_first = !delivery::has_secrets(visit.console.app.store.as_ref()).await?;
    let sealed_secret = visit.console.with_random(|random| {
        visit.console.app.vault().seal(&secret_of(member.id), new.as_bytes(), is_first, random)
    });
    let sealed_secret = sealed_secret.map_err(|error| ApiError::internal(Arc::new(error)))?;
    with_recovery_codes(call, member, SecondFactor { sealed_secret, ..used }).await
}

/// `POST /account/recovery-codes`.
pub(in crate::console) async fn new_recovery_codes(
    call: &PageCall<'_>,
) -> Result<Response, ApiError> {
    let member = call.session.member.clone();
    match member.second_factor.clone() {
        Some(_) if let Some(shown) = shown_again(call, &member) => Ok(shown),
        Some(second) => with_recovery_codes(call, member, second).await,
        None => Ok(redirect("/account/second-factor")),
    }
}

/// Saves the second factor with new recovery codes, and shows them once.
async fn with_recovery_codes(
    call: &PageCall<'_>,
    member: StaffMember,
    second: SecondFactor,
) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let (codes, recovery) = codes_of_form(call);
    let seen = member.version;
    let after = member.with_second_factor(Some(SecondFactor { recovery, ..second }));
    let change = StaffChange::new(seen, after, ActType::StaffSecondFactorSet)
        .ending(EndedSessions::Others(session.record.digest));
    if visit.write(change, session.actor()).await? == StaffWritten::Stale {
        let present = visit.console.app.store.find_staff(StaffKey::Id(session.member.id)).await?;
        let shown = present.and_then(|present| shown_again(call, &present));
        return shown.ok_or_else(changed_meanwhile);
    }
    Ok(codes_page(call, &codes))
}

/// The recovery codes that this form makes, with what is stored of them.
fn codes_of_form(call: &PageCall<'_>) -> (Vec<String>, Vec<TokenDigest>) {
    let mut random = call.random_of_form();
    (0..RECOVERY_CODES).map(|_| recovery_code(&mut random)).unzip()
}

/// The page of a form that was sent before, with the same recovery codes.
fn shown_again(call: &PageCall<'_>, member: &StaffMember) -> Option<Response> {
    let (codes, recovery) = codes_of_form(call);
    let second = member.second_factor.as_ref()?;
    (second.recovery == recovery).then(|| codes_page(call, &codes))
}

fn codes_page(call: &PageCall<'_>, codes: &[String]) -> Response {
    let are_new = call.visit.form.get("secret").is_empty();
    let message = if are_new { texts::CODES_REPLACED } else { texts::SECOND_FACTOR_SET };
    let content = html! {
        (done(Some(message)))
        div.card {
            p { (texts::CODES_HINT) }
            ul { @for code in codes { li { code { (code) } } } }
            a.button.main href="/account" { (texts::CODES_KEPT) }
        }
    };
    layout::page(texts::RECOVERY_CODES, Some(&call.session), &content)
}

/// `POST /account/second-factor/remove`.
pub(in crate::console) async fn remove_second_factor(
    call: &PageCall<'_>,
) -> Result<Response, ApiError> {
    let member = call.session.member.clone();
    if call.visit.console.settings.second_factor.includes(member.role) {
        return Err(ApiError::new(Problem::InsufficientScope, texts::SECOND_FACTOR_STAYS));
    }
    let seen = member.version;
    let after = member.with_second_factor(None);
    let change = StaffChange::new(seen, after, ActType::StaffSecondFactorRemoved)
        .ending(EndedSessions::Others(call.session.record.digest));
    call.change(change, "/account?done=second-factor").await
}
