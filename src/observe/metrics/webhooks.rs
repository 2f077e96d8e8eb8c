//! The metrics of webhooks.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::{Counter, Exposition, Kind};

/// The state of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WebhookState {
    pub is_enabled: bool,
    pub is_failing: bool,
    /// How many changes it is behind the log.
    pub lag: i64,
    /// How many of its messages failed, or wait behind one that did; `None` if another process
    /// serves it, or none.
    pub waiting: Option<usize>,
}

/// The outcomes of attempts, as their label spells them.
const OUTCOMES: [&str; 9] =
    ["delivered", "status", "redirect", "timeout", "connect", "tls", "dns", "address", "protocol"];

/// Counts the attempts of this process, and shows the state of the webhooks.
#[derive(Debug, Default)]
pub struct WebhookMetrics {
    attempts: [Counter; OUTCOMES.len()],
    states: Mutex<BTreeMap<i64, WebhookState>>,
}

impl WebhookMetrics {
    /// Counts an attempt, by the class of its failure.
    pub fn count(&self, error: Option<&str>) {
        let outcome = error.unwrap_or("delivered");
        if let Some(at) = OUTCOMES.iter().position(|&known| known == outcome) {
            self.attempts[at].count();
        }
    }

    pub fn note(&self, states: BTreeMap<i64, WebhookState>) {
        *self.states.lock().unwrap_or_else(PoisonError::into_inner) = states;
    }

    pub fn expose(&self, page: &mut Exposition) {
        let name = "petstore_webhook_attempts_total";
        page.begin(
            Kind::Counter,
            name,
            "Attempts of this process to deliver a message, by outcome.",
        );
        for (outcome, counter) in OUTCOMES.iter().zip(&self.attempts) {
            page.sample(name, &[("outcome", outcome)], counter.get());
        }
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut gauge = |name, help, value: fn(&WebhookState) -> Option<i64>| {
            page.begin(Kind::Gauge, name, help);
            for (id, state) in &states {
                if let Some(value) = value(state) {
                    page.sample(name, &[("webhook", id)], value);
                }
            }
        };
        gauge("petstore_webhook_enabled", "Whether the webhook is enabled: 1, or 0.", |state| {
            Some(state.is_enabled.into())
        });
        gauge(
            "petstore_webhook_served",
            "Whether this process serves the webhook: 1, or 0.",
            |state| Some(state.waiting.is_some().into()),
        );
        gauge("petstore_webhook_failing", "Whether the last attempt failed: 1, or 0.", |state| {
            Some(state.is_failing.into())
        });
        gauge(
            "petstore_webhook_lag_changes",
            "How many changes the webhook is behind the log.",
            |state| Some(state.lag),
        );
        gauge(
            "petstore_webhook_waiting_messages",
            "Messages that failed, or wait for one that did. Only in the process that serves it.",
            |state| state.waiting.map(|waiting| i64::try_from(waiting).unwrap_or(i64::MAX)),
        );
    }
}
