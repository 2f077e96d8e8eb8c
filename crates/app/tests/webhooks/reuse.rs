//! Connections that carry one message after another.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use petstore_app::delivery::{Connector, EndpointResponse};
use petstore_testing::clock::ManualClock;
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::Notify, time::timeout};

use super::connector::{SOON, Scripted, deliver, listen, networks, read_request};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";

/// A receiver that lets `serve` handle each of its connections.
async fn receiver<F: Future<Output = ()> + Send + 'static>(
    serve: impl Fn(TcpStream, usize) -> F + Send + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let (listener, address) = listen().await;
    let connections = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream, count.fetch_add(1, Ordering::SeqCst)));
        }
    });
    (address, connections)
}

/// Responds to every request of a connection.
async fn respond_always(mut stream: TcpStream, response: &str) {
    loop {
        read_request(&mut stream).await;
        stream.write_all(response.as_bytes()).await.unwrap();
    }
}

fn connector(clock: &Arc<ManualClock>, names: Vec<Vec<SocketAddr>>) -> Connector {
    let resolver = Box::new(Scripted::new(names));
    Connector::new(networks("127.0.0.1"), resolver, None, SOON, clock.clone()).unwrap()
}

fn url(address: SocketAddr) -> String {
    format!("http://shop.example:{}/", address.port())
}

async fn expect_delivery(connector: &Connector, url: &str) {
    let delivered = deliver(connector, url).await.unwrap();
    assert_eq!(
        delivered,
        EndpointResponse {
            status: 200,
            retry_after: None
        }
    );
}

#[tokio::test]
async fn messages_share_a_connection_for_a_minute_and_then_the_name_is_resolved_again() {
    let clock = ManualClock::at("2026-12-01T12:00:00Z");
    let (first, of_first) = receiver(|stream, _| respond_always(stream, OK)).await;
    let (second, of_second) = receiver(|stream, _| respond_always(stream, OK)).await;
    let connector = connector(&clock, vec![vec![first], vec![second], vec![]]);
    let url = url(first);
    for _ in 0..20 {
        expect_delivery(&connector, &url).await;
        clock.advance(Duration::from_millis(2990));
    }
    assert_eq!(of_first.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_millis(250));
    expect_delivery(&connector, &url).await;
    assert_eq!(
        (
            of_first.load(Ordering::SeqCst),
            of_second.load(Ordering::SeqCst)
        ),
        (1, 1)
    );
    // Without messages, it is kept for 4 seconds.
    clock.advance(Duration::from_secs(4));
    assert_eq!(deliver(&connector, &url).await.unwrap_err().class(), "dns");
}

#[tokio::test]
async fn a_connection_that_is_no_longer_fresh_is_closed_without_another_message() {
    let clock = ManualClock::at("2026-12-01T12:00:00Z");
    let closed = Arc::new(Notify::new());
    let notify = Arc::clone(&closed);
    let (address, _) = receiver(move |mut stream, _| {
        let notify = Arc::clone(&notify);
        async move {
            read_request(&mut stream).await;
            stream.write_all(OK.as_bytes()).await.unwrap();
            stream.readable().await.unwrap();
            assert_eq!(stream.try_read(&mut [0]).unwrap(), 0);
            notify.notify_one();
        }
    })
    .await;
    let connector = connector(&clock, vec![vec![address]]);
    expect_delivery(&connector, &url(address)).await;
    clock.advance(Duration::from_secs(4));
    connector.close_old();
    timeout(SOON, closed.notified()).await.unwrap();
}

#[tokio::test]
async fn a_message_on_a_connection_that_the_receiver_closes_is_sent_over_another_one() {
    let clock = ManualClock::at("2026-12-01T12:00:00Z");
    // The first connection ends after its first response, the second one at its second request.
    let (address, connections) = receiver(|mut stream, number| async move {
        read_request(&mut stream).await;
        stream.write_all(OK.as_bytes()).await.unwrap();
        match number {
            0 => {}
            1 => drop(read_request(&mut stream).await),
            _ => respond_always(stream, OK).await,
        }
    })
    .await;
    let connector = connector(&clock, vec![vec![address]]);
    for _ in 0..5 {
        expect_delivery(&connector, &url(address)).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_connection_with_more_than_the_response_is_not_used_again() {
    for more in [
        // A second response, which would be that to the next message; and a body without an end.
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nOK",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nOK",
    ] {
        let clock = ManualClock::at("2026-12-01T12:00:00Z");
        let (address, connections) = receiver(move |stream, _| respond_always(stream, more)).await;
        let connector = connector(&clock, vec![vec![address]]);
        for number in 1..=3 {
            expect_delivery(&connector, &url(address)).await;
            assert_eq!(connections.load(Ordering::SeqCst), number, "{more}");
        }
    }
}

#[tokio::test]
async fn at_most_four_connections_to_a_receiver_are_kept() {
    let clock = ManualClock::at("2026-12-01T12:00:00Z");
    let (address, connections) = receiver(|stream, _| respond_always(stream, OK)).await;
    let connector = connector(&clock, vec![vec![address]]);
    let url = url(address);
    let six = || join_all((0..6).map(|_| expect_delivery(&connector, &url)));
    six().await;
    let before = connections.load(Ordering::SeqCst);
    six().await;
    let after = connections.load(Ordering::SeqCst);
    assert!(before == 6 && after == 8, "{before}, then {after}");
}

#[tokio::test]
async fn a_retry_after_is_a_number_of_seconds_or_a_date() {
    for (value, retry_after) in [
        ("120", Some(120)),
        ("Tue, 01 Dec 2026 12:01:30 GMT", Some(90)),
        ("Tue, 01 Dec 2026 11:00:00 GMT", Some(0)),
        ("-1", None),
        ("soon", None),
    ] {
        let response: &'static str =
            format!("HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n")
                .leak();
        let (address, _) = receiver(move |stream, _| respond_always(stream, response)).await;
        let connector = connector(
            &ManualClock::at("2026-12-01T12:00:00Z"),
            vec![vec![address]],
        );
        let delivered = deliver(&connector, &url(address)).await.unwrap();
        assert_eq!(
            delivered,
            EndpointResponse {
                status: 503,
                retry_after
            },
            "{value}"
        );
    }
}

#[tokio::test]
async fn informational_responses_without_end_are_left_after_the_limit() {
    let (address, _) = receiver(|mut stream, _| async move {
        read_request(&mut stream).await;
        while stream
            .write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            .await
            .is_ok()
        {}
    })
    .await;
    let (resolver, limit) = (
        Box::new(Scripted::new(vec![vec![address]])),
        Duration::from_millis(300),
    );
    let clock = ManualClock::at("2026-12-01T12:00:00Z");
    let connector = Connector::new(networks("127.0.0.1"), resolver, None, limit, clock).unwrap();
    let error = deliver(&connector, &url(address)).await.unwrap_err();
    assert!(["timeout", "protocol"].contains(&error.class()), "{error}");
}
