//! The store's time zone, for rendering the times on pages. It is a task-local of the request.

use std::cell::RefCell;

use petstore_domain::store_area::StoreTimeZone;
use tokio::task_local;

task_local! {
    /// The time zone of the store; `None` if the store has none.
    ///
    /// It is a task-local, like the language, because nearly every page shows times. As an
    /// argument, it would have to be passed through many functions.
    static ZONE: RefCell<Option<StoreTimeZone>>;
}

/// Runs the handling of a request in a scope in which [`set_zone`] and [`store_zone`] can be
/// called. The zone of one request is not visible in other requests.
pub(super) fn with_zone<T>(handling: impl Future<Output = T>) -> impl Future<Output = T> {
    ZONE.scope(RefCell::default(), handling)
}

/// Sets the store's time zone for the rest of the request.
pub(super) fn set_zone(zone: Option<StoreTimeZone>) {
    // Fails only outside of the scope of a request.
    _ = ZONE.try_with(|current_zone| current_zone.replace(zone));
}

/// Returns the store's time zone; `None` if it has none. Pages then show times in UTC, and their
/// script converts them to the zone of the device.
pub(super) fn store_zone() -> Option<StoreTimeZone> {
    // Outside of the scope of a request, there is no zone either.
    ZONE.try_with(|zone| zone.borrow().clone()).ok().flatten()
}
