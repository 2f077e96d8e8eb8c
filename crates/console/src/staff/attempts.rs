//! Counting and recording sign-in attempts, and writing changes of members.

use std::sync::Arc;

use petstore_domain::{
    Actor, NamedActor, Problem, StaffId,
    staff::{StaffChange, StaffMember, TotpSecret},
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::StaffWriteOutcome;
use tracing::warn;

use crate::{Console, openid::Failure, prelude::*, visit::Visit};

/// Counts a failed sign-in in the metrics, logs its cause, and records it in the audit trail with
/// the member, if known. The audit trail takes only a limited number of failures per hour, and none
/// because of an unreachable provider. The typed name is not recorded, because people sometimes
/// type their password there.
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
    /// Counts a sign-in attempt with this name. `known_member` is the member with this name, if
    /// this is one of the member's known browsers. Fails with 429 after too many attempts.
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
    /// changed the member meanwhile.
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
    /// Decrypts the secret of a member's second factor. Fails with 500 if the key file is missing
    /// or wrong.
    pub fn open_secret(&self, member: StaffId, sealed: &[u8]) -> Result<TotpSecret, ApiError> {
        let vault = self.app.webhooks.registrar.vault();
        let bytes = vault
            .open(&secret_purpose(member), sealed)
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Returns the purpose that binds an encrypted secret to its member: `staff 7` for member 7. A
/// secret that is copied to another member cannot be decrypted.
pub(super) fn secret_purpose(member: StaffId) -> String {
    format!("staff {member}")
}
