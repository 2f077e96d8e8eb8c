//! The settings of the packaged service, for commands that name no database.

use std::{
    env, fs,
    io::ErrorKind,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process,
};

use clap::{ArgMatches, parser::ValueSource};

use super::BadSetting;

/// Names a file of settings to read; none, if it is empty.
pub(super) const VARIABLE: &str = "PETSTORE_ENV_FILE";

/// The program of the Debian package, and the settings of its service. No other
/// build reads them: a developer's must not write to the service's database.
const PACKAGED: (&str, &str) = ("/usr/bin/petstore", "/etc/petstore/petstore.env");

/// Runs the command again with the settings of the service on this machine, if
/// there are some and nothing said which database is meant. `serve` is told by
/// systemd.
pub(super) fn adopt(matches: &ArgMatches) -> Result<(), BadSetting> {
    let Some(file) = file().filter(|_| names_no_database(matches)) else {
        return Ok(());
    };
    let text = match fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound && env::var_os(VARIABLE).is_none() => {
            return Ok(());
        }
        read => read.map_err(|error| {
            BadSetting(format!(
                "cannot read {}, which says where the database of the service is: {error}; run \
                 the command as its user (`sudo -u petstore petstore …`), or name a database \
                 with --database",
                file.display()
            ))
        })?,
    };
    let variables = parse(&text).map_err(|line| {
        BadSetting(format!(
            "{}, line {line}: must be NAME=VALUE, in which VALUE may be quoted, without \
             backslashes; mend the line, or name a database with --database",
            file.display()
        ))
    })?;
    let given = variables.into_iter().filter(|(name, _)| env::var_os(name).is_none());
    let program = env::current_exe().unwrap_or_else(|_| PACKAGED.0.into());
    let error = process::Command::new(program)
        .args(env::args_os().skip(1))
        .envs(given)
        .env(VARIABLE, "")
        .exec();
    Err(BadSetting(format!("cannot run petstore with the settings in {}: {error}", file.display())))
}

fn file() -> Option<PathBuf> {
    if let Some(file) = env::var_os(VARIABLE) {
        return Some(file).filter(|file| !file.is_empty()).map(PathBuf::from);
    }
    let program = env::current_exe().ok()?;
    (program == Path::new(PACKAGED.0)).then(|| PACKAGED.1.into())
}

/// Whether this is a command on a database other than `serve`, and no
/// option and no variable says which.
fn names_no_database(matches: &ArgMatches) -> bool {
    let Some((name, mut matches)) = matches.subcommand() else {
        return false;
    };
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    name != "serve"
        && matches.try_contains_id("database").is_ok()
        && matches.value_source("database") == Some(ValueSource::DefaultValue)
}

/// The variables of a file in the form of systemd's `EnvironmentFile`, without its
/// escapes and continued lines; or the number of the first line that is not one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_settings_is_read_as_systemd_reads_it_or_not_at_all() {
        let read = parse("# words\n\n; more\nA=b c \n B= \"x=y \"\nC='#'\nD=\n").unwrap();
        let expected = [("A", "b c"), ("B", "x=y "), ("C", "#"), ("D", "")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for bad in ["A", "=b", "A =b", "A=\\x", "A=\"b", "A='b' 'c'", "export A=b"] {
            assert_eq!(parse(bad), Err(1), "{bad}");
        }
    }
}
