//! Animals as JSON, one or a page.

use crate::{domain::PetRef, json::write_pet};

/// The approximate length of an animal, in bytes.
const USUAL_LENGTH: usize = 80;

/// A Pet of the contract.
pub(crate) fn pet(pet: PetRef<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH + pet.name.len());
    write_pet(&mut out, pet);
    out
}

/// The start of a Pets array, with space for this many animals.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::domain::{NewPet, PetId, PetName, PetStatus};

    proptest! {
        #[test]
        fn a_rendered_animal_is_parsed_back_unchanged(
            id in 1..=PetId::MAX,
            name in "[^\0]*",
            category_id: i64,
            status in 0..3_usize,
        ) {
            let new = NewPet {
                name: PetName::new(name.clone()).unwrap(),
                category_id,
                status: PetStatus::ALL[status],
            };
            let animal = new.with_id(PetId::new(id).unwrap());
            let value = json!({
                "id": id,
                "name": name,
                "categoryId": category_id,
                "status": PetStatus::ALL[status].as_str(),
            });
            let read = |bytes: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
            prop_assert_eq!(read(pet(animal.borrowed())), value.clone());
            prop_assert_eq!(read(end_array(begin_array(0))), json!([]));
            let mut pets = begin_array(1);
            write_element(&mut pets, animal.borrowed());
            write_element(&mut pets, animal.borrowed());
            prop_assert_eq!(read(end_array(pets)), json!([value.clone(), value]));
        }
    }
}
