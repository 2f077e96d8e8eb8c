//! The first pass of an import: validates the whole file, and reports its invalid rows.

use anyhow::{Context, ensure};
use petstore_domain::store_area::Category;
use petstore_formats::files::{CsvOptions, Format, InvalidRow, Row, Rows, Source};
use petstore_store::bulk::Snapshot;

use super::{
    Import,
    checked::{CheckedFile, DatabaseFacts, read_database_facts},
    csv_args::print_left_out,
    species::set_species_categories,
};
use crate::cli::{
    args::BadSetting,
    output::{Progress, counted, print_message},
    rejects::Rejects,
};

/// The maximum number of invalid rows that are reported one by one.
const MAX_REPORTED: u64 = 20;

/// The rows of a file before the first one is read.
struct OpenedRows<'s> {
    rows: Box<dyn Rows + 's>,
    /// The categories of species in the file that the store does not have yet.
    new_categories: Vec<Category>,
}

impl Import {
    /// Validates the whole file, and reports its invalid rows. Writes them to `rejects` if there is
    /// such a file.
    ///
    /// `snapshot` is the present content of the database. It is `None` if the import creates the
    /// database.
    pub(super) fn check(
        &self,
        source: &Source,
        format: Format,
        rejects: Option<&mut Rejects>,
        mut snapshot: Option<Box<dyn Snapshot>>,
    ) -> anyhow::Result<CheckedFile> {
        let DatabaseFacts {
            ids,
            fields,
            mut csv,
        } = read_database_facts(
            &self.database.url,
            snapshot.as_deref_mut(),
            self.keep_ids,
            &self.csv,
        )?;
        let OpenedRows {
            mut rows,
            new_categories,
        } = self.open_rows(source, format, &mut csv, snapshot.as_deref_mut())?;
        // Reading the rows can take long, and the snapshot must not stay open during that time.
        drop(snapshot);
        print_left_out(&*rows);

        let mut checked = CheckedFile::new(ids, fields, csv, new_categories);
        let mut progress = Progress::of_bytes("Checking", source.length());
        self.check_rows(&mut *rows, &mut checked, rejects, &mut progress)?;
        report_animals_without_order(&mut checked, &progress)?;
        report_remaining_count(&checked, &progress);
        Ok(checked)
    }

    /// Opens the rows of the file. If the file needs the categories of species, sets these in `csv`
    /// first.
    fn open_rows<'s>(
        &self,
        source: &'s Source,
        format: Format,
        csv: &mut CsvOptions,
        snapshot: Option<&mut (dyn Snapshot + 'static)>,
    ) -> anyhow::Result<OpenedRows<'s>> {
        let rows = self
            .read_rows(source, format, csv)
            .with_context(|| self.read_error_context())?;
        if !rows.needs_species_categories() {
            return Ok(OpenedRows {
                rows,
                new_categories: Vec::new(),
            });
        }
        let new_categories = set_species_categories(csv, snapshot)?;
        // The first reader has a copy of the options without the categories.
        let rows = self
            .read_rows(source, format, csv)
            .with_context(|| self.read_error_context())?;
        Ok(OpenedRows {
            rows,
            new_categories,
        })
    }

    /// Returns the context of an error in reading the file.
    fn read_error_context(&self) -> String {
        format!("nothing was imported: {}", self.input_name())
    }

    /// Checks all rows, and counts them in `checked`. Reports each invalid row, and writes it to
    /// `rejects`.
    fn check_rows(
        &self,
        rows: &mut dyn Rows,
        checked: &mut CheckedFile,
        mut rejects: Option<&mut Rejects>,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        while let Some(row) = rows.read_row().with_context(|| self.read_error_context())? {
            progress.step(|_| rows.bytes_read());
            let invalid_row = match row {
                Ok(row) => self.check_and_count_row(&row, rows, checked)?,
                Err(invalid_row) => Some(invalid_row),
            };
            let Some(invalid_row) = invalid_row else {
                continue;
            };
            checked.invalid_count += 1;
            let raw_row = rows.raw_row()?;
            report(progress, checked.invalid_count, raw_row.line, &invalid_row);
            if let Some(rejects) = &mut rejects {
                rejects.write(&raw_row, &invalid_row)?;
            }
        }
        Ok(())
    }

    /// Checks a row that could be parsed. Counts the row if it is valid, and otherwise returns its
    /// problems. Fails if the file is an export with `--all` and `--skip-invalid` is set: a row
    /// would be imported without the skipped rows on which it depends.
    fn check_and_count_row(
        &self,
        row: &Row,
        rows: &dyn Rows,
        checked: &mut CheckedFile,
    ) -> anyhow::Result<Option<InvalidRow>> {
        // All rows of other files are new animals.
        let is_new_animal = matches!(row, Row::Pet { .. });
        if !is_new_animal {
            checked.is_full_export = true;
            ensure!(
                !self.skip_invalid,
                BadSetting(
                    "--skip-invalid cannot be used with an export with --all, because its \
                     lines depend on each other"
                        .to_owned()
                )
            );
        }
        let invalid_row = checked.check_and_record(row, rows)?;
        if invalid_row.is_none() {
            checked.count(row);
        }
        Ok(invalid_row)
    }
}

/// Reports the animals whose `orderId` is not the id of a reserved order in the file. Only the end
/// of the file shows this, because an order can follow its animal.
///
/// Such animals occur only in the import of an export with `--all`. This import writes no rejected
/// rows, because the option for their file requires `--skip-invalid`.
fn report_animals_without_order(
    checked: &mut CheckedFile,
    progress: &Progress,
) -> anyhow::Result<()> {
    checked.ids.visit_animals_without_order(|line, order| {
        checked.invalid_count += 1;
        // The animal was counted as valid when its line was checked.
        checked.valid_count -= 1;
        let reason = format!("{order} is the id of no reserved order in the file");
        let invalid_row = InvalidRow::in_column("orderId", reason);
        report(progress, checked.invalid_count, line, &invalid_row);
    })?;
    Ok(())
}

/// Prints the problems of the invalid row with this number, counted from 1. Prints nothing if the
/// number is above the maximum.
fn report(progress: &Progress, number: u64, line: u64, invalid_row: &InvalidRow) {
    if number <= MAX_REPORTED {
        let message = format!("line {line}: {invalid_row}");
        progress.suspend(|| print_message(&message));
    }
}

/// Prints how many invalid rows were not reported one by one, if there are any.
fn report_remaining_count(checked: &CheckedFile, progress: &Progress) {
    if checked.invalid_count > MAX_REPORTED {
        let remaining = counted(checked.invalid_count - MAX_REPORTED, "more row");
        progress.suspend(|| print_message(&format!("and {remaining}")));
    }
}
