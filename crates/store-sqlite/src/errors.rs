//! Classifies the errors of SQLite.

use rusqlite::ErrorCode;

/// Whether the error is due to damaged or invalid content of the file, rather than to a failed access
/// to it.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;

    match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => true,
        _ => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    }
}
