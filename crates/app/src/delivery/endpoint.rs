//! The messages of one endpoint: which is next, which waits for which, and what must be saved. It
//! does no input or output, and reads no clock.

mod progress;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;
use petstore_domain::store_area::{
    Attempt, DeliveryProgress, DisabledReason, Lease, StoredWebhook, WaitingMessage, Webhook,
};
use rand::Rng;

use super::{
    message::Content,
    schedule::{self, LONGEST_DELAY, MAX_FAILING_TIME},
};

/// The number of messages of an endpoint that may be in flight. Each endpoint has this share for itself, so it
/// never waits for another one, and all together have at most 100 times as many ([`Webhook::MAX`]).
pub(super) const MAX_MESSAGES_IN_FLIGHT: usize = 4;

/// The number of messages that may be in flight before one has succeeded.
const MAX_MESSAGES_IN_FLIGHT_UNPROVEN: usize = 1;

/// The number of messages that may be in memory without a row.
const MAX_UNSAVED_MESSAGES: usize = 256;

/// The number of bytes that the bodies in memory may have.
const MAX_CONTENT_BYTES: usize = 1 << 20;

/// The number of messages that may wait altogether. No more of the log is read until some are delivered.
const MAX_WAITING_MESSAGES: usize = 10_000;

/// The messages of an endpoint whose lease this process has.
pub(super) struct Endpoint {
    pub(super) webhook: Webhook,
    pub(super) lease: Lease,
    /// The number of a change. Each change up to it is delivered, among the messages, or of a type that the
    /// webhook does not want.
    pub(super) read_to: i64,
    /// The number of the last change that became a message.
    last_seq: Option<i64>,
    /// The time since which every attempt failed; `None` if the last one succeeded.
    pub(super) failing_since: Option<Timestamp>,
    /// The messages that are not delivered yet, by the numbers of their changes.
    messages: BTreeMap<i64, Message>,
    /// The messages of each lane. Only the first one may be sent.
    lanes: HashMap<String, VecDeque<i64>>,
    /// The numbers of the messages that may be sent now. Each has a message in `messages`.
    ready: BTreeSet<i64>,
    /// The failed messages that may be sent later.
    timers: BTreeSet<Timer>,
    in_flight_count: usize,
    /// Whether the last attempt of this process succeeded.
    is_proven: bool,
    /// The number of messages without a row.
    unsaved_count: usize,
    /// The length of the bodies in memory.
    content_bytes: usize,
    unsaved: UnsavedProgress,
}

/// The progress that the store does not have yet.
#[derive(Default)]
struct UnsavedProgress {
    is_dirty: bool,
    /// The messages whose rows are new or changed.
    waiting: BTreeSet<i64>,
    /// The messages that need their rows no more.
    done: Vec<i64>,
    attempts: Vec<Attempt>,
    /// The reason to disable the webhook, and the time from which it is disabled.
    disable: Option<(DisabledReason, Timestamp)>,
}

/// The time at which a failed message may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due_at: Timestamp,
    seq: i64,
}

/// A message that is not delivered yet.
struct Message {
    /// The number of the change of the message before this one.
    previous_seq: Option<i64>,
    /// The messages of one lane are delivered in order. A message without a lane waits for no other.
    lane: Option<String>,
    failures: u32,
    /// The time at which the message may be sent again, after a failure.
    due_at: Option<Timestamp>,
    /// The content, which is dropped while the message waits.
    content: Option<Content>,
    /// Whether the message has a row in the store, or gets one with the next save.
    has_row: bool,
}

/// A message to send.
pub(super) struct NextMessage {
    pub(super) seq: i64,
    /// The number of the change of the message before this one.
    pub(super) previous_seq: Option<i64>,
    /// The content, if it is in memory.
    pub(super) content: Option<Content>,
}

/// The outcome of an attempt.
pub(super) struct AttemptOutcome {
    pub(super) attempt: Attempt,
    /// The seconds that the endpoint asks to wait.
    pub(super) retry_after: Option<u64>,
}

impl AttemptOutcome {
    /// Whether the endpoint accepted the message.
    pub(super) fn is_success(&self) -> bool {
        self.attempt.error.is_none()
    }
}

impl Endpoint {
    /// Returns the endpoint as the store has it, with the lease that this process took.
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
            unsaved_count: 0,
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

    /// Inserts a message at the end of its lane. If no other message of the lane waits, the message may be sent: now,
    /// or when it is due again.
    fn insert(&mut self, seq: i64, message: Message) {
        let is_first = match &message.lane {
            Some(lane) => {
                let lane = self.lanes.entry(lane.clone()).or_default();
                lane.push_back(seq);
                lane.len() == 1
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

    /// Whether the endpoint can take more messages from the log.
    pub(super) fn has_room(&self) -> bool {
        self.unsaved_count < MAX_UNSAVED_MESSAGES
            && self.content_bytes < MAX_CONTENT_BYTES
            && self.messages.len() < MAX_WAITING_MESSAGES
    }

    /// Returns the number of the change of the last message.
    pub(super) fn last_seq(&self) -> Option<i64> {
        self.last_seq
    }

    /// Adds the message about the next change that the webhook wants. Adds nothing if the message waits already, or if
    /// it was delivered before a message of its lane that waits: the process that had the lease was
    /// further in the log than all messages that it had delivered.
    pub(super) fn add(&mut self, seq: i64, lane: Option<String>, content: Content) {
        let lane_messages = lane.as_ref().and_then(|lane| self.lanes.get(lane));
        let newest = lane_messages.and_then(VecDeque::back);
        if newest >= Some(&seq) || self.messages.contains_key(&seq) {
            self.last_seq = Some(seq);
            return;
        }

        // A message also waits if the first message of its lane waits.
        let first = lane_messages.and_then(VecDeque::front);
        let has_row = first.is_some_and(|first| self.messages[first].has_row);
        let content = if has_row {
            self.unsaved.waiting.insert(seq);
            None
        } else {
            self.unsaved_count += 1;
            self.content_bytes += content.body.len();
            Some(content)
        };
        let message = Message {
            previous_seq: self.last_seq.replace(seq),
            lane,
            failures: 0,
            due_at: None,
            content,
            has_row,
        };
        self.insert(seq, message);
        self.unsaved.is_dirty = true;
    }

    /// Notes that the log no longer has the changes up to this one. So the next message names as the message
    /// before it one that was never sent, and the receiver sees that it missed something.
    pub(super) fn note_gap(&mut self, last_missing_seq: i64) {
        self.last_seq = Some(last_missing_seq);
    }

    /// Notes that the log was read up to this change.
    pub(super) fn note_read_to(&mut self, seq: i64) {
        self.unsaved.is_dirty |= seq > self.read_to;
        self.read_to = seq;
    }

    /// Returns the next message to send, which is in flight from now on.
    pub(super) fn take_next(&mut self, now: Timestamp) -> Option<NextMessage> {
        let limit = if self.is_proven {
            MAX_MESSAGES_IN_FLIGHT
        } else {
            MAX_MESSAGES_IN_FLIGHT_UNPROVEN
        };
        if self.in_flight_count >= limit || self.unsaved.disable.is_some() {
            return None;
        }

        self.apply_timers(now);
        let seq = self.ready.pop_first()?;
        let message = self.messages.get(&seq)?;
        self.in_flight_count += 1;
        Some(NextMessage {
            seq,
            previous_seq: message.previous_seq,
            content: message.content.clone(),
        })
    }

    /// Makes the messages ready whose timers are due.
    fn apply_timers(&mut self, now: Timestamp) {
        // No delay is longer than this, so a later timer comes from a clock that was wrong.
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

    /// Notes the outcome of an attempt. The time of failures counts only if `now` is a confirmed time.
    pub(super) fn note_outcome(
        &mut self,
        seq: i64,
        outcome: AttemptOutcome,
        now: Timestamp,
        is_confirmed: bool,
        random: &mut impl Rng,
    ) {
        let is_success = outcome.is_success();
        let status = outcome.attempt.status;
        self.in_flight_count -= 1;
        self.is_proven = is_success;
        self.unsaved.is_dirty = true;
        self.unsaved.attempts.push(outcome.attempt);

        if is_success {
            self.failing_since = None;
            self.remove(seq);
            return;
        }
        if is_confirmed {
            self.failing_since.get_or_insert(now);
        }
        let has_failed_too_long = self
            .failing_since
            .is_some_and(|since| now.duration_since(since) >= MAX_FAILING_TIME);
        if status == Some(410) {
            self.unsaved.disable = Some((DisabledReason::Gone, now));
        } else if is_confirmed && has_failed_too_long {
            self.unsaved.disable = Some((DisabledReason::Failures, now));
        }
        self.delay(seq, now, outcome.retry_after, random);
    }

    /// Lets a failed message wait for its next attempt, and all messages of its lane with it.
    fn delay(&mut self, seq: i64, now: Timestamp, retry_after: Option<u64>, random: &mut impl Rng) {
        let Some(message) = self.messages.get_mut(&seq) else {
            return;
        };
        message.failures += 1;
        let delay = schedule::delay(message.failures, retry_after, random);
        let due_at = now.checked_add(delay).unwrap_or(now);
        message.due_at = Some(due_at);
        self.timers.insert(Timer { due_at, seq });

        let lane = message.lane.as_ref().and_then(|lane| self.lanes.get(lane));
        let waiting: Vec<i64> = match lane {
            Some(lane) => lane.iter().copied().collect(),
            None => vec![seq],
        };
        for seq in waiting {
            self.give_row(seq);
        }
    }

    /// Gives a message a row with the next save, because it waits.
    fn give_row(&mut self, seq: i64) {
        let Some(message) = self.messages.get_mut(&seq) else {
            return;
        };
        if !message.has_row {
            self.unsaved_count -= 1;
        }
        if let Some(content) = message.content.take() {
            self.content_bytes -= content.body.len();
        }
        message.has_row = true;
        self.unsaved.waiting.insert(seq);
    }

    /// Removes a message that is delivered, or whose change the log no longer has. The next message of its lane may
    /// be sent then.
    fn remove(&mut self, seq: i64) {
        let Some(message) = self.messages.remove(&seq) else {
            return;
        };
        if message.has_row {
            self.unsaved.waiting.remove(&seq);
            self.unsaved.done.push(seq);
        } else {
            self.unsaved_count -= 1;
        }
        if let Some(content) = message.content {
            self.content_bytes -= content.body.len();
        }

        let Some(lane) = message.lane else { return };
        let Some(lane_messages) = self.lanes.get_mut(&lane) else {
            return;
        };
        lane_messages.pop_front();
        match lane_messages.front() {
            Some(&next_seq) => {
                self.ready.insert(next_seq);
            }
            None => {
                self.lanes.remove(&lane);
            }
        }
    }

    /// Removes a message that was in flight, because the log no longer has its change.
    pub(super) fn drop_in_flight(&mut self, seq: i64) {
        self.in_flight_count -= 1;
        self.unsaved.is_dirty = true;
        self.remove(seq);
    }

    /// Puts a message back that could not be sent. It stays the next one.
    pub(super) fn put_back(&mut self, seq: i64) {
        self.in_flight_count -= 1;
        self.ready.insert(seq);
    }
}
