//! `petstore webhooks`: webhooks, whether the service runs or not; and the options for them.

use std::{
    path::{self, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use petstore_app::delivery::{
    self, ATTEMPT_TIMEOUT, Connector, DecisionError, NewWebhook, Registrar, Vault, VaultError,
    WebhookCommand, WebhookDecision,
};
use petstore_databases::DatabaseUrl;
use petstore_domain::{
    Actor, Clock, Network, Networks, StoredResponse, SystemClock, WriteContext,
    store_area::{
        ChangeType, Label, StoredWebhook, TestMessage, Webhook, WebhookChange, WebhookPatch,
    },
};
use petstore_formats::json;
use petstore_store::{OpenMode, Store, WriteOutcome};
use petstore_system::{addresses::SystemResolver, owner::FileOwner, tls};
use tokio::time;

use super::{
    args::{BadSetting, DatabaseArgs},
    values,
};

/// The class of [`delivery::AttemptError::Forbidden`].
const FORBIDDEN: &str = "address";

/// How many attempts are read at once.
const PAGE: u32 = 1000;

/// How long a running service may take until it begins to send a test message.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
const SENT_LATER: &str = "is sent when `petstore serve` runs with the key file of the webhooks";

/// The networks that webhooks may reach, and the key of their secrets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhooks")]
pub(super) struct WebhookArgs {
    /// A network that webhooks may reach although it is private, such as 10.1.0.0/16,
    /// also over plain HTTP; repeat the option for several
    #[arg(
        long,
        global = true,
        value_name = "CIDR",
        env = "PETSTORE_WEBHOOK_ALLOW",
        value_delimiter = ','
    )]
    webhook_allow: Vec<Network>,

    /// The file with the key that encrypts the secrets of webhooks and second factors, created with
    /// the first of them; the default is the name of the SQLite file with the ending .secret-key, and
    /// for a service over PostgreSQL petstore.secret-key in its working folder
    #[arg(long, global = true, value_name = "FILE", env = "PETSTORE_SECRET_KEY_FILE", value_parser = values::new_file())]
    secret_key_file: Option<PathBuf>,
}

impl WebhookArgs {
    /// Returns the judge of URLs, which also makes secrets. Over PostgreSQL, only the service knows
    /// the default of its key file.
    pub(super) fn registrar(&self, database: &DatabaseUrl, is_service: bool) -> Registrar {
        let path = self.secret_key_file.clone();
        let path = path.or_else(|| match database {
            DatabaseUrl::Sqlite(database) => {
                let mut default = database.clone().into_os_string();
                default.push(".secret-key");
                Some(default.into())
            }
            DatabaseUrl::Postgres(_) => is_service.then(|| "petstore.secret-key".into()),
        });
        let neighbouring_file = match database {
            DatabaseUrl::Sqlite(file) => Some(file),
            DatabaseUrl::Postgres(_) => path.as_ref(),
        };
        let owner = neighbouring_file.and_then(|file| FileOwner::for_file(file));
        let vault = Arc::new(Vault::new(path, owner));
        Registrar::new(vault, self.allowed(), super::runtime::random())
    }

    /// Returns the sender of messages.
    pub(super) fn connector(&self) -> anyhow::Result<Connector> {
        let allowed = self.allowed();
        let resolver = Box::new(SystemResolver);
        let roots = tls::system_roots();
        let clock = Arc::new(SystemClock);
        Ok(Connector::new(
            allowed,
            resolver,
            roots,
            ATTEMPT_TIMEOUT,
            clock,
        )?)
    }

    fn allowed(&self) -> Networks {
        self.webhook_allow.iter().copied().collect()
    }
}

/// Add, list, change and test webhooks
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore webhooks add https://shop.example/hook\n",
    "  petstore webhooks test 1\n",
    "  petstore webhooks attempts 1"
))]
pub(super) struct Webhooks {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    options: WebhookArgs,

    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a webhook, and print it with its secret as JSON
    Add {
        /// Where messages are sent
        url: String,
        /// A type of changes to send, such as pet.changed; repeat the option for several;
        /// all types if not given
        #[arg(
            long = "type",
            value_name = "TYPE",
            env = "PETSTORE_WEBHOOK_TYPE",
            value_delimiter = ',',
            value_parser = change_type
        )]
        types: Vec<ChangeType>,
        /// What the endpoint is for
        #[arg(long, env = "PETSTORE_WEBHOOK_DESCRIPTION")]
        description: Option<String>,
    },
    /// List the webhooks, one JSON object on each line
    List,
    /// Print a webhook as JSON
    Show(Which),
    /// Delete a webhook with its messages and attempts
    Remove(Which),
    /// Make a new secret and print it; the old one is valid for 24 more hours
    RotateSecret(Which),
    /// Continue to send to a disabled webhook
    Enable {
        #[command(flatten)]
        which: Which,
        /// Where to continue
        #[arg(
            long,
            value_enum,
            env = "PETSTORE_WEBHOOK_ENABLE_FROM",
            default_value = "resume"
        )]
        from: From,
    },
    /// Stop sending to a webhook
    Disable(Which),
    /// Let the running service send a test message, and print the attempt as JSON
    Test(Which),
    /// List the attempts of a webhook, the newest last, one JSON object on each line
    Attempts(Which),
}

#[derive(Debug, Args)]
struct Which {
    /// The number of the webhook, as listed
    #[arg(value_parser = number)]
    id: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// Where it stopped
    Resume,
    /// The changes from now on
    Now,
}

fn number(text: &str) -> Result<i64, &'static str> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or("a webhook is named by its number, as `petstore webhooks list` shows it")
}

fn change_type(text: &str) -> Result<ChangeType, String> {
    let all = ChangeType::ALL.map(ChangeType::as_str);
    text.parse()
        .map_err(|_| format!("it must be one of {}", all.join(", ")))
}

impl Webhooks {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let store = store.as_ref();
        let database = &self.database.database;
        let registrar = self.options.registrar(database, false);
        let write = async |id, wanted| write(store, &registrar, database, id, wanted).await;
        match self.command {
            Command::Add {
                url,
                types,
                description,
            } => {
                let url = registrar.check_url(&url).map_err(BadSetting)?;
                let types =
                    (!types.is_empty()).then(|| types.into_iter().map(Into::into).collect());
                let description = description.map(label).transpose()?;
                write(
                    None,
                    WebhookCommand::Add(NewWebhook {
                        url,
                        types,
                        description,
                    }),
                )
                .await
            }
            Command::List => {
                let webhooks = store
                    .list_webhooks()
                    .await
                    .context("cannot read the webhooks")?;
                webhooks
                    .iter()
                    .try_for_each(|stored| show(&stored.webhook, None))
            }
            Command::Show(Which { id }) => show(&find(store, id).await?.webhook, None),
            Command::Remove(Which { id }) => write(Some(id), WebhookCommand::Delete).await,
            Command::RotateSecret(Which { id }) => {
                write(Some(id), WebhookCommand::RotateSecret).await
            }
            Command::Enable {
                which: Which { id },
                from,
            } => {
                let wanted = WebhookCommand::Enable {
                    resumes: from == From::Resume,
                };
                write(Some(id), wanted).await
            }
            Command::Disable(Which { id }) => {
                let patch = WebhookPatch {
                    disable: true,
                    ..WebhookPatch::default()
                };
                write(Some(id), WebhookCommand::Patch(patch)).await
            }
            Command::Test(Which { id }) => write(Some(id), WebhookCommand::Test).await,
            Command::Attempts(Which { id }) => {
                find(store, id).await?;
                let mut after = 0;
                loop {
                    let attempts = store.list_attempts(id, after, PAGE).await?;
                    let Some(&(last, _)) = attempts.last() else {
                        return Ok(());
                    };
                    after = last;
                    for (_, attempt) in &attempts {
                        super::output::print(&line(|out| json::write_attempt(out, attempt))?)?;
                    }
                }
            }
        }
    }
}

fn label(text: String) -> Result<Label, BadSetting> {
    let bad = || BadSetting("--description must have 1 to 255 characters".to_owned());
    Label::new(text).ok_or_else(bad)
}

/// Makes a change, and prints the webhook unless it was deleted, or the attempt of a test.
async fn write(
    store: &dyn Store,
    registrar: &Registrar,
    database: &DatabaseUrl,
    id: Option<i64>,
    wanted: WebhookCommand,
) -> anyhow::Result<()> {
    let present = match id {
        Some(id) => Some(find(store, id).await?),
        None => None,
    };
    let now = SystemClock.now();
    let key_file = registrar.vault().path();
    let new_file = key_file.filter(|path| !path.exists());
    let decided = delivery::decide(store, registrar, present.as_ref(), &wanted, now).await;
    let WebhookDecision {
        change,
        act,
        webhook,
        secret,
    } = decided.map_err(|error| match error {
        DecisionError::Vault(error @ VaultError::NotSet) => BadSetting(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    if secret.is_some()
        && let Some(key_file) = key_file
    {
        check_key_file(key_file, database)?;
    }
    let context = WriteContext::new(Actor::Command, now);
    let written = store
        .write_webhook(change.clone(), act, StoredResponse::default(), context)
        .await;
    match (written.context("cannot store the webhook")?, change) {
        (WriteOutcome::Done, WebhookChange::Test(test)) => print_attempt(store, &test).await,
        (WriteOutcome::Full, WebhookChange::Test(_)) => {
            bail!(
                "{} test messages wait already; the first {SENT_LATER}",
                Webhook::MAX_TESTS
            )
        }
        (WriteOutcome::Done, WebhookChange::Delete { id, .. }) => {
            super::output::print_message(&format!("Webhook {id} in {database} is removed."));
            Ok(())
        }
        (WriteOutcome::Done, _) => {
            if let Some(webhook) = webhook {
                show(&webhook, secret.as_deref())?;
                let done = match wanted {
                    WebhookCommand::RotateSecret => "has another secret",
                    WebhookCommand::Enable { .. } => "is enabled",
                    WebhookCommand::Patch(_) => "is disabled",
                    _ => "is stored",
                };
                let line = format!("Webhook {} in {database} {done}.", webhook.id);
                super::output::print_message(&line);
            }
            if let Some(path) = new_file.filter(|path| path.exists()) {
                let path = path::absolute(path)?;
                let line = format!("Made the key file {}; back it up.", path.display());
                super::output::print_message(&line);
            }
            Ok(())
        }
        (WriteOutcome::Full, _) => {
            bail!("there are {} webhooks already; remove one", Webhook::MAX)
        }
        _ => bail!("another process has just changed the webhook; run the command again"),
    }
}

/// Fails if the user of the database cannot read the key file.
fn check_key_file(key: &Path, database: &DatabaseUrl) -> anyhow::Result<()> {
    let DatabaseUrl::Sqlite(file) = database else {
        return Ok(());
    };
    let message = format!(
        "the owner of {database} cannot read the key file {}; give the file to that user, and run the \
         command again",
        key.display()
    );
    ensure!(
        FileOwner::from_metadata(&file.metadata()?).may_read(&key.metadata()?),
        BadSetting(message)
    );
    Ok(())
}

/// Waits until a service has sent a test message, and prints the attempt.
async fn print_attempt(store: &dyn Store, test: &TestMessage) -> anyhow::Result<()> {
    let began = SystemClock.instant();
    let mut after = 0;
    loop {
        for (number, attempt) in store.list_attempts(test.webhook, after, PAGE).await? {
            if attempt.message_id == test.message_id {
                super::output::print(&line(|out| json::write_attempt(out, &attempt))?)?;
                return match attempt.error.as_deref() {
                    None => Ok(()),
                    Some(FORBIDDEN) => bail!(
                        "the test message was not delivered, because its address is not public; \
                         start the service (petstore serve) with --webhook-allow and its network"
                    ),
                    Some(_) => bail!("the test message was not delivered"),
                };
            }
            after = number;
        }
        let waited = SystemClock.instant().saturating_duration_since(began);
        if waited >= TAKEN_WITHIN && store.waiting_tests().await?.contains(test) {
            bail!("no running service has taken the test message yet; it {SENT_LATER}");
        }
        ensure!(
            waited < 2 * ATTEMPT_TIMEOUT,
            "the service stored no result; see its log"
        );
        time::sleep(Duration::from_millis(100)).await;
    }
}

async fn find(store: &dyn Store, id: i64) -> anyhow::Result<StoredWebhook> {
    let webhooks = store
        .list_webhooks()
        .await
        .context("cannot read the webhooks")?;
    let found = webhooks.into_iter().find(|stored| stored.webhook.id == id);
    found.ok_or_else(|| absent(id).into())
}

fn absent(id: i64) -> BadSetting {
    BadSetting(format!(
        "webhook {id} does not exist; `petstore webhooks list` lists the webhooks"
    ))
}

fn show(webhook: &Webhook, secret: Option<&str>) -> anyhow::Result<()> {
    let line = line(|out| json::write_webhook(out, webhook, secret))?;
    if secret.is_none() {
        return super::output::print(&line);
    }
    super::output::print_all(&line).with_context(|| {
        format!(
            "the secret of the webhook {0} could not be printed; make another one: petstore \
             webhooks rotate-secret {0}",
            webhook.id
        )
    })
}

fn line(write: impl FnOnce(&mut Vec<u8>)) -> anyhow::Result<String> {
    let mut line = Vec::new();
    write(&mut line);
    line.push(b'\n');
    Ok(String::from_utf8(line)?)
}
