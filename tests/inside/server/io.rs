//! Tests of `src/server/io.rs`.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    task::{Wake, Waker},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

async fn connected() -> (TcpStream, ClientStream<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
    let server = server.unwrap().0;
    (client.unwrap(), ClientStream::new(server, Duration::from_mins(1), Arc::default()))
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

#[tokio::test]
async fn a_connection_yields_after_many_bytes_and_is_polled_again() {
    let (mut client, mut server) = connected().await;
    let mut written = 0;
    while written < YIELD_AFTER {
        let bytes = server.write(&vec![0; 64 << 10]).await.unwrap();
        client.read_exact(&mut vec![0; bytes]).await.unwrap();
        written += bytes;
    }
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut server).poll_write(&mut cx, b"x").is_pending());
    assert!(woken.0.load(Relaxed));
    assert!(Pin::new(&mut server).poll_write(&mut cx, b"x").is_ready());
}

#[tokio::test]
async fn a_client_that_is_still_sending_after_the_response_is_not_reset() {
    let (mut client, mut server) = connected().await;
    client.write_all(&vec![b' '; 100_000]).await.unwrap();
    let responding = tokio::spawn(async move {
        server.write_all(b"response").await.unwrap();
        server.shutdown().await.unwrap();
    });
    let mut response = String::new();
    client.read_to_string(&mut response).await.unwrap();
    assert_eq!(response, "response");
    for _ in 0..8 {
        client.write_all(&vec![b' '; 100_000]).await.unwrap();
    }
    drop(client);
    responding.await.unwrap();
}
