//! Tests of `src/look/animal.rs`.

use super::*;
use crate::domain::{NewPet, PetName};

#[test]
fn a_photo_has_a_size_that_fits_and_an_alt_text() {
    let photo = Photo { id: PhotoId(1), width: 1920, height: 1080, focus: None, alt: None };
    assert_eq!(photo.within(PhotoSize::Medium), (960, 540));
    assert_eq!(photo.within(PhotoSize::Small), (320, 180));
    let flat = Photo { width: 200, height: 1, alt: Some("At\u{1}home".to_owned()), ..photo };
    // Never enlarged.
    assert_eq!(flat.within(PhotoSize::Medium), (200, 1));
    let flat = Photo { width: 640, ..flat };
    assert_eq!(flat.within(PhotoSize::Small), (320, 1));
    let name = PetName::new("Luna".to_owned()).unwrap();
    let new = NewPet { name, category_id: 1, status: PetStatus::Available };
    let pet = StorePet::added(PetId::new(1).unwrap(), new, Timestamp::UNIX_EPOCH);
    let fields = FieldSet::default();
    let animal = Animal::public(&pet, &fields);
    assert_eq!(animal.alt(1, &flat), "At\u{fffd}home");
    assert_eq!(animal.alt(1, &Photo { alt: None, ..flat }), "Photo 2 of Luna");
    assert_eq!(texts().photo(2, "Luna", Some("Dog")), "Photo 2 of Luna, dog");
}
