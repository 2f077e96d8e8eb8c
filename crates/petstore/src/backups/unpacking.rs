//! Decompresses a backup to a database file.

use std::{
    fs::File,
    io::{self, ErrorKind, Write},
};

use flate2::write::GzDecoder;
use jiff::Timestamp;

use super::{names::backup_name, storage::BackupStorage};

/// Decompresses the backup with this time in the storage into `database`. If the backup is damaged,
/// the kind of the error is `InvalidData`.
pub fn unpack_from_storage(
    storage: &BackupStorage,
    time: Timestamp,
    database: &mut File,
) -> io::Result<()> {
    decompress(database, |decoder| {
        storage.read(&backup_name(time), decoder)
    })
}

/// Decompresses the backup in a file, whatever its name, into `database`. If the backup is damaged,
/// the kind of the error is `InvalidData`.
pub fn unpack_file(backup: &mut File, database: &mut File) -> io::Result<()> {
    decompress(database, |decoder| {
        io::copy(backup, decoder)?;
        Ok(())
    })
}

/// Decompresses the bytes that `write_compressed` writes, into `output`.
fn decompress(
    output: &mut File,
    write_compressed: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut decoder = GzDecoder::new(output);
    let result = write_compressed(&mut decoder).and_then(|()| decoder.try_finish());
    result.map_err(|error| match error.kind() {
        // The decoder reports damaged or truncated content with these kinds.
        ErrorKind::InvalidInput | ErrorKind::UnexpectedEof | ErrorKind::WriteZero => {
            io::Error::new(ErrorKind::InvalidData, error)
        }
        _ => error,
    })
}
