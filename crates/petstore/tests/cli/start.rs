//! Errors before the service starts: one clear line, and an exit code.

use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use rusqlite::Connection;

use super::program::{Service, command, directory, finish, free_address, new_key, run, settle};

/// The exit status that keeps systemd from starting the service again.
const WRONG_SETTING: i32 = 2;

/// Options for an OpenID provider.
const ISSUER: &str = "--oidc-issuer=https://login.example";
const CLIENT: &str = "--oidc-client-id=shop";
const ROLE: &str = "--oidc-role=groups=shop:clerk";
const CONSOLE: &str = "--console-url=https://console.example";

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn invalid_settings_are_one_line() {
    let here = directory();
    for (arguments, says) in [
        (&["serve", "--database", "mysql://x"][..], "sqlite:PATH"),
        (&["serve", "--database", "sqlite:"], "missing"),
        (
            &["serve", "--database", "sqlite:nowhere/petstore.db"],
            "nowhere/petstore.db",
        ),
        (&["serve", "--listen", "localhost"], "--listen"),
        (&["serve", "--base-url", "https://pets.example"], "/v1"),
        (
            &["serve", "--staging-base-url", "pets.example/v1"],
            "--staging-base-url",
        ),
        (&["serve", "--deployment", "test"], "production, staging"),
        (&["serve", "--max-connections", "0"], "--max-connections"),
        (
            &["serve", "--shutdown-timeout", "soon"],
            "--shutdown-timeout",
        ),
        (&["serve", "--rate-limit", "600"], "600/min or 5000/h"),
        (
            &["serve", "--trusted-proxy", "10.0.0.0/33"],
            "use the form 10.0.0.0/8",
        ),
        (&["serve", "--log-format", "xml"], "text, json"),
        (
            &["serve", "--time-zone", "Berlin"],
            "such as Europe/Berlin, America/New_York or UTC",
        ),
        (
            &["serve", "--otlp-endpoint", "127.0.0.1:4318"],
            "http://127.0.0.1:4318",
        ),
        (
            &["serve", "--tls-cert", "x.pem", "--tls-key", "x.pem"],
            "x.pem",
        ),
        (
            &["serve", "--window-url", "https://animals.example/shop"],
            "https://animals.example;",
        ),
        (
            &["serve", "--window-embed", "shop.example"],
            "https://shop.example",
        ),
        (
            &["serve", "--store-contact", "http://shop.example"],
            "https, mailto or tel",
        ),
        (
            &["serve", "--store-contact", "mailto:hello"],
            "mailto:hello@shop.example",
        ),
        (
            &["serve", "--backup", "place", "--backup-every", "999ms"],
            "from 1s to 365d",
        ),
        (
            &["serve", "--backup", "place", "--backup-keep", "23h"],
            "at least 1d",
        ),
        (
            &["serve", "--backup-every", "1h"],
            "need --backup, the place of the backups",
        ),
        (
            &["serve", "--backup-keep", "3d"],
            "need --backup, the place of the backups",
        ),
        (&["serve", "--backup", "ftp://place"], "s3://BUCKET/PREFIX"),
        (
            &["serve", "--backup", "s3://shop/place?x"],
            "only a bucket and a prefix are allowed",
        ),
        (
            &[
                "serve",
                "--backup",
                "place",
                "--database",
                "postgres://db/petstore",
            ],
            "for PostgreSQL, use pg_dump or pg_basebackup",
        ),
        (
            &["serve", "--window-style", "nowhere.css"],
            "cannot read the style sheet nowhere.css",
        ),
        (&["serve", ISSUER, CLIENT, ROLE], "--console-url"),
        (&["serve", ISSUER, CLIENT, CONSOLE], "--oidc-role"),
        (&["serve", ISSUER, ROLE, CONSOLE], "--oidc-client-id"),
        (&["serve", CLIENT, ROLE, CONSOLE], "--oidc-issuer"),
        (&["serve", "--oidc-only"], "--oidc-issuer"),
        (&["serve", "--oidc-redirect"], "--oidc-issuer"),
        (
            &["serve", "--oidc-issuer", "http://login.example"],
            "https://login.shop.example",
        ),
        (
            &["serve", "--oidc-issuer", "https://login.example/?x"],
            "without query",
        ),
        (
            &["serve", "--oidc-role", "groups:clerk"],
            "CLAIM=VALUE:ROLE",
        ),
        (&["serve", "--oidc-scope", "profile groups"], "openid"),
        (
            &[
                "serve",
                ISSUER,
                CLIENT,
                ROLE,
                CONSOLE,
                "--oidc-client-secret-file",
                "no",
            ],
            "cannot read the file no, which --oidc-client-secret-file names",
        ),
        (&["serve", "--unknown"], "--unknown"),
        (
            &["healthcheck", "--url", "ftp://127.0.0.1/"],
            "http:// or https://",
        ),
        (
            &["healthcheck", "--url", "127.0.0.1:8080"],
            "http:// or https://",
        ),
        (
            &["copy", "--from", "sqlite:a.db", "--to", "sqlite:b.db"],
            "to copy with --from",
        ),
        (
            &["keys", "create", "--name", "x", "--expires", "9999y"],
            "--expires leads too far",
        ),
        (
            &["webhooks", "show", "one"],
            "by its number, as `petstore webhooks list` shows it",
        ),
        (&["sell"], "sell"),
        (
            &[
                "serve",
                "--base-url",
                "https://a/v1",
                "--staging-base-url",
                "https://a/v1",
            ],
            "must differ",
        ),
    ] {
        let mut command = super::program::command(here.path(), arguments);
        // Another service may use the default port.
        let command = command.env("PETSTORE_LISTEN", "127.0.0.1:0");
        let done = super::program::finish(command);
        assert_eq!(done.status.code(), Some(WRONG_SETTING), "{done:?}");
        let line = done.expect_one_line();
        assert!(line.contains(says), "{line}");
    }
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn a_variable_sets_its_option_and_is_validated_alike() {
    let here = directory();
    let mut command = super::program::command(here.path(), &["keys", "create", "--create"]);
    command
        .env("PETSTORE_KEY_NAME", "me")
        .env("PETSTORE_DATABASE", "sqlite:other.db");
    assert!(command.output().unwrap().status.success());
    assert!(here.path().join("other.db").exists());
    let mut command = super::program::command(here.path(), &["serve"]);
    let output = command.env("PETSTORE_BASE_URL", "x").output().unwrap();
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--base-url")
    );
}

#[test]
fn every_option_has_a_variable() {
    fn check(command: &clap::Command) {
        // No variable counts in it.
        if command.get_name() == "demo" {
            return;
        }
        // A variable would create or replace files by mistake for as long as it is set.
        let exempt = ["create", "force", "help", "version"];
        for option in command.get_arguments() {
            let Some(name) = option.get_long().filter(|name| !exempt.contains(name)) else {
                continue;
            };
            let has_variable = option.get_env().is_some() && !option.is_hide_env_set();
            assert!(has_variable, "{} --{name}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    check(&petstore::cli::command());
}

#[test]
fn a_port_in_use_names_the_option_and_is_worth_another_start() {
    let here = directory();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let free = ["--listen", "127.0.0.1:0"];
    for (option, rest) in [
        ("--listen", &[][..]),
        ("--management-listen", &free),
        ("--console-listen", &free),
        ("--window-listen", &free),
    ] {
        let done = run(here.path(), &[&["serve", option, &address], rest].concat());
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let line = done.expect_one_line();
        assert!(
            line.contains(&format!("cannot listen on {address}")),
            "{line}"
        );
        assert!(
            line.contains(&format!("set another port with {option}\n")),
            "{line}"
        );
    }
}

#[test]
fn a_postgresql_that_is_away_has_its_cause_once_and_is_worth_another_start() {
    let here = directory();
    // Nobody listens there any more.
    let away = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let database = format!("postgres://me:secret@{away}/pets");
    let done = run(
        here.path(),
        &["serve", "--listen", "127.0.0.1:0", "--database", &database],
    );
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let line = done.expect_one_line();
    assert_eq!(line.matches("refused").count(), 1, "{line}");
    assert!(!line.contains("secret"), "{line}");
}

#[test]
fn a_folder_a_missing_folder_and_a_missing_permission_have_a_message_each() {
    let here = directory();
    let path = |name: &str| here.path().join(name).display().to_string();
    fs::create_dir(path("folder")).unwrap();
    fs::write(path("file"), "").unwrap();
    for (place, says) in [
        (
            "folder",
            format!(
                "it is a folder; name a file in it, such as {}",
                path("folder/petstore.db")
            ),
        ),
        (
            "absent/petstore.db",
            format!("the folder {} does not exist; create it", path("absent")),
        ),
        ("file/petstore.db", "Not a directory".to_owned()),
    ] {
        let database = format!("sqlite:{}", path(place));
        for command in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["keys", "create", "--name", "x", "--create"],
        ] {
            let done = run(here.path(), &[command, &["--database", &database]].concat());
            assert_eq!(done.status.code(), Some(WRONG_SETTING), "{done:?}");
            let line = done.expect_one_line();
            assert!(line.contains(&says), "{line}");
        }
    }
    // A folder that only its owner may enter, such as the one of the service.
    new_key(here.path());
    let mut list = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        list.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    } else {
        fs::set_permissions(path("petstore.db"), Permissions::from_mode(0o0)).unwrap();
    }
    list.args([env!("CARGO_BIN_EXE_petstore"), "keys", "list"]);
    settle(&mut list, here.path());
    list.current_dir("/")
        .args(["--database", &format!("sqlite:{}", path("petstore.db"))]);
    let line = finish(&mut list).expect_one_line();
    assert!(
        line.contains("no permission to read and write it; run the command as the user"),
        "{line}"
    );
}

#[test]
fn a_folder_that_the_user_of_the_database_cannot_write_is_named() {
    let here = directory();
    new_key(here.path());
    let mut list = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(here.path().join("petstore.db"), Some(65534), None).unwrap();
        list.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    fs::set_permissions(here.path(), Permissions::from_mode(0o555)).unwrap();
    list.args([env!("CARGO_BIN_EXE_petstore"), "keys", "list"]);
    settle(&mut list, here.path());
    let done = finish(&mut list);
    fs::set_permissions(here.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(done.status.code(), Some(WRONG_SETTING));
    let line = done.expect_one_line();
    assert!(
        line.contains("no file can be created in the folder"),
        "{line}"
    );
    assert!(!line.contains("readonly"), "{line}");
}

#[test]
fn a_port_in_use_hides_no_wrong_setting() {
    let here = directory();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    for (option, value) in [
        ("--tls-cert", "absent"),
        ("--window-style", "absent"),
        ("--photos", "s3://"),
    ] {
        let mut serve = vec!["serve", "--listen", &listen, option, value];
        if option == "--tls-cert" {
            serve.extend(["--tls-key", "absent"]);
        }
        let done = run(here.path(), &serve);
        assert_eq!(done.status.code(), Some(WRONG_SETTING), "{option}");
        let line = done.expect_one_line();
        assert!(!line.contains("cannot listen"), "{line}");
    }
}

#[test]
fn a_file_that_is_not_a_database_is_one_line() {
    let here = directory();
    fs::write(
        here.path().join("petstore.db"),
        "these are notes".repeat(100),
    )
    .unwrap();
    let line = run(here.path(), &["serve", "--listen", "127.0.0.1:0"]).expect_one_line();
    assert_eq!(
        line,
        "error: petstore.db is not a SQLite database: it is another file, or its beginning is damaged\n"
    );
}

#[test]
fn a_database_of_a_newer_version_is_one_line() {
    let here = directory();
    new_key(here.path());
    let database = rusqlite::Connection::open(here.path().join("petstore.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["keys", "list"]] {
        let line = run(here.path(), command).expect_one_line();
        assert!(line.contains("use the newer release"), "{line}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_one_line() {
    // Permissions do not bind root.
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let here = directory();
    let database = if root {
        "sqlite:/proc/petstore.db".to_owned()
    } else {
        let closed = here.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        format!("sqlite:{}/petstore.db", closed.display())
    };
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--database", &database];
    let line = run(here.path(), &arguments).expect_one_line();
    assert!(
        line.contains("no file can be created in the folder"),
        "{line}"
    );
}

#[test]
fn help_is_complete_and_goes_to_standard_output() {
    let here = directory();
    let help = run(here.path(), &["--help"]).expect_success();
    for word in [
        "serve", "keys", "import", "export", "copy", "check", "openapi",
    ] {
        assert!(help.stdout.contains(word), "{}", help.stdout);
    }
    assert!(
        help.stdout.contains("/usr/share/doc/petstore"),
        "{}",
        help.stdout
    );
    assert_eq!(help.stderr, "");
    let serve = run(here.path(), &["serve", "--help"])
        .expect_success()
        .stdout;
    let groups: Vec<&str> = serve
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '))
        .collect();
    let expected = [
        "Options",
        "Database",
        "Addresses",
        "Logs and monitoring",
        "Store",
        "Console",
        "Window",
        "Clients and limits",
        "TLS",
        "Photos",
        "Backups",
        "Webhooks",
        "Shutdown",
        "Examples",
    ];
    assert_eq!(groups, expected.map(|group| format!("{group}:")));
    let version = run(here.path(), &["--version"]).expect_success();
    assert_eq!(
        version.stdout,
        format!("petstore {}\n", env!("CARGO_PKG_VERSION"))
    );
}

/// The file contains the digests of keys.
#[test]
fn a_new_database_is_private_and_an_existing_one_keeps_its_mode() {
    let here = directory();
    fs::write(here.path().join("some.csv"), "name,categoryId\nFrank,1\n").unwrap();
    let mode = |name: &str| {
        fs::metadata(here.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    for (name, arguments) in [
        (
            "key.db",
            "keys create --create --name me --database sqlite:key.db",
        ),
        (
            "import.db",
            "import some.csv --create --database sqlite:import.db",
        ),
        ("copy.db", "copy --from sqlite:key.db --to sqlite:copy.db"),
        ("backup.db", "backup backup.db --database sqlite:key.db"),
    ] {
        let mut open = Command::new("sh");
        open.args(["-c", &format!("umask 0; exec \"$0\" {arguments}")]);
        open.arg(env!("CARGO_BIN_EXE_petstore"));
        settle(&mut open, here.path());
        finish(&mut open).expect_success();
        assert_eq!(mode(name), 0o600, "{name}");
    }
    let service = Service::start(here.path(), &[]);
    for name in ["petstore.db", "petstore.db-wal", "petstore.db-shm"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    service.signal("TERM");
    assert!(service.wait().0.success());
    fs::set_permissions(
        here.path().join("petstore.db"),
        Permissions::from_mode(0o640),
    )
    .unwrap();
    let _service = Service::start(here.path(), &[]);
    for name in ["petstore.db", "petstore.db-wal", "petstore.db-shm"] {
        assert_eq!(mode(name), 0o640, "{name}");
    }
}

#[test]
fn nobody_can_connect_before_the_schema_is_there() {
    let here = directory();
    // As while another process prepares the database.
    let database = Connection::open(here.path().join("petstore.db")).unwrap();
    database
        .execute_batch("BEGIN EXCLUSIVE; CREATE TABLE pets (id)")
        .unwrap();
    let address = free_address();
    let mut serve = command(here.path(), &["serve", "--listen", &address.to_string()]);
    let process = serve.stderr(Stdio::piped()).spawn().unwrap();
    let files = format!("/proc/{}/fd", process.id());
    let is_database = |file: fs::DirEntry| {
        fs::read_link(file.path()).is_ok_and(|file| file.ends_with("petstore.db"))
    };
    while !fs::read_dir(&files)
        .unwrap()
        .any(|file| is_database(file.unwrap()))
    {}
    let early = TcpStream::connect(address).map(drop);
    database.execute_batch("ROLLBACK").unwrap();
    let _service = Service::of(process);
    assert_eq!(early.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    TcpStream::connect(address).unwrap();
}

#[test]
fn a_command_next_to_a_first_start_says_that_the_database_is_being_prepared() {
    let here = directory();
    let database = Connection::open(here.path().join("petstore.db")).unwrap();
    database
        .execute_batch("BEGIN IMMEDIATE; CREATE TABLE pets (id)")
        .unwrap();
    for arguments in [
        &["keys", "create", "--name", "me"][..],
        &["keys", "list"],
        &["staff", "list"],
        &["export"],
        &["check"],
    ] {
        let done = run(here.path(), arguments);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let line = done.expect_one_line();
        assert!(
            line.contains("preparing the database: retry in a moment"),
            "{line}"
        );
    }
}
