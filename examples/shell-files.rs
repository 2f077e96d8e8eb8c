//! Writes the man pages and the completions for bash, zsh and fish into a
//! folder, for packages: `cargo run --example shell-files FOLDER`.

use std::{fs, path::PathBuf};

use clap_complete::Shell;

fn main() -> std::io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or_else(|| ".".into()).into();
    fs::create_dir_all(&folder)?;
    // A page on every page would help nobody.
    let mut command = without_help(petstore::cli::command());
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "petstore", &folder)?;
    }
    clap_mangen::generate_to(command, &folder)
}

fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
