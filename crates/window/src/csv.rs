//! `/animals.csv`: all animals, for sites that fetch one file.

use std::sync::Arc;

use ::csv::WriterBuilder;
use bytes::Bytes;
use futures_util::stream;
use petstore_domain::{
    PetId,
    client::ClientAddress,
    store_area::{FieldSet, FieldValue, PhotoSize},
    text::formulas::without_formulas,
};
use petstore_languages::look::Animal;
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, Response};

use super::{
    labels::Labels,
    query::Filter,
    selection::Passing,
    shop::Shop,
    walk::{self, FilePermit},
};

/// How many photos have a column.
const PHOTOS: usize = 20;

/// The columns before those of the fields.
const FIRST: [&str; 4] = ["id", "name", "status", "category"];

/// A file that is made while its client reads it.
struct CsvFile {
    shop: Arc<Shop>,
    visitor: Option<ClientAddress>,
    fields: FieldSet,
    labels: Labels,
    passing: Passing,
    /// The last animal of the rows before.
    before: Option<PetId>,
    has_ended: bool,
    permit: FilePermit,
}

/// `GET /animals.csv`.
pub(super) async fn file(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    filter: &Filter,
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let fields = shop.store().fields().await?;
    let labels = Labels::first(shop.store()).await?;
    let heading = row(&headings(&fields))?;
    let passing = Passing::of(filter, &fields);
    let file = CsvFile {
        shop: Arc::clone(shop),
        visitor,
        fields,
        labels,
        passing,
        before: None,
        has_ended: false,
        permit,
    };
    let rows = stream::try_unfold(file, async |mut file| {
        let rows = file.next_rows().await?;
        Ok(rows.map(|rows| (rows, file)))
    });
    Ok(walk::response(
        "text/csv; charset=utf-8; header=present",
        heading.into(),
        rows,
    ))
}

impl CsvFile {
    /// Makes the next rows. `None` after the last ones.
    async fn next_rows(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.has_ended {
            return Ok(None);
        }
        let shop = &self.shop;
        let (mut pets, next) = walk::step(shop, self.visitor, self.before).await?;
        pets.retain(|pet| self.passing.has(pet));
        // Otherwise, a value could be in the file that is not public any more.
        if shop.store().fields().await?.version != self.fields.version {
            return Err(StoreError::Unavailable(Arc::new(FieldsChanged)));
        }
        let categories: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
        self.labels.learn(shop.store(), categories).await?;
        let mut rows = Vec::new();
        for pet in &pets {
            let animal = Animal::public(pet, &self.fields);
            rows.extend(row(&cells(shop, &animal, &self.fields, &self.labels))?);
        }
        self.permit.make_room(rows.len())?;
        self.before = next;
        self.has_ended = next.is_none();
        Ok(Some(Bytes::from(rows)))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the fields changed while a file with their values was made")]
struct FieldsChanged;

fn headings(fields: &FieldSet) -> Vec<String> {
    let fields = fields
        .all()
        .iter()
        .filter(|field| field.is_public)
        .map(|field| {
            let name = field.name.as_str();
            let is_taken = FIRST.contains(&name) || name == "url" || name.starts_with("photo_");
            if is_taken {
                format!("field.{name}")
            } else {
                name.to_owned()
            }
        });
    let first = FIRST.map(str::to_owned).into_iter();
    let photos = (1..=PHOTOS).map(|number| format!("photo_{number}"));
    first
        .chain(fields)
        .chain(["url".to_owned()])
        .chain(photos)
        .collect()
}

fn cells(shop: &Shop, animal: &Animal, fields: &FieldSet, labels: &Labels) -> Vec<String> {
    let value = |name: &str| {
        let found = animal
            .values
            .iter()
            .find(|(field, _)| field.name.as_str() == name);
        found.map_or_else(String::new, |(field, value)| match value {
            FieldValue::Text(text) => without_formulas(field.shown(text)).into_owned(),
            value => value.to_string(),
        })
    };
    let mut cells = vec![
        animal.id.to_string(),
        without_formulas(animal.name).into_owned(),
        animal.status.as_str().to_owned(),
        without_formulas(labels.get(animal.category_id).unwrap_or_default()).into_owned(),
    ];
    let public = fields.all().iter().filter(|field| field.is_public);
    cells.extend(public.map(|field| value(field.name.as_str())));
    cells.push(shop.url(&animal.path()));
    let photo = |at: usize| {
        animal
            .photos
            .get(at)
            .map(|photo| shop.url(&photo.path(PhotoSize::Large)))
    };
    cells.extend((0..PHOTOS).map(|at| photo(at).unwrap_or_default()));
    cells
}

/// A row as RFC 4180 has it.
fn row(cells: &[String]) -> Result<Vec<u8>, StoreError> {
    let mut writer = WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let written = writer.write_record(cells);
    written.map_err(|error| StoreError::Internal(Arc::new(error)))?;
    writer
        .into_inner()
        .map_err(|error| StoreError::Internal(Arc::new(error.into_error())))
}
