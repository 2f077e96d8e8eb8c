//! Reads the frames of a WAL, to detect missing frames. A frame is a header and a page (SQLite, "The
//! WAL File Format").

use std::{fs::File, ops::Range, os::unix::fs::FileExt};

use super::wal_index::FileVersion;

/// The length of the header of a WAL, in bytes.
const WAL_HEADER: usize = 32;

/// The length of the header of a frame, in bytes.
const FRAME_HEADER: usize = 24;

/// The bytes of the header of a WAL with its salts, which its frames repeat.
const SALTS_OF_WAL: Range<usize> = 16..24;

/// The bytes of the header of a frame with the salts of its WAL.
const SALTS_OF_FRAME: Range<usize> = 8..16;

/// The bytes of the header of a frame with the checksum of the WAL up to this frame.
const CHECKSUM_OF_FRAME: Range<usize> = 16..24;

/// The first three bytes of every WAL. The fourth tells the byte order of its checksums.
const WAL_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// A frame of the WAL that ends a transaction.
pub(super) struct Frame {
    salts: [u8; 8],
    /// The offset of the frame in the WAL, in bytes.
    position: u64,
    header: [u8; FRAME_HEADER],
}

/// The error for a WAL that lacks committed transactions.
pub(super) struct IncompleteWal;

/// Returns the last frame of a WAL of `size` bytes at this version; `None` for an empty WAL.
///
/// To check cheaply that the WAL is complete, verifies its header, its last frame, and
/// `former_frame`, which was the last frame at an earlier check. Fails if one of them is missing or
/// different.
pub(super) fn find_last_frame(
    wal: &File,
    size: u64,
    version: &FileVersion,
    former_frame: Option<&Frame>,
) -> Result<Option<Frame>, IncompleteWal> {
    let Some(last_index) = version.pages_in_wal().checked_sub(1) else {
        return Ok(None);
    };
    let position = frame_position(last_index, version);
    if size < position + frame_size(version) {
        return Err(IncompleteWal);
    }
    let salts = version.salts();
    let wal_header: [u8; WAL_HEADER] = read_bytes(wal, 0).ok_or(IncompleteWal)?;
    let header: [u8; FRAME_HEADER] = read_bytes(wal, position).ok_or(IncompleteWal)?;
    let is_former_frame_intact = match former_frame {
        Some(frame) if frame.salts == salts => {
            read_bytes(wal, frame.position) == Some(frame.header)
        }
        // The WAL has restarted since the earlier check, or there was none.
        _ => true,
    };
    let is_complete = wal_header[SALTS_OF_WAL] == salts
        && header[SALTS_OF_FRAME] == salts
        && header[CHECKSUM_OF_FRAME] == version.checksum()
        && is_former_frame_intact;
    if !is_complete {
        return Err(IncompleteWal);
    }
    Ok(Some(Frame {
        salts,
        position,
        header,
    }))
}

/// Returns the size of a frame, in bytes.
fn frame_size(version: &FileVersion) -> u64 {
    FRAME_HEADER as u64 + version.page_size()
}

/// Returns the offset of a frame in the WAL, in bytes. `index` counts the frames from 0.
fn frame_position(index: u32, version: &FileVersion) -> u64 {
    WAL_HEADER as u64 + u64::from(index) * frame_size(version)
}

/// Whether the WAL has every frame up to this version, judging by the salts of each frame.
fn has_all_frames(wal: &File, version: &FileVersion) -> bool {
    for index in 0..version.pages_in_wal() {
        match read_bytes::<FRAME_HEADER>(wal, frame_position(index, version)) {
            Some(header) if header[SALTS_OF_FRAME] == version.salts() => {}
            _ => return false,
        }
    }
    true
}

/// Whether the WAL was restarted after the `-shm` file with this version was written. A restarted
/// WAL has other salts.
pub(super) fn is_restarted(wal: &File, version: &FileVersion) -> bool {
    read_bytes::<WAL_HEADER>(wal, 0).is_some_and(|header| {
        header.starts_with(&WAL_MAGIC) && header[SALTS_OF_WAL] != version.salts()
    })
}

/// Whether the WAL is complete up to this version. The last frame does not prove this: if the WAL
/// was truncated during a commit, that commit leaves a hole before its own frames. So this reads the
/// header of every frame.
pub(super) fn is_complete(wal: &File, version: &FileVersion) -> bool {
    let size = wal.metadata().map_or(0, |metadata| metadata.len());
    find_last_frame(wal, size, version, None).is_ok() && has_all_frames(wal, version)
}

/// Returns the `N` bytes of a file at `position`; `None` if they cannot be read.
pub(super) fn read_bytes<const N: usize>(file: &File, position: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, position).ok()?;
    Some(bytes)
}
