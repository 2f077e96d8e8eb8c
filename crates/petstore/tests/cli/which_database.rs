//! The database and the service that a command uses: never a new database by mistake, and the
//! message names it.

use std::{fs, process::Command};

use super::program::{Service, command, directory, finish, new_key, run, settle};

#[test]
fn only_serve_creates_a_database_without_create() {
    let here = directory();
    let database = here.path().join("petstore.db");
    fs::write(here.path().join("some.csv"), "name,categoryId\nFrank,1\n").unwrap();
    let commands = [
        &["keys", "create", "--name", "me"][..],
        &["import", "some.csv"],
        &["import", "some.csv", "--dry-run"],
    ];
    for arguments in commands {
        let done = run(here.path(), arguments);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let line = done.expect_one_line();
        let place = format!("there is no database at {}; ", database.display());
        assert!(
            line.contains(&place) && line.contains("`petstore serve`"),
            "{line}"
        );
        assert!(line.contains("--create") && !database.exists(), "{line}");
    }
    for arguments in &commands[..2] {
        run(here.path(), &[arguments, &["--create"][..]].concat()).expect_success();
        assert!(database.exists());
        // The option is also allowed for a database that exists.
        run(here.path(), &[arguments, &["--create"][..]].concat()).expect_success();
        fs::remove_file(&database).unwrap();
    }
    drop(Service::start(here.path(), &[]));
    assert!(database.exists());
}

#[test]
fn every_command_that_changes_the_database_names_it_with_its_whole_path() {
    let here = directory();
    fs::write(here.path().join("some.csv"), "name,categoryId\nFrank,1\n").unwrap();
    let database = format!("sqlite:{}", here.path().join("petstore.db").display());
    for (arguments, says) in [
        (
            "keys create --create --name me",
            format!("Key 1 (me) in {database}: "),
        ),
        ("keys rotate 1", format!("Key 2 (me) in {database}: ")),
        (
            "keys revoke 2",
            format!("Key 2 (me) in {database} is revoked."),
        ),
        ("staff add Ana", format!("Member Ana in {database}: ")),
        (
            "staff role Ana viewer",
            format!("Member Ana in {database} now has the role viewer."),
        ),
        (
            "staff disable Ana",
            format!("Member Ana in {database} can no longer sign in."),
        ),
        ("staff reset Ana", format!("Member Ana in {database}: ")),
        (
            "webhooks add https://shop.example/",
            format!("Webhook 1 in {database} is stored."),
        ),
        (
            "webhooks remove 1",
            format!("Webhook 1 in {database} is removed."),
        ),
        ("clock confirm", format!(" is confirmed in {database}.")),
        (
            "import some.csv",
            format!("Imported 1 animal into {database}."),
        ),
        (
            "copy --from sqlite:petstore.db --to sqlite:other.db",
            "Copied 1 animal, 0 orders, 0 categories, 0 notes, 9 fields, 2 API keys, 0 idempotency keys, "
                .to_owned(),
        ),
        (
            "copy --from sqlite:petstore.db --to sqlite:another.db",
            format!(" from {database} to "),
        ),
        (
            "backup backup.db",
            format!("backup.db is a valid copy of {database}: 1 animal\n"),
        ),
        (
            "restore backup.db --force",
            format!("{database} is a valid copy of backup.db: 1 animal\n"),
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let done = run(here.path(), &arguments).expect_success();
        assert!(
            [done.stdout, done.stderr].concat().contains(&says),
            "{arguments:?}: {says}"
        );
    }
}

/// As the program of the Debian package does, whose file has a fixed path.
#[test]
fn a_command_without_a_database_uses_the_one_in_the_settings_file_of_the_service() {
    let here = directory();
    let service = here.path().join("service");
    fs::create_dir(&service).unwrap();
    let file = here.path().join("petstore.env");
    let database = format!("sqlite:{}/petstore.db", service.display());
    fs::write(
        &file,
        format!("# settings\nPETSTORE_DATABASE=\"{database}\"\nPETSTORE_DEPLOYMENT=staging\n"),
    )
    .unwrap();
    let create = |more: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["keys", "create", "--create", "--name", "me"], more].concat();
        let mut create = command(here.path(), &arguments);
        finish(
            create
                .env("PETSTORE_ENV_FILE", &file)
                .envs(variables.iter().copied()),
        )
        .expect_success()
        .stderr
    };
    let said = create(&[], &[]);
    assert!(
        said.contains(&format!("in {database}: ")) && said.contains(", staging, "),
        "{said}"
    );
    // A variable of the command itself takes precedence.
    assert!(
        create(&[], &[("PETSTORE_DEPLOYMENT", "production")]).contains(&format!("in {database}: "))
    );
    let other = "sqlite:other.db";
    for said in [
        create(&["--database", other], &[]),
        create(&[], &[("PETSTORE_DATABASE", other)]),
    ] {
        assert!(
            said.contains("/other.db: ") && said.contains(", production, "),
            "{said}"
        );
    }
    // The service gets its settings from the program that starts it, and help needs no database.
    let mut serve = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("PETSTORE_ENV_FILE", &file);
    drop(Service::from(serve));
    assert!(here.path().join("petstore.db").exists());
    let mut help = command(here.path(), &["openapi", "--help"]);
    finish(help.env("PETSTORE_ENV_FILE", "/absent")).expect_success();
}

#[test]
fn healthcheck_without_an_address_uses_the_one_in_the_settings_file_of_the_service() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let (_, address) = service
        .url
        .trim_end_matches("/v1")
        .split_once("://")
        .unwrap();
    // Without a service at the address of a setting or of an option, the check fails.
    let absent = "127.0.0.1:1";
    let file = |listen: &str| {
        let file = here.path().join("petstore.env");
        fs::write(&file, format!("PETSTORE_LISTEN={listen}\n")).unwrap();
        file
    };
    let check = |listen: &str, options: &[&str], variables: &[(&str, &str)]| {
        let mut check = command(here.path(), &[&["healthcheck"], options].concat());
        finish(
            check
                .env("PETSTORE_ENV_FILE", file(listen))
                .envs(variables.iter().copied()),
        )
    };
    check(address, &[], &[]).expect_success();
    let line = check(absent, &[], &[]).expect_one_line();
    assert!(line.contains(absent), "{line}");

    // An option or variable of the command itself takes precedence.
    let docs = format!("http://{address}/docs/");
    for (option, variable, value) in [
        ("--listen", "PETSTORE_LISTEN", address),
        ("--url", "PETSTORE_HEALTHCHECK_URL", docs.as_str()),
    ] {
        check(absent, &[option, value], &[]).expect_success();
        check(absent, &[], &[(variable, value)]).expect_success();
        // The command does not even read the file.
        for (options, variables) in [(&[option, value][..], &[][..]), (&[], &[(variable, value)])] {
            let mut check = command(here.path(), &[&["healthcheck"], options].concat());
            let variables = variables
                .iter()
                .copied()
                .chain([("PETSTORE_ENV_FILE", "/absent")]);
            finish(check.envs(variables)).expect_success();
        }
    }

    let mut check = command(here.path(), &["healthcheck"]);
    let done = finish(check.env("PETSTORE_ENV_FILE", "/absent/petstore.env"));
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let line = done.expect_one_line();
    assert!(
        line.contains("sudo -u petstore petstore") && line.contains("--listen"),
        "{line}"
    );
}

#[test]
fn a_settings_file_is_parsed_as_systemd_parses_it_or_rejected() {
    let here = directory();
    let file = here.path().join("petstore.env");
    let create = |settings: &str| {
        fs::write(&file, settings).unwrap();
        let mut create = command(here.path(), &["keys", "create", "--create", "--name", "me"]);
        finish(create.env("PETSTORE_ENV_FILE", &file))
    };
    for (value, name) in [
        ("sqlite:b c.db ", "b c.db"),
        (" \"sqlite:x=y \"", "x=y "),
        ("'sqlite:#.db'", "#.db"),
    ] {
        let settings = format!("# comment\n\n; more\nD=\n PETSTORE_DATABASE={value}\nE=f\n");
        let said = create(&settings).expect_success().stderr;
        assert!(said.contains(&format!("/{name}: scope")), "{said}");
    }
    for bad in [
        "A",
        "=b",
        "A =b",
        "A=\\x",
        "A=\"b",
        "A='b' 'c'",
        "export A=b",
    ] {
        let line = create(bad).expect_one_line();
        assert!(
            line.contains("petstore.env, line 1: must be NAME=VALUE"),
            "{bad}: {line}"
        );
    }
}

#[test]
fn a_settings_file_that_cannot_be_read_is_an_error_that_says_what_to_do() {
    let here = directory();
    new_key(here.path());
    let file = here.path().join("petstore.env");
    fs::write(&file, "PETSTORE_DATABASE=sqlite:a\\x20b.db\n").unwrap();
    for (file, says) in [
        (
            file.to_str().unwrap(),
            "petstore.env, line 1: must be NAME=VALUE",
        ),
        (here.path().to_str().unwrap(), "Is a directory"),
        ("/absent/petstore.env", "sudo -u petstore petstore"),
    ] {
        let mut list = Command::new(env!("CARGO_BIN_EXE_petstore"));
        settle(&mut list, here.path());
        let done = finish(list.args(["keys", "list"]).env("PETSTORE_ENV_FILE", file));
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let line = done.expect_one_line();
        assert!(line.contains(says) && line.contains("--database"), "{line}");
    }
}
