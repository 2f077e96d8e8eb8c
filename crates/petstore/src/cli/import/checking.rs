//! The first pass of an import: validates the whole file, and reports its invalid rows.

use anyhow::{Context, ensure};
use petstore_domain::store_area::Category;
use petstore_formats::files::{CsvOptions, Format, InvalidRow, Row, Rows, Source};
use petstore_store::bulk::Snapshot;

use super::{
    Import,
    checked::{Checked, DatabaseFacts, read_database_facts},
    csv_args::print_left_out,
    species::find_species_categories,
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
    /// Validates the whole file, and reports its invalid rows. Also writes them to `rejects`.
    /// Without a `catalogue`, validates the file for a new database.
    pub(super) fn check(
        &self,
        source: &Source,
        format: Format,
        rejects: Option<&mut Rejects>,
        mut catalogue: Option<Box<dyn Snapshot>>,
    ) -> anyhow::Result<Checked> {
        let DatabaseFacts {
            ids,
            fields,
            mut csv,
        } = read_database_facts(
            &self.database.url,
            catalogue.as_deref_mut(),
            self.keep_ids,
            &self.csv,
        )?;
        let OpenedRows {
            mut rows,
            new_categories,
        } = self.open_rows(source, format, &mut csv, catalogue.as_deref_mut())?;
        // Reading the rows can take long, and the snapshot must not stay open during that time.
        drop(catalogue);
        print_left_out(&*rows);

        let mut checked = Checked::new(ids, fields, csv, new_categories);
        let mut progress = Progress::of_bytes("Checking", source.length());
        self.check_rows(&mut *rows, &mut checked, rejects, &mut progress)?;
        report_animals_without_order(&mut checked, &progress)?;
        report_remaining_count(&checked, &progress);
        Ok(checked)
    }

    /// Opens the rows of the file. If the file needs the categories of species, first finds these
    /// and adds them to `csv`.
    fn open_rows<'s>(
        &self,
        source: &'s Source,
        format: Format,
        csv: &mut CsvOptions,
        catalogue: Option<&mut (dyn Snapshot + 'static)>,
    ) -> anyhow::Result<OpenedRows<'s>> {
        let rows = self
            .read_rows(source, format, csv)
            .with_context(|| self.not_imported())?;
        if !rows.needs_species_categories() {
            return Ok(OpenedRows {
                rows,
                new_categories: Vec::new(),
            });
        }
        let new_categories = find_species_categories(catalogue, csv)?;
        // The reader has a copy of the options, so it is opened again with the categories.
        let rows = self
            .read_rows(source, format, csv)
            .with_context(|| self.not_imported())?;
        Ok(OpenedRows {
            rows,
            new_categories,
        })
    }

    /// Returns the context of an error in reading the file.
    fn not_imported(&self) -> String {
        format!("nothing was imported: {}", self.input_name())
    }

    /// Checks all rows, and counts them in `checked`. Reports each invalid row, and writes it to
    /// `rejects`.
    fn check_rows(
        &self,
        rows: &mut dyn Rows,
        checked: &mut Checked,
        mut rejects: Option<&mut Rejects>,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        while let Some(row) = rows.next().with_context(|| self.not_imported())? {
            progress.step(|_| rows.bytes_read());
            let problem = match row {
                Ok(row) => self.check_and_count_row(&row, rows, checked)?,
                Err(invalid) => Some(invalid),
            };
            let Some(invalid) = problem else {
                continue;
            };
            checked.invalid_count += 1;
            let raw_row = rows.raw_row()?;
            report(progress, checked.invalid_count, raw_row.line, &invalid);
            if let Some(rejects) = &mut rejects {
                rejects.write(&raw_row, &invalid)?;
            }
        }
        Ok(())
    }

    /// Checks a row that could be parsed. Counts the row if it is valid, and otherwise returns its
    /// problem. Fails if the row depends on other rows and `--skip-invalid` could skip these.
    fn check_and_count_row(
        &self,
        row: &Row,
        rows: &dyn Rows,
        checked: &mut Checked,
    ) -> anyhow::Result<Option<InvalidRow>> {
        checked.is_connected |= !matches!(row, Row::Pet { .. });
        ensure!(
            !checked.is_connected || !self.skip_invalid,
            BadSetting(
                "--skip-invalid cannot be used with an export with --all, because its \
                 lines depend on each other"
                    .to_owned()
            )
        );
        let problem = checked.check_and_record(row, rows)?;
        if problem.is_none() {
            checked.count(row);
        }
        Ok(problem)
    }
}

/// Reports the animals whose `orderId` is not the id of a reserved order in the file. Only the end of
/// the file shows this, because an order can follow its animal.
fn report_animals_without_order(checked: &mut Checked, progress: &Progress) -> anyhow::Result<()> {
    checked.ids.visit_animals_without_order(|line, order| {
        checked.invalid_count += 1;
        // The animal was counted as valid when its line was checked.
        checked.valid_count -= 1;
        let reason = format!("{order} is the id of no reserved order in the file");
        let invalid = InvalidRow::in_column("orderId", reason);
        report(progress, checked.invalid_count, line, &invalid);
    })?;
    Ok(())
}

/// Prints the problem of the invalid row with this number, unless enough rows were reported before.
fn report(progress: &Progress, number: u64, line: u64, invalid: &InvalidRow) {
    if number <= MAX_REPORTED {
        let message = format!("line {line}: {invalid}");
        progress.suspend(|| print_message(&message));
    }
}

/// Prints how many invalid rows were not reported one by one, if there are any.
fn report_remaining_count(checked: &Checked, progress: &Progress) {
    if checked.invalid_count > MAX_REPORTED {
        let remaining = counted(checked.invalid_count - MAX_REPORTED, "more row");
        progress.suspend(|| print_message(&format!("and {remaining}")));
    }
}
