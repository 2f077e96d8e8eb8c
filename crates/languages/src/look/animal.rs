//! An animal as people see it, on pages for the public and for the staff.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::{Timestamp, civil::Date};
use maud::{Markup, html};
use petstore_domain::{
    PetId, PetStatus,
    store_area::{
        Currency, FieldDefinition, FieldKind, FieldSet, FieldValue, INTAKE, Photo, StorePet,
    },
    text::readable::{LONG_LENGTH, SHORT_LENGTH, is_visible, readable},
};

use super::age::age;
use crate::{self as languages, numbers, window_texts as texts};

/// An animal with the values that somebody may see. A page or file for the public is made of
/// [`Animal::public`] and of nothing else, so it cannot tell more.
pub struct Animal<'a> {
    pub id: PetId,
    /// The name as the store has it.
    pub name: &'a str,
    /// On pages for the public `available` or `pending`.
    pub status: PetStatus,
    pub category_id: i64,
    /// The values, in the order of their fields.
    pub values: Vec<(&'a FieldDefinition, &'a FieldValue)>,
    pub photos: &'a [Photo],
    /// When it was added, and when it last changed, if that is known.
    pub created_at: Option<Timestamp>,
    pub changed_at: Option<Timestamp>,
}

impl<'a> Animal<'a> {
    /// Returns the parts of an animal that everybody may see.
    pub fn public(pet: &'a StorePet, fields: &'a FieldSet) -> Self {
        Self::with_fields(pet, fields, |field| field.is_public)
    }

    /// Returns the parts of an animal that the staff may see.
    pub fn whole(pet: &'a StorePet, fields: &'a FieldSet) -> Self {
        Self::with_fields(pet, fields, |_| true)
    }

    /// Returns an animal with the values of the fields that somebody may see.
    fn with_fields(
        pet: &'a StorePet,
        fields: &'a FieldSet,
        may_see: fn(&FieldDefinition) -> bool,
    ) -> Self {
        let mut values = Vec::new();
        for field in fields.all() {
            if let Some(value) = pet.fields.get(field.name.as_str())
                && may_see(field)
            {
                values.push((field, value));
            }
        }
        Self {
            id: pet.id,
            values,
            photos: pet.photos.all(),
            status: pet.status,
            category_id: pet.category_id,
            created_at: pet.created_at,
            changed_at: pet.updated_at.or(pet.created_at),
            name: pet.name.as_str(),
        }
    }

    pub fn is_reserved(&self) -> bool {
        self.status == PetStatus::Pending
    }

    /// Returns the path of its page.
    pub fn path(&self) -> String {
        format!("/animals/{}", self.id)
    }

    /// Returns its name for a list, in a form that people can read.
    pub fn short_name(&self) -> String {
        readable_name(self.name, SHORT_LENGTH)
    }

    /// Returns its name for its own page, in a form that people can read.
    pub fn long_name(&self) -> String {
        readable_name(self.name, LONG_LENGTH)
    }

    /// Returns the text in the field with this name, if the field is of one of these kinds.
    pub fn text(&self, name: &str, kinds: &[FieldKind]) -> Option<&str> {
        let (_, text) = self.field_text(name, kinds)?;
        Some(text)
    }

    /// Returns the field with this name and its text, if it is of one of these kinds.
    fn field_text(&self, name: &str, kinds: &[FieldKind]) -> Option<(&FieldDefinition, &str)> {
        let mut values = self.values.iter();
        let (field, value) = values.find(|(field, _)| field.name.as_str() == name)?;
        match value {
            FieldValue::Text(text) if kinds.contains(&field.kind) => Some((field, text)),
            _ => None,
        }
    }

    /// Returns a word about it, such as its species, in a form that people can read.
    pub fn word(&self, name: &str) -> Option<String> {
        let (field, text) = self.field_text(name, &[FieldKind::Choice, FieldKind::Text])?;
        Some(readable(field.display_text(text), SHORT_LENGTH))
    }

    /// Returns its sex, if it is known.
    pub fn sex(&self) -> Option<String> {
        // The value, because its label can be in any language.
        if self.text("sex", &[FieldKind::Choice, FieldKind::Text])? == "Unknown" {
            return None;
        }
        self.word("sex")
    }

    /// Whether it should have a microchip. Nobody misses the microchip of a budgie.
    pub fn is_chipped(&self) -> bool {
        let species = self.text("species", &[FieldKind::Choice, FieldKind::Text]);
        species.is_none_or(|species| ["Dog", "Cat", "Horse"].contains(&species))
    }

    pub fn born(&self) -> Option<Date> {
        self.text("born", &[FieldKind::Date])?.parse().ok()
    }

    /// Returns the day on which it came: the day of its intake, or else the day on which it was added, which `day_of` returns
    /// for a time. An animal of an early release can have none.
    pub fn arrival(&self, day_of: impl FnOnce(Timestamp) -> Date) -> Option<Date> {
        let intake = self.text(INTAKE, &[FieldKind::Date]);
        match intake.and_then(|day| day.parse().ok()) {
            Some(day) => Some(day),
            None => self.created_at.map(day_of),
        }
    }

    /// Whether its day of birth was calculated from an age.
    pub fn is_birth_estimated(&self) -> bool {
        let mut values = self.values.iter();
        values
            .any(|(field, value)| field.is_birth_estimate() && **value == FieldValue::Boolean(true))
    }

    /// Returns its age on this day in words, such as `about 2 years` if its birth was estimated.
    pub fn age(&self, today: Date) -> Option<String> {
        let age_text = age(self.born()?, today)?;
        if self.is_birth_estimated() {
            Some(texts().about(&age_text))
        } else {
            Some(age_text)
        }
    }

    /// Returns its estimated birth in words; `None` if its day of birth is known, or if it has none.
    pub fn estimated_birth(&self, today: Date) -> Option<String> {
        if !self.is_birth_estimated() {
            return None;
        }
        Some(estimated_birth_in_words(self.born()?, today))
    }

    pub fn price(&self) -> Option<&str> {
        let (_, price) = self.price_field()?;
        Some(price)
    }

    /// Returns the field of the price, and the price. A price with a minus is a mistake, and left out.
    fn price_field(&self) -> Option<(&FieldDefinition, &str)> {
        let (field, price) = self.field_text("price", &[FieldKind::Decimal])?;
        if price.starts_with('-') {
            None
        } else {
            Some((field, price))
        }
    }

    /// Renders its price for the public, after the label of the price.
    pub fn public_price(&self, currency: Option<&Currency>) -> Option<Markup> {
        let (field, price) = self.price_field()?;
        Some(html! {
            p.price {
                span { bdi { (label_of(field)) } (texts().colon) }
                (languages::price(price, currency))
            }
        })
    }

    pub fn description(&self) -> Option<&str> {
        self.text("description", &[FieldKind::LongText, FieldKind::Text])
    }

    /// Returns the beginning of its description on one line.
    pub fn summary(&self, longest: usize) -> Option<String> {
        let text = self.description()?;
        let mut line = String::with_capacity(text.len());
        for word in text.split_ascii_whitespace() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        Some(readable(&line, longest))
    }

    /// Returns its species and breed, as far as they are known.
    pub fn kind(&self) -> Vec<String> {
        ["species", "breed"]
            .iter()
            .filter_map(|name| self.word(name))
            .collect()
    }

    /// Returns its sex, age, breed and colour on one line. The species takes the place of an unknown breed.
    pub fn line(&self, today: Date) -> String {
        let kind = self.word("breed").or_else(|| self.word("species"));
        let line: Vec<_> = [self.sex(), self.age(today), kind, self.word("colour")]
            .into_iter()
            .flatten()
            .collect();
        line.join(" · ")
    }

    /// Returns the alternative text of a photo at this position, from 0.
    pub fn alt(&self, position: usize, photo: &Photo) -> String {
        if let Some(alt) = &photo.alt {
            return readable(alt.as_str(), LONG_LENGTH);
        }
        texts().photo(
            position + 1,
            &self.short_name(),
            self.word("species").as_deref(),
        )
    }
}

/// Returns an estimated day of birth in words: its year, such as `around 2024`, or the day of a birth in the last year.
pub fn estimated_birth_in_words(born: Date, today: Date) -> String {
    let is_young = (today - born).get_days() < DAYS_OF_YEAR;
    if is_young {
        texts().around_day(&numbers().date(born))
    } else {
        texts().around_year(&born.year().to_string())
    }
}

/// The days of a year.
const DAYS_OF_YEAR: i32 = 365;

/// Returns a name in a form that people can read.
pub fn readable_name(name: &str, longest: usize) -> String {
    let readable_name = readable(name, longest);
    if is_visible(&readable_name) {
        readable_name
    } else {
        texts().no_name.to_owned()
    }
}

/// Returns the label of a field in a form that people can read.
pub fn label_of(field: &FieldDefinition) -> String {
    if languages::is_usual_estimate_label(field) {
        return texts().birth_estimated.to_owned();
    }
    languages::fee_label(field).map_or_else(
        || readable(field.label.as_str(), SHORT_LENGTH),
        str::to_owned,
    )
}

/// Returns a value on one line, in a form that people can read.
pub fn value_text(field: &FieldDefinition, value: &FieldValue) -> String {
    match (field.kind, value) {
        (FieldKind::Date, FieldValue::Text(text)) => text.parse().map_or_else(
            |_| readable(text, SHORT_LENGTH),
            |date| numbers().date(date),
        ),
        (FieldKind::Decimal, FieldValue::Text(text)) => numbers().number(text),
        (_, FieldValue::Text(text)) => readable(field.display_text(text), LONG_LENGTH),
        (_, FieldValue::Integer(number)) => number.to_string(),
        (_, FieldValue::Boolean(true)) => texts().yes.to_owned(),
        (_, FieldValue::Boolean(false)) => texts().no.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petstore_domain::{
        NewPet, PetName,
        store_area::{AltText, PhotoId, PhotoSize},
    };

    #[test]
    fn a_photo_has_a_size_that_fits_and_an_alt_text() {
        let (id, added_at) = (PhotoId(1), Timestamp::UNIX_EPOCH);
        let photo = Photo {
            id,
            width: 1920,
            height: 1080,
            focus: None,
            alt: None,
            added_at,
        };
        assert_eq!(photo.dimensions(PhotoSize::Medium), (960, 540));
        assert_eq!(photo.dimensions(PhotoSize::Small), (320, 180));
        let alt = AltText::new("At\u{1}home".to_owned());
        let flat = Photo {
            width: 200,
            height: 1,
            alt,
            ..photo
        };
        // Never enlarged.
        assert_eq!(flat.dimensions(PhotoSize::Medium), (200, 1));
        let flat = Photo { width: 640, ..flat };
        assert_eq!(flat.dimensions(PhotoSize::Small), (320, 1));
        let name = PetName::new("Luna".to_owned()).unwrap();
        let new = NewPet {
            name,
            category_id: 1,
            status: PetStatus::Available,
            is_listed: true,
        };
        let pet = StorePet::new(PetId::new(1).unwrap(), new, Timestamp::UNIX_EPOCH);
        let fields = FieldSet::default();
        let animal = Animal::public(&pet, &fields);
        assert_eq!(animal.alt(1, &flat), "At\u{fffd}home");
        assert_eq!(
            animal.alt(1, &Photo { alt: None, ..flat }),
            "Photo 2 of Luna"
        );
        assert_eq!(
            texts().photo(2, "Luna", Some("Dog")),
            "Photo 2 of Luna, dog"
        );
    }
}
