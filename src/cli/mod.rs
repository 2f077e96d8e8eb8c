//! The command line: one file a command. Results go to standard output; logs
//! and words go to standard error.

mod backup;
mod check;
mod completions;
mod copy;
mod export;
mod healthcheck;
mod import;
mod keys;
mod management;
mod notify;
mod openapi;
mod progress;
mod rejects;
mod restore;
mod serve;
mod settings_file;
mod tasks;
mod tls;
mod variables;

use std::{
    borrow::Cow,
    ffi::OsStr,
    fmt::Write as _,
    io::{self, Write},
    num::NonZeroU32,
    process::ExitCode,
    sync::Arc,
};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    builder::TypedValueParser,
    error::{ContextKind, ErrorKind},
};
use rand::rngs::StdRng;
use rustix::{fs::Mode, process::umask};

use crate::{
    config::{BaseUrl, DatabaseUrl},
    server::TlsError,
    store::{self, OpenError, OpenMode, Store},
};

/// A pet store: an HTTP JSON interface to a catalogue of animals, kept in one
/// SQLite file or in PostgreSQL.
///
/// `petstore serve` starts it. Every option except `--create` and `--force` can also
/// be given by the variable that its description names.
#[derive(Debug, Parser)]
#[command(
    name = "petstore",
    version,
    max_term_width = 100,
    after_help = concat!(
        "Start here:\n",
        "  petstore serve                   serves the store at http://127.0.0.1:8080/v1\n",
        "  petstore keys create --name me   makes an API key for it\n",
        "\n",
        "`petstore COMMAND --help` shows examples. The documents are in docs/ of the source, or in\n",
        "/usr/share/doc/petstore; a running service shows its interface at /docs.\n",
        "\n",
        "Exit status: 0 success, 1 failure, 2 wrong argument or setting, 3 import with rejected rows."
    )
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Serve>),
    #[command(subcommand)]
    Keys(keys::Keys),
    Import(import::Import),
    Export(export::Export),
    Copy(copy::Copy),
    Check(check::Check),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Healthcheck(healthcheck::Healthcheck),
    Openapi(openapi::Openapi),
    Completions(completions::Completions),
}

/// Where the catalogue is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
struct DatabaseArgs {
    /// The database: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`
    #[arg(
        long,
        value_name = "URL",
        env = "PETSTORE_DATABASE",
        // It may hold a password.
        hide_env_values = true,
        default_value = "sqlite:petstore.db",
        value_parser = DatabaseUrlParser
    )]
    database: DatabaseUrl,
}

impl DatabaseArgs {
    /// Opens the database. One of PostgreSQL is reached over up to
    /// `connections` connections.
    async fn open(
        &self,
        mode: OpenMode,
        connections: NonZeroU32,
    ) -> Result<Arc<dyn Store>, OpenError> {
        store::open(&self.database, mode, connections, &mut random()).await
    }
}

/// Reads a database URL. clap's own error would repeat it, with its password.
#[derive(Clone)]
struct DatabaseUrlParser;

impl TypedValueParser for DatabaseUrlParser {
    type Value = DatabaseUrl;

    fn parse_ref(
        &self,
        command: &clap::Command,
        option: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<DatabaseUrl, clap::Error> {
        let parsed = value.to_str().ok_or_else(|| "it is not UTF-8".to_owned());
        parsed.and_then(str::parse).map_err(|reason| {
            let option = option.map(ToString::to_string).unwrap_or_default();
            let message = format!("invalid value for '{option}': {reason}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

/// Whether a command may create the database.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
struct CreateArgs {
    /// Create the database if it does not exist
    #[arg(long)]
    create: bool,
}

impl CreateArgs {
    fn mode(&self) -> OpenMode {
        if self.create { OpenMode::Create } else { OpenMode::AsIs }
    }
}

/// Where clients reach the two deployments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Addresses")]
struct BaseUrlArgs {
    /// Where clients reach production, for the OpenAPI document and for links
    #[arg(long, value_name = "URL", env = "PETSTORE_BASE_URL")]
    base_url: Option<BaseUrl>,

    /// Where clients reach staging
    #[arg(long, value_name = "URL", env = "PETSTORE_STAGING_BASE_URL")]
    staging_base_url: Option<BaseUrl>,
}

impl BaseUrlArgs {
    /// Refuses one address for both.
    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.base_url.is_none() || self.base_url != self.staging_base_url,
            BadSetting(
                "--base-url and --staging-base-url are the same; production and staging are two \
                 services"
                    .to_owned()
            )
        );
        Ok(())
    }
}

/// A setting that stays wrong until somebody changes it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BadSetting(String);

/// The exit status of a command whose arguments or settings are wrong, as clap has
/// it. systemd does not start the service again then.
const WRONG_SETTING: u8 = 2;

fn exit_status(error: &anyhow::Error) -> u8 {
    let is_setting = error.is::<BadSetting>()
        || error.is::<TlsError>()
        || error.downcast_ref().is_some_and(OpenError::is_permanent);
    if is_setting { WRONG_SETTING } else { 1 }
}

/// The command line, for those who describe it: man pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Reads the command line and does what it says. Whatever goes wrong is one
/// line on standard error.
#[must_use]
pub fn main() -> ExitCode {
    // A database has the digests of keys: what is created is for its owner.
    umask(Mode::RWXG | Mode::RWXO);
    let parsed = Cli::command()
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return not_understood(&error),
    };
    if let Err(error) = settings_file::load(&matches) {
        return failed(&error.into());
    }
    // `serve` logs them.
    if !matches!(cli.command, Command::Serve(_)) {
        for warning in variables::unknown() {
            say(&format!("warning: {warning}"));
        }
    }
    let done = match cli.command {
        Command::Serve(serve) => serve.run(),
        Command::Keys(keys) => keys.run(),
        Command::Import(import) => match import.run() {
            Ok(status) => return status,
            Err(error) => Err(error),
        },
        Command::Export(export) => export.run(),
        Command::Copy(copy) => copy.run(),
        Command::Check(check) => check.run(),
        Command::Healthcheck(healthcheck) => healthcheck.run(),
        Command::Backup(backup) => backup.run(),
        Command::Restore(restore) => restore.run(),
        Command::Openapi(openapi) => openapi.run(),
        Command::Completions(completions) => completions.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    // What a database says has several lines.
    say(&format!("error: {error:#}").replace('\n', " "));
    exit_status(error).into()
}

/// Shows help where it was asked for, and otherwise the first paragraph of
/// clap's message, which says what is wrong, and its tips, as one line.
fn not_understood(error: &clap::Error) -> ExitCode {
    let help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if help {
        let _ = error.print();
    } else {
        let text = error.to_string();
        let first: Vec<&str> =
            text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let mut line = first.join(" ");
        for tip in text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
            line.extend(["; ", tip]);
        }
        if !text.contains("tip: ") && error.get(ContextKind::Usage).is_some() {
            line.push_str("; --help shows what is allowed");
        }
        if let Some(variable) = variables::named_in(&line) {
            line.extend([" (the value of the variable ", &variable, ")"]);
        }
        say(&line);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(WRONG_SETTING))
}

/// So many of a thing: `1 animal`, `2 animals`.
fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Randomness for keys and request ids, from the operating system.
#[expect(clippy::disallowed_methods, reason = "the one place that draws randomness")]
fn random() -> StdRng {
    rand::make_rng()
}

/// Writes one line to standard error, for the user. If that cannot be written,
/// the command goes on.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(line));
}

/// A text that may quote a file, a database or the command line, as one line that
/// shows all of it: what would control a terminal, or change the order in which the
/// text is read, stands there as in JSON (`\u001b`).
fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// Writes the lines of a result to standard output. A reader that closes it has
/// read enough, which is not an error.
fn print(result: &str) -> io::Result<()> {
    let lines: Vec<_> = result.split('\n').map(visible).collect();
    match print_all(&lines.join("\n")) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Writes a result to standard output that must not be lost.
fn print_all(result: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(result.as_bytes())?;
    out.flush()
}
