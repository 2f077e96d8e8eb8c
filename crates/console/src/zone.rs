//! The time zone of the store during a request, which the words for times need.

use std::cell::RefCell;

use petstore_domain::store_area::StoreTimeZone;
use tokio::task_local;

task_local! {
    /// The time zone of the store; `None` without one. It is with the request and no argument, as the language is, because
    /// most pages show times.
    static ZONE: RefCell<Option<StoreTimeZone>>;
}

/// Handles a request, which can set the time zone.
pub(super) fn with_zone<T>(handling: impl Future<Output = T>) -> impl Future<Output = T> {
    ZONE.scope(RefCell::default(), handling)
}

/// Sets the time zone of the store for the remaining request.
pub(super) fn set_zone(zone: Option<StoreTimeZone>) {
    _ = ZONE.try_with(|current_zone| current_zone.replace(zone));
}

/// Returns the time zone of the store. Without one, people read times in the zone of their device, or else in UTC.
pub(super) fn store_zone() -> Option<StoreTimeZone> {
    ZONE.try_with(|zone| zone.borrow().clone()).ok().flatten()
}
