//! Webhooks: delivers each change as a signed message to the endpoints that clients have
//! registered.

mod connector;
mod decision;
mod dispatcher;
mod endpoint;
mod endpoint_url;
mod message;
mod registrar;
mod schedule;
mod sending;
mod signature;
mod vault;

pub use self::{
    connector::{ATTEMPT_TIMEOUT, AttemptError, Connector, EndpointResponse, SignedFields},
    decision::{DecisionError, NewWebhook, WebhookCommand, WebhookDecision, decide, has_secrets},
    dispatcher::Dispatcher,
    endpoint_url::EndpointUrl,
    registrar::{NewSecret, Registrar},
    signature::{Secret, sign},
    vault::{Vault, VaultError},
};
