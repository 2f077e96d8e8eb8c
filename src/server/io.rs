//! A client's socket, with two manners that TCP lacks.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{self, Sleep},
};
use tokio_rustls::server::TlsStream;

use super::activity::Activity;

/// How many bytes tell HTTP/1 and HTTP/2 apart: the length of the HTTP/2
/// connection preface (RFC 9113, section 3.4).
const PREFACE_LENGTH: usize = 24;

/// How much of what a client still sends is read, and thrown away, after the
/// last answer.
const LINGER_BYTES: usize = 1 << 20;
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// Up to this size, in bytes, the head and body of an answer are copied together:
/// that costs less than to have the system gather them (`writev`).
const SMALL_ANSWER: usize = 2 << 10;

thread_local! {
    /// The small answer that this thread sends.
    static SMALL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What a client can be connected by.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Whether nobody on the way can read or change what goes over it.
    const IS_ENCRYPTED: bool;

    /// When it is closed, throw away what was not sent yet.
    fn reset_on_close(&self);
}

impl Socket for TcpStream {
    const IS_ENCRYPTED: bool = false;

    fn reset_on_close(&self) {
        let _ = self.set_zero_linger();
    }
}

impl Socket for TlsStream<TcpStream> {
    const IS_ENCRYPTED: bool = true;

    fn reset_on_close(&self) {
        self.get_ref().0.reset_on_close();
    }
}

/// A socket that
///
/// - fails if the client's first bytes do not come in time. hyper's own timeout begins
///   only when it knows which version of HTTP a client speaks;
/// - lingers when it is shut down: it reads on for a moment. A socket that is
///   closed with unread bytes is reset, and the reset can overtake the answer
///   that tells the client why (RFC 9112, section 9.6).
///
/// It also counts what is written, from which it is seen whether the client
/// reads; if the connection is cut because it does not, the system drops at once
/// what it still holds for the client.
pub(super) struct ClientStream<S: Socket> {
    stream: S,
    phase: Phase,
    activity: Arc<Activity>,
}

enum Phase {
    /// So many bytes are still due by the deadline.
    Opening(usize, Deadline),
    Open,
    /// The last answer was sent; so many bytes are still thrown away, until
    /// the deadline.
    Lingering(usize, Deadline),
}

type Deadline = Pin<Box<Sleep>>;

impl<S: Socket> ClientStream<S> {
    pub(super) fn new(stream: S, first_bytes_within: Duration, activity: Arc<Activity>) -> Self {
        let deadline = Box::pin(time::sleep(first_bytes_within));
        Self { stream, phase: Phase::Opening(PREFACE_LENGTH, deadline), activity }
    }

    /// Notes that something was written: the client's request was understood,
    /// so its first bytes are no longer due.
    fn wrote(&mut self, written: &Poll<io::Result<usize>>) {
        if matches!(self.phase, Phase::Opening(..)) {
            self.phase = Phase::Open;
        }
        if let Poll::Ready(Ok(bytes)) = written {
            self.activity.wrote(*bytes);
        }
    }
}

impl<S: Socket> Drop for ClientStream<S> {
    fn drop(&mut self) {
        if self.activity.is_cut() {
            self.stream.reset_on_close();
        }
    }
}

impl<S: Socket> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let Phase::Opening(due, deadline) = &mut self.phase else {
            return read;
        };
        match read {
            Poll::Ready(_) => {
                *due = due.saturating_sub(buffer.filled().len() - before);
                if *due == 0 {
                    self.phase = Phase::Open;
                }
                read
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
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length: usize = slices.iter().map(|slice| slice.len()).sum();
        let written = if length <= SMALL_ANSWER {
            SMALL.with_borrow_mut(|together| {
                together.clear();
                for slice in slices {
                    together.extend_from_slice(slice);
                }
                Pin::new(&mut self.stream).poll_write(cx, together)
            })
        } else {
            Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
        };
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !matches!(this.phase, Phase::Lingering(..)) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            let deadline = Box::pin(time::sleep(LINGER_TIMEOUT));
            this.phase = Phase::Lingering(LINGER_BYTES, deadline);
        }
        let Phase::Lingering(left, deadline) = &mut this.phase else {
            return Poll::Ready(Ok(()));
        };
        let mut scratch = [0; 4096];
        while *left > 0 {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    *left = left.saturating_sub(buffer.filled().len());
                }
                // The client closed its side too, or is gone.
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

    #[tokio::test]
    async fn a_client_that_is_still_sending_when_it_was_answered_is_not_reset() {
        let (mut client, mut server) = connected().await;
        client.write_all(&vec![b' '; 100_000]).await.unwrap();
        let answering = tokio::spawn(async move {
            server.write_all(b"answer").await.unwrap();
            server.shutdown().await.unwrap();
        });
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "answer");
        for _ in 0..8 {
            client.write_all(&vec![b' '; 100_000]).await.unwrap();
        }
        drop(client);
        answering.await.unwrap();
    }
}
