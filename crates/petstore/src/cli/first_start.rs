//! The lines that `petstore serve` logs when it starts. At the first start, an operator at a
//! terminal also gets an API key and a link for a manager.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
};

use anyhow::Context;
use petstore_api::Settings;
use petstore_databases::DatabaseUrl;
use petstore_domain::{Clock, Deployment, Role, Scope, StaffName, SystemClock};
use petstore_photos::PhotoStorage;
use petstore_store::Store;
use tracing::{info, warn};

use super::{keys, output::print_message, pages::Urls, staff, values};

/// Logs the addresses of the service, of its documentation, of its console and of its window. Then
/// makes sure that the deployment has a valid key, and that the console has staff.
pub(super) async fn log_start_and_ensure_access(
    store: &dyn Store,
    database: &DatabaseUrl,
    photos: Option<&PhotoStorage>,
    settings: &Settings,
    address: SocketAddr,
    urls: Urls,
) -> anyhow::Result<()> {
    let deployment = settings.deployment;
    let scheme = if settings.tls { "https" } else { "http" };
    let url = match settings.own_base_url() {
        Some(configured_url) => configured_url.as_str().to_owned(),
        None => format!("{scheme}://{}/v1", values::reachable_address(address)),
    };
    // The documentation is at `/docs`, in place of the `/v1` of the API.
    let docs = format!("{}/docs", url.trim_end_matches("/v1"));
    let photo_place = match photos {
        Some(storage) => storage.to_string(),
        None => "off".to_owned(),
    };
    info!(
        deployment = deployment.as_str(),
        %database,
        photos = photo_place,
        docs = %docs,
        "serving {scheme}://{address}/v1"
    );
    for (name, page_url) in [("console", &urls.console), ("window", &urls.window)] {
        if let Some(page_url) = page_url {
            info!("{name} at {page_url}");
        }
    }
    ensure_first_key(store, deployment, database, &url, &docs).await?;
    match urls.console {
        Some(console_url) => ensure_first_manager(store, database, &console_url).await,
        None => Ok(()),
    }
}

/// Makes sure that the deployment has a valid key, or that the operator knows how to create one.
///
/// If the deployment has no valid key, there are two cases. If the store has no keys at all and
/// this process runs at a terminal, creates the first key and prints it. Otherwise, logs the
/// command that creates a key.
async fn ensure_first_key(
    store: &dyn Store,
    deployment: Deployment,
    database: &DatabaseUrl,
    url: &str,
    docs: &str,
) -> anyhow::Result<()> {
    let keys = store.list_keys().await.context("cannot read the keys")?;
    let now = SystemClock.now();
    let has_valid_key = keys
        .iter()
        .any(|key| key.deployment == deployment && key.is_valid_at(now));
    if has_valid_key {
        return Ok(());
    }
    let can_show_first_key = keys.is_empty() && io::stderr().is_terminal();
    if !can_show_first_key {
        warn!(
            "there is no valid API key for this deployment; create one: \
             petstore keys create --name NAME --deployment {} --database {database}",
            deployment.as_str(),
        );
        return Ok(());
    }
    let key = keys::create_first_key(store, deployment, Scope::Write).await?;
    let key = key.reveal();
    let lines = format!(
        "\nThis is your first API key. It is not shown again:\n\n    {key}\n\n\
         Try it:\n\n    curl -H 'Authorization: Bearer {key}' {url}/pets\n\n\
         Or open the documentation in a browser:\n\n    {docs}\n"
    );
    print_lines(&lines);
    Ok(())
}

/// Makes sure that the console has staff, or that the operator knows how to add a manager.
///
/// At a terminal, adds the first manager and prints the link that sets the password. Otherwise,
/// logs the command that adds a manager.
async fn ensure_first_manager(
    store: &dyn Store,
    database: &DatabaseUrl,
    console_url: &str,
) -> anyhow::Result<()> {
    let staff_members = store.list_staff().await.context("cannot read the staff")?;
    if !staff_members.is_empty() {
        return Ok(());
    }
    // Other commands do not know the options of this process, so the suggested commands repeat
    // them.
    let options = format!("--database {database} --console-url {console_url}");
    if !io::stderr().is_terminal() {
        info!(
            "nobody can use the console yet; add a manager: petstore staff add NAME --role manager {options}"
        );
        return Ok(());
    }
    let name = StaffName::new("manager").context("the name of the first manager is not valid")?;
    let token = staff::add_member(store, name, Role::Manager, SystemClock.now()).await?;
    let lines = format!(
        "\nThe console is for the people in the store. Open this link to choose the password of the \
         member `manager`:\n\n    {}\n\nIt is valid for 24 hours. Another one: petstore staff reset \
         manager {options}\n",
        staff::token_link(&token, console_url)
    );
    print_lines(&lines);
    Ok(())
}

/// Prints each line of a text for the operator.
fn print_lines(text: &str) {
    for line in text.split('\n') {
        print_message(line);
    }
}
