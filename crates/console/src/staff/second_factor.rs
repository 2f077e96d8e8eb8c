//! A member's second factor: setting it up, its recovery codes, and removing it.

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use petstore_app::delivery;
use petstore_domain::{
    Problem,
    staff::{
        EndedSessions, RECOVERY_CODES, SecondFactor, StaffMember, TokenDigest, TotpSecret,
        recovery_code,
    },
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{account_page, changed_meanwhile, code_input, make, sign_in::secret_of};
use crate::prelude::*;

const PAGE: &str = "/account/second-factor";

/// `GET /account/second-factor`.
pub(crate) fn second_factor(desk: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    if desk.session.member.identity.is_some() {
        return ready(Ok(Reply::See("/account".to_owned(), None)));
    }
    let new = desk.visit.console.with_random(TotpSecret::generate);
    ready(Ok(page(desk, &new, &Errors::default())))
}

fn page(desk: &Desk<'_>, new: &TotpSecret, errors: &Errors) -> Reply {
    let member = &desk.session.member;
    let is_required = desk
        .visit
        .console
        .settings
        .second_factor
        .includes(member.role);
    let content = html! {
        @if is_required && !member.has_second_factor() {
            p { (texts().second_factor_required) }
        }
        p { a href="/account/passkeys" { (texts().passkeys) } }
        section.card {
            h2 { (texts().set_up_app) }
            ol {
                li { (texts().open_app) }
                li {
                    (texts().scan)
                    (markup::qr_code(&new.uri(member.name.as_str()), texts().qr_code))
                    code.secret { (new.spelled()) }
                }
            }
            form.fields method="post" action=(PAGE) {
                (desk.key("set"))
                input type="hidden" name="secret" value=(new.spelled());
                (code_input(texts().app_code, None))
                div.buttons { button.main { (texts().use_app) } }
            }
        }
        @if member.second_factor.is_some() {
            section.card {
                h2 { (texts().recovery_codes) }
                p { (texts().new_codes_hint) }
                form method="post" action="/account/recovery-codes" {
                    (desk.key("codes"))
                    button { (texts().new_codes) }
                }
            }
            @if !is_required || !member.passkeys.is_empty() {
                section.card {
                    h2 { (texts().without_second_factor) }
                    form method="post" action="/account/second-factor/remove" {
                        (desk.key("remove"))
                        button.danger { (texts().remove_second_factor) }
                    }
                }
            }
        }
    };
    account_page(texts().second_factor, errors, &content)
}

/// `POST /account/second-factor`.
pub(crate) async fn set_second_factor(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let visit = &desk.visit;
    let Some(new) = TotpSecret::parse(visit.form.raw("secret")) else {
        return Ok(Reply::See(PAGE.to_owned(), None));
    };
    let member = desk.session.member.clone();
    if let Some(shown) = shown_again(desk, &member) {
        return Ok(shown);
    }
    let unused = SecondFactor {
        sealed_secret: vec![],
        last_period: 0,
        recovery: vec![],
    };
    let Some(used) = unused.after(visit.form.raw("code"), &new, visit.now) else {
        return Ok(page(desk, &new, &Errors::from_text(texts().app_code_wrong)));
    };
    // A key file that exists already, on another machine, has encrypted what is there.
    let is_first = !delivery::has_secrets(desk.store()).await?;
    let sealed_secret = visit.console.with_random(|random| {
        desk.app().webhooks.registrar.vault().seal(
            &secret_of(member.id),
            new.as_bytes(),
            is_first,
            random,
        )
    });
    let sealed_secret = sealed_secret.map_err(|error| ApiError::internal(Arc::new(error)))?;
    with_recovery_codes(
        desk,
        member,
        SecondFactor {
            sealed_secret,
            ..used
        },
    )
    .await
}

/// `POST /account/recovery-codes`.
pub(crate) async fn new_recovery_codes(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = desk.session.member.clone();
    match member.second_factor.clone() {
        Some(_) if let Some(shown) = shown_again(desk, &member) => Ok(shown),
        Some(second) => with_recovery_codes(desk, member, second).await,
        None => Ok(Reply::See(PAGE.to_owned(), None)),
    }
}

/// Saves the second factor with new recovery codes, and shows them once.
async fn with_recovery_codes(
    desk: &Desk<'_>,
    member: StaffMember,
    second: SecondFactor,
) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let (codes, recovery) = codes_of_form(desk);
    let second = Some(SecondFactor { recovery, ..second });
    let change = member
        .change(
            |of| of.with_second_factor(second),
            ActType::StaffSecondFactorSet,
        )
        .ending(EndedSessions::Others(session.record.digest));
    if visit.write(change, session.actor()).await? == StaffWriteOutcome::Stale {
        let present = desk
            .store()
            .find_staff(StaffKey::Id(session.member.id))
            .await?;
        let shown = present.and_then(|present| shown_again(desk, &present));
        return shown.ok_or_else(changed_meanwhile);
    }
    Ok(codes_page(desk, &codes))
}

/// The recovery codes that this form makes, with what is stored of them.
fn codes_of_form(desk: &Desk<'_>) -> (Vec<String>, Vec<TokenDigest>) {
    let mut random = desk.random_of_form();
    (0..RECOVERY_CODES)
        .map(|_| recovery_code(&mut random))
        .unzip()
}

/// The page of a form that was sent before, with the same recovery codes.
fn shown_again(desk: &Desk<'_>, member: &StaffMember) -> Option<Reply> {
    let (codes, recovery) = codes_of_form(desk);
    let second = member.second_factor.as_ref()?;
    (second.recovery == recovery).then(|| codes_page(desk, &codes))
}

fn codes_page(desk: &Desk<'_>, codes: &[String]) -> Reply {
    let are_new = desk.visit.form.raw("secret").is_empty();
    let message = if are_new {
        texts().codes_replaced
    } else {
        texts().second_factor_set
    };
    let content = html! {
        div.flash role="status" { p { (message) } }
        div.card {
            p { (texts().codes_hint) }
            ul { @for code in codes { li { code { (code) } } } }
            a.button.main href="/account" { (texts().codes_kept) }
        }
    };
    account_page(texts().recovery_codes, &Errors::default(), &content)
}

/// Fails with 403 if a member must have a second factor, and has none afterwards.
pub(super) fn check_still_has_one(desk: &Desk<'_>, after: &StaffMember) -> Result<(), ApiError> {
    let is_required = desk
        .visit
        .console
        .settings
        .second_factor
        .includes(after.role);
    if is_required && !after.has_second_factor() {
        return Err(ApiError::new(
            Problem::InsufficientScope,
            texts().second_factor_stays,
        ));
    }
    Ok(())
}

/// `POST /account/second-factor/remove`.
pub(crate) async fn remove_second_factor(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = desk.session.member.clone();
    let change = member.change(
        |of| of.with_second_factor(None),
        ActType::StaffSecondFactorRemoved,
    );
    check_still_has_one(desk, &change.after)?;
    let change = change.ending(EndedSessions::Others(desk.session.record.digest));
    make(desk, change, "/account", "second-factor-removed").await
}
