//! The animal as the contract defines it. The store area extends it: see
//! [`StorePet`](crate::store_area::StorePet).

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use super::named_enum::named_enum;

/// The highest number that an import accepts as the version or the identifier of an animal or
/// order: 2^53 - 2^40.
///
/// Later changes and new animals or orders count up from there, so an import always leaves more
/// than 10^12 numbers up to 2^53.
pub const HIGHEST_IMPORTED: i64 = (1 << 53) - (1 << 40);

/// A number that no healthy store reaches, halfway between [`HIGHEST_IMPORTED`] and 2^53.
/// `petstore check` reports higher identifiers and versions as a problem.
pub const HIGHEST_EXPECTED: i64 = (1 << 53) - (1 << 39);

/// Declares an identifier type. Its values are limited to 2^53 - 1, so that they stay exact even in
/// JSON parsers that store every number as an IEEE 754 double.
///
/// `id! { PetId }` declares a struct `PetId` with `PetId::MAX`, `PetId::new`, `PetId::get` and
/// `Display`. `PetId::new(0)` is `None`.
macro_rules! id {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The highest identifier: 2^53 - 1.
            pub const MAX: i64 = (1 << 53) - 1;

            /// Returns the identifier; `None` if the number is not in 1 to [`Self::MAX`].
            pub fn new(id: i64) -> Option<Self> {
                (1..=Self::MAX).contains(&id).then_some(Self(id))
            }

            /// Returns the identifier as a number.
            pub fn get(self) -> i64 {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}
pub(crate) use id;

id! {
    /// The identifier of an animal: from 1 to 2^53 - 1.
    PetId
}

named_enum! {
    /// The sales status of an animal.
    #[derive(Default)]
    pub enum PetStatus {
        /// The animal can be reserved or sold, the default.
        #[default]
        Available = "available",
        /// The animal is reserved.
        Pending = "pending",
        /// The animal has a new home.
        Sold = "sold",
    }
}

/// The name of an animal: any Unicode text of up to 64 KiB without U+0000, stored exactly as given.
/// It may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetName(String);

impl PetName {
    /// The maximum length, in bytes, which is also the limit of a request body. It bounds the size
    /// of a page.
    pub const MAX_LENGTH: usize = 64 << 10;

    /// Validates a name; `None` if the text is longer than [`Self::MAX_LENGTH`] or contains U+0000.
    ///
    /// PostgreSQL cannot store U+0000. SQLite could, but a catalogue must be able to move between
    /// the two.
    pub fn new(text: String) -> Option<Self> {
        let is_valid = text.len() <= Self::MAX_LENGTH && !text.contains('\0');
        is_valid.then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An animal to be added, which has no identifier yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPet {
    pub name: PetName,
    /// The number of the category. Any number is accepted; it need not be a category with a label.
    pub category_id: i64,
    pub status: PetStatus,
    /// Whether the window may show the animal. Always true for an animal that is added through the
    /// contract.
    pub is_listed: bool,
}

impl NewPet {
    /// Returns the animal with the identifier that the store assigned.
    pub fn with_id(self, id: PetId) -> Pet {
        Pet {
            id,
            name: self.name,
            category_id: self.category_id,
            status: self.status,
        }
    }
}

/// An animal in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pet {
    /// Assigned by the store, and unique.
    pub id: PetId,
    pub name: PetName,
    pub category_id: i64,
    pub status: PetStatus,
}

impl Pet {
    /// Borrows the animal, without a copy of its name.
    pub fn as_pet_ref(&self) -> PetRef<'_> {
        PetRef {
            id: self.id,
            name: self.name.as_str(),
            category_id: self.category_id,
            status: self.status,
        }
    }
}

/// A borrowed [`Pet`], so that a page can be serialized without a copy of each name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PetRef<'a> {
    pub id: PetId,
    pub name: &'a str,
    pub category_id: i64,
    pub status: PetStatus,
}
