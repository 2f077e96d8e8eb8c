//! The files in a storage, whether it is a folder or a bucket.

use std::{collections::BTreeMap, time::Duration};

use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};

/// The time limit of an operation. A write may still complete after its time limit. The files then
/// belong to no photo, and a background task deletes them.
pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_secs(30);

/// How many bytes of a file are read at once for a client.
pub const PIECE_LENGTH: usize = 64 << 10;

/// The length of a piece that is the whole file, whatever its length is.
pub(super) const WHOLE_FILE: usize = usize::MAX;

/// A piece of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes of the piece.
    pub bytes: Vec<u8>,
    /// The length of the whole file, in bytes.
    pub file_length: u64,
}

/// The folder in a storage with the marks of the databases whose photos are in the storage. Each
/// mark is the name of an empty file.
pub(super) const OWNERS_FOLDER: &str = "owners";

/// The suffix of the name of a file that is being written.
pub(super) const PARTIAL_SUFFIX: &str = ".part";

/// The files in one shard of a storage. A shard has the photos whose identifiers begin with the
/// same byte.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShardFiles {
    /// The sizes of the complete files of each photo. A photo that has only incomplete files has
    /// none.
    pub photos: BTreeMap<PhotoId, Vec<PhotoSize>>,
    /// The total length of all files, in bytes.
    pub bytes: u64,
}

impl ShardFiles {
    /// Adds a file with this name and length. Ignores a file that belongs to no photo of the shard.
    pub(super) fn add(&mut self, shard: u8, name: &str, length: u64) {
        let (complete_name, is_complete) = match name.strip_suffix(PARTIAL_SUFFIX) {
            Some(complete_name) => (complete_name, false),
            None => (name, true),
        };
        let Some(file) = PhotoFile::parse(complete_name) else {
            return;
        };
        if first_byte(file.id) != shard {
            return;
        }

        // Incomplete files make an entry, too, but add no size to it.
        let sizes = self.photos.entry(file.id).or_default();
        if is_complete {
            sizes.push(file.size);
        }
        self.bytes += length;
    }
}

/// Returns the first byte of an identifier, which decides the shard of the photo.
pub(crate) fn first_byte(id: PhotoId) -> u8 {
    let PhotoId(number) = id;
    number.to_be_bytes()[0]
}
