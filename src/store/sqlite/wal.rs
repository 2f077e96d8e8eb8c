//! The write-ahead log, as a process left it that did not end well.

use std::{error::Error, fs::OpenOptions, io, os::unix::fs::FileExt, path::Path};

use rusqlite::{Connection, TransactionBehavior};

use super::wal_index::WalIndex;

/// How many bytes are rewritten at once.
const CHUNK: usize = 1 << 20;

/// Sees to it that what can be read from the log is on disk.
///
/// When a sync fails, the operating system may forget that it did not write
/// what it should have. If the process dies then, the next one finds
/// transactions in the log that can be read but are on no disk, and no sync
/// brings them there. SQLite takes them for committed and appends to them;
/// after a power cut, the log would end where they begin, whatever was
/// acknowledged since. So all of the log is written once more, and synced,
/// before anything is appended.
///
/// # Errors
///
/// If that fails. The log is as it was, and nothing may be committed.
pub(super) fn bring_to_disk(
    connection: &mut Connection,
    wal_index: &WalIndex,
    path: &Path,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    if wal_index.was_committed_to() {
        return Ok(());
    }
    // Nobody appends while this is held.
    let held = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !wal_index.was_committed_to() {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        rewrite(Path::new(&log))?;
    }
    Ok(held.rollback()?)
}

/// Writes a file over itself.
fn rewrite(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut chunk = vec![0; CHUNK];
    let mut offset = 0;
    loop {
        let length = file.read_at(&mut chunk, offset)?;
        if length == 0 {
            return file.sync_all();
        }
        file.write_all_at(&chunk[..length], offset)?;
        offset += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_rewritten_file_is_the_same() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("log");
        for length in [0, 1, CHUNK, 2 * CHUNK + 7] {
            let content: Vec<u8> = (0..=250).cycle().take(length).collect();
            fs::write(&path, &content).unwrap();
            rewrite(&path).unwrap();
            assert!(fs::read(&path).unwrap() == content, "{length}");
        }
    }
}
