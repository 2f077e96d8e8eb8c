//! Counting and recording attempts to sign in, and writing the changes of members.

use std::sync::Arc;

use petstore_domain::{
    Actor, NamedActor, Problem, StaffId,
    staff::{StaffChange, StaffMember, TotpSecret},
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::StaffWriteOutcome;
use tracing::warn;

use crate::{Console, openid::Failure, prelude::*, visit::Visit};

/// Counts and records a rejected attempt, for a known name with its member. The typed name is not recorded, because it
/// can be a password.
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
        && let Some(left_out) = edge.lines_of_sign_ins.line(now)
    {
        warn!(request_id = ?visit.request_id, left_out, "a sign-in by {method} failed: {cause}");
    }
    if is_unavailable {
        return Ok(());
    }

    if !visit.console.guesses.count_failure(now) {
        if let Some(left_out) = edge.lines_of_unrecorded.line(now) {
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
    /// Counts an attempt to sign in with this name. `known_member` is the member, in a browser in which the member has
    /// signed in before. Fails with 429 after too many attempts.
    pub(crate) fn guess(&self, name: &str, known_member: Option<StaffId>) -> Result<(), ApiError> {
        let now = self.console.app.clock.instant();
        let address = self.visitor.address;
        self.console
            .guesses
            .count_attempt(name, address, known_member, now)
    }

    /// Makes a change of a member. Returns [`StaffWriteOutcome::Stale`] if somebody else has changed the member.
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
    /// Decrypts the secret of a second factor. Fails with 500 without the key file.
    pub fn open_secret(&self, member: StaffId, sealed: &[u8]) -> Result<TotpSecret, ApiError> {
        let vault = self.app.webhooks.registrar.vault();
        let bytes = vault
            .open(&secret_purpose(member), sealed)
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Returns the purpose for which the secret of a member is encrypted: `staff 7` for the member 7.
pub(super) fn secret_purpose(member: StaffId) -> String {
    format!("staff {member}")
}
