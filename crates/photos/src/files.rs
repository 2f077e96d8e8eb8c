//! The files of a place, whether it is a folder or a bucket.

use std::{collections::BTreeMap, time::Duration};

use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};

/// How long an operation may take. After it, a write may still be carried out: then its files belong
/// to no photo, and a task deletes them.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// How many bytes of a file are read at once for a client.
pub const PIECE: usize = 64 << 10;

/// A piece of a file, and the length of the whole file.
pub(super) type Piece = (Vec<u8>, u64);

/// The folder in a place with an empty file for each database whose photos it has.
pub(super) const OWNERS: &str = "owners";

/// After the name of a file that is being written.
pub(super) const PARTIAL: &str = ".part";

/// The files that a place has of the photos whose identifiers begin with one byte.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShardFiles {
    /// The sizes of which each has a file; none if a file was only begun.
    pub photos: BTreeMap<PhotoId, Vec<PhotoSize>>,
    /// The length of all.
    pub bytes: u64,
}

impl ShardFiles {
    /// Counts a file with this name and length; ignores it if it belongs to no photo of the shard.
    pub(super) fn note(&mut self, shard: u8, name: &str, length: u64) {
        let whole = name.strip_suffix(PARTIAL).unwrap_or(name);
        let file = PhotoFile::parse(whole).filter(|file| first_byte(file.id) == shard);
        if let Some(file) = file {
            let sizes = self.photos.entry(file.id).or_default();
            sizes.extend((whole == name).then_some(file.size));
            self.bytes += length;
        }
    }
}

/// Returns the first byte of an identifier.
pub(crate) fn first_byte(id: PhotoId) -> u8 {
    id.0.to_be_bytes()[0]
}
