//! What the service tells systemd, and what the unit says about it.

use std::{
    net::TcpStream,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::Path,
    time::Duration,
};

use super::program::{Service, command, directory};

const UNIT: &str = include_str!("../../../../deploy/systemd/petstore.service");

fn serve(directory: &Path, socket: &str) -> Service {
    let mut serve = command(directory, &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("NOTIFY_SOCKET", socket);
    Service::from(serve)
}

fn next(socket: &UnixDatagram) -> String {
    socket
        .set_read_timeout(Some(Duration::from_mins(1)))
        .unwrap();
    let mut text = [0; 100];
    let length = socket.recv(&mut text).unwrap();
    String::from_utf8(text[..length].to_vec()).unwrap()
}

#[test]
fn systemd_hears_when_the_service_accepts_connections_and_when_it_stops() {
    assert!(UNIT.contains("\nType=notify\n"));
    let here = directory();
    let path = here.path().join("notify");
    let name = format!("petstore-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    for (socket, listening) in [
        (
            path.display().to_string(),
            UnixDatagram::bind(&path).unwrap(),
        ),
        (
            format!("@{name}"),
            UnixDatagram::bind_addr(&address).unwrap(),
        ),
    ] {
        let service = serve(here.path(), &socket);
        assert_eq!(next(&listening), "READY=1");
        let address = service
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/v1");
        TcpStream::connect(address).unwrap();
        service.signal("TERM");
        assert_eq!(next(&listening), "STOPPING=1");
        assert!(service.wait().0.success());
    }
}

#[test]
fn a_service_that_cannot_tell_systemd_serves_and_warns() {
    let here = directory();
    let service = serve(here.path(), "/absent/notify");
    service.signal("TERM");
    let (status, log) = service.wait();
    assert!(status.success());
    assert!(
        log.contains("cannot send READY=1 to NOTIFY_SOCKET"),
        "{log}"
    );
}

#[test]
fn the_unit_does_not_start_the_service_again_after_a_wrong_setting() {
    assert!(UNIT.contains("\nRestartPreventExitStatus=2\n"));
}

#[test]
fn the_unit_starts_the_service_after_the_time_of_the_network_is_known() {
    for line in [
        "\nAfter=network-online.target time-sync.target\n",
        "\nWants=network-online.target time-sync.target\n",
    ] {
        assert!(UNIT.contains(line), "{line}");
    }
}
