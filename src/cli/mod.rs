//! The command line: one file per command. Results go to standard output; logs
//! and messages go to standard error.

mod audit;
mod backup;
mod check;
mod clock;
mod completions;
mod console;
mod copy;
mod export;
mod file_sizes;
mod first_start;
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
mod staff;
mod tasks;
mod tls;
mod values;
mod variables;
mod webhooks;

use std::{
    borrow::Cow,
    ffi::OsStr,
    fmt::Write as _,
    io::{self, Write},
    num::NonZeroU32,
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context;
use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    builder::TypedValueParser,
    error::{ContextKind, ErrorKind},
};
use rand::rngs::StdRng;
use rustix::{fs::Mode, process::umask};

use self::file_sizes::FileSizes;
use crate::{
    edge::BaseUrl,
    server::TlsError,
    store::{self, DatabaseUrl, OpenError, OpenMode, Store},
};

/// A pet store: an HTTP JSON interface to a catalogue of animals, stored in a
/// SQLite file or in PostgreSQL.
///
/// `petstore serve` starts the service. An environment variable can also set any
/// option except `--create` and `--force`; the description of the option names it.
#[derive(Debug, Parser)]
#[command(
    name = "petstore",
    version,
    max_term_width = 100,
    after_help = concat!(
        "Start here:\n",
        "  petstore serve                   start the service at http://127.0.0.1:8080/v1\n",
        "  petstore keys create --name me   create an API key\n",
        "\n",
        "`petstore COMMAND --help` explains a command. The documentation is in docs/ of the source code or\n",
        "in /usr/share/doc/petstore. A running service shows its interface at /docs.\n",
        "\n",
        "Exit status: 0 success, 1 failure, 2 invalid argument or setting, 3 import with rejected rows."
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
    Staff(staff::Staff),
    Audit(audit::Audit),
    Webhooks(webhooks::Webhooks),
    Import(import::Import),
    Export(export::Export),
    Copy(copy::Copy),
    Check(check::Check),
    Clock(clock::Clock),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Healthcheck(healthcheck::Healthcheck),
    Openapi(openapi::Openapi),
    Completions(completions::Completions),
}

/// The database of the catalogue.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
struct DatabaseArgs {
    /// The database: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`
    #[arg(
        long,
        // Also after the command of a group, such as `webhooks list`.
        global = true,
        value_name = "URL",
        env = "PETSTORE_DATABASE",
        // The URL can contain a password.
        hide_env_values = true,
        default_value = "sqlite:petstore.db",
        value_parser = DatabaseUrlParser
    )]
    database: DatabaseUrl,
}

impl DatabaseArgs {
    /// Opens the database for a command, which runs one operation at a time.
    async fn open(&self, mode: OpenMode) -> Result<Arc<dyn Store>, OpenError> {
        store::open(&self.database, mode, NonZeroU32::MIN, &mut random()).await
    }
}

/// Parses a database URL. clap's own error would show the URL with its password.
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
        let parsed = value.to_str().ok_or_else(|| "the URL must be UTF-8".to_owned());
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
    /// The URL at which clients reach production, for the OpenAPI document and
    /// for links; ends in /v1
    #[arg(long, value_name = "URL", env = "PETSTORE_BASE_URL")]
    base_url: Option<BaseUrl>,

    /// The URL at which clients reach staging; ends in /v1
    #[arg(long, value_name = "URL", env = "PETSTORE_STAGING_BASE_URL")]
    staging_base_url: Option<BaseUrl>,
}

impl BaseUrlArgs {
    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.base_url.is_none() || self.base_url != self.staging_base_url,
            BadSetting(
                "--base-url and --staging-base-url must differ: each deployment has its own URL"
                    .to_owned()
            )
        );
        Ok(())
    }
}

/// An invalid setting: the command fails until an operator corrects it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BadSetting(String);

/// The exit status for invalid arguments and settings, the same as clap's. systemd does
/// not restart the service after it.
const WRONG_SETTING: u8 = 2;

fn exit_status(error: &anyhow::Error) -> u8 {
    let is_setting = error.is::<BadSetting>()
        || error.is::<TlsError>()
        || error.downcast_ref().is_some_and(OpenError::is_permanent);
    if is_setting { WRONG_SETTING } else { 1 }
}

/// The definition of the command line, for man pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs the command. An error is one line on standard
/// error.
pub fn main() -> ExitCode {
    // A database contains the digests of keys, so only its owner may read a new file.
    umask(Mode::RWXG | Mode::RWXO);
    let parsed = Cli::command()
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return invalid_arguments(&error),
    };
    if let Err(error) = settings_file::load(&matches) {
        return failure(&error.into());
    }
    // `serve` logs them.
    if !matches!(cli.command, Command::Serve(_)) {
        for warning in variables::unknown() {
            print_message(&format!("warning: {warning}"));
        }
    }
    let file_sizes = match FileSizes::watch() {
        Ok(file_sizes) => file_sizes,
        Err(error) => return failure(&error.into()),
    };
    let done = match cli.command {
        Command::Serve(serve) => serve.run(),
        Command::Keys(keys) => block_on(keys.run()),
        Command::Staff(staff) => block_on(staff.run()),
        Command::Audit(audit) => block_on(audit.run()),
        Command::Webhooks(webhooks) => block_on(webhooks.run()),
        Command::Import(import) => match import.run() {
            Ok(status) => return status,
            Err(error) => Err(error),
        },
        Command::Export(export) => export.run(),
        Command::Copy(copy) => copy.run(),
        Command::Check(check) => check.run(),
        Command::Clock(clock) => block_on(clock.run()),
        Command::Healthcheck(healthcheck) => healthcheck.run(),
        Command::Backup(backup) => backup.run(),
        Command::Restore(restore) => restore.run(),
        Command::Openapi(openapi) => openapi.run(),
        Command::Completions(completions) => completions.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&file_sizes.explain(error)),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    // The message of a database can have several lines.
    print_message(&format!("error: {error:#}").replace('\n', " "));
    exit_status(error).into()
}

/// Prints the help if the user requested it. Otherwise prints one line: the first
/// paragraph of clap's message, which says what is wrong, and its tips.
fn invalid_arguments(error: &clap::Error) -> ExitCode {
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
            line.extend([" (set by the environment variable ", &variable, ")"]);
        }
        print_message(&line);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(WRONG_SETTING))
}

/// Runs the operations of a command.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A host name lookup that takes long must not delay the exit.
    runtime.shutdown_background();
    done
}

/// A count and its noun: `1 animal`, `2 animals`, `2 categories`.
fn counted(count: u64, thing: &str) -> String {
    match thing.strip_suffix("ry") {
        _ if count == 1 => format!("{count} {thing}"),
        Some(stem) => format!("{count} {stem}ries"),
        None => format!("{count} {thing}s"),
    }
}

/// Randomness for keys and request ids, from the operating system.
#[expect(clippy::disallowed_methods, reason = "the only source of randomness")]
fn random() -> StdRng {
    rand::make_rng()
}

/// Writes a line for the user to standard error. If this fails, the command
/// continues.
fn print_message(line: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(line));
}

/// Makes a text safe to print that may quote a file, a database or the command line.
/// Escapes control characters, and characters that change the direction of text, in
/// the form that JSON uses (`\u001b`).
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

/// A table with aligned columns; its first row is the heading.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    });
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

/// Writes the lines of a result to standard output. It is not an error if the reader
/// closes the pipe early.
fn print(result: &str) -> anyhow::Result<()> {
    let lines: Vec<_> = result.split('\n').map(visible).collect();
    match print_all(&lines.join("\n")) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes a result that must not be lost to standard output.
fn print_all(result: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(result.as_bytes()).and_then(|()| out.flush()).context(NOT_WRITTEN)
}

/// Why a result is not complete.
const NOT_WRITTEN: &str = "cannot write to standard output";
