//! The program over TLS: its files, and `petstore healthcheck`.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    thread,
};

use tokio::net::TcpStream;
use tokio_rustls::rustls::ALL_VERSIONS;

use super::{
    certificates::{Certificates, shown},
    program::{Service, command, directory, finish, run},
};

fn serve_with(here: &Path, certificates: &Certificates) -> Service {
    let (certificate, key) = (certificates.certificate(), certificates.key());
    let files = [
        "--tls-cert",
        certificate.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ];
    Service::start(here, &files)
}

fn address(service: &Service) -> String {
    let (_, address) = service.url.split_once("://").unwrap();
    address.strip_suffix("/v1").unwrap().to_owned()
}

#[tokio::test]
async fn a_renewed_certificate_is_used_without_a_signal() {
    let here = directory();
    let certificates = Certificates::new();
    let service = serve_with(here.path(), &certificates);
    assert!(
        service.url.starts_with("https://127.0.0.1:"),
        "{}",
        service.url
    );
    let renewed = certificates.renew(2);
    let seen = async || {
        let stream = TcpStream::connect(address(&service)).await.unwrap();
        shown(
            &certificates
                .connect(stream, ALL_VERSIONS, &["h2"])
                .await
                .unwrap(),
        )
    };
    while seen().await != renewed {
        tokio::task::yield_now().await;
    }
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    assert!(
        log.contains("the renewed TLS certificate is in use"),
        "{log}"
    );
    assert!(!log.contains("may read the private key"), "{log}");
}

#[test]
fn a_private_key_that_every_user_may_read_is_a_warning() {
    let here = directory();
    let certificates = Certificates::new();
    fs::set_permissions(certificates.key(), fs::Permissions::from_mode(0o644)).unwrap();
    let service = serve_with(here.path(), &certificates);
    let log = format!("{:?}", service.first_lines);
    assert!(
        log.contains("every user of this machine may read the private key"),
        "{log}"
    );
}

#[test]
fn an_invalid_certificate_or_key_is_one_line() {
    let here = directory();
    let (one, other) = (Certificates::new(), Certificates::new());
    let nothing = here.path().join("nothing.pem");
    fs::write(&nothing, "nothing").unwrap();
    let absent = here.path().join("absent.pem");
    for (certificate, key, says) in [
        (
            one.certificate(),
            other.key(),
            "does not match the certificate",
        ),
        (absent.clone(), one.key(), "absent.pem: No such file"),
        (one.certificate(), absent, "absent.pem: No such file"),
        (nothing.clone(), one.key(), "contains no certificate"),
        (
            one.certificate(),
            nothing,
            "contains no unencrypted private key",
        ),
        (one.key(), one.certificate(), "contains no certificate"),
    ] {
        let mut command = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
        command
            .env("PETSTORE_TLS_CERT", certificate)
            .env("PETSTORE_TLS_KEY", key);
        let line = finish(&mut command).expect_one_line();
        assert!(line.contains(says), "{line}");
    }
    for (option, other) in [("--tls-cert", "--tls-key"), ("--tls-key", "--tls-cert")] {
        let line = run(here.path(), &["serve", option, "x.pem"]).expect_one_line();
        assert!(line.contains(other), "{line}");
    }
    assert!(!here.path().join("petstore.db").exists());
}

#[test]
fn healthcheck_finds_the_service_by_its_settings_and_says_what_is_wrong() {
    let here = directory();
    let certificates = Certificates::new();
    for service in [
        Service::start(here.path(), &[]),
        serve_with(here.path(), &certificates),
    ] {
        let is_secure = service.url.starts_with("https:");
        let healthcheck = |is_secure: bool| {
            let mut command = command(here.path(), &["healthcheck"]);
            command.env("PETSTORE_LISTEN", address(&service));
            if is_secure {
                command.env("PETSTORE_TLS_CERT", certificates.certificate());
            }
            finish(&mut command)
        };
        let done = healthcheck(is_secure).expect_success();
        assert_eq!((&*done.stdout, &*done.stderr), ("", ""));
        let line = healthcheck(!is_secure).expect_one_line();
        let remedy = if is_secure {
            "if this port uses TLS, set --tls-cert (PETSTORE_TLS_CERT)"
        } else {
            "if this port uses no TLS, leave out --tls-cert (PETSTORE_TLS_CERT)"
        };
        assert!(
            line.contains("cannot reach http") && line.contains(remedy),
            "{line}"
        );
        // The health check has no key.
        let pets = format!("{}/pets", service.url);
        let line = run(here.path(), &["healthcheck", "--url", &pets]).expect_one_line();
        assert!(line.contains("responded with 401"), "{line}");
        let listen = address(&service);
        service.kill();
        let line = run(here.path(), &["healthcheck", "--listen", &listen]).expect_one_line();
        assert!(line.contains("refused"), "{line}");
    }
    // A server that closes the connection with its response.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 1 << 10]).unwrap() > 0);
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
            .unwrap();
    });
    run(here.path(), &["healthcheck", "--url", &url]).expect_success();
    answering.join().unwrap();
    let line = run(here.path(), &["healthcheck", "--url", "ftp://127.0.0.1"]).expect_one_line();
    assert!(line.contains("http:// or https://"), "{line}");
}

#[test]
fn healthcheck_uses_the_management_address() {
    let here = directory();
    let service = Service::start(here.path(), &["--management-listen", "127.0.0.1:0"]);
    let managed = service
        .first_lines
        .iter()
        .find_map(|line| {
            line["message"]
                .as_str()?
                .strip_prefix("management listener at http://")
        })
        .unwrap();
    // The public address is unreachable.
    let arguments = [
        "healthcheck",
        "--listen",
        "127.0.0.1:1",
        "--management-listen",
        managed,
    ];
    run(here.path(), &arguments).expect_success();
}

#[test]
fn healthcheck_does_not_wait_long_for_a_hanging_service() {
    let here = directory();
    // The system accepts connections, but no program responds.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = hangs.local_addr().unwrap().to_string();
    let line = run(here.path(), &["healthcheck", "--listen", &listen]).expect_one_line();
    assert!(line.contains("did not respond within 3s"), "{line}");
}
