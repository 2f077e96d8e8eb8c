//! The command line, with one file for each command. Results go to standard output. Logs and
//! messages go to standard error.

mod args;
mod audit;
mod backup;
mod backups;
mod check;
mod clock;
mod copy;
mod demo;
mod demo_store;
mod export;
mod first_start;
mod healthcheck;
mod import;
mod keys;
mod management;
mod openapi;
mod output;
mod pages;
mod photo_checks;
mod photo_files;
mod photos;
mod provider;
mod rejects;
mod reserved_address;
mod restore;
mod runtime;
mod serve;
mod staff;
mod tasks;
mod values;
mod variables;
mod webhooks;

use std::{env, process::ExitCode};

use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use petstore_observe::log::error_chain;
use petstore_store::OpenError;
use petstore_web::server::TlsError;
use rustix::{fs::Mode, process::umask};

use self::{
    args::BadSetting,
    output::print_message,
    runtime::{FileSizeWatch, block_on},
};

/// A pet store: an HTTP JSON interface to a catalogue of animals, stored in a
/// SQLite file or in PostgreSQL.
///
/// `petstore serve` starts the service. An environment variable can also set any
/// option except `--create`, `--force` and those of `demo`; the description of the option names it.
#[derive(Debug, Parser)]
#[command(
    name = "petstore",
    version,
    max_term_width = 100,
    after_help = concat!(
        "Start here:\n",
        "  petstore demo                    try it with a store full of animals, which is gone afterwards\n",
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
    Demo(demo::Demo),
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
    Backups(backups::List),
    Restore(restore::Restore),
    Healthcheck(healthcheck::Healthcheck),
    Openapi(openapi::Openapi),
    Completions(openapi::Completions),
}

/// The exit status for invalid arguments and settings; clap uses it, too. The systemd unit does not
/// restart the service after this status.
const WRONG_SETTING: u8 = 2;

/// Returns the exit status for an error: [`WRONG_SETTING`] if a restart cannot help before an
/// operator has acted, and otherwise 1.
fn exit_status(error: &anyhow::Error) -> u8 {
    let needs_operator = error.is::<BadSetting>()
        || error.is::<serve::FilesChanged>()
        || error.is::<TlsError>()
        || error.downcast_ref().is_some_and(OpenError::is_permanent);
    if needs_operator { WRONG_SETTING } else { 1 }
}

/// Returns the definition of the command line, for man pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line, and runs the command. Prints an error as one line on standard error.
pub fn main() -> ExitCode {
    // Databases contain the digests of keys, so only the owner may read the files that a command
    // creates.
    umask(Mode::RWXG | Mode::RWXO);
    let matches = match Cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return report_clap_error(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return report_clap_error(&error),
    };
    if let Err(error) = variables::rerun_with_settings_file(&matches) {
        return report_error(&error.into());
    }
    warn_of_unknown_variables(&cli.command);

    let file_size_watch = match FileSizeWatch::start() {
        Ok(file_size_watch) => file_size_watch,
        Err(error) => return report_error(&error.into()),
    };
    match cli.command.run() {
        Ok(exit_code) => exit_code,
        Err(error) => report_error(&file_size_watch.explain(error)),
    }
}

/// Prints a warning for each `PETSTORE_` variable that no option reads, which is probably
/// misspelled. `serve` logs these warnings instead, and `demo` ignores all variables.
fn warn_of_unknown_variables(chosen_command: &Command) {
    if matches!(chosen_command, Command::Serve(_) | Command::Demo(_)) {
        return;
    }
    for warning in variables::describe_unknown_variables(command()) {
        print_message(&format!("warning: {warning}"));
    }
}

impl Command {
    /// Runs the command, and returns the exit code of the process.
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            // An import that rejects rows succeeds with an exit code of its own.
            Self::Import(import) => return import.run(),
            Self::Serve(serve) => serve.run(variables::describe_unknown_variables(command())),
            Self::Demo(demo) => demo.run(),
            Self::Keys(keys) => block_on(keys.run()),
            Self::Staff(staff) => block_on(staff.run()),
            Self::Audit(audit) => block_on(audit.run()),
            Self::Webhooks(webhooks) => block_on(webhooks.run()),
            Self::Export(export) => export.run(),
            Self::Copy(copy) => copy.run(),
            Self::Check(check) => check.run(),
            Self::Clock(clock) => block_on(clock.run()),
            Self::Healthcheck(healthcheck) => healthcheck.run(),
            Self::Backup(backup) => backup.run(),
            Self::Backups(list) => list.run(),
            Self::Restore(restore) => restore.run(),
            Self::Openapi(openapi) => openapi.run(),
            Self::Completions(completions) => completions.run(command()),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the error of a command on one line, and returns its exit code.
fn report_error(error: &anyhow::Error) -> ExitCode {
    // The error message of a database can have several lines.
    print_message(&format!("error: {}", error_chain(error.as_ref())).replace('\n', " "));
    exit_status(error).into()
}

/// Prints an error of clap on one line, and returns its exit code. A request for the help or for
/// the version is also an error to clap. In this case, prints the requested text.
fn report_clap_error(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // If standard output is closed, the failure cannot be reported either.
            let _ = error.print();
        }
        _ => print_message(&describe_invalid_arguments(error)),
    }
    // clap has only the exit codes 0 and 2, so the conversion does not fail.
    let exit_code = u8::try_from(error.exit_code()).unwrap_or(WRONG_SETTING);
    exit_code.into()
}

/// Returns a line about invalid arguments. The line begins with the first paragraph of clap's
/// message, which says what is wrong. After a semicolon, it has a tip.
fn describe_invalid_arguments(error: &clap::Error) -> String {
    let message = error.to_string();
    let first_paragraph: Vec<&str> = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let mut description = first_paragraph.join(" ");
    match tip_for_mistake(error) {
        Some(tip) => description.extend(["; ", &tip]),
        None => push_clap_tips(&mut description, error, &message),
    }
    if let Some(variable) = variables::find_variable_behind(command(), &description) {
        description.extend([" (set by the environment variable ", &variable, ")"]);
    }
    description
}

/// Appends the tips in clap's `message` to the description. If the message has no tip, but shows
/// the usage, refers to the help instead.
fn push_clap_tips(description: &mut String, error: &clap::Error, message: &str) {
    let mut has_tip = false;
    for line in message.lines() {
        if let Some(tip) = line.trim().strip_prefix("tip: ") {
            description.extend(["; ", tip]);
            has_tip = true;
        }
    }
    if !has_tip && error.get(ContextKind::Usage).is_some() {
        description.push_str("; --help shows what is allowed");
    }
}

/// Returns a tip for a frequent mistake for which clap has no tip, or a misleading one.
fn tip_for_mistake(error: &clap::Error) -> Option<String> {
    let context_text = |kind| error.get(kind).map(ToString::to_string);
    if let Some(ContextValue::Strings(valid_values)) = error.get(ContextKind::ValidValue) {
        let invalid_value = context_text(ContextKind::InvalidValue)?;
        return tip_for_scope(&invalid_value, valid_values);
    }
    if context_text(ContextKind::InvalidSubcommand).as_deref() == Some("server") {
        return Some("perhaps petstore serve".to_owned());
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let unknown_argument = context_text(ContextKind::InvalidArg)?;
    let command = env::args().nth(1)?;
    tip_for_unknown_argument(&unknown_argument, &command)
}

/// Returns a tip if the value is a scope of the store area without its prefix, such as `admin` for
/// `store:admin`.
fn tip_for_scope(invalid_value: &str, valid_values: &[String]) -> Option<String> {
    let scope = format!("store:{invalid_value}");
    if valid_values.contains(&scope) {
        Some(format!("perhaps {scope}"))
    } else {
        None
    }
}

/// Returns a tip for an argument that does not exist. `command` is the first argument of the
/// program, which is not a command if the user has begun with an option.
fn tip_for_unknown_argument(argument: &str, command: &str) -> Option<String> {
    let tip = match argument {
        "--port" | "-p" if command == "serve" => {
            "the address and port are --listen, such as --listen :8080".to_owned()
        }
        "--version" => "petstore --version shows the version".to_owned(),
        "--database" if command.starts_with('-') => {
            "write it after the command: petstore keys list --database …".to_owned()
        }
        file if command == "export" && !file.starts_with('-') => {
            format!("to write a file: petstore export >{file}")
        }
        file if file.rsplit('.').next() == Some("db") => {
            format!("to name a database: --database {file}")
        }
        _ => return None,
    };
    Some(tip)
}
