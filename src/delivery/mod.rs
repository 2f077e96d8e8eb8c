//! Webhooks: messages to the endpoints of others about each change.

mod address;
mod connector;
mod decision;
mod dispatcher;
mod endpoint;
mod endpoint_url;
mod message;
mod registrar;
mod resolver;
mod schedule;
mod sending;
mod signature;
mod vault;

pub(crate) use self::resolver::Lookups;
pub use self::{
    address::{FORBIDDEN, judge},
    connector::{ATTEMPT_LIMIT, AttemptError, Connector, Delivered},
    decision::{Decided, DecisionError, Wanted, decide, has_secrets},
    dispatcher::Dispatcher,
    endpoint_url::EndpointUrl,
    registrar::Registrar,
    resolver::{Resolve, SystemResolver},
    signature::{Secret, sign},
    vault::{Vault, VaultError},
};
