//! `petstore staff`, and the listener of the console.

use std::net::TcpListener;

use super::program::{Service, client, command, directory, run};

#[tokio::test]
async fn a_link_of_the_command_line_lets_a_member_choose_a_password_in_the_running_console() {
    let here = directory();
    let listener = ["--console-listen", "127.0.0.1:0", "--access-log"];
    let service = Service::start(here.path(), &listener);
    while !service.said().contains("console at ") {
        tokio::task::yield_now().await;
    }
    let add = [
        "staff",
        "add",
        "Ana",
        "--role",
        "manager",
        "--console-url",
        "http://localhost",
    ];
    let added = run(here.path(), &add).expect_success();
    assert!(added.stderr.contains("valid for 24 hours"), "{added:?}");
    let path = added
        .stdout
        .trim_end()
        .strip_prefix("http://localhost")
        .unwrap();
    let (client, secret) = (client(), path.strip_prefix("/link/").unwrap());
    let log = service.said();
    let console = log
        .split("console at ")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let url = format!("{console}{path}");
    let page = client.get(&url).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    let form = "new=correct+horse+battery&again=correct+horse+battery";
    let chosen = client
        .post(&url)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", console)
        .body(form)
        .send()
        .await
        .unwrap();
    // The client follows the redirect, and does not keep the cookie.
    assert!(chosen.url().path().starts_with("/sign-in"), "{chosen:?}");
    let list = run(here.path(), &["staff", "list"]).expect_success().stdout;
    assert!(list.contains("Ana   manager  active"), "{list}");
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success() && log.contains("/link/{token}"), "{log}");
    assert!(!log.contains(secret) && !log.contains("correct"), "{log}");
}

#[test]
fn members_are_listed_changed_disabled_and_let_in_again() {
    let here = directory();
    let staff = |arguments: &[&str]| run(here.path(), &[&["staff"], arguments].concat());
    staff(&["list"]).expect_one_line();
    staff(&["add", "Ána", "--create"]).expect_success();
    let taken = staff(&["add", "ana"]).expect_one_line();
    assert!(taken.contains("petstore staff reset ana"), "{taken}");
    staff(&["role", "ana", "viewer"]).expect_success();
    staff(&["disable", "ANA"]).expect_success();
    let list = staff(&["list"]).expect_success().stdout;
    assert!(list.contains("1   Ána   viewer  disabled since"), "{list}");
    let reset = staff(&["reset", "ana", "--console-listen", "[::1]:9000"]).expect_success();
    assert!(
        reset.stdout.starts_with("http://[::1]:9000/link/"),
        "{reset:?}"
    );
    assert!(
        reset.stderr.contains("The link works only on this machine"),
        "{reset:?}"
    );
    let reset = staff(&["reset", "ana", "--console-url", "https://a.example"]).expect_success();
    assert!(!reset.stderr.contains("--console-url"), "{reset:?}");
    let list = staff(&["list"]).expect_success().stdout;
    assert!(list.contains("has a link"), "{list}");
    for arguments in [
        &["role", "Bo", "viewer"][..],
        &["disable", "Bo"],
        &["reset", "Bo"],
    ] {
        let line = staff(arguments).expect_one_line();
        assert!(
            line.contains("`petstore staff list` lists the staff"),
            "{line}"
        );
    }
    let line = staff(&["add", "a\nb"]).expect_one_line();
    assert!(line.contains("one line of 1 to 64 characters"), "{line}");
    let audit = run(here.path(), &["audit"]).expect_success().stdout;
    for act in [
        "staff.added",
        "staff.role_changed",
        "staff.disabled",
        "staff.reset",
    ] {
        assert!(
            audit.contains(&format!("{act}  staff:1  by command")),
            "{audit}"
        );
    }
}

#[test]
fn a_link_has_the_address_of_the_console() {
    let here = directory();
    run(here.path(), &["staff", "add", "Ana", "--create"]).expect_success();
    let certificate = ("PETSTORE_TLS_CERT", "server.pem");
    for (listen, tls, address) in [
        ("", false, "http://127.0.0.1:8081"),
        ("", true, "https://127.0.0.1:8081"),
        ("127.0.0.1:9000", false, "http://127.0.0.1:9000"),
        (":8081", true, "https://127.0.0.1:8081"),
    ] {
        let mut reset = command(here.path(), &["staff", "reset", "Ana"]);
        if !listen.is_empty() {
            reset.args(["--console-listen", listen]);
        }
        let done = if tls {
            reset.env(certificate.0, certificate.1)
        } else {
            &mut reset
        };
        let done = done.output().unwrap();
        let [link, message] =
            [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(
            link.starts_with(&format!("{address}/link/")),
            "{link} {message}"
        );
    }
}

#[test]
fn a_service_starts_without_a_console_if_the_default_address_is_taken() {
    let here = directory();
    // By this test, or by another program.
    let _taken = TcpListener::bind("127.0.0.1:8081");
    let mut serve = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env_remove("PETSTORE_CONSOLE_LISTEN");
    let service = Service::from(serve);
    let warning = service.first_lines[0]["message"].as_str().unwrap();
    assert!(warning.contains("there is no console"), "{warning}");
    assert!(warning.contains("--console-listen off"), "{warning}");
}

#[test]
fn an_operator_links_a_member_to_a_provider() {
    let here = directory();
    let staff = |arguments: &[&str]| run(here.path(), &[&["staff"], arguments].concat());
    staff(&["add", "Ana", "--create"]).expect_success();
    staff(&["add", "Bo"]).expect_success();
    let issuer = ["--oidc-issuer", "https://login.shop.example"];
    let link = |name, subject| staff(&[&["link", name, subject][..], &issuer].concat());
    link("ana", "1234").expect_success();
    let list = staff(&["list"]).expect_success().stdout;
    assert!(
        list.contains("active, signs in at https://login.shop.example"),
        "{list}"
    );
    let taken = link("bo", "1234").expect_one_line();
    assert!(
        taken.contains("Ana signs in with this subject already"),
        "{taken}"
    );
    let without = staff(&["link", "bo", "5"]).expect_one_line();
    assert!(without.contains("--oidc-issuer"), "{without}");
    staff(&["reset", "ana"]).expect_success();
    link("bo", "1234").expect_success();
}
