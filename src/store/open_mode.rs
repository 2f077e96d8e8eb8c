//! What to do when a database is opened.

/// How to treat a database that does not exist, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this:
    /// otherwise a command could change the schema under a running service.
    CreateAndMigrate,
    /// Create a missing database, and reject an older one.
    Create,
    /// Reject a missing database, and an older one.
    AsIs,
}
