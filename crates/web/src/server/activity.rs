//! Tracks the activity of a connection, to detect clients that hold it without making progress.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use hyper::Version;
use petstore_store::Cause;

use crate::edge::{Body, Reservation};

/// Counters of the events on a connection, updated as the events happen and checked periodically.
///
/// Without these checks, a client could hold a connection forever: by not reading its responses, or
/// over HTTP/2 by responding to pings without sending requests.
///
/// The counters are approximate while several threads change them, so relaxed ordering is enough.
#[derive(Default)]
pub(crate) struct Activity {
    /// Requests that have arrived.
    requests: AtomicU64,
    /// Requests that are being handled, or whose streamed response has not ended.
    in_flight: AtomicUsize,
    /// Responses, or pieces of them, that are not completely sent.
    unsent: AtomicUsize,
    /// Bytes that the socket has accepted.
    written: AtomicU64,
    requests_at_last_check: AtomicU64,
    written_at_last_check: AtomicU64,
    unsent_at_last_check: AtomicUsize,
    is_http_2: AtomicBool,
    is_old: AtomicBool,
    is_aborted: AtomicBool,
}

/// A guard for a request in flight. Dropping it ends the request.
pub struct RequestInFlight(Arc<Activity>);

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

impl Activity {
    /// Counts a request, which is in flight until the returned guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, version: Version) -> RequestInFlight {
        self.requests.fetch_add(1, Relaxed);
        self.in_flight.fetch_add(1, Relaxed);
        if version == Version::HTTP_2 {
            self.is_http_2.store(true, Relaxed);
        }
        RequestInFlight(Arc::clone(self))
    }

    /// Counts bytes that the socket has accepted.
    pub(super) fn count_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
    }

    /// Wraps a response body, so that it counts as unsent until it is completely sent.
    ///
    /// A streamed body (`Stream` or `File`) keeps its request in flight until the body ends. With a
    /// whole body, the request ends here.
    ///
    /// `stream_reservation` is the memory for the HTTP/2 stream. It is released with the body.
    pub(super) fn track_response(
        self: &Arc<Self>,
        response: Body,
        in_flight: RequestInFlight,
        stream_reservation: Option<Reservation>,
    ) -> Body {
        match response {
            // Nothing is left to send.
            Body::Whole(response) if response.is_empty() => Body::default(),
            Body::Whole(response) => self.track_bytes(response, stream_reservation).into(),
            Body::Stream(pieces) => {
                let tracked_stream = TrackedStream {
                    pieces,
                    activity: Arc::clone(self),
                    has_ended: false,
                    _in_flight: in_flight,
                    _stream_reservation: stream_reservation,
                };
                tracked_stream.into_body()
            }
            Body::File(pieces) => self.track_file(pieces, in_flight, stream_reservation),
        }
    }

    /// Wraps the pieces of a file, so that each counts as unsent until it is sent. The request is
    /// in flight until the end of the file.
    fn track_file(
        self: &Arc<Self>,
        pieces: Pin<Box<dyn Stream<Item = Result<Bytes, Cause>> + Send>>,
        in_flight: RequestInFlight,
        stream_reservation: Option<Reservation>,
    ) -> Body {
        let activity = Arc::clone(self);
        Body::File(Box::pin(pieces.map(move |piece| {
            // Moves both guards into the closure, so that they live until the end of the file.
            let _ = (&in_flight, &stream_reservation);
            piece.map(|piece| activity.track_bytes(piece, None))
        })))
    }

    /// Counts a whole response or a piece of one as unsent until its bytes are dropped.
    fn track_bytes(
        self: &Arc<Self>,
        response: Bytes,
        stream_reservation: Option<Reservation>,
    ) -> Bytes {
        self.unsent.fetch_add(1, Relaxed);
        Bytes::from_owner(TrackedBytes {
            bytes: response,
            activity: Arc::clone(self),
            _stream_reservation: stream_reservation,
        })
    }

    /// Whether more than one request is in flight or has a response that is not completely sent.
    pub(super) fn has_several_requests(&self) -> bool {
        self.in_flight.load(Relaxed) + self.unsent.load(Relaxed) > 1
    }

    /// Returns whether the connection is stalled, and remembers its counters for the next call.
    ///
    /// It is stalled if fewer than `min_bytes` were written since the last call, and
    /// - either no request has arrived since then and none is in flight,
    /// - or there were unsent responses at the last call and there are some now. So a client that
    ///   does not read its responses is stalled even if it sends further requests.
    pub(super) fn check_for_stall(&self, min_bytes: u64) -> bool {
        let requests = self.requests.load(Relaxed);
        let written_bytes = self.written.load(Relaxed);
        let unsent = self.unsent.load(Relaxed);
        let previous_requests = self.requests_at_last_check.swap(requests, Relaxed);
        let previous_written = self.written_at_last_check.swap(written_bytes, Relaxed);
        let previous_unsent = self.unsent_at_last_check.swap(unsent, Relaxed);
        let reads_nothing = previous_unsent > 0 && unsent > 0;
        let requests_nothing = requests == previous_requests && self.in_flight.load(Relaxed) == 0;
        written_bytes - previous_written < min_bytes && (reads_nothing || requests_nothing)
    }

    /// Whether no request is in flight.
    pub(super) fn nothing_in_flight(&self) -> bool {
        self.in_flight.load(Relaxed) == 0
    }

    /// Whether no request is in flight and no response is being sent.
    pub(super) fn is_idle(&self) -> bool {
        self.nothing_in_flight() && self.unsent.load(Relaxed) == 0
    }

    /// Whether the connection has carried a request.
    pub(super) fn has_had_request(&self) -> bool {
        self.requests.load(Relaxed) > 0
    }

    /// Whether the connection has carried an HTTP/2 request.
    pub(super) fn is_http_2(&self) -> bool {
        self.is_http_2.load(Relaxed)
    }

    /// Marks the connection as having reached its maximum age. It ends after the requests in
    /// flight.
    pub(super) fn mark_old(&self) {
        self.is_old.store(true, Relaxed);
    }

    pub(super) fn is_old(&self) -> bool {
        self.is_old.load(Relaxed)
    }

    /// Marks the connection as aborted, so that closing it discards what is not sent yet.
    pub(super) fn abort(&self) {
        self.is_aborted.store(true, Relaxed);
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted.load(Relaxed)
    }
}

/// The pieces of a streamed body, such as events. The body ends after its next piece once the
/// connection is old, because it has no end of its own.
struct TrackedStream {
    pieces: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    activity: Arc<Activity>,
    has_ended: bool,
    _in_flight: RequestInFlight,
    _stream_reservation: Option<Reservation>,
}

impl TrackedStream {
    /// Returns the stream as a response body.
    fn into_body(self) -> Body {
        let pieces = stream::unfold(self, async |mut stream| {
            let piece = stream.next_piece().await?;
            Some((piece, stream))
        });
        Body::Stream(Box::pin(pieces))
    }

    /// Returns the next piece, or `None` at the end.
    async fn next_piece(&mut self) -> Option<Bytes> {
        if self.has_ended {
            return None;
        }
        let piece = self.pieces.next().await?;
        self.has_ended = self.activity.is_old();
        Some(self.activity.track_bytes(piece, None))
    }
}

/// Bytes of a response that count as unsent until they are dropped.
struct TrackedBytes {
    bytes: Bytes,
    activity: Arc<Activity>,
    _stream_reservation: Option<Reservation>,
}

impl AsRef<[u8]> for TrackedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for TrackedBytes {
    fn drop(&mut self) {
        self.activity.unsent.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[test]
    fn a_connection_without_requests_or_written_bytes_is_stalled() {
        let activity = Arc::new(Activity::default());
        assert!(activity.check_for_stall(10));
        let in_flight = activity.begin_request(Version::HTTP_11);
        assert!(!activity.check_for_stall(10), "a request has arrived");
        assert!(!activity.check_for_stall(10), "it is in flight");
        drop(in_flight);
        assert!(activity.check_for_stall(10));
        activity.count_written(10);
        assert!(!activity.check_for_stall(10), "the client reads");
        activity.count_written(9);
        assert!(activity.check_for_stall(10), "too slowly");
    }

    #[test]
    fn a_client_that_reads_no_responses_is_stalled_despite_new_requests() {
        let activity = Arc::new(Activity::default());
        let response = activity.track_bytes(Bytes::from_static(b"response"), None);
        drop(activity.begin_request(Version::HTTP_2));
        assert!(!activity.check_for_stall(10), "the response may be new");
        let _in_flight = activity.begin_request(Version::HTTP_2);
        assert!(activity.check_for_stall(10));
        activity.count_written(10);
        assert!(!activity.check_for_stall(10), "the client reads");
        let part = response.slice(..1);
        drop(response);
        assert!(activity.check_for_stall(10), "a part is unread");
        drop(part);
        assert!(!activity.check_for_stall(10));
    }

    #[tokio::test]
    async fn a_stream_is_in_flight_until_its_end_and_each_piece_unread_until_it_is_sent() {
        let activity = Arc::new(Activity::default());
        let pieces = Body::Stream(Box::pin(stream::iter([Bytes::from_static(b"piece")])));
        let mut body =
            activity.track_response(pieces, activity.begin_request(Version::HTTP_11), None);
        assert!(!activity.check_for_stall(10));
        assert!(
            !activity.check_for_stall(10),
            "a stream without pieces stalls nothing"
        );
        let piece = body.frame().await;
        assert!(!activity.check_for_stall(10), "the piece may be new");
        assert!(activity.check_for_stall(10), "the piece is unread");
        drop(piece);
        assert!(!activity.check_for_stall(10), "the stream continues");
        drop(body);
        assert!(activity.check_for_stall(10));
    }

    #[tokio::test]
    async fn a_stream_without_end_ends_after_its_next_piece_once_the_connection_is_old() {
        let activity = Arc::new(Activity::default());
        let pieces = Body::Stream(Box::pin(stream::repeat(Bytes::from_static(b"piece"))));
        let mut body =
            activity.track_response(pieces, activity.begin_request(Version::HTTP_2), None);
        for _ in 0..3 {
            assert!(body.frame().await.is_some());
        }
        activity.mark_old();
        assert!(body.frame().await.is_some());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_file_is_sent_to_its_end_although_the_connection_is_old() {
        let activity = Arc::new(Activity::default());
        let pieces = stream::iter([1, 2, 3].map(|_| Ok(Bytes::from_static(b"piece"))));
        let body = Body::File(Box::pin(pieces));
        let body = activity.track_response(body, activity.begin_request(Version::HTTP_11), None);
        activity.mark_old();
        assert!(!activity.nothing_in_flight());
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), 15);
        assert!(activity.nothing_in_flight());
    }
}
