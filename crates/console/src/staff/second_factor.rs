//! The page of a member's second factor: sets up an authenticator app, replaces its recovery codes,
//! and removes it.

use std::future::{Ready, ready};

use petstore_app::delivery;
use petstore_domain::{
    Problem,
    staff::{
        EndedSessions, RECOVERY_CODE_COUNT, SecondFactor, StaffMember, TokenDigest, TotpSecret,
        generate_recovery_code,
    },
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{CODE, account_page, changed_meanwhile, code_field, write_and_redirect};
use crate::prelude::*;

/// The path of the page.
const PAGE: &str = "/account/second-factor";

/// The recovery codes of a member. Each recovery code can be used once in place of a code of the
/// app.
struct RecoveryCodes {
    codes: Vec<String>,
    /// The digests of the codes, which the store has.
    digests: Vec<TokenDigest>,
}

impl RecoveryCodes {
    /// Generates the recovery codes for this form. The same form always generates the same codes:
    /// see [`Desk::random_from_form`].
    fn from_form(desk: &Desk<'_>) -> Self {
        let mut random = desk.random_from_form();
        let mut codes = Vec::new();
        let mut digests = Vec::new();
        for _ in 0..RECOVERY_CODE_COUNT {
            let (code, digest) = generate_recovery_code(&mut random);
            codes.push(code);
            digests.push(digest);
        }
        Self { codes, digests }
    }
}

/// Responds to `GET /account/second-factor`. Members who sign in at a provider have no second
/// factor here, and are redirected to their account.
pub(crate) fn show_second_factor(desk: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    if desk.session.member.identity.is_some() {
        return ready(Ok(Reply::redirect_to("/account")));
    }
    let new_secret = desk.visit.console.with_random(TotpSecret::generate);
    ready(Ok(second_factor_page(
        desk,
        &new_secret,
        &Errors::default(),
    )))
}

/// Whether the settings require a second factor for this member's role.
fn is_required_for(desk: &Desk<'_>, member: &StaffMember) -> bool {
    let settings = &desk.visit.console.settings;
    settings.second_factor.includes(member.role)
}

/// Returns the page for setting up an app with a new secret. If the member has a second factor, it
/// also offers to replace the recovery codes, and to remove the second factor if the settings allow
/// that.
fn second_factor_page(desk: &Desk<'_>, new_secret: &TotpSecret, errors: &Errors) -> Reply {
    let member = &desk.session.member;
    let is_required = is_required_for(desk, member);
    let content = html! {
        @if is_required && !member.has_second_factor() {
            p { (texts().second_factor_required) }
        }
        p { a href="/account/passkeys" { (texts().passkeys) } }
        (set_up_section(desk, new_secret))
        @if member.second_factor.is_some() {
            section.card {
                h2 { (texts().recovery_codes) }
                p { (texts().new_codes_hint) }
                form method="post" action="/account/recovery-codes" {
                    (desk.idempotency_field("codes"))
                    button { (texts().new_codes) }
                }
            }
            @if !is_required || !member.passkeys.is_empty() {
                section.card {
                    h2 { (texts().without_second_factor) }
                    form method="post" action="/account/second-factor/remove" {
                        (desk.idempotency_field("remove"))
                        button.danger { (texts().remove_second_factor) }
                    }
                }
            }
        }
    };
    account_page(texts().second_factor, errors, &content)
}

/// Renders the new secret as a QR code and as text, and the form for the first code of the app. The
/// code proves that the app has the secret.
fn set_up_section(desk: &Desk<'_>, new_secret: &TotpSecret) -> Markup {
    let uri = new_secret.uri(desk.session.member.name.as_str());
    html! {
        section.card {
            h2 { (texts().set_up_app) }
            ol {
                li { (texts().open_app) }
                li {
                    (texts().scan)
                    (markup::qr_code(&uri, texts().qr_code))
                    code.secret { (new_secret.setup_key()) }
                }
            }
            form.fields method="post" action=(PAGE) {
                (desk.idempotency_field("set"))
                input type="hidden" name="secret" value=(new_secret.setup_key());
                (code_field(texts().app_code).show())
                div.buttons { button.main { (texts().use_app) } }
            }
        }
    }
}

/// Responds to `POST /account/second-factor`: saves the new secret if the app's code is correct,
/// and shows new recovery codes.
pub(crate) async fn set_second_factor(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let visit = &desk.visit;
    let Some(new_secret) = TotpSecret::parse(visit.form.raw("secret")) else {
        return Ok(Reply::redirect_to(PAGE));
    };
    let member = desk.session.member.clone();
    if let Some(page) = repeated_codes_page(desk, &member) {
        return Ok(page);
    }
    // The secret is encrypted below, once the code has been checked.
    let new_factor = SecondFactor {
        sealed_secret: vec![],
        last_period: 0,
        recovery: vec![],
    };
    let code = visit.form.raw(CODE);
    let Some(mut second_factor) = new_factor.with_used_code(code, &new_secret, visit.now) else {
        let errors = Errors::from_text(texts().app_code_wrong);
        return Ok(second_factor_page(desk, &new_secret, &errors));
    };

    // Only the first secret may create the key file. If the store already has secrets, their key
    // file exists, perhaps on another machine, and a new one could not decrypt them.
    let may_create_key_file = !delivery::has_secrets(desk.store()).await?;
    second_factor.sealed_secret =
        visit
            .console
            .seal_secret(member.id, &new_secret, may_create_key_file)?;
    save_with_new_codes(desk, member, second_factor).await
}

/// Responds to `POST /account/recovery-codes`: replaces the recovery codes, and shows the new ones.
pub(crate) async fn replace_recovery_codes(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = desk.session.member.clone();
    let Some(second_factor) = member.second_factor.clone() else {
        return Ok(Reply::redirect_to(PAGE));
    };
    if let Some(page) = repeated_codes_page(desk, &member) {
        return Ok(page);
    }
    save_with_new_codes(desk, member, second_factor).await
}

/// Saves the second factor with new recovery codes, and shows the codes once. Ends the member's
/// other sessions.
async fn save_with_new_codes(
    desk: &Desk<'_>,
    member: StaffMember,
    mut second_factor: SecondFactor,
) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let RecoveryCodes { codes, digests } = RecoveryCodes::from_form(desk);
    second_factor.recovery = digests;
    let change = member
        .change(
            |member| member.with_second_factor(Some(second_factor)),
            ActType::StaffSecondFactorSet,
        )
        .with_ended_sessions(EndedSessions::Others(session.record.digest));
    if visit.write_member(change, session.actor()).await? == StaffWriteOutcome::Stale {
        let key = StaffKey::Id(session.member.id);
        // Another request of a double click may have saved these codes.
        let current_member = desk.store().find_staff(key).await?;
        let page = current_member.and_then(|member| repeated_codes_page(desk, &member));
        return page.ok_or_else(changed_meanwhile);
    }
    Ok(codes_page(desk, &codes))
}

/// Returns the page with the recovery codes for this form if the member already has these codes,
/// because the form was submitted before. Otherwise returns `None`.
fn repeated_codes_page(desk: &Desk<'_>, member: &StaffMember) -> Option<Reply> {
    let RecoveryCodes { codes, digests } = RecoveryCodes::from_form(desk);
    let second_factor = member.second_factor.as_ref()?;
    if second_factor.recovery != digests {
        return None;
    }
    Some(codes_page(desk, &codes))
}

/// Returns the page that shows recovery codes once.
fn codes_page(desk: &Desk<'_>, codes: &[String]) -> Reply {
    // Only the form that sets up the second factor has a secret. The other form replaces the codes.
    let message = if desk.visit.form.raw("secret").is_empty() {
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

/// Checks that a member still has a second factor after a change, if the settings require one.
/// Fails with 403 otherwise.
pub(super) fn check_keeps_second_factor(
    desk: &Desk<'_>,
    after: &StaffMember,
) -> Result<(), ApiError> {
    if is_required_for(desk, after) && !after.has_second_factor() {
        let message = texts().second_factor_stays;
        return Err(ApiError::new(Problem::InsufficientScope, message));
    }
    Ok(())
}

/// Responds to `POST /account/second-factor/remove`: removes the authenticator app. Fails with 403
/// if the settings require a second factor and the member has no passkey.
pub(crate) async fn remove_second_factor(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let member = desk.session.member.clone();
    let change = member
        .change(
            |member| member.with_second_factor(None),
            ActType::StaffSecondFactorRemoved,
        )
        .with_ended_sessions(EndedSessions::Others(desk.session.record.digest));
    check_keeps_second_factor(desk, &change.after)?;
    write_and_redirect(desk, change, "/account", "second-factor-removed").await
}
