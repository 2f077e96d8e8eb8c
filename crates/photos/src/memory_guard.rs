//! Stops a decoder that takes too much memory.

use std::{
    fs,
    io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom},
};

/// The maximum memory for decoding a picture, including its file, in bytes. Together with the
/// memory that allocators do not release at once, the process grows by at most 256 MiB.
pub(super) const MAX_MEMORY: u64 = 240 << 20;

/// How many bytes a guarded decoder reads between two checks of the memory. The number is small
/// because a lossless WebP can declare tables that take 9,000 times as much memory as bytes in the
/// file, and its decoder has no limit of its own.
const BYTES_BETWEEN_CHECKS: usize = 1 << 10;

/// How many bytes are read at once from a picture that is not guarded.
const UNCHECKED_READ_LENGTH: usize = 64 << 10;

/// A reader of a picture, whose reads fail once the decoder has taken too much memory. The failure
/// stops the decoder.
pub(super) struct GuardedPicture<'p> {
    picture: Cursor<&'p [u8]>,
    /// The memory of the process, in bytes, above which reads fail. `None` disables the check.
    memory_limit: Option<u64>,
}

impl<'p> GuardedPicture<'p> {
    /// Creates a buffered reader of a picture. If `needs_guard` is true, the decoder that uses the
    /// reader may take at most [`MAX_MEMORY`].
    pub(super) fn reader(picture: &'p [u8], needs_guard: bool) -> BufReader<Self> {
        let picture = Cursor::new(picture);
        if !needs_guard {
            let unguarded_picture = Self {
                picture,
                memory_limit: None,
            };
            return BufReader::with_capacity(UNCHECKED_READ_LENGTH, unguarded_picture);
        }
        let guarded_picture = Self {
            picture,
            memory_limit: process_memory().map(|memory| memory + MAX_MEMORY),
        };
        BufReader::with_capacity(BYTES_BETWEEN_CHECKS, guarded_picture)
    }
}

impl Read for GuardedPicture<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(memory_limit) = self.memory_limit
            && let Some(memory) = process_memory()
            && memory > memory_limit
        {
            return Err(ErrorKind::OutOfMemory.into());
        }
        self.picture.read(buffer)
    }
}

impl Seek for GuardedPicture<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.picture.seek(position)
    }
}

/// Returns the memory of this process without mapped files, in bytes: `RssAnon` of
/// `/proc/self/status`. Returns `None` if the system does not report it.
fn process_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes = value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(kibibytes << 10)
}
