//! The messages of one endpoint: which is next, which waits for which, and what must be saved. It
//! does no input or output, and reads no clock.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use jiff::Timestamp;
use petstore_domain::store_area::{
    Attempt, DeliveryUpdate, DisabledReason, Lease, Progress, StoredWebhook, Waiting, Webhook,
};
use rand::Rng;

use super::{
    message::Content,
    schedule::{self, MAX_FAILING},
};

/// How many messages of an endpoint may be in flight, and how many before one has succeeded. Each
/// endpoint has this share for itself, so it never waits for another one, and all together have at
/// most 100 times as many ([`Webhook::MAX`]).
pub(super) const IN_FLIGHT: usize = 4;
const IN_FLIGHT_UNPROVEN: usize = 1;

/// How many messages may be in memory without a row, and how many bytes their bodies may have.
const MAX_UNSAVED: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// How many messages may wait altogether. No more of the log is read until some are delivered.
const MAX_WAITING: usize = 10_000;

/// The messages of an endpoint whose lease this process has.
pub(super) struct Endpoint {
    pub(super) webhook: Webhook,
    pub(super) lease: Lease,
    /// Each change up to this number is delivered, among the messages, or not wanted.
    pub(super) read_to: i64,
    last: Option<i64>,
    pub(super) failing_since: Option<Timestamp>,
    messages: BTreeMap<i64, Message>,
    /// The messages of each lane, the first of which may be sent.
    lanes: HashMap<String, VecDeque<i64>>,
    ready: BTreeSet<i64>,
    timers: BTreeSet<(Timestamp, i64)>,
    in_flight: usize,
    /// Whether the last attempt of this process succeeded.
    is_proven: bool,
    unsaved: usize,
    bytes: usize,
    save: Unsaved,
}

/// The progress that the store does not have yet.
#[derive(Default)]
struct Unsaved {
    is_dirty: bool,
    waiting: BTreeSet<i64>,
    done: Vec<i64>,
    attempts: Vec<Attempt>,
    disable: Option<(DisabledReason, Timestamp)>,
}

struct Message {
    previous: Option<i64>,
    lane: Option<String>,
    failures: u32,
    /// When it is due, after a failure.
    due_at: Option<Timestamp>,
    /// Dropped while it waits.
    content: Option<Content>,
    /// Whether it has a row in the store, or gets one with the next save.
    has_row: bool,
}

/// How an attempt ended.
pub(super) struct Outcome {
    pub(super) attempt: Attempt,
    pub(super) retry_after: Option<u64>,
}

impl Outcome {
    pub(super) fn is_success(&self) -> bool {
        self.attempt.error.is_none()
    }
}

impl Endpoint {
    /// Returns the endpoint as the store has it, with the lease that was taken.
    pub(super) fn new(stored: StoredWebhook, waiting: Vec<Waiting>, lease: Lease) -> Self {
        let Progress {
            cursor,
            last,
            failing_since,
        } = stored.progress;
        let mut endpoint = Self {
            webhook: stored.webhook,
            lease,
            read_to: cursor,
            last,
            failing_since,
            messages: BTreeMap::new(),
            lanes: HashMap::new(),
            ready: BTreeSet::new(),
            timers: BTreeSet::new(),
            in_flight: 0,
            is_proven: false,
            unsaved: 0,
            bytes: 0,
            save: Unsaved::default(),
        };
        for Waiting {
            seq,
            previous,
            lane,
            failures,
            due_at,
        } in waiting
        {
            let message = Message {
                previous,
                lane,
                failures,
                due_at,
                content: None,
                has_row: true,
            };
            endpoint.insert(seq, message);
        }
        endpoint
    }

    fn insert(&mut self, seq: i64, message: Message) {
        let is_first = match &message.lane {
            Some(lane) => {
                let lane = self.lanes.entry(lane.clone()).or_default();
                lane.push_back(seq);
                lane.len() == 1
            }
            None => true,
        };
        match message.due_at {
            _ if !is_first => {}
            Some(due_at) => drop(self.timers.insert((due_at, seq))),
            None => drop(self.ready.insert(seq)),
        }
        self.messages.insert(seq, message);
    }

    /// Whether more of the log may be read for it.
    pub(super) fn has_room(&self) -> bool {
        self.unsaved < MAX_UNSAVED && self.bytes < MAX_BYTES && self.messages.len() < MAX_WAITING
    }

    /// Returns the number of the change of the message before the next one.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Adds the message about the next change that is wanted, unless it waits already, or was
    /// delivered before another one of its lane that waits: the process that had the lease was
    /// further in the log than all messages that it had delivered.
    pub(super) fn add(&mut self, seq: i64, lane: Option<String>, content: Content) {
        let newest = lane.as_ref().and_then(|lane| self.lanes.get(lane)?.back());
        if newest >= Some(&seq) || self.messages.contains_key(&seq) {
            self.last = Some(seq);
            return;
        }
        // It also waits behind a message that waits.
        let first = lane.as_ref().and_then(|lane| self.lanes.get(lane)?.front());
        let has_row = first.is_some_and(|first| self.messages[first].has_row);
        let previous = self.last.replace(seq);
        let content = if has_row {
            self.save.waiting.insert(seq);
            None
        } else {
            self.unsaved += 1;
            self.bytes += content.body.len();
            Some(content)
        };
        self.insert(
            seq,
            Message {
                previous,
                lane,
                failures: 0,
                due_at: None,
                content,
                has_row,
            },
        );
        self.save.is_dirty = true;
    }

    /// Notes that the log no longer has the changes up to this one. So the next message names one
    /// before it that was never sent, and the receiver sees that it missed something.
    pub(super) fn has_missed(&mut self, seq: i64) {
        self.last = Some(seq);
    }

    /// Notes that the log was read up to here.
    pub(super) fn has_read(&mut self, seq: i64) {
        self.save.is_dirty |= seq > self.read_to;
        self.read_to = seq;
    }

    /// Returns the next message to send, with its content if it is in memory. It is in flight from
    /// now on.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<(i64, Option<i64>, Option<Content>)> {
        let limit = if self.is_proven {
            IN_FLIGHT
        } else {
            IN_FLIGHT_UNPROVEN
        };
        if self.in_flight >= limit || self.save.disable.is_some() {
            return None;
        }
        // No delay is longer than this, so a later time comes from a clock that was wrong.
        let latest = now.checked_add(schedule::LONGEST).unwrap_or(Timestamp::MAX);
        let is_due = |timer: &&(Timestamp, i64)| timer.0 <= now || timer.0 > latest;
        while let Some((due_at, seq)) = self
            .timers
            .first()
            .filter(is_due)
            .or(self.timers.last().filter(is_due))
            .copied()
        {
            self.timers.remove(&(due_at, seq));
            self.ready.insert(seq);
        }
        let seq = self.ready.pop_first()?;
        let message = self.messages.get(&seq)?;
        self.in_flight += 1;
        Some((seq, message.previous, message.content.clone()))
    }

    /// Notes how an attempt ended. Failures count only from a time that is confirmed.
    pub(super) fn ended(
        &mut self,
        seq: i64,
        outcome: Outcome,
        now: Timestamp,
        is_confirmed: bool,
        random: &mut impl Rng,
    ) {
        self.in_flight -= 1;
        self.save.is_dirty = true;
        let is_success = outcome.is_success();
        let status = outcome.attempt.status;
        self.save.attempts.push(outcome.attempt);
        self.is_proven = is_success;
        if is_success {
            self.failing_since = None;
            self.remove(seq);
            return;
        }
        if is_confirmed {
            self.failing_since.get_or_insert(now);
        }
        let has_failed_for = |since| now.duration_since(since) >= MAX_FAILING;
        if status == Some(410) {
            self.save.disable = Some((DisabledReason::Gone, now));
        } else if is_confirmed && self.failing_since.is_some_and(has_failed_for) {
            self.save.disable = Some((DisabledReason::Failures, now));
        }
        let Some(message) = self.messages.get_mut(&seq) else {
            return;
        };
        message.failures += 1;
        let delay = schedule::delay(message.failures, outcome.retry_after, random);
        let due_at = now.checked_add(delay).unwrap_or(now);
        message.due_at = Some(due_at);
        self.timers.insert((due_at, seq));
        let lane = message.lane.clone().and_then(|lane| self.lanes.get(&lane));
        let behind: Vec<i64> = lane.map_or(vec![seq], |lane| lane.iter().copied().collect());
        for seq in behind {
            self.park(seq);
        }
    }

    /// Gives the message a row, because it waits.
    fn park(&mut self, seq: i64) {
        if let Some(message) = self.messages.get_mut(&seq) {
            if !message.has_row {
                self.unsaved -= 1;
            }
            if let Some(content) = message.content.take() {
                self.bytes -= content.body.len();
            }
            message.has_row = true;
            self.save.waiting.insert(seq);
        }
    }

    /// Removes a message that is delivered, or whose change the log no longer has.
    pub(super) fn remove(&mut self, seq: i64) {
        let Some(message) = self.messages.remove(&seq) else {
            return;
        };
        if message.has_row {
            self.save.waiting.remove(&seq);
            self.save.done.push(seq);
        } else {
            self.unsaved -= 1;
        }
        self.bytes -= message.content.map_or(0, |content| content.body.len());
        let Some(lane) = message.lane else { return };
        if let Some(waiting) = self.lanes.get_mut(&lane) {
            waiting.pop_front();
            match waiting.front() {
                Some(&next) => drop(self.ready.insert(next)),
                None => drop(self.lanes.remove(&lane)),
            }
        }
    }

    /// The same for a message that was in flight.
    pub(super) fn give_up(&mut self, seq: i64) {
        self.in_flight -= 1;
        self.save.is_dirty = true;
        self.remove(seq);
    }

    /// Notes that a message could not be sent. It stays next.
    pub(super) fn put_back(&mut self, seq: i64) {
        self.in_flight -= 1;
        self.ready.insert(seq);
    }

    /// Whether a message may be sent, at the latest when one in flight has ended.
    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty() && self.save.disable.is_none()
    }

    /// How many messages failed, or wait behind one that did.
    pub(super) fn waiting(&self) -> usize {
        self.messages.len() - self.unsaved
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.save.is_dirty
    }

    /// Whether the endpoint is about to be disabled, and why.
    pub(super) fn disabled(&self) -> Option<DisabledReason> {
        self.save.disable.map(|(reason, _)| reason)
    }

    /// How far the endpoint is, once the messages that wait have their rows.
    fn progress(&self) -> Progress {
        let first = self.messages.iter().find(|(_, message)| !message.has_row);
        let (cursor, last) = match first {
            Some((seq, message)) => (seq - 1, message.previous),
            None => (self.read_to, self.last),
        };
        Progress {
            cursor,
            last,
            failing_since: self.failing_since,
        }
    }

    /// Returns the progress that the store must save, with the lease from then on.
    pub(super) fn update(&self, lease: Lease) -> DeliveryUpdate {
        let waiting = self.save.waiting.iter().filter_map(|seq| {
            let message = self.messages.get(seq)?;
            Some(Waiting {
                seq: *seq,
                previous: message.previous,
                lane: message.lane.clone(),
                failures: message.failures,
                due_at: message.due_at,
            })
        });
        DeliveryUpdate {
            webhook: self.webhook.id,
            seen: self.lease,
            lease,
            progress: Some(self.progress()),
            waiting: waiting.collect(),
            done: self.save.done.clone(),
            attempts: self.save.attempts.clone(),
            forget_before: None,
            disable: self.save.disable,
        }
    }

    /// Notes that the store has saved the last update.
    pub(super) fn saved(&mut self, lease: Lease) {
        self.lease = lease;
        self.save = Unsaved::default();
    }
}
