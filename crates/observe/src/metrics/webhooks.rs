//! The metrics of webhooks: the attempts of this process, and the state of each webhook.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use petstore_domain::store_area::WebhookId;

use super::{Counter, Exposition, Kind};

/// The state of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WebhookState {
    pub is_enabled: bool,
    pub is_failing: bool,
    /// The number of changes that it is behind the log.
    pub lag: i64,
    /// The number of its messages that failed, or wait for one that did; `None` if another process
    /// serves it, or none.
    pub waiting: Option<usize>,
}

/// The outcomes of attempts, as their label spells them.
const OUTCOMES: [&str; 9] = [
    "delivered",
    "status",
    "redirect",
    "timeout",
    "connect",
    "tls",
    "dns",
    "address",
    "protocol",
];

/// A metric of the present state of each webhook.
struct StateGauge {
    name: &'static str,
    help: &'static str,
    /// Returns the value of a webhook, if this process knows it.
    value: fn(&WebhookState) -> Option<i64>,
}

const GAUGES: [StateGauge; 5] = [
    StateGauge {
        name: "petstore_webhook_enabled",
        help: "Whether the webhook is enabled: 1, or 0.",
        value: |state| Some(state.is_enabled.into()),
    },
    StateGauge {
        name: "petstore_webhook_served",
        help: "Whether this process serves the webhook: 1, or 0.",
        value: |state| Some(state.waiting.is_some().into()),
    },
    StateGauge {
        name: "petstore_webhook_failing",
        help: "Whether the last attempt failed: 1, or 0.",
        value: |state| Some(state.is_failing.into()),
    },
    StateGauge {
        name: "petstore_webhook_lag_changes",
        help: "How many changes the webhook is behind the log.",
        value: |state| Some(state.lag),
    },
    StateGauge {
        name: "petstore_webhook_waiting_messages",
        help: "Messages that failed, or wait for one that did. Only in the process that serves it.",
        value: |state| {
            let count = state.waiting?;
            Some(i64::try_from(count).unwrap_or(i64::MAX))
        },
    },
];

/// Counts the attempts of this process, and shows the state of the webhooks.
#[derive(Debug, Default)]
pub struct WebhookMetrics {
    attempts: [Counter; OUTCOMES.len()],
    states: Mutex<BTreeMap<WebhookId, WebhookState>>,
}

impl WebhookMetrics {
    /// Counts an attempt, by the class of its failure.
    pub fn count(&self, error: Option<&str>) {
        let outcome = error.unwrap_or("delivered");
        if let Some(index) = OUTCOMES.iter().position(|&label| label == outcome) {
            self.attempts[index].count();
        }
    }

    /// Replaces the states of all webhooks.
    pub fn note(&self, states: BTreeMap<WebhookId, WebhookState>) {
        *self.states.lock() = states;
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_webhook_attempts_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Attempts of this process to deliver a message, by outcome.",
        );
        for (outcome, counter) in OUTCOMES.iter().zip(&self.attempts) {
            exposition.sample(name, &[("outcome", outcome)], counter.get());
        }
        let states = self.states.lock().clone();
        for gauge in &GAUGES {
            exposition.begin(Kind::Gauge, gauge.name, gauge.help);
            for (id, state) in &states {
                if let Some(value) = (gauge.value)(state) {
                    exposition.sample(gauge.name, &[("webhook", id)], value);
                }
            }
        }
    }
}
