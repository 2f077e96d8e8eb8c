//! `petstore keys`: API keys, whether the service runs or not.

mod output;

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use petstore_domain::{
    Actor, ApiKey, Clock, Deployment, KeyId, KeyRecord, NewKey, RateLimit, Scope, SystemClock,
    WriteContext,
};
use petstore_store::{OpenMode, Store};

use self::output::{Format, print_list, print_new_key};
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
    #[arg(long, value_parser = values::one_of(&Scope::ALL), env = "PETSTORE_KEY_SCOPE", default_value = "write")]
    scope: Scope,

    /// How long the key is valid, such as 90d, 12h or 30s; forever if not given
    #[arg(long, value_name = "DURATION", env = "PETSTORE_KEY_EXPIRES", value_parser = values::parse_duration)]
    expires: Option<Duration>,

    /// The rate limit of the key, such as 10/s, 600/min or 5000/h; by default, the
    /// limit that the service has for all keys
    #[arg(long, value_name = "RATE", env = "PETSTORE_KEY_RATE_LIMIT")]
    rate_limit: Option<RateLimit>,

    /// The deployment that accepts the key
    #[arg(long, value_parser = values::one_of(&Deployment::ALL), env = "PETSTORE_DEPLOYMENT", default_value = "production")]
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
        value_parser = values::parse_duration
    )]
    overlap: Duration,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Keys {
    /// Carries out the command.
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
    /// Creates a key, and prints it.
    async fn run(self) -> anyhow::Result<()> {
        self.check_options()?;
        let now = SystemClock.now();
        let expires_at = match self.expires {
            Some(validity) => Some(time_after(now, validity, "--expires")?),
            None => None,
        };

        let store = self.database.open(self.if_absent.mode()).await?;
        let key = generate_key(self.deployment);
        let new_key = NewKey {
            digest: key.digest(),
            name: self.name,
            scope: self.scope,
            deployment: self.deployment,
            expires_at,
            rate_limit: self.rate_limit,
        };
        let record = store
            .create_key(new_key, operator_context(now))
            .await
            .context("cannot store the key")?;
        print_new_key(&key, &record, &self.database)
    }

    /// Checks the values of the options that the parsers cannot check.
    fn check_options(&self) -> Result<(), BadSetting> {
        if self.name.trim().is_empty() || self.name.contains(char::is_control) {
            return Err(BadSetting(
                "--name must be one line of text, such as `till` or `website`".to_owned(),
            ));
        }
        if self
            .expires
            .is_some_and(|validity| validity < Duration::from_secs(1))
        {
            return Err(BadSetting("--expires must be at least 1s".to_owned()));
        }
        Ok(())
    }
}

impl List {
    /// Prints all keys.
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let records = store.list_keys().await.context("cannot read the keys")?;
        print_list(&records, self.format)
    }
}

impl Revoke {
    /// Revokes a key.
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = SystemClock.now();
        let revoked_key = store
            .revoke_key(self.id, operator_context(now))
            .await
            .context("cannot revoke the key")?;
        let Some(record) = revoked_key else {
            bail!(missing_key_error(self.id, &self.database));
        };
        let database = &self.database.url;
        super::output::print_message(&format!(
            "Key {} ({}) in {database} is revoked.",
            record.id, record.name
        ));
        Ok(())
    }
}

impl Rotate {
    /// Creates the successor of a key. Prints it, and the time until which the old key is valid.
    async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let now = SystemClock.now();
        let old_key = self.find_old_key(store.as_ref(), now).await?;

        let end_of_overlap = time_after(now, self.overlap, "--overlap")?;
        let key = generate_key(old_key.deployment);
        let successor = old_key
            .successor_at(key.digest(), now)
            .context("the new key would expire too far in the future")?;
        let stored_successor = store
            .rotate_key(old_key.id, successor, end_of_overlap, operator_context(now))
            .await
            .context("cannot rotate the key")?;
        let Some(record) = stored_successor else {
            bail!(
                "another process has just rotated key {}; `petstore keys list` lists the keys",
                self.id
            );
        };

        let validity = self.describe_old_validity(&old_key, end_of_overlap);
        super::output::print_message(&format!("Key {} {validity}.", self.id));
        print_new_key(&key, &record, &self.database)
    }

    /// Returns the predicate about the old key after the rotation, such as `is no longer valid`.
    fn describe_old_validity(&self, old_key: &KeyRecord, end_of_overlap: Timestamp) -> String {
        if self.overlap.as_secs() == 0 {
            return "is no longer valid".to_owned();
        }
        let end = match old_key.expires_at {
            Some(expires_at) => expires_at.min(end_of_overlap),
            None => end_of_overlap,
        };
        // The store keeps only whole seconds.
        format!("is valid until {end:.0}")
    }

    /// Finds the key to replace. Fails unless it exists, is valid, and has no successor yet.
    async fn find_old_key(&self, store: &dyn Store, now: Timestamp) -> anyhow::Result<KeyRecord> {
        let old_key = store
            .get_key(self.id)
            .await
            .context("cannot read the key")?;
        let Some(old_key) = old_key else {
            bail!(missing_key_error(self.id, &self.database));
        };
        ensure!(
            old_key.is_valid_at(now),
            "key {} is revoked or expired; create a new one instead",
            old_key.id
        );
        if let Some(successor) = old_key.successor {
            bail!(
                "key {} was rotated already; rotate its successor, key {successor}",
                old_key.id
            );
        }
        Ok(old_key)
    }
}

/// Creates the first key of a store, which `petstore serve` and `petstore demo` print. The key does
/// not expire.
pub(super) async fn create_first_key(
    store: &dyn Store,
    deployment: Deployment,
    scope: Scope,
) -> anyhow::Result<ApiKey> {
    let key = generate_key(deployment);
    let new_key = NewKey {
        digest: key.digest(),
        name: "first".to_owned(),
        scope,
        deployment,
        expires_at: None,
        rate_limit: None,
    };
    store
        .create_key(new_key, operator_context(SystemClock.now()))
        .await
        .context("cannot store the first key")?;
    Ok(key)
}

/// Returns the context of a write by the operator, for the audit trail.
fn operator_context(now: Timestamp) -> WriteContext {
    WriteContext::new(Actor::Command, now)
}

/// Generates a random key.
fn generate_key(deployment: Deployment) -> ApiKey {
    ApiKey::generate(deployment, &mut super::runtime::random())
}

/// Returns the time that is `duration` after `now`. An error names the `option` that sets the
/// duration.
fn time_after(now: Timestamp, duration: Duration, option: &str) -> Result<Timestamp, BadSetting> {
    let time = SignedDuration::try_from(duration).and_then(|duration| now.checked_add(duration));
    time.map_err(|_| {
        BadSetting(format!(
            "{option} leads too far into the future, beyond the year 9999; use a shorter duration, \
             such as 90d"
        ))
    })
}

/// Returns the error for a key that does not exist.
fn missing_key_error(id: KeyId, database: &DatabaseArgs) -> BadSetting {
    let database = &database.url;
    BadSetting(format!(
        "key {id} does not exist in {database}; `petstore keys list` lists the keys"
    ))
}
