//! Commands whose output nobody reads.

use std::io;

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
        (&["keys", "create", "--name", "lost"][..], "petstore keys revoke 2"),
        (&["staff", "add", "Ana"], "petstore staff reset Ana"),
        (&["webhooks", "add", "https://example.com/"], "petstore webhooks rotate-secret 1"),
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
        assert_eq!(unread(arguments).expect_success().stderr, "", "{arguments:?}");
    }
}
