//! Wraps the socket of a client with a timeout for the first bytes, a lingering close, and
//! accounting of writes.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use memchr::memchr;
use petstore_domain::Client;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Sleep},
};

use super::{activity::Activity, socket::Socket, strict_heads::StrictHeads};

/// The number of bytes that hyper needs to tell HTTP/1 and HTTP/2 apart: the length of the HTTP/2
/// connection preface (RFC 9113, section 3.4).
const PREFACE_LENGTH: usize = 24;

/// How many bytes a client may still send after the last response. They are read and discarded.
const LINGER_BYTES: usize = 1 << 20;

/// How long a client may still send after the last response.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of a response whose head and body are copied into one buffer, in bytes. Up to
/// this size, copying is cheaper than a vectored write (`writev`).
const MAX_SMALL_RESPONSE: usize = 2 << 10;

/// How many bytes of a large response a connection writes before it yields to other tasks. Copying
/// them takes a tenth of a millisecond.
const YIELD_AFTER: usize = 256 << 10;

/// The beginning of hyper's own response to an invalid head.
const HYPER_ERROR: &[u8] = b"HTTP/1.1 4";

/// The header field that is added to hyper's own response, which lacks it.
const NOSNIFF_FIELD: &[u8] = b"X-Content-Type-Options: nosniff\r\n";

/// The socket send buffer of a connection that has carried a valid key, in bytes (Linux doubles
/// it). The size is fixed, because with an automatically growing buffer it would take minutes to
/// notice that a client does not read.
const SEND_BUFFER: usize = 256 << 10;

/// The socket send buffer of any other connection, in bytes. It is small, because strangers can
/// have thousands of connections, and no limit of the service includes this kernel memory.
pub(super) const SEND_BUFFER_OF_STRANGER: usize = 48 << 10;

thread_local! {
    /// A reusable buffer for the small response that this thread is writing.
    static SMALL_RESPONSE_BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The stream of a client: a socket with the following additions.
///
/// - It fails if the client's first bytes do not arrive in time. hyper's own timeout starts only
///   when it knows the HTTP version.
/// - When it is shut down, it lingers: it continues to read for a moment. Closing a socket with
///   unread bytes resets it, and the reset can overtake the response (RFC 9112, section 9.6).
/// - It enlarges the send buffer once a request has carried a valid key.
/// - It counts the written bytes, which show whether the client reads.
/// - It yields to other tasks during a large response.
/// - When the connection is aborted, it discards at once what the client has not read.
pub(super) struct ClientStream<S: Socket> {
    stream: S,
    phase: Phase,
    /// The client, until its send buffer has been enlarged because a request carried a valid key.
    untrusted_client: Option<Arc<Client>>,
    activity: Arc<Activity>,
    head_inspection: StrictHeads,
    /// Bytes written since the connection last yielded.
    written_in_a_row: usize,
}

/// A phase of a connection.
enum Phase {
    /// Waiting for the first bytes. `missing` of them must still arrive before the deadline.
    Opening { missing: usize, deadline: Deadline },
    /// Between the first bytes and the last response.
    Open,
    /// After the last response. Up to `allowed` more bytes are discarded until the deadline.
    Lingering { allowed: usize, deadline: Deadline },
}

type Deadline = Pin<Box<Sleep>>;

impl<S: Socket> ClientStream<S> {
    /// Wraps a stream whose first bytes must arrive within `timeout`.
    pub(super) fn new(stream: S, timeout: Duration, activity: Arc<Activity>) -> Self {
        Self {
            stream,
            phase: Phase::Opening {
                missing: PREFACE_LENGTH,
                deadline: Box::pin(time::sleep(timeout)),
            },
            untrusted_client: None,
            activity,
            head_inspection: StrictHeads::default(),
            written_in_a_row: 0,
        }
    }

    /// Sets the client, whose first valid key enlarges the send buffer.
    pub(super) fn with_client(mut self, client: Arc<Client>) -> Self {
        self.untrusted_client = Some(client);
        self
    }

    /// Returns whether the task must yield now. If so, wakes the task, so that it is polled again.
    fn begin_yield(&mut self, cx: &Context<'_>) -> bool {
        let must_yield = self.written_in_a_row >= YIELD_AFTER;
        if must_yield {
            self.written_in_a_row = 0;
            cx.waker().wake_by_ref();
        }
        must_yield
    }

    /// Enlarges the send buffer once, when a request has carried a valid key.
    fn enlarge_send_buffer_if_trusted(&mut self) {
        let is_trusted = self
            .untrusted_client
            .as_ref()
            .is_some_and(|client| client.is_trusted());
        if is_trusted {
            self.untrusted_client = None;
            self.stream.set_send_buffer(SEND_BUFFER);
        }
    }

    /// Records the result of a write. The first one shows that hyper has read a head, so the
    /// timeout for the first bytes ends.
    fn record_write(&mut self, result: &Poll<io::Result<usize>>) {
        if matches!(self.phase, Phase::Opening { .. }) {
            self.phase = Phase::Open;
        }
        match result {
            Poll::Ready(Ok(length)) => {
                self.activity.count_written(*length);
                self.written_in_a_row += length;
            }
            // The write is pending, so the task yields anyway.
            _ => self.written_in_a_row = 0,
        }
    }

    /// Copies a small response of `length` bytes into one buffer and writes it. Adds
    /// `X-Content-Type-Options` if it is hyper's own response to an invalid first head.
    fn poll_write_small(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
        length: usize,
    ) -> Poll<io::Result<usize>> {
        SMALL_RESPONSE_BUFFER.with_borrow_mut(|response| {
            response.clear();
            for slice in slices {
                response.extend_from_slice(slice);
            }
            if response.starts_with(HYPER_ERROR) && !self.activity.has_had_request() {
                // The fields begin after the status line.
                let fields_start = memchr(b'\n', response).map_or(0, |end| end + 1);
                response.splice(fields_start..fields_start, NOSNIFF_FIELD.iter().copied());
            }
            let result = Pin::new(&mut self.stream).poll_write(cx, response);
            // hyper does not know the added field, so the result must not count its bytes.
            result.map_ok(|written_length| written_length.min(length))
        })
    }
}

impl<S: Socket> Drop for ClientStream<S> {
    fn drop(&mut self) {
        if self.activity.is_aborted() {
            self.stream.reset_on_close();
        }
    }
}

impl<S: Socket> AsyncRead for ClientStream<S> {
    /// Reads bytes of the client, and inspects them for invalid heads. Fails if the first bytes do
    /// not arrive in time.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let previous_length = buffer.filled().len();
        let this = &mut *self;
        let result = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let new_bytes = &mut buffer.filled_mut()[previous_length..];
        this.head_inspection
            .inspect(new_bytes, this.activity.nothing_in_flight());
        // Only the first bytes have a deadline here.
        let Phase::Opening { missing, deadline } = &mut self.phase else {
            return result;
        };
        match result {
            Poll::Ready(_) => {
                *missing = missing.saturating_sub(buffer.filled().len() - previous_length);
                if *missing == 0 {
                    self.phase = Phase::Open;
                }
                result
            }
            Poll::Pending => {
                ready!(deadline.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: Socket> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.begin_yield(cx) {
            return Poll::Pending;
        }
        self.enlarge_send_buffer_if_trusted();
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.record_write(&result);
        result
    }

    /// Writes like [`Self::poll_write`]. A small response is copied into one buffer first.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.begin_yield(cx) {
            return Poll::Pending;
        }
        self.enlarge_send_buffer_if_trusted();
        let length: usize = slices.iter().map(|slice| slice.len()).sum();
        let result = if length <= MAX_SMALL_RESPONSE {
            self.poll_write_small(cx, slices, length)
        } else {
            Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
        };
        self.record_write(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Shuts down the sending side, and then lingers: discards bytes of the client until it closes
    /// its side, sends too many bytes, or takes too long.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !matches!(this.phase, Phase::Lingering { .. }) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.phase = Phase::Lingering {
                allowed: LINGER_BYTES,
                deadline: Box::pin(time::sleep(LINGER_TIMEOUT)),
            };
        }
        let Phase::Lingering { allowed, deadline } = &mut this.phase else {
            // Never happens, because the phase was set above.
            return Poll::Ready(Ok(()));
        };
        let mut discarded_bytes = [0; 4096];
        while *allowed > 0 {
            let mut buffer = ReadBuf::new(&mut discarded_bytes);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    *allowed = allowed.saturating_sub(buffer.filled().len());
                }
                // The client closed its side, or the connection failed.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(deadline.as_mut().poll(cx));
                    return Poll::Ready(Ok(()));
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::IpAddr,
        pin::pin,
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        task::{Wake, Waker},
    };

    use rustix::net::sockopt::socket_send_buffer_size;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    async fn connect_client() -> (TcpStream, ClientStream<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
        let server = server.unwrap().0;
        server.set_send_buffer(SEND_BUFFER_OF_STRANGER);
        (
            client.unwrap(),
            ClientStream::new(server, Duration::from_mins(1), Arc::default()),
        )
    }

    /// Writes until the send buffer is full, and returns how many bytes fit.
    async fn fill_send_buffer(server: &mut ClientStream<TcpStream>) -> usize {
        let mut written = 0;
        loop {
            let polled = futures_util::poll!(pin!(server.write(&[0; 16 << 10])));
            let Poll::Ready(bytes) = polled else {
                return written;
            };
            written += bytes.unwrap();
            server.written_in_a_row = 0;
        }
    }

    #[tokio::test]
    async fn the_system_buffers_more_for_a_client_with_a_key() {
        let (_peer, server) = connect_client().await;
        let client = Arc::new(Client::from(IpAddr::from([192, 0, 2, 1])));
        let mut server = server.with_client(Arc::clone(&client));
        let stranger_size = socket_send_buffer_size(&server.stream).unwrap();
        assert!(stranger_size <= 2 * SEND_BUFFER_OF_STRANGER);
        assert!(fill_send_buffer(&mut server).await > 0);
        assert_eq!(
            socket_send_buffer_size(&server.stream).unwrap(),
            stranger_size
        );
        assert!(client.trust());
        fill_send_buffer(&mut server).await;
        assert!(socket_send_buffer_size(&server.stream).unwrap() > stranger_size);
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
        let (mut client, mut server) = connect_client().await;
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
        let (mut client, mut server) = connect_client().await;
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
}
