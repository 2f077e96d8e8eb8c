//! Counts sign-ins, limits the attempts, and records the failed ones.

use petstore_domain::{
    Actor, StaffId,
    staff::StaffMember,
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use tracing::warn;

use crate::{openid::Failure, prelude::*, visit::Visit};

/// How somebody signs in.
#[derive(Debug, Clone, Copy)]
pub(super) enum SignInMethod {
    /// With a password, perhaps followed by a code of the second factor.
    Password,
    Passkey,
    /// At the OpenID provider.
    Provider,
    /// With the single-use link of a new or reset member.
    Link,
}

impl SignInMethod {
    /// Returns the name of the method in the metrics and in the log.
    fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Passkey => "passkey",
            Self::Provider => "provider",
            Self::Link => "link",
        }
    }
}

/// Counts a successful sign-in in the metrics.
pub(super) fn count_success(visit: &Visit<'_>, method: SignInMethod) {
    visit
        .console
        .app
        .sign_ins
        .count(method.as_str(), "accepted");
}

/// Records a failed sign-in: counts it by `method` in the metrics, logs its cause if there is one,
/// and adds it to the audit trail with the member, if known. The typed name is not recorded,
/// because people sometimes type their password there.
///
/// The audit trail gets only a limited number of failures per hour, and none that is due to an
/// unreachable provider.
pub(super) async fn record_rejection(
    visit: &Visit<'_>,
    method: SignInMethod,
    member: Option<&StaffMember>,
    cause: Option<&Failure>,
) -> Result<(), ApiError> {
    let is_unavailable = matches!(cause, Some(Failure::Unreachable(_)));
    let result = if is_unavailable {
        "unavailable"
    } else {
        "rejected"
    };
    visit.console.app.sign_ins.count(method.as_str(), result);
    if let Some(cause) = cause {
        log_failure(visit, method, cause);
    }
    if is_unavailable {
        return Ok(());
    }

    let now = visit.console.app.clock.instant();
    if !visit.console.guesses.count_failure(now) {
        log_unrecorded_failure(visit);
        return Ok(());
    }
    add_to_audit_trail(visit, member).await
}

/// Logs the cause of a failed sign-in, unless too many failures were logged recently.
fn log_failure(visit: &Visit<'_>, method: SignInMethod, cause: &Failure) {
    let method_name = method.as_str();
    let now = visit.console.app.clock.instant();
    let log_limiter = &visit.console.edge.sign_in_log_limiter;
    if let Some(left_out) = log_limiter.try_acquire(now) {
        warn!(request_id = ?visit.request_id, left_out, "a sign-in by {method_name} failed: {cause}");
    }
}

/// Logs that the audit trail does not have a failed sign-in, unless this was logged recently.
fn log_unrecorded_failure(visit: &Visit<'_>) {
    let now = visit.console.app.clock.instant();
    let log_limiter = &visit.console.edge.unrecorded_sign_in_log_limiter;
    if let Some(left_out) = log_limiter.try_acquire(now) {
        let address = visit.visitor.address;
        warn!(%address, left_out, "a failed sign-in is not in the audit trail, because it has too many of this hour");
    }
}

/// Adds a failed sign-in to the audit trail, with the address of the browser.
async fn add_to_audit_trail(
    visit: &Visit<'_>,
    member: Option<&StaffMember>,
) -> Result<(), ApiError> {
    let act = Act {
        kind: ActType::StaffSignInFailed.into(),
        subject: JournalSubject {
            kind: SubjectKind::Staff.into(),
            id: member.map(|member| member.id.0),
        },
        details: vec![("address".into(), visit.visitor.address.to_string())],
    };
    let context = visit.context_without_idempotency(Actor::Clock.into());
    Ok(visit.console.app.store.record_act(act, context).await?)
}

impl Visit<'_> {
    /// Counts a sign-in attempt with this name. Fails with 429 after too many attempts. See
    /// [`Guesses::count_attempt`](crate::guesses::Guesses::count_attempt).
    pub(crate) fn count_attempt(
        &self,
        name: &str,
        known_member: Option<StaffId>,
    ) -> Result<(), ApiError> {
        let now = self.console.app.clock.instant();
        let address = self.visitor.address;
        self.console
            .guesses
            .count_attempt(name, address, known_member, now)
    }
}
