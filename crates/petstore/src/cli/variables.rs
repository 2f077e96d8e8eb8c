//! Environment variables, and the settings file of the packaged service.
//!
//! Every option has a variable, except `--create`, `--force` and the options of `demo`. A command
//! that is given neither a database nor an address uses the settings of the service on this
//! machine.

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

/// The variables that the example programs read. The examples are clients of the service.
const EXAMPLE_VARIABLES: [&str; 5] = [
    "PETSTORE_URL",
    "PETSTORE_KEY",
    "PETSTORE_READ_KEY",
    "PETSTORE_STORE_KEY",
    "PETSTORE_ADMIN_KEY",
];

/// The prefixes of the variables that Kubernetes sets for a service named petstore.
const KUBERNETES_PREFIXES: [&str; 2] = ["PETSTORE_PORT", "PETSTORE_SERVICE_"];

/// The variable that names the settings file. If the variable is empty, no file is read.
const SETTINGS_FILE_VARIABLE: &str = "PETSTORE_ENV_FILE";

/// The path of the program in the Debian package.
const PACKAGED_PROGRAM: &str = "/usr/bin/petstore";

/// The settings file of the service in the Debian package. Other builds do not read it, because a
/// developer's build must not write to the database of the service.
const PACKAGED_SETTINGS_FILE: &str = "/etc/petstore/petstore.env";

/// Finds the variables with the prefix `PETSTORE_` that no option reads. Returns a warning for
/// each, in alphabetical order.
pub(super) fn describe_unknown_variables(command: clap::Command) -> Vec<String> {
    let known_names = list_variable_names(command);
    let mut warnings = Vec::new();
    for (name, _) in env::vars_os() {
        // Only names in UTF-8 are checked.
        let Ok(name) = name.into_string() else {
            continue;
        };
        let is_known = known_names.contains(&name) || is_for_another_program(&name);
        if name.starts_with("PETSTORE_") && !is_known {
            warnings.push(format!(
                "no option reads the variable {name}; correct or remove it"
            ));
        }
    }
    warnings.sort();
    warnings
}

/// Whether a variable is not for this program: the examples read it, or Kubernetes sets it.
fn is_for_another_program(name: &str) -> bool {
    EXAMPLE_VARIABLES.contains(&name)
        || KUBERNETES_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Finds the environment variable that set the value of the option in clap's error `message`. The
/// operator then knows where the invalid value comes from.
///
/// clap quotes the option: `invalid value 'x' for '--listen <ADDRESS>'`.
pub(super) fn find_variable_behind(command: clap::Command, message: &str) -> Option<String> {
    let mut variable = None;
    for_each_option(&with_built_in_options(command), &mut |option| {
        if message.contains(&format!("'{option}'")) {
            variable = effective_variable(option);
        }
    });
    variable
}

/// Returns the variable of an option if the variable sets its value: the variable is set, and the
/// option is not on the command line.
fn effective_variable(option: &clap::Arg) -> Option<String> {
    let variable = option.get_env()?.to_str()?;
    let long_name = option.get_long()?;
    if is_on_command_line(long_name) || env::var_os(variable).is_none() {
        return None;
    }
    Some(variable.to_owned())
}

/// Whether the command line of this process has the option with this name, as `--NAME VALUE` or as
/// `--NAME=VALUE`.
pub(super) fn is_on_command_line(long_name: &str) -> bool {
    env::args_os().any(|argument| is_option(&argument, long_name))
}

/// Whether an argument is the option `--NAME`, perhaps with its value as in `--NAME=VALUE`.
fn is_option(argument: &OsStr, long_name: &str) -> bool {
    let Some(text) = argument.to_str() else {
        return false;
    };
    let option = match text.split_once('=') {
        Some((option, _value)) => option,
        None => text,
    };
    option.strip_prefix("--") == Some(long_name)
}

/// Returns the names of all variables that the program reads.
fn list_variable_names(command: clap::Command) -> Vec<String> {
    let mut names = vec![SETTINGS_FILE_VARIABLE.to_owned()];
    for_each_option(&with_built_in_options(command), &mut |option| {
        if let Some(name) = option.get_env().and_then(OsStr::to_str) {
            names.push(name.to_owned());
        }
    });
    names
}

/// Returns the definition of the command line with the options that clap adds to it, such as the
/// global options in subcommands.
fn with_built_in_options(mut command: clap::Command) -> clap::Command {
    command.build();
    command
}

/// Calls `visit` for each option of a command and of its subcommands.
fn for_each_option(command: &clap::Command, visit: &mut dyn FnMut(&clap::Arg)) {
    command.get_arguments().for_each(&mut *visit);
    for subcommand in command.get_subcommands() {
        for_each_option(subcommand, visit);
    }
}

/// Runs the program again with the variables in the settings file, if the command needs the address
/// or the database of the service, and neither an option nor a variable sets it. Does nothing if
/// there is no such file.
/// `serve` never reads the file, because systemd passes its variables.
///
/// The new program replaces this process. If it runs, this function never returns.
pub(super) fn rerun_with_settings_file(matches: &ArgMatches) -> Result<(), BadSetting> {
    let Some(file) = find_settings_file() else {
        return Ok(());
    };
    let Some(option) = find_missing_option(matches) else {
        return Ok(());
    };
    let Some(variables) = read_settings(&file, option)? else {
        return Ok(());
    };
    let unset_variables = variables
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none());
    // The path of a running program is known, unless `/proc` is missing.
    let program = env::current_exe().unwrap_or_else(|_| PACKAGED_PROGRAM.into());
    let error = process::Command::new(program)
        .args(env::args_os().skip(1))
        .envs(unset_variables)
        // The new program must not read the file and run itself again.
        .env(SETTINGS_FILE_VARIABLE, "")
        .exec();
    Err(BadSetting(format!(
        "cannot run petstore with the settings in {}: {error}",
        file.display()
    )))
}

/// Reads the variables in the settings file. Returns `None` if the default file does not exist. A
/// file that the operator has named must exist. Errors advise the operator to add `option`, because
/// the file is then not needed.
fn read_settings(file: &Path, option: &str) -> Result<Option<Vec<(String, String)>>, BadSetting> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error)
            if error.kind() == ErrorKind::NotFound
                && env::var_os(SETTINGS_FILE_VARIABLE).is_none() =>
        {
            return Ok(None);
        }
        Err(error) => {
            return Err(BadSetting(format!(
                "cannot read {}, the settings of the service: {error}; run the command as the \
                 user of the service (`sudo -u petstore petstore …`), or add {option}",
                file.display()
            )));
        }
    };
    match parse_settings(&text) {
        Ok(variables) => Ok(Some(variables)),
        Err(InvalidLine { number }) => Err(BadSetting(format!(
            "{}, line {number}: must be NAME=VALUE, where VALUE may be quoted and contains no \
             backslashes; correct the line, or add {option}",
            file.display()
        ))),
    }
}

/// Returns the path of the settings file. Returns `None` if this program reads no settings file.
fn find_settings_file() -> Option<PathBuf> {
    if let Some(file) = env::var_os(SETTINGS_FILE_VARIABLE) {
        return if file.is_empty() {
            None
        } else {
            Some(file.into())
        };
    }
    let program = env::current_exe().ok()?;
    if program == Path::new(PACKAGED_PROGRAM) {
        Some(PACKAGED_SETTINGS_FILE.into())
    } else {
        None
    }
}

/// Returns the option that names the database or the address of the service, if the command needs
/// it and neither an option nor a variable sets it. Returns `None` for `serve`.
fn find_missing_option(program_matches: &ArgMatches) -> Option<&'static str> {
    let (command_name, command_matches) = program_matches.subcommand()?;
    let matches = innermost_matches(command_matches);
    let is_default = |id| matches.value_source(id) == Some(ValueSource::DefaultValue);
    let is_given = |id| matches.value_source(id).is_some();
    match command_name {
        "serve" => None,
        "healthcheck" => {
            let has_address =
                is_given("url") || is_given("management_listen") || !is_default("listen");
            if has_address {
                None
            } else {
                Some("--listen ADDRESS")
            }
        }
        _ => {
            let needs_database = matches.ids().any(|id| id == "database");
            if needs_database && is_default("database") {
                Some("--database URL")
            } else {
                None
            }
        }
    }
}

/// Returns the matches of the command in a group of commands, such as `list` in `webhooks list`.
/// These have the options of the group, too, if the options are global.
fn innermost_matches(mut matches: &ArgMatches) -> &ArgMatches {
    while let Some((_, subcommand_matches)) = matches.subcommand() {
        matches = subcommand_matches;
    }
    matches
}

/// The number, from 1, of a line in a settings file that has another form than `NAME=VALUE`.
struct InvalidLine {
    number: usize,
}

/// Parses a file in the format of systemd's `EnvironmentFile`, with lines such as
/// `PETSTORE_LISTEN=":8080"`. Escapes and continuation lines are not supported. Fails at the first
/// invalid line.
fn parse_settings(text: &str) -> Result<Vec<(String, String)>, InvalidLine> {
    let mut variables = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(InvalidLine { number })?;
        let value = without_quotes(value.trim_start());
        let is_valid_name = !name.is_empty() && !name.contains(char::is_whitespace);
        let is_valid_value = !value.contains(['\\', '"', '\'']);
        if !is_valid_name || !is_valid_value {
            return Err(InvalidLine { number });
        }
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables)
}

/// Returns a value without the quotes around it, if it begins and ends with the same quote.
fn without_quotes(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(after_quote) = value.strip_prefix(quote)
            && let Some(content) = after_quote.strip_suffix(quote)
        {
            return content;
        }
    }
    value
}
