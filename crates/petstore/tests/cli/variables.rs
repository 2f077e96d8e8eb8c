//! Variables that set options, and unknown words on the command line.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use super::program::{command, directory, finish, run};

#[test]
fn a_variable_that_no_option_reads_is_reported_with_the_nearest_name() {
    let here = directory();
    let mut openapi = command(here.path(), &["openapi"]);
    // The last four belong to clients and to Kubernetes.
    for name in [
        "PETSTORE_DATABSE",
        "PETSTORE_URL",
        "PETSTORE_KEY",
        "PETSTORE_PORT_8080_TCP",
        "PETSTORE_SERVICE_HOST",
    ] {
        openapi.env(name, "x");
    }
    let done = finish(&mut openapi).expect_success();
    assert_eq!(
        done.stderr,
        "warning: no option reads the variable PETSTORE_DATABSE; correct or remove it\n"
    );
}

#[test]
fn a_misspelt_option_or_command_is_shown_the_nearest_one_and_others_the_help() {
    let here = directory();
    for (arguments, says) in [
        (
            &["serve", "--databse", "x"][..],
            "a similar argument exists: '--database'",
        ),
        (&["srve"], "a similar subcommand exists: 'serve'"),
        (
            &["serve", "--deployment", "prod"],
            "a similar value exists: 'production'",
        ),
        (
            &["serve", "--port", "8080"],
            "the address and port are --listen, such as --listen :8080",
        ),
        (&["server"], "perhaps petstore serve"),
        (&["serve", "--zzz"], "--help shows what is allowed"),
        (&["keys", "create"], "--help shows what is allowed"),
        (
            &["serve", "--version"],
            "petstore --version shows the version",
        ),
        (
            &["--database", "x", "keys", "list"],
            "after the command: petstore keys list --database",
        ),
        (
            &["export", "out.csv"],
            "to write a file: petstore export >out.csv",
        ),
        (&["check", "x.db"], "to name a database: --database x.db"),
        (
            &["keys", "create", "--name", "x", "--scope", "admin"],
            "]; perhaps store:admin",
        ),
    ] {
        let line = run(here.path(), arguments).expect_one_line();
        assert!(line.contains(says), "{line}");
    }
}

#[test]
fn an_error_next_to_a_file_name_that_is_not_utf_8_is_one_line() {
    let here = directory();
    let mut backup = command(here.path(), &["backup", "--database", "mysql://pets"]);
    backup
        .arg(OsStr::from_bytes(b"\xFF.db"))
        .env("PETSTORE_DATABASE", "sqlite:x.db");
    let line = finish(&mut backup).expect_one_line();
    assert!(
        line.contains("sqlite:PATH") && !line.contains("PETSTORE_DATABASE"),
        "{line}"
    );
}

#[test]
fn every_switch_understands_the_same_words() {
    let here = directory();
    for word in ["1", "yes", "True"] {
        let mut openapi = command(here.path(), &["openapi"]);
        let document = finish(openapi.env("PETSTORE_OPENAPI_STORE", word))
            .expect_success()
            .stdout;
        assert!(document.contains("/store/orders"), "{word}");
    }
    for variable in ["PETSTORE_OPENAPI_STORE", "PETSTORE_EXPORT_SPREADSHEET"] {
        let name = if variable.contains("OPENAPI") {
            "openapi"
        } else {
            "export"
        };
        let mut command = command(here.path(), &[name]);
        let line = finish(command.env(variable, "maybe")).expect_one_line();
        assert!(
            line.contains("true or false") && line.contains(variable),
            "{line}"
        );
    }
}

/// Or a container that is healthy would look as if it were not.
#[test]
fn healthcheck_understands_each_address_that_serve_understands() {
    let here = directory();
    for (address, reached) in [("localhost:1", "127.0.0.1:1"), (":1", "127.0.0.1:1")] {
        for variable in ["PETSTORE_LISTEN", "PETSTORE_MANAGEMENT_LISTEN"] {
            let mut check = command(here.path(), &["healthcheck"]);
            let line = finish(check.env(variable, address)).expect_one_line();
            assert!(line.contains(&format!("http://{reached}/")), "{line}");
        }
    }
}

#[test]
fn healthcheck_checks_a_url_that_this_machine_reaches() {
    let here = directory();
    let certificate = ("PETSTORE_TLS_CERT", "x.pem");
    let management = ("PETSTORE_MANAGEMENT_LISTEN", "0.0.0.0:1");
    for (listen, variables, url) in [
        ("0.0.0.0:1", &[][..], "http://127.0.0.1:1/openapi.yaml"),
        ("[::]:1", &[certificate], "https://[::1]:1/openapi.yaml"),
        (
            "127.0.0.2:1",
            &[certificate],
            "https://127.0.0.2:1/openapi.yaml",
        ),
        (
            "0.0.0.0:2",
            &[certificate, management],
            "http://127.0.0.1:1/livez",
        ),
    ] {
        let mut check = command(here.path(), &["healthcheck", "--listen", listen]);
        let line = finish(check.envs(variables.iter().copied())).expect_one_line();
        assert!(line.contains(url), "{line}");
    }
}

#[test]
fn an_error_in_a_variable_names_the_variable() {
    let here = directory();
    for (variable, value, expected) in [
        ("PETSTORE_LISTEN", "here", "the port is missing"),
        (
            "PETSTORE_DATABASE",
            "mysql://me:secret@db/pets",
            "sqlite:PATH",
        ),
        ("PETSTORE_ACCESS_LOG", "maybe", "it must be true or false"),
        ("PETSTORE_MAX_CONNECTIONS", "0", "from 1 to"),
    ] {
        let line = finish(command(here.path(), &["serve"]).env(variable, value)).expect_one_line();
        assert!(
            line.contains(expected) && !line.contains("secret"),
            "{line}"
        );
        assert!(
            line.contains(&format!("environment variable {variable}")),
            "{line}"
        );
    }
    let line =
        finish(command(here.path(), &["serve", "--listen", "here"]).env("PETSTORE_LISTEN", "x"))
            .expect_one_line();
    assert!(
        line.contains("the port is missing") && !line.contains("variable"),
        "{line}"
    );
}

#[test]
fn a_key_that_is_not_named_by_its_id_is_one_clear_line() {
    let here = directory();
    for word in ["abc", "0", "-1"] {
        let line = run(here.path(), &["keys", "revoke", "--", word]).expect_one_line();
        assert!(line.contains("a key is named by its number"), "{line}");
    }
}

#[test]
fn completions_are_scripts_that_name_the_commands() {
    let here = directory();
    for shell in ["bash", "zsh", "fish"] {
        let script = run(here.path(), &["completions", shell])
            .expect_success()
            .stdout;
        assert!(
            script.contains("healthcheck") && script.contains("database"),
            "{shell}"
        );
    }
    let line = run(here.path(), &["completions", "cmd"]).expect_one_line();
    assert!(line.contains("bash"), "{line}");
}
