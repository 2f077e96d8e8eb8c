//! What `petstore serve` logs when it starts, and what it gives an operator who starts it for the
//! first time: an API key.

use std::io::{self, IsTerminal};

use anyhow::Context;
use tracing::{info, warn};

use super::keys;
use crate::{
    domain::{Clock, Deployment, KeyRecord, SystemClock},
    store::{DatabaseUrl, Store},
};

/// Logs the address of the service. Without a valid key, also creates one or says how.
pub(super) async fn log(
    store: &dyn Store,
    deployment: Deployment,
    database: &DatabaseUrl,
    url: &str,
) -> anyhow::Result<()> {
    let docs = format!("{}/docs", url.trim_end_matches("/v1"));
    info!(
        deployment = deployment.as_str(),
        %database,
        docs = %docs,
        "serving {url}"
    );
    let keys = store.list_keys().await.context("cannot read the keys")?;
    let now = SystemClock.now();
    let is_valid = |key: &KeyRecord| key.deployment == deployment && key.is_valid_at(now);
    if keys.iter().any(is_valid) {
        return Ok(());
    }
    if !keys.is_empty() || !io::stderr().is_terminal() {
        warn!(
            "there is no valid API key for this deployment; create one: \
             petstore keys create --name NAME --deployment {} --database {database}",
            deployment.as_str(),
        );
        return Ok(());
    }
    let key = keys::create_first(store, deployment).await?;
    let key = key.reveal();
    let text = format!(
        "\nThis is your first API key. It is not shown again:\n\n    {key}\n\n\
         Try it:\n\n    curl -H 'Authorization: Bearer {key}' {url}/pets\n\n\
         Or open the documentation in a browser:\n\n    {docs}\n"
    );
    text.split('\n').for_each(super::print_message);
    Ok(())
}
