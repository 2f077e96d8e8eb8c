//! The command line: one file per command. Results go to standard output; logs
//! and messages go to standard error.

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
mod photo_files;
mod photos;
mod provider;
mod rejects;
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
use petstore_observe::log::chain;
use petstore_store::OpenError;
use petstore_web::server::TlsError;
use rustix::{fs::Mode, process::umask};

use self::{
    args::BadSetting,
    output::print_message,
    runtime::{FileSizes, block_on},
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

/// The exit status for invalid arguments and settings, the same as clap's. systemd does
/// not restart the service after it.
const WRONG_SETTING: u8 = 2;

fn exit_status(error: &anyhow::Error) -> u8 {
    let is_setting = error.is::<BadSetting>()
        || error.is::<serve::FilesChanged>()
        || error.is::<TlsError>()
        || error.downcast_ref().is_some_and(OpenError::is_permanent);
    if is_setting { WRONG_SETTING } else { 1 }
}

/// Returns the definition of the command line, for man pages and completions.
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
    if let Err(error) = variables::load(&matches) {
        return failure(&error.into());
    }
    // `serve` logs them, and no variable sets anything of a demo.
    if !matches!(cli.command, Command::Serve(_) | Command::Demo(_)) {
        for warning in variables::unknown(command()) {
            print_message(&format!("warning: {warning}"));
        }
    }
    let file_sizes = match FileSizes::watch() {
        Ok(file_sizes) => file_sizes,
        Err(error) => return failure(&error.into()),
    };
    let done = match cli.command {
        Command::Serve(serve) => serve.run(variables::unknown(command())),
        Command::Demo(demo) => demo.run(),
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
        Command::Backups(list) => list.run(),
        Command::Restore(restore) => restore.run(),
        Command::Openapi(openapi) => openapi.run(),
        Command::Completions(completions) => completions.run(command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&file_sizes.explain(error)),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    // The message of a database can have several lines.
    print_message(&format!("error: {}", chain(error.as_ref())).replace('\n', " "));
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
        let first: Vec<&str> = text
            .lines()
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        let mut line = first.join(" ");
        if let Some(instead) = instead(error) {
            line.extend(["; ", &instead]);
        } else {
            for tip in text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("tip: "))
            {
                line.extend(["; ", tip]);
            }
            if !text.contains("tip: ") && error.get(ContextKind::Usage).is_some() {
                line.push_str("; --help shows what is allowed");
            }
        }
        if let Some(variable) = variables::variable_behind(command(), &line) {
            line.extend([" (set by the environment variable ", &variable, ")"]);
        }
        print_message(&line);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(WRONG_SETTING))
}

/// Returns the command that somebody meant, where clap has no tip, or a wrong one.
fn instead(error: &clap::Error) -> Option<String> {
    let text = |kind| error.get(kind).map(ToString::to_string);
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) {
        let scope = format!("store:{}", text(ContextKind::InvalidValue)?);
        return valid.contains(&scope).then(|| format!("perhaps {scope}"));
    }
    if text(ContextKind::InvalidSubcommand).is_some_and(|command| command == "server") {
        return Some("perhaps petstore serve".to_owned());
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let unknown_argument = text(ContextKind::InvalidArg)?;
    let command = env::args().nth(1)?;
    Some(match &*unknown_argument {
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
    })
}
