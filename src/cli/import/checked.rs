//! What is known of a file after it was validated.

use std::ops::ControlFlow;

use super::fields::ImportedFields;
use crate::{
    domain::store_area::Resource,
    files::{InvalidRow, Row, Rows, SeenIds},
    store::bulk::Snapshot,
};

/// Replaces the number of a row, for an id that an animal in the catalogue has.
const IN_CATALOGUE: u64 = 0;

/// The result of validating a file.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) valid: u64,
    /// How many of the valid rows are orders, and how many categories.
    pub(super) orders: u64,
    pub(super) categories: u64,
    /// Whether the rows depend on each other, because some are of the store area.
    pub(super) is_connected: bool,
    pub(super) invalid: u64,
    /// The ids with which animals will be added, with --keep-ids.
    pub(super) ids: Option<SeenIds>,
    pub(super) fields: ImportedFields,
}

impl Checked {
    /// Why a row that could be parsed is invalid, if so: its id is taken, or it does not agree with
    /// the rows before it. Otherwise, records it.
    pub(super) fn problem_of(
        &mut self,
        row: &Row,
        rows: &dyn Rows,
    ) -> anyhow::Result<Option<InvalidRow>> {
        let Some(ids) = &self.ids else {
            return Ok(None);
        };
        let number = self.valid + self.invalid + 1;
        let (id, taken) = match row {
            Row::Pet { id: None, .. } => return Ok(None),
            Row::Field(field) => return Ok(self.fields.add(field)),
            Row::Pet { id: Some(id), .. } => (id.get(), ids.record(*id, number)?),
            Row::Resource(resource) => (id_of(resource), ids.record_resource(resource, number)?),
        };
        let by = match (taken, row) {
            (None, Row::Pet { .. } | Row::Field(_)) => return Ok(None),
            (None, Row::Resource(resource)) => {
                let problem = ids.disagreement(resource, rows.raw_row()?.line)?;
                return Ok(problem.map(|reason| InvalidRow { column: None, reason }));
            }
            (Some(IN_CATALOGUE), Row::Resource(Resource::Order(_))) => "an order in the database",
            (Some(IN_CATALOGUE), Row::Resource(Resource::Category(_))) => {
                "a category in the database"
            }
            (Some(IN_CATALOGUE), _) => "an animal in the catalogue",
            (Some(_), _) => {
                let reason = format!("{id} is the id of an earlier row; each id must occur once");
                return Ok(Some(InvalidRow { column: Some("id"), reason }));
            }
        };
        let reason = format!("{id} is the id of {by}; ids must be free");
        Ok(Some(InvalidRow { column: Some("id"), reason }))
    }

    pub(super) fn count(&mut self, row: &Row) {
        self.valid += 1;
        match row {
            Row::Resource(Resource::Order(_)) => self.orders += 1,
            Row::Resource(Resource::Category(_)) => self.categories += 1,
            Row::Resource(Resource::Pet(_)) | Row::Pet { .. } | Row::Field(_) => {}
        }
    }

    /// Whether a row that could be parsed is valid.
    pub(super) fn is_good(&self, row: &Row, number: u64) -> bool {
        let (Some(ids), Row::Pet { id: Some(id), .. }) = (&self.ids, row) else {
            return true;
        };
        self.invalid == 0 || matches!(ids.row_of(*id), Ok(Some(first)) if first == number)
    }
}

fn id_of(resource: &Resource) -> i64 {
    match resource {
        Resource::Pet(pet) => pet.id.get(),
        Resource::Order(order) => order.id.get(),
        Resource::Category(category) => category.id,
    }
}

/// The ids of the animals, orders and categories in the database, and its fields.
pub(super) fn taken(
    catalogue: Option<Box<dyn Snapshot>>,
) -> anyhow::Result<(SeenIds, ImportedFields)> {
    let (ids, mut fields) = (SeenIds::new()?, ImportedFields::default());
    let mut recorded = Ok(None);
    if let Some(mut catalogue) = catalogue {
        let (present, mut has_animals) = (catalogue.fields()?, false);
        // Also those of withdrawn animals, which are never given again.
        catalogue.resources(&mut |resource| {
            has_animals |= matches!(resource, Resource::Pet(_));
            recorded = ids.record_resource(&resource, IN_CATALOGUE);
            if recorded.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        fields = ImportedFields::new(present, has_animals);
    }
    recorded?;
    Ok((ids, fields))
}
