//! What happens to every request, whichever operation it asks for.

pub(super) mod compression;
pub(super) mod cors;
pub(super) mod forwarded;
pub(super) mod log;
pub(super) mod metrics;
pub(super) mod request_head;
pub(super) mod request_id;
pub(crate) mod response_memory;
pub(super) mod trace;
pub(super) mod trace_context;
