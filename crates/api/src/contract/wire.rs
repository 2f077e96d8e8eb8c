//! Renders animals as JSON, as a single object or as the array of a page.

use petstore_domain::PetRef;
use petstore_formats::json::write_pet;

/// The approximate length of an animal as JSON, in bytes, for sizing buffers.
const USUAL_LENGTH: usize = 80;

/// Renders an animal as a `Pet` of the contract.
pub(crate) fn render_pet(pet: PetRef<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH + pet.name.len());
    write_pet(&mut out, pet);
    out
}

/// Returns a buffer with the start of a `Pets` array and capacity for `count` animals.
pub(crate) fn begin_array(count: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + usize::from(count) * USUAL_LENGTH);
    out.push(b'[');
    out
}

/// Appends a `Pet` to the array.
pub(crate) fn write_element(out: &mut Vec<u8>, pet: PetRef<'_>) {
    if out.len() > 1 {
        out.push(b',');
    }
    write_pet(out, pet);
}

/// Returns the complete array.
pub(crate) fn end_array(mut out: Vec<u8>) -> Vec<u8> {
    out.push(b']');
    out
}
