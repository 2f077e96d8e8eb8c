//! The values of rows.

use petstore_domain::PetId;
use petstore_store::drivers::postgres::Failure;

pub(super) fn pet_id(id: i64) -> Result<PetId, Failure> {
    PetId::new(id).ok_or(Failure::Row("id"))
}
