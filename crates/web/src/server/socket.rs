//! Abstracts over the sockets of clients, with and without TLS.

use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

/// The socket of a client, with or without TLS.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Whether the connection is encrypted and authenticated.
    const IS_ENCRYPTED: bool;

    /// Makes closing the socket reset the connection and discard everything that is not sent yet.
    /// If the system rejects this, the socket closes as usual.
    fn reset_on_close(&self);

    /// Sets the size of the send buffer in bytes (Linux doubles it). If the system rejects it, the
    /// size stays unchanged.
    fn set_send_buffer(&self, length: usize);
}

impl Socket for TcpStream {
    const IS_ENCRYPTED: bool = false;

    fn reset_on_close(&self) {
        let _ = self.set_zero_linger();
    }

    fn set_send_buffer(&self, length: usize) {
        let _ = set_socket_send_buffer_size(self, length);
    }
}

impl Socket for TlsStream<TcpStream> {
    const IS_ENCRYPTED: bool = true;

    fn reset_on_close(&self) {
        let (stream, _) = self.get_ref();
        stream.reset_on_close();
    }

    fn set_send_buffer(&self, length: usize) {
        let (stream, _) = self.get_ref();
        stream.set_send_buffer(length);
    }
}
