//! Environment variables: every option has one, except `--create`, `--force` and the options of `demo`. And the settings of
//! the packaged service, for commands that do not name its database or address.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::ErrorKind,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process,
};

use clap::{ArgMatches, parser::ValueSource};

use super::args::BadSetting;

/// Variables of the examples, which are clients of the service.
const OF_CLIENTS: [&str; 5] = [
    "PETSTORE_URL",
    "PETSTORE_KEY",
    "PETSTORE_READ_KEY",
    "PETSTORE_STORE_KEY",
    "PETSTORE_ADMIN_KEY",
];

/// The first part of the variables that Kubernetes sets for a service named petstore.
const OF_KUBERNETES: [&str; 2] = ["PETSTORE_PORT", "PETSTORE_SERVICE_"];

/// Returns a warning for each variable that has our prefix but that no option reads.
pub(super) fn unknown(command: clap::Command) -> Vec<String> {
    let known = known(command);
    let mut warnings: Vec<String> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("PETSTORE_") && !known.contains(name))
        .filter(|name| !OF_CLIENTS.contains(&name.as_str()))
        .filter(|name| !OF_KUBERNETES.iter().any(|prefix| name.starts_with(prefix)))
        .map(|name| format!("no option reads the variable {name}; correct or remove it"))
        .collect();
    warnings.sort();
    warnings
}

/// Returns the environment variable that gave an option its value, if clap's error `message` is about
/// this option.
///
/// clap quotes the option: `invalid value 'x' for '--port <PORT>'`.
pub(super) fn variable_behind(command: clap::Command, message: &str) -> Option<String> {
    let mut variable = None;
    for_each_option(&built(command), &mut |option| {
        if message.contains(&format!("'{option}'")) {
            variable = deciding_variable(option);
        }
    });
    variable
}

/// Returns the variable of an option, if the variable is set and the command line lacks the option.
fn deciding_variable(option: &clap::Arg) -> Option<String> {
    let variable = option.get_env()?.to_str()?;
    let long_name = option.get_long()?;
    let is_given = env::args_os().any(|argument| is_option(&argument, long_name));
    let decides = !is_given && env::var_os(variable).is_some();
    decides.then(|| variable.to_owned())
}

/// Whether an argument of the command line is `--NAME` or `--NAME=VALUE`.
fn is_option(argument: &OsStr, long_name: &str) -> bool {
    let text = argument.to_str().and_then(|text| text.strip_prefix("--"));
    let value = text.and_then(|text| text.strip_prefix(long_name));
    value.is_some_and(|value| value.is_empty() || value.starts_with('='))
}

fn known(command: clap::Command) -> Vec<String> {
    let mut names = vec![SETTINGS_FILE.to_owned()];
    for_each_option(&built(command), &mut |option| {
        names.extend(
            option
                .get_env()
                .and_then(|name| name.to_str())
                .map(str::to_owned),
        );
    });
    names
}

/// Returns the command line, with everything that clap adds to it.
fn built(mut command: clap::Command) -> clap::Command {
    command.build();
    command
}

/// Visits the options of a command and of its subcommands.
fn for_each_option(command: &clap::Command, visit: &mut dyn FnMut(&clap::Arg)) {
    command.get_arguments().for_each(&mut *visit);
    for below in command.get_subcommands() {
        for_each_option(below, visit);
    }
}

/// Names the file to read; if the variable is empty, no file is read.
const SETTINGS_FILE: &str = "PETSTORE_ENV_FILE";

/// The program of the Debian package, and the settings of its service. Other builds do
/// not read this file: a developer's build must not write to the service's database.
const PACKAGED: (&str, &str) = ("/usr/bin/petstore", "/etc/petstore/petstore.env");

/// Runs the command again with the settings of the service on this machine, if there
/// are some and the command uses the service or its database without naming it. `serve`
/// gets its settings from systemd.
pub(super) fn load(matches: &ArgMatches) -> Result<(), BadSetting> {
    let Some((file, option)) = file().zip(missing_option(matches)) else {
        return Ok(());
    };
    let text = match fs::read_to_string(&file) {
        Err(error)
            if error.kind() == ErrorKind::NotFound && env::var_os(SETTINGS_FILE).is_none() =>
        {
            return Ok(());
        }
        read => read.map_err(|error| {
            BadSetting(format!(
                "cannot read {}, the settings of the service: {error}; run the command as the \
                 user of the service (`sudo -u petstore petstore …`), or add {option}",
                file.display()
            ))
        })?,
    };
    let variables = parse(&text).map_err(|line| {
        BadSetting(format!(
            "{}, line {line}: must be NAME=VALUE, where VALUE may be quoted and contains no \
             backslashes; correct the line, or add {option}",
            file.display()
        ))
    })?;
    let given = variables
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none());
    let program = env::current_exe().unwrap_or_else(|_| PACKAGED.0.into());
    let error = process::Command::new(program)
        .args(env::args_os().skip(1))
        .envs(given)
        .env(SETTINGS_FILE, "")
        .exec();
    Err(BadSetting(format!(
        "cannot run petstore with the settings in {}: {error}",
        file.display()
    )))
}

fn file() -> Option<PathBuf> {
    if let Some(file) = env::var_os(SETTINGS_FILE) {
        return Some(file)
            .filter(|file| !file.is_empty())
            .map(PathBuf::from);
    }
    let program = env::current_exe().ok()?;
    (program == Path::new(PACKAGED.0)).then(|| PACKAGED.1.into())
}

/// Returns the option that would name the database or the address of the service, if this command
/// other than `serve` needs it and neither an option nor a variable gives it.
fn missing_option(matches: &ArgMatches) -> Option<&'static str> {
    let (name, mut matches) = matches.subcommand()?;
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let is_default = |id| matches.value_source(id) == Some(ValueSource::DefaultValue);
    let is_given = |id| matches.value_source(id).is_some();
    match name {
        "serve" => None,
        "healthcheck" => {
            let is_missing =
                is_default("listen") && !is_given("url") && !is_given("management_listen");
            is_missing.then_some("--listen ADDRESS")
        }
        _ => {
            let has_database = matches.ids().any(|id| id == "database");
            (has_database && is_default("database")).then_some("--database URL")
        }
    }
}

/// Parses the variables of a file in the format of systemd's `EnvironmentFile`, except
/// escapes and continuation lines. Fails with the number of the first invalid line.
fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut variables = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(number)?;
        let value = value.trim_start();
        let unquoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        let value = unquoted.unwrap_or(value);
        if name.is_empty()
            || name.contains(char::is_whitespace)
            || value.contains(['\\', '"', '\''])
        {
            return Err(number);
        }
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables)
}
