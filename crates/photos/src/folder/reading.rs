//! Reads files in a folder, either blocking or, if they are cached, without blocking.

use std::{
    fs::File,
    io::{self, ErrorKind, IoSliceMut},
    os::unix::fs::FileExt,
};

use petstore_domain::store_area::PhotoFile;
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat, openat2},
    io::{ReadWriteFlags, preadv2},
};

use super::{Folder, SAFE_FLAGS};
use crate::files::Piece;

/// The file systems on which reopening a file waits neither for a disk nor for a network, by their
/// magic numbers in statfs(2): ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs.
const LOCAL_FILE_SYSTEMS: [u32; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x0102_1994,
    0x794c_7630,
];

impl Folder {
    /// Reads at most `max_length` bytes of a file, starting at `offset`. Returns `None` if the file
    /// does not exist.
    pub(crate) fn read(
        &self,
        file: PhotoFile,
        offset: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let path = self.file_path(file);
        let open_file = match openat(CWD, path, SAFE_FLAGS | OFlags::RDONLY, Mode::empty()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            result => File::from(result?),
        };
        self.is_local.get_or_init(|| is_local(&open_file));

        let file_length = open_file.metadata()?.len();
        let mut bytes = vec![0; piece_length(file_length, offset, max_length)];
        open_file.read_exact_at(&mut bytes, offset)?;
        Ok(Some(Piece { bytes, file_length }))
    }

    /// Reads a piece of a file like [`Self::read`], but without blocking. Returns `None` unless the
    /// file is in a local file system and the page cache has the whole piece.
    ///
    /// Threads that must not block try this first. For a photo, passing the read to another thread
    /// would cost as much time as everything else together.
    pub(crate) fn read_cached(
        &self,
        file: PhotoFile,
        offset: u64,
        max_length: usize,
    ) -> Option<Piece> {
        // Until the first blocking read, it is unknown whether the file system is local.
        if self.is_local.get() != Some(&true) {
            return None;
        }
        // After any error, the caller uses the blocking `read`.
        let open_file = openat2(
            CWD,
            self.file_path(file),
            SAFE_FLAGS | OFlags::RDONLY,
            Mode::empty(),
            ResolveFlags::CACHED,
        )
        .ok()?;

        let file_length = u64::try_from(fstat(&open_file).ok()?.st_size).ok()?;
        let mut bytes = vec![0; piece_length(file_length, offset, max_length)];
        let buffers = &mut [IoSliceMut::new(&mut bytes)];
        let read_length = preadv2(&open_file, buffers, offset, ReadWriteFlags::NOWAIT).ok()?;
        if read_length != bytes.len() {
            return None;
        }
        Some(Piece { bytes, file_length })
    }
}

/// Whether a file is in one of the [`LOCAL_FILE_SYSTEMS`].
fn is_local(file: &File) -> bool {
    let Ok(file_system) = fstatfs(file) else {
        return false;
    };
    LOCAL_FILE_SYSTEMS
        .iter()
        // The type of `f_type` depends on the platform, so both sides are widened.
        .any(|&magic_number| i128::from(magic_number) == i128::from(file_system.f_type))
}

/// Returns the number of bytes from `offset` to the end of a file, but at most `max_length`.
fn piece_length(file_length: u64, offset: u64, max_length: usize) -> usize {
    let remaining = file_length.saturating_sub(offset);
    let remaining_length = usize::try_from(remaining).unwrap_or(usize::MAX);
    remaining_length.min(max_length)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use petstore_domain::store_area::{PhotoId, PhotoSize};

    use super::*;

    #[test]
    fn what_is_read_without_waiting_is_what_the_file_has() {
        let storage = tempfile::tempdir().unwrap();
        let folder = Folder::new(storage.path().to_owned());
        let id = PhotoId(7);
        let contents = [vec![1; 3], vec![2; 100_000], Vec::new(), vec![3; 4]];
        folder
            .write(id, &contents.clone().map(Bytes::from))
            .unwrap();
        let files = PhotoFile::all(id);

        // The file system is unknown until the first blocking read.
        assert_eq!(folder.read_cached(files[0], 0, 10), None);
        assert_eq!(
            folder.read(files[0], 0, 10).unwrap().unwrap().bytes,
            contents[0]
        );
        let is_local = folder.is_local.get() == Some(&true);
        for (file, content) in files.into_iter().zip(contents) {
            for (offset, max_length) in [(0, 200_000), (0, 70_000), (70_000, 70_000), (100_000, 1)]
            {
                let piece = folder
                    .read(file, offset as u64, max_length)
                    .unwrap()
                    .unwrap();
                let start = content.len().min(offset);
                let end = content.len().min(start + max_length);
                assert_eq!(piece.bytes, content[start..end]);
                assert_eq!(piece.file_length, content.len() as u64);
                // The kernel may refuse a read without waiting at any time.
                let cached = folder.read_cached(file, offset as u64, max_length);
                assert!(cached.is_none() || (is_local && cached == Some(piece)));
            }
        }
        let missing = PhotoFile {
            id: PhotoId(8),
            size: PhotoSize::Small,
        };
        assert_eq!(folder.read_cached(missing, 0, 1), None);
        assert_eq!(folder.read(missing, 0, 1).unwrap(), None);
    }
}
