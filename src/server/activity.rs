//! What goes on in a connection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use hyper::Version;

/// What goes on in a connection: written down as it happens, and looked at from
/// time to time. A client could otherwise hold a connection for ever by reading
/// nothing of its answers, or, over HTTP/2, by asking for nothing and answering
/// pings.
#[derive(Default)]
pub(super) struct Activity {
    requests: AtomicU64,
    in_flight: AtomicUsize,
    /// In bytes, as far as the socket has taken them.
    written: AtomicU64,
    requests_at_last_look: AtomicU64,
    written_at_last_look: AtomicU64,
    is_http_2: AtomicBool,
    is_old: AtomicBool,
    is_cut: AtomicBool,
}

impl Activity {
    /// Counts a request, which is in flight until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> impl Drop + use<> {
        struct Begun(Arc<Activity>);
        impl Drop for Begun {
            fn drop(&mut self) {
                self.0.in_flight.fetch_sub(1, Relaxed);
            }
        }
        self.requests.fetch_add(1, Relaxed);
        self.in_flight.fetch_add(1, Relaxed);
        if version == Version::HTTP_2 {
            self.is_http_2.store(true, Relaxed);
        }
        Begun(Arc::clone(self))
    }

    /// Counts bytes that the socket has taken.
    pub(super) fn wrote(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
    }

    /// Whether, since the last look, nothing was asked, nothing is in flight,
    /// and fewer than so many bytes were written.
    pub(super) fn was_quiet(&self, fewest_bytes: u64) -> bool {
        let requests = self.requests.load(Relaxed);
        let written = self.written.load(Relaxed);
        let nothing_asked = requests == self.requests_at_last_look.swap(requests, Relaxed);
        let taken = written - self.written_at_last_look.swap(written, Relaxed);
        nothing_asked && taken < fewest_bytes && self.in_flight.load(Relaxed) == 0
    }

    pub(super) fn is_http_2(&self) -> bool {
        self.is_http_2.load(Relaxed)
    }

    /// From now on, no answer shall lead to another request.
    pub(super) fn grow_old(&self) {
        self.is_old.store(true, Relaxed);
    }

    pub(super) fn is_old(&self) -> bool {
        self.is_old.load(Relaxed)
    }

    /// The connection ends now, whatever was not sent yet.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Relaxed);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_quiet_when_nothing_is_asked_answered_or_read() {
        let activity = Arc::new(Activity::default());
        assert!(activity.was_quiet(10));
        let begun = activity.begin(Version::HTTP_11);
        assert!(!activity.was_quiet(10), "a request came");
        assert!(!activity.was_quiet(10), "it is in flight");
        drop(begun);
        assert!(activity.was_quiet(10));
        activity.wrote(10);
        assert!(!activity.was_quiet(10), "the client reads");
        activity.wrote(9);
        assert!(activity.was_quiet(10), "too slowly");
    }
}
