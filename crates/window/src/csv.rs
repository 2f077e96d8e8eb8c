//! `/animals.csv`: all animals, for sites that fetch one file.

use std::sync::Arc;

use ::csv::WriterBuilder;
use bytes::Bytes;
use futures_util::stream;
use petstore_domain::{
    PetId,
    client::ClientAddress,
    store_area::{FieldDefinition, FieldSet, FieldValue, PhotoSize},
    text::formulas::without_formulas,
};
use petstore_languages::look::Animal;
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, Response};

use super::{
    filter::Filter,
    labels::{Labels, read_first_categories},
    selection::FilterMatcher,
    shop::Shop,
    walk::{self, FilePermit},
};

/// The number of photos that have a column.
const PHOTO_COLUMNS: usize = 20;

/// The names of the columns before the columns of the fields.
const FIRST_COLUMNS: [&str; 4] = ["id", "name", "status", "category"];

/// A file that is made while its client reads it.
struct CsvFile {
    shop: Arc<Shop>,
    visitor: Option<ClientAddress>,
    fields: FieldSet,
    labels: Labels,
    matcher: FilterMatcher,
    /// The last animal that was read, the newest coming first.
    position: Option<PetId>,
    has_ended: bool,
    permit: FilePermit,
}

/// Responds to `GET /animals.csv` with the animals that pass a filter.
pub(super) async fn respond(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    filter: &Filter,
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let fields = shop.store().fields().await?;
    let first_categories = read_first_categories(shop.store()).await?;
    let heading = row(&headings(&fields))?;
    let file = CsvFile {
        shop: Arc::clone(shop),
        visitor,
        matcher: FilterMatcher::new(filter, &fields),
        fields,
        labels: Labels::new(Arc::new(first_categories)),
        position: None,
        has_ended: false,
        permit,
    };

    let pieces = stream::try_unfold(file, async |mut file| {
        let rows = file.next_rows().await?;
        Ok(rows.map(|rows| (rows, file)))
    });
    let media_type = "text/csv; charset=utf-8; header=present";
    Ok(walk::file_response(media_type, heading.into(), pieces))
}

impl CsvFile {
    /// Makes the next rows. Returns `None` after the last ones.
    async fn next_rows(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.has_ended {
            return Ok(None);
        }

        let shop = &self.shop;
        let (mut pets, next) = walk::next_animals(shop, self.visitor, self.position).await?;
        pets.retain(|pet| self.matcher.matches(pet));
        // Otherwise, the file could have a value that is not public any more.
        if shop.store().fields().await?.version != self.fields.version {
            return Err(StoreError::Unavailable(Arc::new(FieldsChanged)));
        }
        let category_ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        self.labels.load(shop.store(), category_ids).await?;

        let mut rows = Vec::new();
        for pet in &pets {
            let animal = Animal::public(pet, &self.fields);
            rows.extend(row(&cells(shop, &animal, &self.fields, &self.labels))?);
        }
        self.permit.make_room(rows.len())?;
        self.position = next;
        self.has_ended = next.is_none();
        Ok(Some(Bytes::from(rows)))
    }
}

/// The reason for which a file breaks off.
#[derive(Debug, thiserror::Error)]
#[error("the fields changed while a file with their values was made")]
struct FieldsChanged;

/// Returns the names of the columns.
fn headings(fields: &FieldSet) -> Vec<String> {
    let mut headings: Vec<String> = FIRST_COLUMNS.map(str::to_owned).into();
    headings.extend(public_fields(fields).map(field_heading));
    headings.push("url".to_owned());
    for number in 1..=PHOTO_COLUMNS {
        headings.push(format!("photo_{number}"));
    }
    headings
}

/// Returns the fields that have a column.
fn public_fields(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    fields.all().iter().filter(|field| field.is_public)
}

/// Returns the name of the column of a field: its own name, unless another column can have it.
///
/// Example: `breed` is the column of the field `breed`, and `field.url` the column of the field `url`.
fn field_heading(field: &FieldDefinition) -> String {
    let name = field.name.as_str();
    let is_other_column =
        FIRST_COLUMNS.contains(&name) || name == "url" || name.starts_with("photo_");
    if is_other_column {
        format!("field.{name}")
    } else {
        name.to_owned()
    }
}

/// Returns the row of an animal, in the order of [`headings`].
fn cells(shop: &Shop, animal: &Animal<'_>, fields: &FieldSet, labels: &Labels) -> Vec<String> {
    let category = labels.label(animal.category_id).unwrap_or_default();
    let mut cells = vec![
        animal.id.to_string(),
        without_formulas(animal.name).into_owned(),
        animal.status.as_str().to_owned(),
        without_formulas(category).into_owned(),
    ];
    cells.extend(public_fields(fields).map(|field| field_cell(animal, field)));
    cells.push(shop.url(&animal.path()));
    for index in 0..PHOTO_COLUMNS {
        let url = match animal.photos.get(index) {
            Some(photo) => shop.url(&photo.path(PhotoSize::Large)),
            None => String::new(),
        };
        cells.push(url);
    }
    cells
}

/// Returns the value of a field. Empty if the animal has none.
fn field_cell(animal: &Animal<'_>, column: &FieldDefinition) -> String {
    let mut values = animal.values.iter();
    let value = values.find(|(field, _)| field.name == column.name);
    match value {
        Some((field, FieldValue::Text(text))) => {
            without_formulas(field.display_text(text)).into_owned()
        }
        Some((_, value)) => value.to_string(),
        None => String::new(),
    }
}

/// Returns a row in the form of RFC 4180.
fn row(cells: &[String]) -> Result<Vec<u8>, StoreError> {
    let mut writer = WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    writer
        .write_record(cells)
        .map_err(|error| StoreError::Internal(Arc::new(error)))?;
    writer
        .into_inner()
        .map_err(|error| StoreError::Internal(Arc::new(error.into_error())))
}
