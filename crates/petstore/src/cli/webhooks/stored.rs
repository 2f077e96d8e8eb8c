//! Reads the webhooks of a store, and prints them as JSON.

use anyhow::Context;
use petstore_domain::store_area::{StoredWebhook, Webhook, WebhookId};
use petstore_formats::json;
use petstore_store::Store;

use super::super::{args::BadSetting, output};

/// Finds the webhook with this id. Fails if there is none.
pub(super) async fn find(store: &dyn Store, id: WebhookId) -> anyhow::Result<StoredWebhook> {
    for listed in list(store).await? {
        if listed.webhook.id == id {
            return Ok(listed);
        }
    }
    let message =
        format!("webhook {id} does not exist; `petstore webhooks list` lists the webhooks");
    Err(BadSetting(message).into())
}

/// Reads all webhooks.
pub(super) async fn list(store: &dyn Store) -> anyhow::Result<Vec<StoredWebhook>> {
    store
        .list_webhooks()
        .await
        .context("cannot read the webhooks")
}

/// Prints a webhook as JSON, without its secret.
pub(super) fn print(webhook: &Webhook) -> anyhow::Result<()> {
    let no_secret = None;
    let line = json_line(|json| json::write_webhook(json, webhook, no_secret))?;
    output::print(&line)
}

/// Prints a webhook as JSON, with the secret that the command has just generated. The secret is not
/// shown again, so this fails if the line cannot be printed.
pub(super) fn print_with_secret(webhook: &Webhook, secret: &str) -> anyhow::Result<()> {
    let line = json_line(|json| json::write_webhook(json, webhook, Some(secret)))?;
    output::print_completely(&line).with_context(|| {
        format!(
            "the secret of the webhook {0} could not be printed; make another one: petstore \
             webhooks rotate-secret {0}",
            webhook.id
        )
    })
}

/// Returns the JSON that `write_json` writes, as a line.
pub(super) fn json_line(write_json: impl FnOnce(&mut Vec<u8>)) -> anyhow::Result<String> {
    let mut line = Vec::new();
    write_json(&mut line);
    line.push(b'\n');
    Ok(String::from_utf8(line)?)
}
