//! Reads the frames of a WAL, to detect missing ones. A frame is a header and a page (SQLite, "The WAL
//! File Format").

use std::{fs::File, os::unix::fs::FileExt};

use super::wal_index::{FileVersion, WalIndex};

/// The length of the header of a WAL, in bytes.
const WAL_HEADER: usize = 32;

/// The length of the header of a frame, in bytes.
const FRAME_HEADER: usize = 24;

/// The first three bytes of every WAL. The fourth tells the byte order of its checksums.
const WAL_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// A frame of the WAL that ends a transaction.
pub(super) struct Frame {
    salts: [u8; 8],
    /// The offset in the WAL, in bytes.
    position: u64,
    header: [u8; FRAME_HEADER],
}

/// The error for a WAL that lacks committed transactions.
pub(super) struct IncompleteWal;

/// Returns the last frame of a WAL of `size` bytes at this version; `None` for an empty WAL.
///
/// As a cheap check for completeness, verifies the header of the WAL, the last frame, and `former_frame`,
/// the last frame at an earlier check. Fails if one of them is missing or different.
pub(super) fn find_last_frame(
    wal: &File,
    size: u64,
    version: &FileVersion,
    former_frame: Option<&Frame>,
) -> Result<Option<Frame>, IncompleteWal> {
    let pages = u64::from(WalIndex::pages_in_wal(version));
    if pages == 0 {
        return Ok(None);
    }
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    let position = WAL_HEADER as u64 + (pages - 1) * frame_size;
    if size < position + frame_size {
        return Err(IncompleteWal);
    }
    let salts = WalIndex::salts(version);
    let wal_header: [u8; WAL_HEADER] = read_bytes(wal, 0).ok_or(IncompleteWal)?;
    let header: [u8; FRAME_HEADER] = read_bytes(wal, position).ok_or(IncompleteWal)?;
    let is_former_frame_intact = match former_frame {
        Some(frame) if frame.salts == salts => {
            read_bytes(wal, frame.position) == Some(frame.header)
        }
        // The WAL has restarted since the earlier check, or there was none.
        _ => true,
    };
    // The header of the WAL has its salts at byte 16. The header of a frame has them at byte 8, and the
    // checksum at byte 16.
    let is_complete = wal_header[16..24] == salts
        && header[8..16] == salts
        && header[16..24] == WalIndex::checksum(version)
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

/// Whether the WAL has every frame up to this version. The last frame does not prove this: if the
/// WAL was truncated during a commit, that commit leaves a hole before its own frames.
fn has_all_frames(wal: &File, version: &FileVersion) -> bool {
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    for index in 0..u64::from(WalIndex::pages_in_wal(version)) {
        let position = WAL_HEADER as u64 + index * frame_size;
        match read_bytes::<FRAME_HEADER>(wal, position) {
            Some(header) if header[8..16] == WalIndex::salts(version) => {}
            _ => return false,
        }
    }
    true
}

/// Whether the WAL was restarted after the `-shm` file with this version was written. A restarted WAL
/// has other salts.
pub(super) fn is_restarted(wal: &File, version: &FileVersion) -> bool {
    read_bytes::<WAL_HEADER>(wal, 0).is_some_and(|header| {
        header[..3] == WAL_MAGIC && header[16..24] != WalIndex::salts(version)
    })
}

/// Whether the WAL has all frames up to this version.
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
