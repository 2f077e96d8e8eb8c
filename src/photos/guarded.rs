//! A picture that ends early when its decoder takes too much memory.

use std::{
    fs,
    io::{self, BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom},
};

use super::inspect::{MAX_MEMORY, Plan};

/// How many bytes are read between two looks at the memory. A lossless WebP can declare tables that take
/// 9,000 times as much memory as they have bytes, and its decoder has no limit of its own.
const PIECE: u64 = 1 << 10;

/// See the module.
pub(super) struct Guarded<'p> {
    picture: Cursor<&'p [u8]>,
    /// The memory of the process at which it ends, if it is guarded, and the piece that comes next.
    guard: Option<(u64, u64)>,
}

impl<'p> Guarded<'p> {
    pub(super) fn new(picture: &'p [u8], plan: &Plan) -> Self {
        let guard = plan.is_guarded.then(resident).flatten().map(|now| (now + MAX_MEMORY, 0));
        Self { picture: Cursor::new(picture), guard }
    }
}

impl BufRead for Guarded<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let piece = self.picture.position() / PIECE;
        let Some((most, next)) = &mut self.guard else { return self.picture.fill_buf() };
        if piece >= *next {
            *next = piece + 1;
            if resident().is_some_and(|now| now > *most) {
                return Err(ErrorKind::OutOfMemory.into());
            }
        }
        let to_end = usize::try_from((piece + 1) * PIECE - self.picture.position());
        let rest = self.picture.fill_buf()?;
        Ok(&rest[..rest.len().min(to_end.unwrap_or_default())])
    }

    fn consume(&mut self, length: usize) {
        self.picture.consume(length);
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }

    /// In exactly as much memory as it needs.
    fn read_to_end(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        self.picture.read_to_end(into)
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
