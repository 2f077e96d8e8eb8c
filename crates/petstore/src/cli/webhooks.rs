//! `petstore webhooks`: manages webhooks, whether the service runs or not.

mod attempts;
mod change;
mod options;
mod stored;

use clap::{Args, Subcommand, ValueEnum};
use petstore_app::delivery::{NewWebhook, Registrar, WebhookCommand};
use petstore_domain::{
    named_enum::MaybeKnown,
    store_area::{ChangeType, Label, WebhookId, WebhookPatch},
};
use petstore_store::{OpenMode, Store};

use self::change::Changer;
use super::args::{BadSetting, DatabaseArgs};

pub(super) use self::options::{KeyFileUser, WebhookArgs};

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
            value_parser = parse_change_type
        )]
        types: Vec<ChangeType>,
        /// What the endpoint is for
        #[arg(long, env = "PETSTORE_WEBHOOK_DESCRIPTION")]
        description: Option<String>,
    },
    /// List the webhooks, one JSON object on each line
    List,
    /// Print a webhook as JSON
    Show(WebhookNumber),
    /// Delete a webhook with its messages and attempts
    Remove(WebhookNumber),
    /// Make a new secret and print it; the old one is valid for 24 more hours
    RotateSecret(WebhookNumber),
    /// Continue to send to a disabled webhook
    Enable {
        #[command(flatten)]
        webhook: WebhookNumber,
        /// Where to continue
        #[arg(
            long,
            value_enum,
            env = "PETSTORE_WEBHOOK_ENABLE_FROM",
            default_value = "resume"
        )]
        from: EnableFrom,
    },
    /// Stop sending to a webhook
    Disable(WebhookNumber),
    /// Let the running service send a test message, and print the attempt as JSON
    Test(WebhookNumber),
    /// List the attempts of a webhook, the newest last, one JSON object on each line
    Attempts(WebhookNumber),
}

#[derive(Debug, Args)]
struct WebhookNumber {
    /// The number of the webhook, as listed
    #[arg(value_parser = parse_number)]
    id: WebhookId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EnableFrom {
    /// Where it stopped
    Resume,
    /// The changes from now on
    Now,
}

/// Parses the number of a webhook.
fn parse_number(text: &str) -> Result<WebhookId, &'static str> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(WebhookId(number)),
        _ => Err("a webhook is named by its number, as `petstore webhooks list` shows it"),
    }
}

/// Parses the type of a change, such as `pet.changed`.
fn parse_change_type(text: &str) -> Result<ChangeType, String> {
    text.parse().map_err(|_| {
        let all_types = ChangeType::ALL.map(ChangeType::as_str);
        format!("it must be one of {}", all_types.join(", "))
    })
}

impl Webhooks {
    /// Carries out the command.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let store = self.database.open(OpenMode::AsIs).await?;
        let database = &self.database.url;
        let registrar = self.options.build_registrar(database, KeyFileUser::Command);
        let changer = Changer {
            store: store.as_ref(),
            registrar: &registrar,
            database,
        };

        self.command.run(&changer).await
    }
}

impl Command {
    /// Carries out the command with `changer`, on its store.
    async fn run(self, changer: &Changer<'_>) -> anyhow::Result<()> {
        let store = changer.store;
        match self {
            Self::List => print_list(store).await,
            Self::Show(WebhookNumber { id }) => {
                let found = stored::find(store, id).await?;
                stored::print(&found.webhook)
            }
            Self::Attempts(WebhookNumber { id }) => {
                // Fails if the webhook does not exist, which the empty list would not show.
                stored::find(store, id).await?;
                attempts::print_all(store, id).await
            }
            Self::Add {
                url,
                types,
                description,
            } => {
                let webhook = check_new_webhook(changer.registrar, &url, types, description)?;
                changer.add(webhook).await
            }
            Self::Remove(WebhookNumber { id }) => changer.change(id, WebhookCommand::Delete).await,
            Self::RotateSecret(WebhookNumber { id }) => {
                changer.change(id, WebhookCommand::RotateSecret).await
            }
            Self::Enable { webhook, from } => {
                let resumes = from == EnableFrom::Resume;
                let command = WebhookCommand::Enable { resumes };
                changer.change(webhook.id, command).await
            }
            Self::Disable(WebhookNumber { id }) => {
                let patch = WebhookPatch {
                    disable: true,
                    ..WebhookPatch::default()
                };
                changer.change(id, WebhookCommand::Patch(patch)).await
            }
            Self::Test(WebhookNumber { id }) => changer.change(id, WebhookCommand::Test).await,
        }
    }
}

/// Checks the arguments for a new webhook, and returns the webhook to add. Without `types`, the
/// webhook receives changes of all types. Fails if the URL or the description is invalid.
fn check_new_webhook(
    registrar: &Registrar,
    url: &str,
    types: Vec<ChangeType>,
    description: Option<String>,
) -> Result<NewWebhook, BadSetting> {
    let types = if types.is_empty() {
        None
    } else {
        Some(types.into_iter().map(MaybeKnown::Known).collect())
    };
    Ok(NewWebhook {
        url: registrar.check_url(url).map_err(BadSetting)?,
        types,
        description: description.map(parse_description).transpose()?,
    })
}

/// Parses the value of `--description`.
fn parse_description(text: String) -> Result<Label, BadSetting> {
    Label::new(text)
        .ok_or_else(|| BadSetting("--description must have 1 to 255 characters".to_owned()))
}

/// Prints all webhooks, each on a line.
async fn print_list(store: &dyn Store) -> anyhow::Result<()> {
    for listed in stored::list(store).await? {
        stored::print(&listed.webhook)?;
    }
    Ok(())
}
