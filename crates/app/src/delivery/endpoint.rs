//! The message queue of one endpoint: which message is next, which messages wait behind it, and
//! what must be saved. This is pure state: it performs no I/O, and callers pass in the time.
//!
//! A lane is the queue of the messages that must be delivered in order, such as those about one
//! animal. A message that failed, or that waits behind a failed message of its lane, has a row in
//! the store. All other messages are only in memory, and are made again from the journal after a
//! crash.

mod outcome;
mod progress;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;
use petstore_domain::store_area::{
    Attempt, DeliveryProgress, DisabledReason, Lease, StoredWebhook, WaitingMessage, Webhook,
};

use super::{message::Content, schedule::LONGEST_DELAY};

/// The maximum number of messages in flight per endpoint. The limit is per endpoint, so that a slow
/// endpoint never holds up another one. With at most 100 webhooks ([`Webhook::MAX`]), the limit
/// also bounds the total.
pub(super) const MAX_MESSAGES_IN_FLIGHT: usize = 4;

/// The maximum number of messages in flight until one succeeds, so that an endpoint that is down
/// gets few requests.
const MAX_MESSAGES_IN_FLIGHT_UNPROVEN: usize = 1;

/// The message queue of an endpoint whose lease this process holds.
pub(super) struct Endpoint {
    pub(super) webhook: Webhook,
    pub(super) lease: Lease,
    /// How far the journal has been read: each change up to this sequence number is delivered, is
    /// queued in `messages`, or has a type that the webhook does not want.
    pub(super) read_to: i64,
    /// The sequence number of the last change that became a message.
    last_seq: Option<i64>,
    /// When the current run of failures began. It is `None` if the last attempt succeeded.
    pub(super) failing_since: Option<Timestamp>,
    /// The undelivered messages, by the sequence numbers of their changes.
    messages: BTreeMap<i64, Message>,
    /// The undelivered messages of each lane, in order. Only the first one may be sent.
    lanes: HashMap<String, VecDeque<i64>>,
    /// The messages that may be sent now. Each has an entry in `messages`.
    ready: BTreeSet<i64>,
    /// The retry times of failed messages.
    timers: BTreeSet<Timer>,
    in_flight_count: usize,
    /// Whether the last attempt under this lease succeeded. Without such an attempt, this is
    /// `false`.
    is_proven: bool,
    /// The number of messages without a row in the store.
    rowless_count: usize,
    /// The total length of the cached bodies.
    content_bytes: usize,
    unsaved: UnsavedProgress,
}

/// The progress that is not yet saved to the store.
#[derive(Default)]
struct UnsavedProgress {
    is_dirty: bool,
    /// The messages whose rows must be upserted.
    waiting: BTreeSet<i64>,
    /// The messages whose rows must be deleted.
    done: Vec<i64>,
    attempts: Vec<Attempt>,
    /// Why and since when the webhook is to be disabled, if it is.
    disable: Option<(DisabledReason, Timestamp)>,
}

/// The time at which a failed message may be retried. Timers sort by this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due_at: Timestamp,
    seq: i64,
}

/// A message that is not delivered yet.
struct Message {
    /// The sequence number of the change of the preceding message.
    previous_seq: Option<i64>,
    /// The lane, such as `pet:7`. A message without a lane waits for no other message.
    lane: Option<String>,
    failures: u32,
    /// When the message may be retried, if it has failed.
    due_at: Option<Timestamp>,
    /// The cached content. It is dropped once the message has a row, and is then rendered again
    /// from the journal when needed.
    content: Option<Content>,
    /// Whether the message has a row in the store, or will have one after the next save.
    has_row: bool,
}

/// The message to send next.
pub(super) struct NextMessage {
    pub(super) seq: i64,
    /// The sequence number of the change of the preceding message.
    pub(super) previous_seq: Option<i64>,
    /// The content, if it is cached.
    pub(super) content: Option<Content>,
}

/// The outcome of an attempt.
pub(super) struct AttemptOutcome {
    pub(super) attempt: Attempt,
    /// The delay before a retry that the endpoint asks for, in seconds.
    pub(super) retry_after: Option<u64>,
}

impl AttemptOutcome {
    /// Whether the endpoint accepted the message.
    pub(super) fn is_success(&self) -> bool {
        self.attempt.error.is_none()
    }
}

/// The time at which an outcome is recorded.
#[derive(Clone, Copy)]
pub(super) struct OutcomeTime {
    pub(super) now: Timestamp,
    /// Whether the clock is confirmed. Only confirmed times measure how long an endpoint has been
    /// failing.
    pub(super) is_confirmed: bool,
}

impl Endpoint {
    /// Restores an endpoint from its stored state, with the lease that this process has taken.
    pub(super) fn new(stored: StoredWebhook, waiting: Vec<WaitingMessage>, lease: Lease) -> Self {
        let DeliveryProgress {
            cursor,
            last,
            failing_since,
        } = stored.progress;
        let mut endpoint = Self {
            webhook: stored.webhook,
            lease,
            read_to: cursor,
            last_seq: last,
            failing_since,
            messages: BTreeMap::new(),
            lanes: HashMap::new(),
            ready: BTreeSet::new(),
            timers: BTreeSet::new(),
            in_flight_count: 0,
            is_proven: false,
            rowless_count: 0,
            content_bytes: 0,
            unsaved: UnsavedProgress::default(),
        };

        for row in waiting {
            let message = Message {
                previous_seq: row.previous,
                lane: row.lane,
                failures: row.failures,
                due_at: row.due_at,
                content: None,
                has_row: true,
            };
            endpoint.insert(row.seq, message);
        }
        endpoint
    }

    /// Appends a message to its lane. If the lane was empty, the message may be sent immediately,
    /// or once its retry is due.
    fn insert(&mut self, seq: i64, message: Message) {
        let is_first = match &message.lane {
            Some(lane) => {
                let lane_messages = self.lanes.entry(lane.clone()).or_default();
                lane_messages.push_back(seq);
                lane_messages.len() == 1
            }
            None => true,
        };
        if is_first {
            match message.due_at {
                Some(due_at) => {
                    self.timers.insert(Timer { due_at, seq });
                }
                None => {
                    self.ready.insert(seq);
                }
            }
        }
        self.messages.insert(seq, message);
    }

    /// Returns the sequence number of the last change that became a message.
    pub(super) fn last_seq(&self) -> Option<i64> {
        self.last_seq
    }

    /// Queues the message about the next change that the webhook wants.
    ///
    /// Skips a message that is already queued, or that was delivered. A message was delivered if a
    /// later message of its lane is queued. Both occur when a process takes over a lease, because
    /// the stored cursor may be behind the stored messages.
    pub(super) fn queue(&mut self, seq: i64, lane: Option<String>, content: Content) {
        let lane_messages = lane.as_ref().and_then(|lane| self.lanes.get(lane));
        let newest = lane_messages.and_then(VecDeque::back);
        let was_delivered = newest.is_some_and(|&newest_seq| newest_seq >= seq);
        if was_delivered || self.messages.contains_key(&seq) {
            self.last_seq = Some(seq);
            return;
        }

        // If the first message of the lane has a row, the lane waits for a retry. This message then
        // gets a row, too, and its content is not cached.
        let first = lane_messages.and_then(VecDeque::front);
        let has_row = first.is_some_and(|first| self.messages[first].has_row);
        let content = if has_row {
            self.unsaved.waiting.insert(seq);
            None
        } else {
            self.rowless_count += 1;
            self.content_bytes += content.body.len();
            Some(content)
        };
        let previous_seq = self.last_seq.replace(seq);
        let message = Message {
            previous_seq,
            lane,
            failures: 0,
            due_at: None,
            content,
            has_row,
        };
        self.insert(seq, message);
        self.unsaved.is_dirty = true;
    }

    /// Records that the journal no longer has the changes up to this one. The next message then
    /// names a predecessor that was never sent, which tells the receiver that it missed something.
    pub(super) fn record_gap(&mut self, last_missing_seq: i64) {
        self.last_seq = Some(last_missing_seq);
    }

    /// Records that the journal was read up to this change.
    pub(super) fn advance_read_to(&mut self, seq: i64) {
        if seq > self.read_to {
            self.unsaved.is_dirty = true;
        }
        self.read_to = seq;
    }

    /// Returns the next message to send. Returns `None` if no message is ready, if the limit of
    /// messages in flight is reached, or if the webhook is to be disabled.
    ///
    /// The message stays ready until [`Self::start`] or [`Self::discard`], so that the caller may
    /// be cancelled while it reads the content.
    pub(super) fn next_message(&mut self, now: Timestamp) -> Option<NextMessage> {
        let limit = if self.is_proven {
            MAX_MESSAGES_IN_FLIGHT
        } else {
            MAX_MESSAGES_IN_FLIGHT_UNPROVEN
        };
        let is_disabled = self.unsaved.disable.is_some();
        if self.in_flight_count >= limit || is_disabled {
            return None;
        }

        self.release_due_messages(now);
        let seq = *self.ready.first()?;
        let Some(message) = self.messages.get(&seq) else {
            // Does not occur: each ready message has an entry in `messages`.
            self.ready.remove(&seq);
            return None;
        };
        Some(NextMessage {
            seq,
            previous_seq: message.previous_seq,
            content: message.content.clone(),
        })
    }

    /// Counts a ready message as in flight, because an attempt to deliver it starts.
    pub(super) fn start(&mut self, seq: i64) {
        self.ready.remove(&seq);
        self.in_flight_count += 1;
    }

    /// Moves the messages whose retries are due to `ready`.
    fn release_due_messages(&mut self, now: Timestamp) {
        // No delay is longer than this. A later timer was set while the clock was ahead, so it
        // counts as due. The due timers are therefore at both ends of the sorted timers.
        let latest_due_at = now.checked_add(LONGEST_DELAY).unwrap_or(Timestamp::MAX);
        let is_due = |timer: Timer| timer.due_at <= now || timer.due_at > latest_due_at;
        while let Some(&timer) = self.timers.first()
            && is_due(timer)
        {
            self.timers.remove(&timer);
            self.ready.insert(timer.seq);
        }
        while let Some(&timer) = self.timers.last()
            && is_due(timer)
        {
            self.timers.remove(&timer);
            self.ready.insert(timer.seq);
        }
    }

    /// Lets the next save upsert the row of a message, and drops the cached content.
    fn ensure_row(&mut self, seq: i64) {
        let Some(message) = self.messages.get_mut(&seq) else {
            return;
        };
        if !message.has_row {
            self.rowless_count -= 1;
        }
        if let Some(content) = message.content.take() {
            self.content_bytes -= content.body.len();
        }
        message.has_row = true;
        self.unsaved.waiting.insert(seq);
    }

    /// Removes a message that was delivered or discarded. The caller has already removed it from
    /// `ready`. The next message of its lane becomes ready.
    fn remove(&mut self, seq: i64) {
        let Some(message) = self.messages.remove(&seq) else {
            return;
        };
        if let Some(content) = message.content {
            self.content_bytes -= content.body.len();
        }
        if message.has_row {
            // The next save deletes the row instead of upserting it.
            self.unsaved.waiting.remove(&seq);
            self.unsaved.done.push(seq);
        } else {
            self.rowless_count -= 1;
        }
        if let Some(lane) = message.lane {
            self.remove_first_of_lane(&lane);
        }
    }

    /// Removes the first message of a lane from the lane, and lets the next one become ready.
    ///
    /// A message that is removed is always the first one: no other message of its lane can be in
    /// flight or ready.
    fn remove_first_of_lane(&mut self, lane: &str) {
        let Some(lane_messages) = self.lanes.get_mut(lane) else {
            return;
        };
        lane_messages.pop_front();
        match lane_messages.front() {
            Some(&next_seq) => {
                self.ready.insert(next_seq);
            }
            None => {
                self.lanes.remove(lane);
            }
        }
    }

    /// Removes a ready message, because the journal no longer has its change.
    pub(super) fn discard(&mut self, seq: i64) {
        self.ready.remove(&seq);
        self.unsaved.is_dirty = true;
        self.remove(seq);
    }
}
