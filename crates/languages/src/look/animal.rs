//! An animal as people see it, on pages for the public and for the staff.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{Timestamp, civil::Date};
use maud::{Markup, html};
use petstore_domain::{
    PetId, PetStatus,
    store_area::{Currency, FieldDefinition, FieldKind, FieldSet, FieldValue, Photo, StorePet},
    text::readable::{LONG, SHORT, is_visible, readable},
};

use super::age::age;
use crate::{self as languages, numbers, window_texts as texts};

/// An animal with the values that somebody may see. A page or file for the public is made of
/// [`Animal::public`] and of nothing else, so it cannot tell more.
pub struct Animal<'a> {
    pub id: PetId,
    /// As it was given.
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
    /// What everybody may see of an animal.
    pub fn public(pet: &'a StorePet, fields: &'a FieldSet) -> Self {
        Self::of(pet, fields, |field| field.is_public)
    }

    /// What the staff sees of an animal.
    pub fn whole(pet: &'a StorePet, fields: &'a FieldSet) -> Self {
        Self::of(pet, fields, |_| true)
    }

    fn of(pet: &'a StorePet, fields: &'a FieldSet, may_see: fn(&FieldDefinition) -> bool) -> Self {
        let seen = fields.all().iter().filter(|field| may_see(field));
        let values = seen.filter_map(|field| Some((field, pet.fields.get(field.name.as_str())?)));
        Self {
            id: pet.id,
            values: values.collect(),
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

    /// The path of its page.
    pub fn path(&self) -> String {
        format!("/animals/{}", self.id)
    }

    /// Its name as people can read it, in a list.
    pub fn short_name(&self) -> String {
        readable_name(self.name, SHORT)
    }

    /// The same on its own page.
    pub fn long_name(&self) -> String {
        readable_name(self.name, LONG)
    }

    /// The text in the field with this name, if it is of this kind.
    pub fn text(&self, name: &str, kinds: &[FieldKind]) -> Option<&str> {
        self.text_of(name, kinds).map(|(_, text)| text)
    }

    fn text_of(&self, name: &str, kinds: &[FieldKind]) -> Option<(&FieldDefinition, &str)> {
        let is_it = |(field, _): &&(&FieldDefinition, &FieldValue)| {
            field.name.as_str() == name && kinds.contains(&field.kind)
        };
        match self.values.iter().find(is_it)? {
            (field, FieldValue::Text(text)) => Some((field, text)),
            _ => None,
        }
    }

    /// A word about it, such as its species, as people can read it.
    pub fn word(&self, name: &str) -> Option<String> {
        let (field, text) = self.text_of(name, &[FieldKind::Choice, FieldKind::Text])?;
        Some(readable(field.shown(text), SHORT))
    }

    /// Its sex, if that is known.
    pub fn sex(&self) -> Option<String> {
        // The value, because its label can be in any language.
        self.text("sex", &[FieldKind::Choice, FieldKind::Text])
            .filter(|sex| *sex != "Unknown")?;
        self.word("sex")
    }

    /// Whether it should have a microchip: nobody misses that of a budgie.
    pub fn is_chipped(&self) -> bool {
        let species = self.text("species", &[FieldKind::Choice, FieldKind::Text]);
        species.is_none_or(|species| ["Dog", "Cat", "Horse"].contains(&species))
    }

    pub fn born(&self) -> Option<Date> {
        self.text("born", &[FieldKind::Date])?.parse().ok()
    }

    /// How old it is on this day.
    pub fn age(&self, today: Date) -> Option<String> {
        age(self.born()?, today)
    }

    pub fn price(&self) -> Option<&str> {
        self.price_of().map(|(_, price)| price)
    }

    fn price_of(&self) -> Option<(&FieldDefinition, &str)> {
        // One with a minus is a mistake.
        self.text_of("price", &[FieldKind::Decimal])
            .filter(|(_, price)| !price.starts_with('-'))
    }

    /// Its price for the public, behind the word for it.
    pub fn public_price(&self, currency: Option<&Currency>) -> Option<Markup> {
        let (field, price) = self.price_of()?;
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

    /// The beginning of its description, on one line.
    pub fn summary(&self, longest: usize) -> Option<String> {
        let text = self.description()?;
        let mut line = String::with_capacity(text.len());
        for word in text.split_ascii_whitespace() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
        Some(readable(&line, longest))
    }

    /// The words that say what it is, such as its species and breed.
    pub fn kind(&self) -> Vec<String> {
        ["species", "breed"]
            .iter()
            .filter_map(|name| self.word(name))
            .collect()
    }

    /// Sex, age, breed and colour, on one line; the species, if it has no breed.
    pub fn line(&self, today: Date) -> String {
        let kind = self.word("breed").or_else(|| self.word("species"));
        let line: Vec<_> = [self.sex(), self.age(today), kind, self.word("colour")]
            .into_iter()
            .flatten()
            .collect();
        line.join(" · ")
    }

    /// The alternative text of a photo.
    pub fn alt(&self, at: usize, photo: &Photo) -> String {
        if let Some(alt) = &photo.alt {
            return readable(alt.as_str(), LONG);
        }
        texts().photo(at + 1, &self.short_name(), self.word("species").as_deref())
    }
}

/// A name as people can read it.
pub fn readable_name(name: &str, longest: usize) -> String {
    let shown = readable(name, longest);
    if is_visible(&shown) {
        shown
    } else {
        texts().no_name.to_owned()
    }
}

/// The label of a field, as people read it.
pub fn label_of(field: &FieldDefinition) -> String {
    languages::fee_label(field).map_or_else(|| readable(field.label.as_str(), SHORT), str::to_owned)
}

/// A value as people read it, on one line.
pub fn value_text(field: &FieldDefinition, value: &FieldValue) -> String {
    match (field.kind, value) {
        (FieldKind::Date, FieldValue::Text(text)) => text
            .parse()
            .map_or_else(|_| readable(text, SHORT), |of| numbers().date(of)),
        (FieldKind::Decimal, FieldValue::Text(text)) => numbers().number(text),
        (_, FieldValue::Text(text)) => readable(field.shown(text), LONG),
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
        assert_eq!(photo.within(PhotoSize::Medium), (960, 540));
        assert_eq!(photo.within(PhotoSize::Small), (320, 180));
        let alt = AltText::new("At\u{1}home".to_owned());
        let flat = Photo {
            width: 200,
            height: 1,
            alt,
            ..photo
        };
        // Never enlarged.
        assert_eq!(flat.within(PhotoSize::Medium), (200, 1));
        let flat = Photo { width: 640, ..flat };
        assert_eq!(flat.within(PhotoSize::Small), (320, 1));
        let name = PetName::new("Luna".to_owned()).unwrap();
        let new = NewPet {
            name,
            category_id: 1,
            status: PetStatus::Available,
        };
        let pet = StorePet::added(PetId::new(1).unwrap(), new, Timestamp::UNIX_EPOCH);
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
