//! The columns of a row.

use tokio_postgres::{Row, types::FromSql};

use super::errors::Failure;
use crate::{domain::PetId, store::columns::Columns};

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
