//! The metrics of webhooks: the attempts of this process, and the state of each webhook.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use petstore_domain::store_area::WebhookId;

use super::{Counter, Exposition, Kind};

/// The state of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WebhookState {
    /// Whether messages are delivered to the webhook.
    pub is_enabled: bool,
    /// Whether the last attempt failed.
    pub is_failing: bool,
    /// How many changes the webhook is behind the journal.
    pub lag: i64,
    /// The number of its messages that failed, or that wait behind a failed message. Only the
    /// process that serves the webhook knows this number.
    pub waiting: Option<usize>,
}

/// The outcome of an attempt whose message was delivered.
const DELIVERED: &str = "delivered";

/// The values of the label `outcome`: success, or the class of the error.
const OUTCOMES: [&str; 9] = [
    DELIVERED, "status", "redirect", "timeout", "connect", "tls", "dns", "address", "protocol",
];

/// A gauge that shows one aspect of the state of each webhook.
struct StateGauge {
    name: &'static str,
    help: &'static str,
    /// Returns the value for a webhook, if this process knows it.
    value: fn(&WebhookState) -> Option<i64>,
}

/// The gauges that each webhook has.
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

/// The number of delivery attempts of this process by outcome, and the state of each webhook.
#[derive(Debug, Default)]
pub struct WebhookMetrics {
    /// The numbers of attempts, in the order of [`OUTCOMES`].
    attempts: [Counter; OUTCOMES.len()],
    states: Mutex<BTreeMap<WebhookId, WebhookState>>,
}

impl WebhookMetrics {
    /// Counts an attempt by the class of its error. Without an error, the message was delivered.
    pub fn count(&self, error_class: Option<&str>) {
        let outcome = error_class.unwrap_or(DELIVERED);
        if let Some(index) = OUTCOMES.iter().position(|&label| label == outcome) {
            self.attempts[index].count();
        }
    }

    /// Replaces the states of all webhooks.
    pub fn set_states(&self, states: BTreeMap<WebhookId, WebhookState>) {
        *self.states.lock() = states;
    }

    /// Writes the number of attempts with each outcome, and all gauges with their value for each
    /// webhook.
    pub fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_webhook_attempts_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Attempts of this process to deliver a message, by outcome.",
        );
        // The counters are in the order of the outcomes.
        for (outcome, counter) in OUTCOMES.iter().zip(&self.attempts) {
            exposition.sample(name, &[("outcome", outcome)], counter.get());
        }
        // A copy, so that the states are not locked while they are written.
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
