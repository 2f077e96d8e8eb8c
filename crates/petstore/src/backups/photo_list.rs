//! The photo list next to each backup: how many animals the backup has, and which photos it needs.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, ErrorKind, Write},
};

use jiff::Timestamp;
use petstore_domain::store_area::PhotoId;
use tracing::warn;

use super::{
    names::{StoredFiles, photo_list_name},
    storage::BackupStorage,
};

/// The content of a photo list. The first line of the file has the number of animals, and each
/// further line has the id of a photo.
pub struct PhotoList {
    /// The number of animals of the backup.
    pub animal_count: u64,
    /// The photos whose files are in the storage.
    pub photos: Vec<PhotoId>,
}

impl PhotoList {
    /// Reads the list of the backup with this time. If the list is damaged, the kind of the error
    /// is `InvalidData`.
    pub fn read(storage: &BackupStorage, time: Timestamp) -> io::Result<Self> {
        let mut content = Vec::new();
        storage.read(&photo_list_name(time), &mut content)?;
        match String::from_utf8(content) {
            Ok(text) => Self::parse(&text).ok_or_else(|| ErrorKind::InvalidData.into()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    /// Parses the content of a list. A single invalid line makes the whole list invalid: if the
    /// line were ignored, the retention of backups could delete a photo that the backup needs.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let animal_count = lines.next()?.parse().ok()?;
        let photos: Option<Vec<PhotoId>> = lines.map(PhotoId::parse).collect();
        Some(Self {
            animal_count,
            photos: photos?,
        })
    }

    /// Writes the list in the form that `parse` reads.
    pub(super) fn write_to(&self, file: &mut dyn Write) -> io::Result<()> {
        let mut lines = BufWriter::new(file);
        writeln!(lines, "{}", self.animal_count)?;
        for id in &self.photos {
            writeln!(lines, "{id}")?;
        }
        lines.flush()
    }
}

/// Reads the photos in the list with this time. If the list is damaged, logs a warning that states
/// the `consequence`, and returns `None`.
pub(super) fn read_photos_or_warn(
    storage: &BackupStorage,
    time: Timestamp,
    consequence: &str,
) -> io::Result<Option<Vec<PhotoId>>> {
    match PhotoList::read(storage, time) {
        Ok(list) => Ok(Some(list.photos)),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            let list = photo_list_name(time);
            warn!(place = %storage, list, "the list of a backup's photos is damaged: {consequence}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads the photos whose files are known to be in the storage, so that a backup does not look for
/// them there.
///
/// In a bucket, each request costs money, so these are the photos of the newest list. In a folder,
/// looking costs little, so there are none.
pub(super) fn read_known_photos(
    storage: &BackupStorage,
    files: &StoredFiles,
) -> io::Result<BTreeSet<PhotoId>> {
    if !storage.is_bucket() {
        return Ok(BTreeSet::new());
    }
    let Some(&newest_list) = files.photo_lists.last() else {
        return Ok(BTreeSet::new());
    };
    let consequence = "all photos are copied again";
    let listed_photos = read_photos_or_warn(storage, newest_list, consequence)?;
    Ok(listed_photos.into_iter().flatten().collect())
}
