//! What becomes known about a request while it is processed.

use std::time::Duration;

use super::{error::Problem, route::Label};
use crate::domain::{Actor, rate_limit::Reading};

/// What the log, the metrics, the trace and the header fields need to know about a request.
#[derive(Default)]
pub(crate) struct Facts {
    /// How long the operation may wait before it responds.
    pub(super) may_wait: Duration,
    /// Who sent the request, as far as the service knows.
    pub(crate) principal: Option<Actor>,
    /// The rate limit of the key, if it has one.
    pub(crate) rate: Option<Reading>,
    /// The operation, if the client may know it.
    pub(crate) route: Option<Label>,
    pub(super) problem: Option<Problem>,
}
