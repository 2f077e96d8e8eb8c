//! Makes the WAL durable that a process has left behind without shutting down cleanly.

use std::{error::Error, fs::OpenOptions, io, os::unix::fs::FileExt, path::Path};

use rusqlite::TransactionBehavior;

use super::{connection::Connection, file_identity::companion_path, wal_index::WalIndex};

/// The size of the chunks in which the WAL is rewritten, in bytes.
const CHUNK_LENGTH: usize = 1 << 20;

/// Makes sure that everything that can be read from the WAL is on disk.
///
/// When a sync fails, the operating system may mark the unwritten pages in its cache as clean. They are
/// then not on disk, and no later sync writes them. If the process dies, the next one still reads their
/// transactions from the WAL. SQLite treats these as committed, and appends to them. After a power cut,
/// the WAL would end before them, and everything acknowledged since would be lost. So this rewrites and
/// syncs the whole WAL before anything is appended.
///
/// # Errors
///
/// If rewriting fails. The content of the WAL is then unchanged, but the caller must not commit anything.
pub(super) fn make_durable(
    connection: &mut Connection,
    wal_index: &WalIndex,
    path: &Path,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    // Every process makes the WAL durable before its first commit. So if any process has committed since
    // the `-shm` file was rebuilt, the WAL is durable already.
    if wal_index.has_commits() {
        return Ok(());
    }
    // No other process can append while this transaction is open, so check again.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !wal_index.has_commits() {
        rewrite(&companion_path(path, "-wal"))?;
    }
    Ok(transaction.rollback()?)
}

/// Overwrites a file with its own content, so that the sync at the end writes all of it to the
/// disk. A sync on its own would skip the pages that the operating system has marked as clean.
fn rewrite(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut chunk = vec![0; CHUNK_LENGTH];
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
        let path = directory.path().join("wal");
        for length in [0, 1, CHUNK_LENGTH, 2 * CHUNK_LENGTH + 7] {
            let content: Vec<u8> = (0..=250).cycle().take(length).collect();
            fs::write(&path, &content).unwrap();
            rewrite(&path).unwrap();
            assert!(fs::read(&path).unwrap() == content, "{length}");
        }
    }
}
