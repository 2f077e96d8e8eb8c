//! Makes what new webhooks need: checked URLs, secrets and test messages. The API, the console and
//! the command line use it.

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

/// The subject ([`Vault::seal`]) for which remembered responses are encrypted.
const RESPONSE_SUBJECT: &str = "response";

/// Validates the URLs of webhooks, and generates their secrets and test messages. Encrypts the
/// secrets, and the remembered responses that contain them.
pub struct Registrar {
    vault: Arc<Vault>,
    /// The private networks that webhooks may reach.
    allowed: Networks,
    random: Mutex<StdRng>,
    metrics: Arc<WebhookMetrics>,
}

/// A new secret of a webhook.
pub struct NewSecret {
    /// The secret to show in the response.
    pub plain: Secret,
    /// The encrypted secret to store.
    pub sealed: Vec<u8>,
}

impl Registrar {
    /// Returns a registrar that encrypts with `vault`. Webhooks may reach private networks only if
    /// these are in `allowed`.
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

    /// Validates the URL of a webhook, and returns it in normalized form. The error is a message
    /// for a client.
    pub fn check_url(&self, url: &str) -> Result<String, String> {
        Ok(EndpointUrl::parse(url, &self.allowed)?.get().to_string())
    }

    /// Generates a secret for a webhook, and encrypts it.
    ///
    /// Creates the key file if it does not exist and `may_create_key_file` is set. Set this only if
    /// the database has no secret yet: existing secrets need the key file that encrypted them.
    pub fn new_secret(
        &self,
        webhook: WebhookId,
        may_create_key_file: bool,
    ) -> Result<NewSecret, VaultError> {
        let mut random = self.random.lock();
        let plain = Secret::generate(&mut *random);
        let subject = secret_subject(webhook);
        let sealed = self.vault.seal(
            &subject,
            plain.as_bytes(),
            may_create_key_file,
            &mut *random,
        )?;
        Ok(NewSecret { plain, sealed })
    }

    /// Encrypts the body of a response that contains a secret. The response is remembered for
    /// retries of the request.
    pub(crate) fn seal_response(&self, body: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut random = self.random.lock();
        // The secret in the response was encrypted just before, so the key file already exists.
        let may_create_key_file = false;
        self.vault
            .seal(RESPONSE_SUBJECT, body, may_create_key_file, &mut *random)
    }

    /// Decrypts the body of a remembered response. A body without a secret was not encrypted, and
    /// is returned unchanged.
    pub(crate) fn open_response(&self, body: Vec<u8>) -> Result<Vec<u8>, VaultError> {
        if Vault::is_sealed(&body) {
            self.vault.open(RESPONSE_SUBJECT, &body)
        } else {
            Ok(body)
        }
    }

    /// Returns a new test message for a webhook. The caller stores it, and a dispatcher sends it.
    pub fn new_test(&self, webhook: WebhookId) -> TestMessage {
        let mut bytes = [0; 16];
        self.random.lock().fill_bytes(&mut bytes);
        TestMessage {
            webhook,
            message_id: format_message_id(&bytes),
        }
    }
}

/// Returns the subject ([`Vault::seal`]) for which the secret of a webhook is encrypted, such as
/// `webhook 7`.
fn secret_subject(webhook: WebhookId) -> String {
    format!("webhook {webhook}")
}

/// Decrypts the secret of a webhook.
pub(super) fn open_secret(
    vault: &Vault,
    webhook: WebhookId,
    sealed: &[u8],
) -> Result<Secret, VaultError> {
    let opened = vault.open(&secret_subject(webhook), sealed)?;
    // This never fails, because only secrets of 32 bytes are sealed for the subject of a webhook.
    let bytes: [u8; 32] = opened.try_into().map_err(|_| VaultError::OtherKey)?;
    Ok(Secret::from_bytes(bytes))
}

/// Formats 16 bytes as a `webhook-id`: `msg_` and 32 hexadecimal digits.
pub(super) fn format_message_id(bytes: &[u8; 16]) -> String {
    format!("msg_{}", text::hex_digits(bytes))
}
