//! The metrics of photos and their files.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Counter, Exposition, Histogram};

/// The outcomes of processing pictures, and the last count of the files of photos.
#[derive(Debug, Default)]
pub struct PhotoMetrics {
    /// The time to decode and encode each picture.
    pub decoded: Histogram,
    /// Photos whose files were written.
    pub stored: Counter,
    /// Pictures that were rejected.
    pub invalid: Counter,
    /// Writes, reads and deletions of files that failed.
    pub failures: Counter,
    photo_count: AtomicU64,
    photo_bytes: AtomicU64,
    missing_count: AtomicU64,
    database_count: AtomicU64,
}

/// The result of counting the photos and their files in the storage.
#[derive(Debug, Clone, Copy)]
pub struct PhotoCounts {
    /// The number of photos with files.
    pub photos: u64,
    /// The length of all files in bytes.
    pub bytes: u64,
    /// The number of photos of animals that lack at least one of their files.
    pub missing: u64,
    /// The number of databases with a mark in the storage. Above 1, no files are deleted.
    pub databases: u64,
}

impl PhotoMetrics {
    /// Records the result of counting.
    pub fn record_counts(&self, counts: PhotoCounts) {
        self.photo_count.store(counts.photos, Relaxed);
        self.photo_bytes.store(counts.bytes, Relaxed);
        self.missing_count.store(counts.missing, Relaxed);
        self.database_count.store(counts.databases, Relaxed);
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let help = "Duration of decoding and encoding a picture.";
        exposition.histogram(
            "petstore_photo_decode_duration_seconds",
            help,
            &self.decoded,
        );
        let help = "Photos whose files this process wrote.";
        exposition.counter("petstore_photos_stored_total", help, &self.stored);
        let help = "Pictures that this process rejected.";
        exposition.counter("petstore_photos_invalid_total", help, &self.invalid);
        let help = "Failed writes, reads and deletions of the files of photos.";
        exposition.counter("petstore_photo_file_failures_total", help, &self.failures);
        let help = "Photos with files, counted once an hour, with those that wait for deletion.";
        exposition.number("petstore_photos", help, self.photo_count.load(Relaxed));
        let help = "Length of the files of photos, counted once an hour.";
        exposition.number("petstore_photo_bytes", help, self.photo_bytes.load(Relaxed));
        let help = "Photos of animals without all of their files, counted once an hour.";
        exposition.number(
            "petstore_photos_missing",
            help,
            self.missing_count.load(Relaxed),
        );
        let help = "Databases with a mark in the place of photos; above 1, no files are deleted.";
        exposition.number(
            "petstore_photo_databases",
            help,
            self.database_count.load(Relaxed),
        );
    }
}
