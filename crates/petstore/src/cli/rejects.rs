//! The file of the rows that an import rejects, in which a user can correct them.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use petstore_formats::files::{InvalidRow, RawRow};

use super::{args::BadSetting, output::escape_hidden};

/// A CSV file with the header `line,column,reason,row`. Dropping this deletes the file, unless
/// `keep` was called.
pub(super) struct Rejects {
    path: PathBuf,
    writer: csv::Writer<File>,
    is_kept: bool,
}

impl Rejects {
    /// Creates the file. Fails if it exists, because it could be a file that the user needs, such
    /// as the one with the animals.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let file_name = path.display();
        let file = File::create_new(path).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::AlreadyExists => "it already exists; name a new file".to_owned(),
                _ => error.to_string(),
            };
            BadSetting(format!("cannot create {file_name} for --rejects: {reason}"))
        })?;
        let mut rejects = Self {
            path: path.to_owned(),
            writer: csv::Writer::from_writer(file),
            is_kept: false,
        };
        rejects.write_record(["line", "column", "reason", "row"].map(str::as_bytes))?;
        Ok(rejects)
    }

    /// Adds a row exactly as it is in the file, so that a user can correct it.
    pub(super) fn write(&mut self, row: &RawRow, invalid: &InvalidRow) -> anyhow::Result<()> {
        let line = row.line.to_string();
        self.write_record([
            line.as_bytes(),
            invalid.columns().as_bytes(),
            escape_hidden(&invalid.to_string()).as_bytes(),
            &row.text,
        ])
    }

    /// Flushes the rows to disk.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        let result = self
            .writer
            .flush()
            .and_then(|()| self.writer.get_ref().sync_all());
        self.with_file_context(result)
    }

    /// Keeps the file, and returns its path.
    pub(super) fn keep(mut self) -> PathBuf {
        self.is_kept = true;
        self.path.clone()
    }

    /// Writes a record of the CSV file.
    fn write_record<'f>(
        &mut self,
        record: impl IntoIterator<Item = &'f [u8]>,
    ) -> anyhow::Result<()> {
        let result = self.writer.write_record(record).map_err(io::Error::from);
        self.with_file_context(result)
    }

    /// Adds the name of the file to the error of a write.
    fn with_file_context(&self, result: io::Result<()>) -> anyhow::Result<()> {
        result
            .with_context(|| format!("nothing was imported: cannot write {}", self.path.display()))
    }
}

impl Drop for Rejects {
    fn drop(&mut self) {
        if !self.is_kept {
            // A file that stays does no harm: the next import rejects its name.
            let _ = fs::remove_file(&self.path);
        }
    }
}
