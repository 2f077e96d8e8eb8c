//! The log lines and the counts of changes.

use tracing::info;

use crate::{
    domain::{
        Actor,
        store_area::{Change, Resource},
    },
    observe::{log, metrics::ChangeMetrics},
};

/// Counts and logs each change that is committed. A line has no names or notes.
pub(crate) fn record(
    metrics: &ChangeMetrics,
    changes: &[Change],
    actor: Actor,
    request_id: Option<&str>,
) {
    metrics.count(changes);
    for Change { kind, before, after } in changes {
        let Some(resource) = after.as_ref().or(before.as_ref()) else {
            continue;
        };
        let (subject, id) = match resource {
            Resource::Pet(pet) => ("pet", pet.id.get()),
            Resource::Order(order) => ("order", order.id.get()),
            Resource::Category(category) => ("category", category.id),
        };
        info!(
            target: log::CHANGES,
            principal = actor.to_string(),
            request_id,
            r#type = kind.as_str(),
            subject = format!("{subject}:{id}"),
            version = resource.version(),
            "change"
        );
    }
}
