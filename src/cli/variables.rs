//! Environment variables: every option has one, except `--create` and `--force`.

use std::env;

use super::settings_file;

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

/// A warning for each variable that has our prefix but that no option reads.
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

/// The variable that set the value that clap's `message` is about, if a variable did.
pub(super) fn named_in(command: clap::Command, message: &str) -> Option<String> {
    let mut found = None;
    for_each_option(&built(command), &mut |option| {
        let variable = option.get_env().and_then(|name| name.to_str());
        let is_meant = message.contains(&format!("'{option}'"));
        let (true, Some(variable), Some(long)) = (is_meant, variable, option.get_long()) else {
            return;
        };
        let is_given = env::args_os().any(|argument| {
            let name = argument.to_str().and_then(|argument| argument.strip_prefix("--"));
            let rest = name.and_then(|name| name.strip_prefix(long));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        if !is_given && env::var_os(variable).is_some() {
            found = Some(variable.to_owned());
        }
    });
    found
}

fn known(command: clap::Command) -> Vec<String> {
    let mut names = vec![settings_file::VARIABLE.to_owned()];
    for_each_option(&built(command), &mut |option| {
        names.extend(option.get_env().and_then(|name| name.to_str()).map(str::to_owned));
    });
    names
}

/// The command line, with everything that clap adds to it.
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
