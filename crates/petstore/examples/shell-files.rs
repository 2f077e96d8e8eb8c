//! Writes the man pages and the completions for bash, zsh and fish into a
//! folder, for packages: `cargo run --example shell-files FOLDER`.

use std::{fs, io, path::PathBuf};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

/// Exit statuses of every command.
const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Success."),
    (
        "1",
        "The command failed. One line on standard error gives the reason.",
    ),
    (
        "2",
        "An argument, a variable or a file that one of them names is invalid. Nothing was done. \
         systemd does not restart the service after this status.",
    ),
    (
        "3",
        "petstore import --skip-invalid added the valid rows and rejected others.",
    ),
];

/// Files that the Debian package and the defaults use.
const FILES: [(&str, &str); 4] = [
    (
        "petstore.db",
        "The database in the current folder, unless --database names another.",
    ),
    (
        "petstore.db-wal, petstore.db-shm",
        "Parts of an open database. Never remove them.",
    ),
    (
        "/etc/petstore/petstore.env",
        "The settings of the packaged service, as variables. Every command of /usr/bin/petstore \
         except serve reads this file, unless an option or a variable names the database (for \
         healthcheck: the address).",
    ),
    (
        "/var/lib/petstore/petstore.db",
        "The database of the packaged service.",
    ),
];

fn main() -> io::Result<()> {
    let folder: PathBuf = std::env::args_os()
        .nth(1)
        .unwrap_or_else(|| ".".into())
        .into();
    fs::create_dir_all(&folder)?;
    // The page of `help` would only list the other pages.
    let mut command = without_help(petstore::cli::command());
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "petstore", &folder)?;
    }
    command.build();
    write_pages(&command, &folder)
}

fn without_help(command: Command) -> Command {
    command
        .disable_help_subcommand(true)
        .mut_subcommands(without_help)
}

/// The date of the newest release in the changelog.
fn released() -> &'static str {
    let mut headings = include_str!("../../../CHANGELOG.md")
        .lines()
        .filter(|line| line.starts_with("## "));
    let heading = headings.find(|heading| *heading != "## Unreleased");
    heading
        .and_then(|heading| heading.split_whitespace().last())
        .unwrap_or_default()
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &Command, folder: &std::path::Path) -> io::Result<()> {
    for below in command.get_subcommands() {
        write_pages(below, folder)?;
    }
    let examples = command.get_after_help().map(ToString::to_string);
    let source = concat!("petstore ", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command.clone())
        .date(released())
        .source(source)
        .manual("petstore manual");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    if command.get_arguments().next().is_some() {
        page.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    let mut rest = Roff::new();
    let mut variables: Vec<(&str, String)> = command
        .get_arguments()
        .filter_map(|option| Some((option.get_env()?.to_str()?, option.get_long()?)))
        .map(|(variable, long)| {
            (
                variable,
                format!("The value of --{long}, if the option is not given."),
            )
        })
        .collect();
    let reads_settings_file = ["PETSTORE_DATABASE", "PETSTORE_HEALTHCHECK_URL"];
    if variables
        .iter()
        .any(|(variable, _)| reads_settings_file.contains(variable))
    {
        let meaning = "The file to read instead of /etc/petstore/petstore.env. If this variable is \
                       empty, no file is read. serve does not read the file.";
        variables.push(("PETSTORE_ENV_FILE", meaning.to_owned()));
    }
    list(&mut rest, "ENVIRONMENT", &variables);
    list(&mut rest, "FILES", &FILES);
    list(&mut rest, "EXIT STATUS", &EXIT_STATUS);
    if let Some(examples) = examples {
        rest.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines().skip(1) {
            rest.text([roman(line)]);
        }
        rest.control("fi", []);
    }
    rest.control("SH", ["SEE ALSO"]);
    rest.text([roman("The documentation in /usr/share/doc/petstore.")]);
    rest.to_writer(&mut text)?;
    fs::write(folder.join(page.get_filename()), text)
}

/// A section with terms and their meanings.
fn list(page: &mut Roff, title: &str, entries: &[(impl AsRef<str>, impl AsRef<str>)]) {
    if entries.is_empty() {
        return;
    }
    page.control("SH", [title]);
    for (term, meaning) in entries {
        page.control("TP", [])
            .text([bold(term.as_ref())])
            .text([roman(meaning.as_ref())]);
    }
}
