//! A picture that ends early when its decoder takes too much memory.

use std::{
    fs,
    io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom},
};

/// The most memory that a picture may need with its file, in bytes. With what allocators do not give back
/// at once, the process grows by at most 256 MiB.
pub(super) const MAX_MEMORY: u64 = 240 << 20;

/// How many bytes are read between two looks at the memory. A lossless WebP can declare tables that take
/// 9,000 times as much memory as they have bytes, and its decoder has no limit of its own.
const PIECE: usize = 1 << 10;

/// See the module.
pub(super) struct Guarded<'p> {
    picture: Cursor<&'p [u8]>,
    /// The memory of the process at which it ends.
    most: Option<u64>,
}

impl<'p> Guarded<'p> {
    pub(super) fn new(picture: &'p [u8], is_guarded: bool) -> BufReader<Self> {
        let most = is_guarded.then(resident).flatten().map(|now| now + MAX_MEMORY);
        let length = if is_guarded { PIECE } else { 64 * PIECE };
        BufReader::with_capacity(length, Self { picture: Cursor::new(picture), most })
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match (self.most, self.most.and_then(|_| resident())) {
            (Some(most), Some(now)) if now > most => Err(ErrorKind::OutOfMemory.into()),
            _ => self.picture.read(into),
        }
    }
}

impl Seek for Guarded<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.picture.seek(to)
    }
}

/// The memory of this process without that of files, in bytes.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
