//! Counts and records sign-in attempts, writes changes of members, and decrypts their secrets.

use std::sync::Arc;

use petstore_domain::{
    Actor, NamedActor, Problem, StaffId,
    staff::{StaffChange, StaffMember, TotpSecret},
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::StaffWriteOutcome;
use tracing::warn;

use crate::{Console, openid::Failure, prelude::*, visit::Visit};

/// Records a failed sign-in: counts it by `method` in the metrics, logs its cause, and adds it to
/// the audit trail with the member, if known. The typed name is not recorded, because people
/// sometimes type their password there.
///
/// The audit trail gets only a limited number of failures per hour, and none that is due to an
/// unreachable provider.
pub(super) async fn record_rejection(
    visit: &Visit<'_>,
    method: &str,
    member: Option<&StaffMember>,
    cause: Option<&Failure>,
) -> Result<(), ApiError> {
    let is_unavailable = matches!(cause, Some(Failure::Unreachable(_)));
    let result = if is_unavailable {
        "unavailable"
    } else {
        "rejected"
    };
    visit.console.app.sign_ins.count(method, result);
    let edge = &visit.console.edge;
    let now = visit.console.app.clock.instant();
    if let Some(cause) = cause
        && let Some(left_out) = edge.sign_in_log_limiter.try_acquire(now)
    {
        warn!(request_id = ?visit.request_id, left_out, "a sign-in by {method} failed: {cause}");
    }
    if is_unavailable {
        return Ok(());
    }

    if !visit.console.guesses.count_failure(now) {
        if let Some(left_out) = edge.unrecorded_sign_in_log_limiter.try_acquire(now) {
            let address = visit.visitor.address;
            warn!(%address, left_out, "a failed sign-in is not in the audit trail, because it has too many of this hour");
        }
        return Ok(());
    }
    let act = Act {
        kind: ActType::StaffSignInFailed.into(),
        subject: JournalSubject {
            kind: SubjectKind::Staff.into(),
            id: member.map(|member| member.id.0),
        },
        details: vec![("address".into(), visit.visitor.address.to_string())],
    };
    let context = visit.context_without_key(Actor::Clock.into());
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

    /// Writes a change of a member. Returns [`StaffWriteOutcome::Stale`] if somebody else has
    /// changed the member in the meantime.
    pub(crate) async fn write(
        &self,
        change: StaffChange,
        actor: NamedActor,
    ) -> Result<StaffWriteOutcome, ApiError> {
        let store = &self.console.app.store;
        Ok(store
            .write_staff(change, self.context_without_key(actor))
            .await?)
    }
}

impl Console {
    /// Decrypts the secret of a member's authenticator app. Fails with 500 if the key file is
    /// missing or is not the one that encrypted it.
    pub fn open_secret(&self, member: StaffId, sealed: &[u8]) -> Result<TotpSecret, ApiError> {
        let vault = self.app.webhooks.registrar.vault();
        let bytes = vault
            .open(&secret_subject(member), sealed)
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Returns the subject to which the encryption binds the secret of a member: `staff 7` for member
/// 7. A secret that is copied to another member's row cannot be decrypted.
pub(super) fn secret_subject(member: StaffId) -> String {
    format!("staff {member}")
}
