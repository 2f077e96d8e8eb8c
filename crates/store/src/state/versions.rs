//! The two versions of a resource that a transaction knows: before its commands and after them.

/// A resource as it was read, and as the commands so far leave it. `None` if it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions<T> {
    pub read: Option<T>,
    pub now: Option<T>,
}

impl<T: Clone + PartialEq> Versions<T> {
    pub(super) fn unchanged(resource: T) -> Self {
        Self {
            now: Some(resource.clone()),
            read: Some(resource),
        }
    }

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
