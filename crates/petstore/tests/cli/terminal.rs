//! `petstore serve` at a terminal, which `script` gives it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use super::program::{Service, directory, run};

/// Runs `petstore serve` in a terminal until it prints `last`, and presses Ctrl-C. Returns the
/// output and whether the service succeeded.
fn at_a_terminal(here: &Path, last: &str) -> (String, bool) {
    at_a_terminal_while(here, "", last, |_| true)
}

/// The same with more options, and with `work` before the Ctrl-C, which gets the output so far and
/// returns whether it succeeded.
fn at_a_terminal_while(
    here: &Path,
    options: &str,
    last: &str,
    work: impl FnOnce(&str) -> bool,
) -> (String, bool) {
    // Replaces the shell, because a waiting shell could be ended by the Ctrl-C.
    let options = format!(
        "--listen 127.0.0.1:0 --console-listen 127.0.0.1:0 \
         --window-listen 127.0.0.1:0 {options}"
    );
    let serve = format!("exec '{}' serve {options}", env!("CARGO_BIN_EXE_petstore"));
    let mut terminal = Command::new("script")
        .args(["-qec", &serve, "/dev/null"])
        .current_dir(here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = terminal.stdin.take().unwrap();
    let mut screen = BufReader::new(terminal.stdout.take().unwrap());
    let mut shown = String::new();
    while !shown.contains(last) {
        assert_ne!(screen.read_line(&mut shown).unwrap(), 0, "{shown}");
    }
    let worked = work(&shown);
    keyboard.write_all(b"\x03").unwrap();
    screen.read_to_string(&mut shown).unwrap();
    assert!(worked, "{shown}");
    (shown, terminal.wait().unwrap().success())
}

#[test]
fn the_first_start_at_a_terminal_shows_a_key_once_with_a_working_curl_command() {
    let here = directory();
    let (shown, ended_well) = at_a_terminal(here.path(), "curl");
    assert!(ended_well, "{shown}");
    let key = shown
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("pets_live_"))
        .unwrap();
    assert_eq!(key.len(), 46);
    let curl = shown
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("curl"))
        .unwrap();
    assert!(curl.starts_with(&format!(
        "curl -H 'Authorization: Bearer {key}' http://127.0.0.1:"
    )));
    assert!(curl.ends_with("/v1/pets"), "{curl}");
    assert!(
        shown.lines().any(|line| line.trim().ends_with("/docs")),
        "{shown}"
    );

    let (shown, _) = at_a_terminal(here.path(), "serving");
    assert!(!shown.contains("pets_live_"), "{shown}");
    // The command as printed, except for the port of the new service.
    let service = Service::start(here.path(), &[]);
    let (before, _) = curl.split_once("http://").unwrap();
    let pasted = format!("{before}{}/pets", service.url);
    let list = Command::new("sh").args(["-c", &pasted]).output().unwrap();
    assert_eq!(list.stdout, b"[]");
}

#[test]
fn the_first_start_at_a_terminal_shows_a_link_for_a_manager_once() {
    let here = directory();
    let (shown, ended_well) = at_a_terminal(here.path(), "petstore staff reset manager");
    assert!(ended_well, "{shown}");
    let link = shown
        .lines()
        .map(str::trim)
        .find(|line| line.contains("/link/"))
        .unwrap();
    let console = shown
        .split("console at ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .trim();
    assert!(link.starts_with(&format!("{console}/link/")), "{shown}");
    let list = run(here.path(), &["staff", "list"]).expect_success().stdout;
    assert!(list.contains("manager  manager  has a link"), "{list}");
    let (shown, _) = at_a_terminal(here.path(), "console at");
    assert!(!shown.contains("/link/"), "{shown}");
}

#[test]
fn a_start_at_a_terminal_shows_the_addresses_of_interface_console_and_window_in_three_lines() {
    let here = directory();
    let (shown, _) = at_a_terminal(here.path(), "window at");
    let lines: Vec<&str> = shown.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.contains("serving http://"))
        .unwrap();
    assert!(
        lines[first + 1].contains("console at http://127.0.0.1:"),
        "{shown}"
    );
    assert!(
        lines[first + 2].contains("window at http://127.0.0.1:"),
        "{shown}"
    );
}

#[test]
fn at_a_terminal_changes_are_logged_only_on_request() {
    let here = directory();
    let new = [
        "keys",
        "create",
        "--name",
        "me",
        "--scope",
        "store:write",
        "--create",
    ];
    let key = run(here.path(), &new)
        .expect_success()
        .stdout
        .trim()
        .to_owned();
    for (category, options, is_logged) in [(1, "", false), (2, "--log-level info", true)] {
        let name = |shown: &str| {
            // What is no log line can stand before the log.
            let url = shown.split("serving http://").nth(1).unwrap();
            let url = url.split_whitespace().next().unwrap();
            let label = format!(r#"{{"label":"Dog {category}"}}"#);
            Command::new("curl")
                .args([
                    "-sf",
                    "-X",
                    "PUT",
                    "--oauth2-bearer",
                    &key,
                    "--json",
                    &label,
                ])
                .args(["-H", "If-None-Match: *"])
                .arg(format!("http://{url}/store/categories/{category}"))
                .output()
                .unwrap()
                .status
                .success()
        };
        let (shown, _) = at_a_terminal_while(here.path(), options, "serving", name);
        assert_eq!(shown.contains("category.changed"), is_logged, "{shown}");
    }
}
