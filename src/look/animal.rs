//! An animal as people see it, on pages for the public and for the staff.

use jiff::{Timestamp, civil::Date};
use maud::{Markup, html};

use super::age::age;
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{
            self, Currency, FieldDefinition, FieldKind, FieldSet, FieldValue, Focus, PhotoFile,
            PhotoId, PhotoSize, StorePet,
        },
    },
    languages::{self, numbers, window_texts as texts},
    text::readable::{LONG, SHORT, is_visible, readable},
};

/// An animal with the values that somebody may see. A page or file for the public is made of
/// [`Animal::public`] and of nothing else, so it cannot tell more.
pub(crate) struct Animal<'f> {
    pub(crate) id: PetId,
    /// As it was given.
    pub(crate) name: String,
    /// On pages for the public `available` or `pending`.
    pub(crate) status: PetStatus,
    pub(crate) category_id: i64,
    /// The values, in the order of their fields.
    pub(crate) values: Vec<(&'f FieldDefinition, FieldValue)>,
    pub(crate) photos: Vec<Photo>,
    /// When it was added, and when it last changed, if that is known.
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) changed_at: Option<Timestamp>,
}

pub(crate) struct Photo {
    pub(crate) id: PhotoId,
    /// Of the large one.
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) focus: Option<Focus>,
    pub(crate) alt: Option<String>,
}

/// The photos of an animal, in their order.
fn photos_of(pet: &StorePet) -> Vec<Photo> {
    let photo = |photo: &store_area::Photo| {
        let alt = photo.alt.as_ref().map(|alt| alt.as_str().to_owned());
        Photo { id: photo.id, width: photo.width, height: photo.height, focus: photo.focus, alt }
    };
    pet.photos.all().iter().map(photo).collect()
}

impl<'f> Animal<'f> {
    /// What everybody may see of an animal.
    pub(crate) fn public(pet: &StorePet, fields: &'f FieldSet) -> Self {
        Self::of(pet, fields, |field| field.is_public)
    }

    /// What the staff sees of an animal.
    pub(crate) fn whole(pet: &StorePet, fields: &'f FieldSet) -> Self {
        Self::of(pet, fields, |_| true)
    }

    fn of(pet: &StorePet, fields: &'f FieldSet, may_see: fn(&FieldDefinition) -> bool) -> Self {
        let seen = fields.all().iter().filter(|field| may_see(field));
        let value = |field: &FieldDefinition| pet.fields.get(field.name.as_str()).cloned();
        let values = seen.filter_map(|field| Some((field, value(field)?))).collect();
        Self {
            id: pet.id,
            values,
            photos: photos_of(pet),
            status: pet.status,
            category_id: pet.category_id,
            created_at: pet.created_at,
            changed_at: pet.updated_at.or(pet.created_at),
            name: pet.name.as_str().to_owned(),
        }
    }

    pub(crate) fn is_reserved(&self) -> bool {
        self.status == PetStatus::Pending
    }

    /// The path of its page.
    pub(crate) fn path(&self) -> String {
        format!("/animals/{}", self.id)
    }

    /// Its name as people can read it, in a list.
    pub(crate) fn short_name(&self) -> String {
        shown_name(&self.name, SHORT)
    }

    /// The same on its own page.
    pub(crate) fn long_name(&self) -> String {
        shown_name(&self.name, LONG)
    }

    /// The text in the field with this name, if it is of this kind.
    pub(crate) fn text(&self, name: &str, kinds: &[FieldKind]) -> Option<&str> {
        self.text_of(name, kinds).map(|(_, text)| text)
    }

    fn text_of(&self, name: &str, kinds: &[FieldKind]) -> Option<(&FieldDefinition, &str)> {
        let is_it = |(field, _): &&(&FieldDefinition, FieldValue)| {
            field.name.as_str() == name && kinds.contains(&field.kind)
        };
        match self.values.iter().find(is_it)? {
            (field, FieldValue::Text(text)) => Some((field, text)),
            _ => None,
        }
    }

    /// A word about it, such as its species, as people can read it.
    pub(crate) fn word(&self, name: &str) -> Option<String> {
        let (field, text) = self.text_of(name, &[FieldKind::Choice, FieldKind::Text])?;
        Some(readable(field.shown(text), SHORT))
    }

    /// Its sex, if that is known.
    pub(crate) fn sex(&self) -> Option<String> {
        // The value, because its label can be in any language.
        self.text("sex", &[FieldKind::Choice, FieldKind::Text]).filter(|sex| *sex != "Unknown")?;
        self.word("sex")
    }

    /// Whether it should have a microchip: nobody misses that of a budgie.
    pub(crate) fn is_chipped(&self) -> bool {
        let species = self.text("species", &[FieldKind::Choice, FieldKind::Text]);
        species.is_none_or(|species| ["Dog", "Cat", "Horse"].contains(&species))
    }

    pub(crate) fn born(&self) -> Option<Date> {
        self.text("born", &[FieldKind::Date])?.parse().ok()
    }

    /// How old it is on this day.
    pub(crate) fn age(&self, today: Date) -> Option<String> {
        age(self.born()?, today)
    }

    pub(crate) fn price(&self) -> Option<&str> {
        self.price_of().map(|(_, price)| price)
    }

    fn price_of(&self) -> Option<(&FieldDefinition, &str)> {
        // One with a minus is a mistake.
        self.text_of("price", &[FieldKind::Decimal]).filter(|(_, price)| !price.starts_with('-'))
    }

    /// Its price for the public, behind the word for it.
    pub(crate) fn public_price(&self, currency: Option<&Currency>) -> Option<Markup> {
        let (field, price) = self.price_of()?;
        Some(html! {
            p.price {
                span { bdi { (label_of(field)) } (texts().colon) }
                (languages::price(price, currency))
            }
        })
    }

    pub(crate) fn description(&self) -> Option<&str> {
        self.text("description", &[FieldKind::LongText, FieldKind::Text])
    }

    /// The beginning of its description, on one line.
    pub(crate) fn summary(&self, longest: usize) -> Option<String> {
        let text = self.description()?.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(readable(&text, longest))
    }

    /// The words that say what it is, such as its species and breed.
    pub(crate) fn kind(&self) -> Vec<String> {
        ["species", "breed"].iter().filter_map(|name| self.word(name)).collect()
    }

    /// Sex, age, breed and colour, on one line; the species, if it has no breed.
    pub(crate) fn line(&self, today: Date) -> String {
        let kind = self.word("breed").or_else(|| self.word("species"));
        let line: Vec<_> = [self.sex(), self.age(today), kind, self.word("colour")]
            .into_iter()
            .flatten()
            .collect();
        line.join(" · ")
    }

    /// The alternative text of a photo.
    pub(crate) fn alt(&self, at: usize, photo: &Photo) -> String {
        if let Some(alt) = &photo.alt {
            return readable(alt, LONG);
        }
        texts().photo(at + 1, &self.short_name(), self.word("species").as_deref())
    }
}

impl Photo {
    /// Of the large file, in pixels.
    pub(crate) fn longer_side(&self) -> u32 {
        self.width.max(self.height).max(1)
    }

    /// Its width divided by its height.
    pub(crate) fn ratio(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// The path of the file of this size.
    pub(crate) fn path(&self, size: PhotoSize) -> String {
        PhotoFile { id: self.id, size }.path()
    }

    /// The width and height of the file of this size.
    pub(crate) fn within(&self, size: PhotoSize) -> (u32, u32) {
        let (longest, longer) = (size.longer_side(), self.longer_side());
        let scaled = |whole: u32| {
            let scaled = u64::from(whole) * u64::from(longest.min(longer)) / u64::from(longer);
            u32::try_from(scaled).unwrap_or(longest).max(1)
        };
        (scaled(self.width), scaled(self.height))
    }
}

/// A name as people can read it.
pub(crate) fn shown_name(name: &str, longest: usize) -> String {
    let shown = readable(name, longest);
    if is_visible(&shown) { shown } else { texts().no_name.to_owned() }
}

/// The label of a field, as people read it.
pub(crate) fn label_of(field: &FieldDefinition) -> String {
    languages::fee(field).map_or_else(|| readable(field.label.as_str(), SHORT), str::to_owned)
}

/// A value as people read it, on one line.
pub(crate) fn shown(field: &FieldDefinition, value: &FieldValue) -> String {
    match (field.kind, value) {
        (FieldKind::Date, FieldValue::Text(text)) => {
            text.parse().map_or_else(|_| readable(text, SHORT), |of| numbers().date(of))
        }
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
}
