//! Animals as JSON, one or a page.

use petstore_domain::PetRef;
use petstore_formats::json::write_pet;

/// The approximate length of an animal, in bytes.
const USUAL_LENGTH: usize = 80;

/// Returns a Pet of the contract as JSON.
pub(crate) fn pet(pet: PetRef<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH + pet.name.len());
    write_pet(&mut out, pet);
    out
}

/// Returns the start of a Pets array, with space for this many animals.
pub(crate) fn begin_array(count: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + usize::from(count) * USUAL_LENGTH);
    out.push(b'[');
    out
}

/// Writes the next Pet of an array.
pub(crate) fn write_element(out: &mut Vec<u8>, pet: PetRef<'_>) {
    if out.len() > 1 {
        out.push(b',');
    }
    write_pet(out, pet);
}

pub(crate) fn end_array(mut out: Vec<u8>) -> Vec<u8> {
    out.push(b']');
    out
}
