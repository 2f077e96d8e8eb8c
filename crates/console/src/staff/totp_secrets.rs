//! The encryption of the secrets that members share with their authenticator apps (TOTP).

use std::sync::Arc;

use petstore_domain::{Problem, StaffId, staff::TotpSecret};

use crate::{prelude::*, state::Console};

impl Console {
    /// Encrypts the secret of a member's authenticator app. Fails with 500 if the key file is
    /// missing and `may_create_key_file` is false.
    pub(super) fn seal_secret(
        &self,
        member: StaffId,
        secret: &TotpSecret,
        may_create_key_file: bool,
    ) -> Result<Vec<u8>, ApiError> {
        let vault = self.app.webhooks.registrar.vault();
        let subject = subject_of(member);
        self.with_random(|random| {
            vault.seal(&subject, secret.as_bytes(), may_create_key_file, random)
        })
        .map_err(|error| ApiError::internal(Arc::new(error)))
    }

    /// Decrypts the secret of a member's authenticator app. Fails with 500 if the key file is
    /// missing or is not the one that encrypted it.
    pub(super) fn open_secret(
        &self,
        member: StaffId,
        sealed: &[u8],
    ) -> Result<TotpSecret, ApiError> {
        let vault = self.app.webhooks.registrar.vault();
        let bytes = vault
            .open(&subject_of(member), sealed)
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Returns the subject to which the encryption binds the secret of a member: `staff 7` for member
/// 7. A secret that is copied to another member's row cannot be decrypted.
fn subject_of(member: StaffId) -> String {
    format!("staff {member}")
}
