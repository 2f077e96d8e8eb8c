//! `/animals.csv`: every animal on offer that passes the filter, as one CSV file. It is meant for
//! programs and websites that import the whole catalogue, so unlike `/animals.json`, it is not
//! divided into pages.

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
    offers::PetPage,
    selection::FilterMatcher,
    shop::Shop,
    walk::{self, FilePermit},
};

/// The number of columns for photos, `photo_1` to `photo_20`. It is fixed, because the header row
/// is sent before the animals are read. Further photos of an animal are left out.
const PHOTO_COLUMNS: usize = 20;

/// The beginning of the names of the columns for photos.
const PHOTO_PREFIX: &str = "photo_";

/// The name of the column with the URL of an animal's page.
const URL_COLUMN: &str = "url";

/// The names of the fixed columns. They come before the columns of the public fields.
const FIXED_COLUMNS: [&str; 4] = ["id", "name", "status", "category"];

/// The state of an export that is being streamed. Each piece of the file has the rows of one page
/// of animals.
struct CsvExport {
    shop: Arc<Shop>,
    visitor: Option<ClientAddress>,
    /// The fields when the export started. Their public ones are the columns of the file.
    fields: FieldSet,
    labels: Labels,
    matcher: FilterMatcher,
    /// The id of the last animal that was read. It is `None` until the first page is read.
    cursor: Option<PetId>,
    /// Whether the last page of animals has been read.
    is_complete: bool,
    permit: FilePermit,
}

/// The error that aborts a download if the definition of a field changes during the download.
#[derive(Debug, thiserror::Error)]
#[error("the fields changed while a file with their values was made")]
struct FieldsChanged;

/// Responds to `GET /animals.csv` with the animals on offer that pass a filter, newest first.
pub(super) async fn respond(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    filter: &Filter,
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let fields = shop.store().fields().await?;
    let first_categories = read_first_categories(shop.store()).await?;
    let header_row = encode_row(&column_names(&fields))?;
    let export = CsvExport {
        shop: Arc::clone(shop),
        visitor,
        matcher: FilterMatcher::new(filter, &fields),
        fields,
        labels: Labels::new(Arc::new(first_categories)),
        cursor: None,
        is_complete: false,
        permit,
    };

    let further_rows = stream::try_unfold(export, async |mut export| {
        let rows = export.next_rows().await?;
        Ok(rows.map(|rows| (rows, export)))
    });
    let media_type = "text/csv; charset=utf-8; header=present";
    Ok(walk::file_response(
        media_type,
        header_row.into(),
        further_rows,
    ))
}

impl CsvExport {
    /// Reads the next page of animals, and returns the rows of the animals that pass the filter.
    /// The result is empty if none of them passes it. Returns `None` when the file is complete.
    async fn next_rows(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.is_complete {
            return Ok(None);
        }

        let shop = &self.shop;
        let PetPage { mut pets, next } =
            walk::read_page_in_turn(shop, self.visitor, self.cursor).await?;
        pets.retain(|pet| self.matcher.matches(pet));
        // A field may have been made private since the export started. If so, the file must not
        // publish its values any more.
        if shop.store().fields().await?.version != self.fields.version {
            return Err(StoreError::Unavailable(Arc::new(FieldsChanged)));
        }
        let category_ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        self.labels.load(shop.store(), category_ids).await?;

        let mut rows = Vec::new();
        for pet in &pets {
            let animal = Animal::public(pet, &self.fields);
            let cells = animal_cells(shop, &animal, &self.fields, &self.labels);
            rows.extend(encode_row(&cells)?);
        }
        self.permit.reserve_piece(rows.len())?;
        self.cursor = next;
        self.is_complete = next.is_none();
        Ok(Some(Bytes::from(rows)))
    }
}

/// Returns the column names: the fixed columns, the public fields, `url`, and the photos.
///
/// Example: `id,name,status,category,species,breed,url,photo_1,photo_2,…`.
fn column_names(fields: &FieldSet) -> Vec<String> {
    let mut names: Vec<String> = FIXED_COLUMNS.map(str::to_owned).into();
    names.extend(public_fields(fields).map(field_column_name));
    names.push(URL_COLUMN.to_owned());
    for number in 1..=PHOTO_COLUMNS {
        names.push(format!("{PHOTO_PREFIX}{number}"));
    }
    names
}

/// Returns the fields that have a column, in the order of their columns.
fn public_fields(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    fields.all().iter().filter(|field| field.is_public)
}

/// Returns the column name of a field: the name of the field, with the prefix `field.` if it
/// collides with another column.
///
/// Example: the field `breed` has the column `breed`, and the field `url` has the column
/// `field.url`.
fn field_column_name(field: &FieldDefinition) -> String {
    let name = field.name.as_str();
    let collides =
        FIXED_COLUMNS.contains(&name) || name == URL_COLUMN || name.starts_with(PHOTO_PREFIX);
    if collides {
        format!("field.{name}")
    } else {
        name.to_owned()
    }
}

/// Returns the cells of an animal's row, in the order of [`column_names`]. Text that a spreadsheet
/// would execute as a formula is escaped.
fn animal_cells(
    shop: &Shop,
    animal: &Animal<'_>,
    fields: &FieldSet,
    labels: &Labels,
) -> Vec<String> {
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
        let photo_url = match animal.photos.get(index) {
            Some(photo) => shop.url(&photo.path(PhotoSize::Large)),
            None => String::new(),
        };
        cells.push(photo_url);
    }
    cells
}

/// Returns the cell with an animal's value of a field. It is empty if the animal has no value.
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

/// Encodes a row as CSV (RFC 4180), including the line break.
fn encode_row(cells: &[String]) -> Result<Vec<u8>, StoreError> {
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
