//! Classifies the errors of SQLite.

use rusqlite::ErrorCode;

/// Whether the cause of the error is damaged or invalid content of the file, and not a failed access to
/// the file.
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
