//! What the API, the console and the command line need to register webhooks.

use std::sync::Arc;

use parking_lot::Mutex;
use petstore_domain::{
    Networks,
    store_area::{TestMessage, WebhookId},
    text,
};
use petstore_observe::metrics::WebhookMetrics;
use rand::{Rng, rngs::StdRng};

use super::{EndpointUrl, Secret, Vault, VaultError};

/// Validates the URLs of webhooks, and generates their secrets and test messages. Encrypts the secrets, and
/// the remembered responses that contain them.
pub struct Registrar {
    vault: Arc<Vault>,
    /// The private networks that webhooks may reach.
    allowed: Networks,
    random: Mutex<StdRng>,
    metrics: Arc<WebhookMetrics>,
}

impl Registrar {
    /// Returns a registrar that encrypts with `vault`. Webhooks may reach private networks only if these are
    /// in `allowed`.
    pub fn new(vault: Arc<Vault>, allowed: Networks, random: StdRng) -> Self {
        Self {
            vault,
            allowed,
            random: Mutex::new(random),
            metrics: Arc::default(),
        }
    }

    /// Returns the vault, which holds the encryption key.
    pub fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// Returns the metrics of all webhooks.
    pub fn metrics(&self) -> &Arc<WebhookMetrics> {
        &self.metrics
    }

    /// Validates a URL and returns it in normalized form. The error is a message for a client.
    pub fn check_url(&self, url: &str) -> Result<String, String> {
        Ok(EndpointUrl::parse(url, &self.allowed)?.get().to_string())
    }

    /// Generates a secret for a webhook. Returns it in plain and in encrypted form.
    ///
    /// If the key file does not exist, creates it, provided that `may_create_key_file` is set. Set it only if
    /// the database has no secret yet: existing secrets need the key file that encrypted them.
    pub fn new_secret(
        &self,
        webhook: WebhookId,
        may_create_key_file: bool,
    ) -> Result<(Secret, Vec<u8>), VaultError> {
        let mut random = self.random.lock();
        let secret = Secret::generate(&mut *random);
        let subject = secret_subject(webhook);
        let sealed = self.vault.seal(
            &subject,
            secret.as_bytes(),
            may_create_key_file,
            &mut *random,
        )?;
        Ok((secret, sealed))
    }

    /// Encrypts the body of a response that contains a secret. The response is remembered for retries of the
    /// request.
    pub(crate) fn seal_response(&self, body: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut random = self.random.lock();
        // The secret in the response was encrypted just before, so the key file already exists.
        let may_create_key_file = false;
        self.vault
            .seal(RESPONSE_SUBJECT, body, may_create_key_file, &mut *random)
    }

    /// Decrypts the body of a remembered response. Returns it unchanged if it was not encrypted, because it
    /// contains no secret.
    pub(crate) fn open_response(&self, stored: Vec<u8>) -> Result<Vec<u8>, VaultError> {
        if Vault::is_sealed(&stored) {
            self.vault.open(RESPONSE_SUBJECT, &stored)
        } else {
            Ok(stored)
        }
    }

    /// Returns a new test message for a webhook. The caller stores it, and a dispatcher sends it.
    pub fn new_test(&self, webhook: WebhookId) -> TestMessage {
        let mut bytes = [0; 16];
        self.random.lock().fill_bytes(&mut bytes);
        TestMessage {
            webhook,
            message_id: message_id(&bytes),
        }
    }
}

/// The subject ([`Vault::seal`]) for which remembered responses are encrypted.
const RESPONSE_SUBJECT: &str = "response";

/// Returns the subject ([`Vault::seal`]) for which the secret of a webhook is encrypted, such as `webhook 7`.
fn secret_subject(webhook: WebhookId) -> String {
    format!("webhook {webhook}")
}

/// Decrypts the secret of a webhook.
pub(super) fn open_secret(
    vault: &Vault,
    webhook: WebhookId,
    sealed: &[u8],
) -> Result<Secret, VaultError> {
    let bytes = vault.open(&secret_subject(webhook), sealed)?;
    let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| VaultError::OtherKey)?;
    Ok(Secret::from_bytes(bytes))
}

/// Formats 16 bytes as a `webhook-id`: `msg_` and 32 hexadecimal digits.
pub(super) fn message_id(bytes: &[u8; 16]) -> String {
    format!("msg_{}", text::hex_digits(bytes))
}
