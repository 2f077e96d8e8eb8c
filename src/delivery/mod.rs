//! Webhooks: messages to the endpoints of others about each change.

mod address;
mod connector;
mod endpoint_url;
mod signature;

pub use self::{
    address::{FORBIDDEN, judge},
    connector::{ATTEMPT_LIMIT, AttemptError, Connector, Delivered, Resolve, SystemResolver},
    endpoint_url::EndpointUrl,
    signature::{Secret, sign},
};
