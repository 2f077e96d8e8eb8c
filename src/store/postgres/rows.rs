//! The columns of a row, and animals of the contract as rows.

use tokio_postgres::{Row, types::FromSql};

use super::errors::Failure;
use crate::{
    domain::{NewPet, Pet, PetId, PetName, PetRef},
    store::columns::Columns,
};

impl Columns for Row {
    type Error = Failure;

    fn value<T>(&self, at: usize) -> Result<T, Failure>
    where
        T: rusqlite::types::FromSql + for<'r> FromSql<'r>,
    {
        Ok(self.try_get(at)?)
    }

    fn text(&self, at: usize) -> Result<Option<&str>, Failure> {
        Ok(self.try_get(at)?)
    }

    fn invalid(&self, at: usize) -> Failure {
        let name = self.columns().get(at).map(|column| column.name().to_owned());
        Failure::Column(name.unwrap_or_default())
    }
}

pub(super) fn pet_id(id: i64) -> Result<PetId, Failure> {
    PetId::new(id).ok_or(Failure::Row("id"))
}

/// The animal in a row that begins with the columns of [`GET`].
pub(super) fn owned(row: &Row) -> Result<Pet, Failure> {
    let found = pet(row)?;
    let name = PetName::new(found.name.to_owned()).ok_or(Failure::Row("name"))?;
    let (category_id, status) = (found.category_id, found.status);
    Ok(NewPet { name, category_id, status }.with_id(found.id))
}

pub(super) fn pet(row: &Row) -> Result<PetRef<'_>, Failure> {
    Ok(PetRef {
        id: pet_id(row.try_get(0)?)?,
        name: row.try_get(1)?,
        category_id: row.try_get(2)?,
        status: row.try_get::<_, &str>(3)?.parse().map_err(|_| Failure::Row("status"))?,
    })
}
