//! Commands that cannot write their output, or a temporary file.

use std::{fs, io};

use super::program::{Done, command, directory, finish, new_key};

#[test]
fn a_list_ends_quietly_and_a_secret_that_is_lost_has_a_remedy() {
    let here = directory();
    new_key(here.path());
    let unread = |arguments: &[&str]| -> Done {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        finish(command(here.path(), arguments).stdout(writer))
    };
    for (arguments, remedy) in [
        (
            &["keys", "create", "--name", "lost"][..],
            "petstore keys revoke 2",
        ),
        (&["staff", "add", "Ana"], "petstore staff reset Ana"),
        (
            &["webhooks", "add", "https://example.com/"],
            "petstore webhooks rotate-secret 1",
        ),
    ] {
        let line = unread(arguments).expect_one_line();
        assert!(line.contains(remedy), "{line}");
    }
    for arguments in [
        &["keys", "list"][..],
        &["staff", "list"],
        &["webhooks", "list"],
        &["webhooks", "attempts", "1"],
        &["audit"],
        &["openapi"],
        &["completions", "bash"],
    ] {
        assert_eq!(
            unread(arguments).expect_success().stderr,
            "",
            "{arguments:?}"
        );
    }
}

#[test]
fn an_error_names_what_cannot_be_written() {
    let here = directory();
    new_key(here.path());
    for arguments in [&["keys", "list"][..], &["audit"], &["openapi"]] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let line = finish(command(here.path(), arguments).stdout(full)).expect_one_line();
        assert!(
            line.contains("standard output: No space left on device"),
            "{line}"
        );
    }
    let mut import = command(here.path(), &["import", "-", "--format", "csv"]);
    let line = finish(import.env("TMPDIR", here.path().join("nowhere"))).expect_one_line();
    assert!(
        line.contains("temporary copy") && line.contains("with TMPDIR"),
        "{line}"
    );
}
