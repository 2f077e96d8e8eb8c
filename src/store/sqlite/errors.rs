//! The meanings of SQLite's errors.

use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::store::StoreError;

/// Distinguishes failures that may pass from invalid states.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full(Arc::new(error)),
            Some(
                Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::SystemIoFailure
                | Code::CannotOpen
                | Code::ReadOnly
                | Code::FileLockingProtocolFailed
                | Code::OutOfMemory,
            ) => Self::Unavailable(Arc::new(error)),
            _ => Self::Internal(Arc::new(error)),
        }
    }
}

/// Whether the error is due to the content of the file, rather than to its access.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    match error {
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::InvalidColumnType(..)
        | E::Utf8Error(..) => true,
        other => matches!(
            other.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    }
}
