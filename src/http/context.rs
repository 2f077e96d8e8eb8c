//! What all operations need of HTTP.

use std::time::Duration;

use super::etag::Tags;
use crate::edge::ResponseMemory;

/// What the responses of all operations share.
pub(crate) struct Context {
    pub(crate) memory: ResponseMemory,
    pub(crate) tags: Tags,
    /// The path of the base address as clients see it, used in links.
    pub(crate) base_path: String,
    /// How long a client may take to send a body.
    pub(crate) body_timeout: Duration,
}
