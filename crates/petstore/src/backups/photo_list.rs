//! The list next to a backup: how many animals the backup has, and which photos it needs.

use std::io::{self, BufWriter, ErrorKind, Write};

use jiff::Timestamp;
use petstore_domain::store_area::PhotoId;
use tracing::warn;

use super::{names::photo_list_name, storage::BackupStorage};

/// The content of a list. Its file has the number of animals in the first line, and then the id of a photo in
/// each line.
pub struct PhotoList {
    /// The number of animals of the backup.
    pub animal_count: u64,
    /// The photos whose files are in the storage.
    pub photos: Vec<PhotoId>,
}

impl PhotoList {
    /// Reads the list of the backup of this time. If the list is damaged, the kind of the error is
    /// `InvalidData`.
    pub fn read(storage: &BackupStorage, time: Timestamp) -> io::Result<Self> {
        let mut content = Vec::new();
        storage.read(&photo_list_name(time), &mut content)?;
        match String::from_utf8(content) {
            Ok(text) => Self::parse(&text).ok_or_else(|| ErrorKind::InvalidData.into()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    /// Parses the lines. One invalid line makes the list invalid: without a line, the retention of backups could
    /// delete a photo that the backup needs.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let animal_count = lines.next()?.parse().ok()?;
        let photos: Option<Vec<PhotoId>> = lines.map(PhotoId::parse).collect();
        Some(Self {
            animal_count,
            photos: photos?,
        })
    }

    /// Writes the lines.
    pub(super) fn write_to(&self, file: &mut dyn Write) -> io::Result<()> {
        let mut lines = BufWriter::new(file);
        writeln!(lines, "{}", self.animal_count)?;
        for id in &self.photos {
            writeln!(lines, "{id}")?;
        }
        lines.flush()
    }
}

/// Returns the photos of the list of this time. If the list is damaged, logs a warning with the `consequence` and
/// returns `None`.
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
