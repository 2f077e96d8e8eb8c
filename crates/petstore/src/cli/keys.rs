//! `petstore keys`: API keys, whether the service runs or not.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use petstore_domain::{
    Actor, ApiKey, Clock, Deployment, KeyId, KeyRecord, NewKey, RateLimit, Scope, SystemClock,
    WriteContext,
};
use petstore_store::{OpenMode, Store};
use serde_json::{Value, json};

use super::{
    args::{BadSetting, CreateArgs, DatabaseArgs},
    values,
};

/// Create, list, revoke and rotate API keys
#[derive(Debug, Subcommand)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore keys create --name shop\n",
    "  petstore keys create --name till --scope store:write\n",
    "  petstore keys list"
))]
pub(super) enum Keys {
    Create(Create),
    List(List),
    Revoke(Revoke),
    Rotate(Rotate),
}

/// Create an API key and print it once
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore keys create --name till\n",
    "  petstore keys create --name website --scope read --rate-limit 600/min --expires 90d\n",
    "  petstore keys create --name reception --scope store:write"
))]
pub(super) struct Create {
    /// The name of the key, such as the program or person that uses it
    #[arg(long, env = "PETSTORE_KEY_NAME")]
    name: String,

    /// What the key allows: to read animals (read), also to add them (write), and in the
    /// store area to read (store:read), change (store:write) or administer (store:admin)
    #[arg(long, value_parser = values::word(&Scope::ALL), env = "PETSTORE_KEY_SCOPE", default_value = "write")]
    scope: Scope,

    /// How long the key is valid, such as 90d, 12h or 30s; forever if not given
    #[arg(long, value_name = "DURATION", env = "PETSTORE_KEY_EXPIRES", value_parser = values::duration)]
    expires: Option<Duration>,

    /// The rate limit of the key, such as 10/s, 600/min or 5000/h; by default, the
    /// limit that the service has for all keys
    #[arg(long, value_name = "RATE", env = "PETSTORE_KEY_RATE_LIMIT")]
    rate_limit: Option<RateLimit>,

    /// The deployment that accepts the key
    #[arg(long, value_parser = values::word(&Deployment::ALL), env = "PETSTORE_DEPLOYMENT", default_value = "production")]
    deployment: Deployment,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    if_absent: CreateArgs,
}

/// List the API keys, without their secrets
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore keys list\n",
    "  petstore keys list --format json"
))]
pub(super) struct List {
    /// A table to read, or a JSON array for programs
    #[arg(long, value_enum, env = "PETSTORE_KEYS_FORMAT", default_value_t = Format::Table)]
    format: Format,

    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Revoke an API key: a running service rejects it within seconds
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore keys revoke 3"
))]
pub(super) struct Revoke {
    /// The number of the key, as listed
    id: KeyId,

    #[command(flatten)]
    database: DatabaseArgs,
}

/// Replace an API key: print a successor with the same name, scope, rate limit and
/// lifetime, and let the old key expire
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore keys rotate 3\n",
    "  petstore keys rotate 3 --overlap 7d"
))]
pub(super) struct Rotate {
    /// The number of the key, as listed
    id: KeyId,

    /// How long the old key stays valid; with 0s, it expires at once
    #[arg(
        long,
        value_name = "DURATION",
        env = "PETSTORE_KEY_OVERLAP",
        default_value = "24h",
        value_parser = values::duration
    )]
    overlap: Duration,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Keys {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
            Self::List(list) => list.run().await,
            Self::Revoke(revoke) => revoke.run().await,
            Self::Rotate(rotate) => rotate.run().await,
        }
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let printable = !self.name.contains(char::is_control);
        let bad = |message: &str| BadSetting(message.to_owned());
        ensure!(
            !self.name.trim().is_empty() && printable,
            bad("--name must be one line of text, such as `till` or `website`")
        );
        let brief = self
            .expires
            .is_some_and(|expires| expires < Duration::from_secs(1));
        ensure!(!brief, bad("--expires must be at least 1s"));
        let now = SystemClock.now();
        let expires_at = self
            .expires
            .map(|expires| expiry(now, "--expires", expires))
            .transpose()?;
        let store = self.database.open(self.if_absent.mode()).await?;
        let key = generate(self.deployment);
        let new = NewKey {
            digest: key.digest(),
            name: self.name,
            scope: self.scope,
            deployment: self.deployment,
            expires_at,
            rate_limit: self.rate_limit,
        };
        let record = store
            .create_key(new, act(now))
            .await
            .context("cannot store the key")?;
        show(&key, &record, &self.database)
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let records = store.list_keys().await.context("cannot read the keys")?;
        match self.format {
            Format::Table => super::output::print(&table(&records)),
            Format::Json => {
                let rows: Vec<Value> = records.iter().map(element).collect();
                super::output::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))
            }
        }
    }
}

impl Revoke {
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = SystemClock.now();
        let revoked = store
            .revoke_key(self.id, act(now))
            .await
            .context("cannot revoke the key")?;
        let Some(record) = revoked else {
            bail!(no_key(self.id, &self.database));
        };
        let database = &self.database.database;
        super::output::print_message(&format!(
            "Key {} ({}) in {database} is revoked.",
            record.id, record.name
        ));
        Ok(())
    }
}

impl Rotate {
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = SystemClock.now();
        let old = store
            .get_key(self.id)
            .await
            .context("cannot read the key")?;
        let Some(old) = old else {
            bail!(no_key(self.id, &self.database));
        };
        ensure!(
            old.is_valid_at(now),
            "key {} is revoked or expired; create a new one instead",
            old.id
        );
        if let Some(successor) = old.successor {
            bail!(
                "key {} was rotated already; rotate its successor, key {successor}",
                old.id
            );
        }
        let until = expiry(now, "--overlap", self.overlap)?;
        let key = generate(old.deployment);
        let new = old
            .successor_at(key.digest(), now)
            .context("the new key would expire too far in the future")?;
        let rotated = store
            .rotate_key(old.id, new, until, act(now))
            .await
            .context("cannot rotate the key")?;
        let Some(record) = rotated else {
            bail!(
                "another process has just rotated key {}; `petstore keys list` lists the keys",
                self.id
            );
        };
        let expiry = old.expires_at.map_or(until, |expiry| expiry.min(until));
        super::output::print_message(&match self.overlap.as_secs() {
            0 => format!("Key {} is no longer valid.", self.id),
            // As the store keeps it.
            _ => format!("Key {} is valid until {:.0}.", self.id, expiry),
        });
        show(&key, &record, &self.database)
    }
}

/// Creates the key for the first user.
pub(super) async fn create_first(
    store: &dyn Store,
    deployment: Deployment,
    scope: Scope,
) -> anyhow::Result<ApiKey> {
    let key = generate(deployment);
    let digest = key.digest();
    let name = "first".to_owned();
    let new = NewKey {
        digest,
        name,
        scope,
        deployment,
        expires_at: None,
        rate_limit: None,
    };
    store
        .create_key(new, act(SystemClock.now()))
        .await
        .context("cannot store the first key")?;
    Ok(key)
}

/// Returns an act of the operator.
fn act(now: Timestamp) -> WriteContext {
    WriteContext::new(Actor::Command, now)
}

fn generate(deployment: Deployment) -> ApiKey {
    ApiKey::generate(deployment, &mut super::runtime::random())
}

/// Returns the time at which something expires that is valid from now for the duration that this
/// option sets.
fn expiry(now: Timestamp, option: &str, duration: Duration) -> Result<Timestamp, BadSetting> {
    let expiry = SignedDuration::try_from(duration).and_then(|duration| now.checked_add(duration));
    expiry.map_err(|_| {
        BadSetting(format!(
            "{option} leads too far into the future, beyond the year 9999; use a shorter duration, \
             such as 90d"
        ))
    })
}

fn no_key(id: KeyId, database: &DatabaseArgs) -> BadSetting {
    let database = &database.database;
    BadSetting(format!(
        "key {id} does not exist in {database}; `petstore keys list` lists the keys"
    ))
}

/// Prints the key to standard output, and a message about it to standard error.
fn show(key: &ApiKey, record: &KeyRecord, database: &DatabaseArgs) -> anyhow::Result<()> {
    super::output::print_all(&format!("{}\n", key.reveal())).with_context(|| {
        format!(
            "key {0} was created but could not be printed; revoke it: petstore keys revoke {0}",
            record.id
        )
    })?;
    let until = record
        .expires_at
        .map_or("forever".to_owned(), |expiry| format!("until {expiry}"));
    let rate = record
        .rate_limit
        .map_or(String::new(), |limit| format!(" at most {limit},"));
    super::output::print_message(&format!(
        "Key {} ({}) in {}: scope {}, {},{rate} valid {until}. It is not shown again.",
        record.id,
        record.name,
        database.database,
        record.scope.as_str(),
        record.deployment.as_str(),
    ));
    Ok(())
}

/// Returns an element of the JSON list.
fn element(record: &KeyRecord) -> Value {
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

fn table(records: &[KeyRecord]) -> String {
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
    let time = |time: Option<Timestamp>| time.map_or("-".to_owned(), |time| time.to_string());
    let mut rows = vec![heading.map(str::to_owned)];
    rows.extend(records.iter().map(|record| {
        [
            record.id.to_string(),
            super::output::visible(&record.name).into_owned(),
            record.scope.as_str().to_owned(),
            record.deployment.as_str().to_owned(),
            record.created_at.to_string(),
            time(record.expires_at),
            time(record.last_used_at),
            time(record.last_deprecated_call_at),
            time(record.revoked_at),
            record
                .rate_limit
                .map_or("-".to_owned(), |limit| limit.to_string()),
        ]
    }));
    super::output::table(&rows)
}
