//! The metrics of photos.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Counter, Exposition, Histogram};

/// What became of pictures, and what their files are.
#[derive(Debug)]
pub struct PhotoMetrics {
    /// How long it took to decode and encode each picture.
    pub decoded: Histogram,
    /// Photos whose files were written.
    pub stored: Counter,
    /// Pictures that were rejected.
    pub invalid: Counter,
    /// Writes, reads and deletions of files that failed.
    pub failures: Counter,
    /// Photos, bytes of their files, photos without files, and databases.
    counted: [AtomicU64; 4],
}

impl Default for PhotoMetrics {
    fn default() -> Self {
        Self {
            decoded: Histogram::of_durations(),
            stored: Counter::default(),
            invalid: Counter::default(),
            failures: Counter::default(),
            counted: Default::default(),
        }
    }
}

impl PhotoMetrics {
    /// Notes how many photos have files, their length, how many have none, and how many databases have a
    /// mark in their place.
    pub fn note(&self, counted: [u64; 4]) {
        for (number, counted) in self.counted.iter().zip(counted) {
            number.store(counted, Relaxed);
        }
    }

    /// Writes the metrics.
    pub fn expose(&self, page: &mut Exposition) {
        let help = "Duration of decoding and encoding a picture.";
        page.histogram("petstore_photo_decode_duration_seconds", help, &self.decoded);
        let help = "Photos whose files this process wrote.";
        page.counter("petstore_photos_stored_total", help, &self.stored);
        let help = "Pictures that this process rejected.";
        page.counter("petstore_photos_invalid_total", help, &self.invalid);
        let help = "Failed writes, reads and deletions of the files of photos.";
        page.counter("petstore_photo_file_failures_total", help, &self.failures);
        let [photos, bytes, missing, databases] = &self.counted;
        let help = "Photos with files, counted once an hour, with those that wait for deletion.";
        page.number("petstore_photos", help, photos.load(Relaxed));
        let help = "Length of the files of photos, counted once an hour.";
        page.number("petstore_photo_bytes", help, bytes.load(Relaxed));
        let help = "Photos of animals without all of their files, counted once an hour.";
        page.number("petstore_photos_missing", help, missing.load(Relaxed));
        let help = "Databases with a mark in the place of photos; above 1, no files are deleted.";
        page.number("petstore_photo_databases", help, databases.load(Relaxed));
    }
}
