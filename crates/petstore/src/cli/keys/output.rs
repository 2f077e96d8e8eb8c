//! The output of `petstore keys`: a new key, and the list of all keys.

use anyhow::Context;
use clap::ValueEnum;
use petstore_domain::{ApiKey, KeyRecord};
use serde_json::{Value, json};

use crate::cli::{args::DatabaseArgs, output};

/// The format of a list of keys.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Format {
    Table,
    Json,
}

/// Prints the key to standard output, and a message about it to standard error.
pub(super) fn print_new_key(
    key: &ApiKey,
    record: &KeyRecord,
    database: &DatabaseArgs,
) -> anyhow::Result<()> {
    output::print_completely(&format!("{}\n", key.reveal())).with_context(|| {
        format!(
            "key {0} was created but could not be printed; revoke it: petstore keys revoke {0}",
            record.id
        )
    })?;
    let validity = match record.expires_at {
        Some(expires_at) => format!("until {expires_at}"),
        None => "forever".to_owned(),
    };
    let rate = match &record.rate_limit {
        Some(limit) => format!(" at most {limit},"),
        None => String::new(),
    };
    output::print_message(&format!(
        "Key {} ({}) in {}: scope {}, {},{rate} valid {validity}. It is not shown again.",
        record.id,
        record.name,
        database.url,
        record.scope.as_str(),
        record.deployment.as_str(),
    ));
    Ok(())
}

/// Prints all keys, without their secrets, in this format.
pub(super) fn print_list(records: &[KeyRecord], format: Format) -> anyhow::Result<()> {
    match format {
        Format::Table => output::print(&render_keys(records)),
        Format::Json => {
            let rows: Vec<Value> = records.iter().map(to_json_element).collect();
            output::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))
        }
    }
}

/// Returns a key as an element of the JSON list.
fn to_json_element(record: &KeyRecord) -> Value {
    json!({
        "id": record.id.0,
        "name": record.name,
        "scope": record.scope.as_str(),
        "deployment": record.deployment.as_str(),
        "created": record.created_at,
        "expires": record.expires_at,
        "lastUsed": record.last_used_at,
        "lastDeprecatedCall": record.last_deprecated_call_at,
        "revoked": record.revoked_at,
        "rateLimit": record.rate_limit.map(|limit| limit.to_string()),
    })
}

/// Renders the table of all keys.
fn render_keys(records: &[KeyRecord]) -> String {
    let heading = [
        "ID",
        "NAME",
        "SCOPE",
        "DEPLOYMENT",
        "CREATED",
        "EXPIRES",
        "LAST USED",
        "LAST DEPRECATED CALL",
        "REVOKED",
        "RATE LIMIT",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    rows.extend(records.iter().map(|record| {
        [
            record.id.to_string(),
            output::escape_hidden(&record.name).into_owned(),
            record.scope.as_str().to_owned(),
            record.deployment.as_str().to_owned(),
            record.created_at.to_string(),
            text_or_dash(record.expires_at),
            text_or_dash(record.last_used_at),
            text_or_dash(record.last_deprecated_call_at),
            text_or_dash(record.revoked_at),
            text_or_dash(record.rate_limit),
        ]
    }));
    output::render_table(&rows)
}

/// Returns the text of a value, or `-` if there is no value.
fn text_or_dash(value: Option<impl ToString>) -> String {
    match value {
        Some(value) => value.to_string(),
        None => "-".to_owned(),
    }
}
