//! The two versions of a resource that a transaction tracks: before and after its commands.

/// A resource as it was read from the database, and with the effects of the commands so far. `None`
/// means that it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions<T> {
    /// The resource as it was read, before the commands.
    pub read: Option<T>,
    /// The resource with the effects of the commands so far.
    pub now: Option<T>,
}

impl<T: Clone + PartialEq> Versions<T> {
    /// Makes the versions of a resource that no command has changed yet.
    pub(super) fn unchanged(resource: T) -> Self {
        Self {
            now: Some(resource.clone()),
            read: Some(resource),
        }
    }

    /// Makes the versions of a resource that does not exist yet.
    pub(super) fn new() -> Self {
        Self {
            read: None,
            now: None,
        }
    }

    pub(super) fn is_changed(&self) -> bool {
        self.read != self.now
    }
}
