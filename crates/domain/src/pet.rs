//! The animal of the contract, which the store area extends.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::words::words;

/// The highest identifier of an animal or order, and the highest version, that an import accepts:
/// 2^53 - 2^40. Each change and each new animal or order takes the next number, so a store has more
/// than a million million of them left.
pub const HIGHEST_IMPORTED: i64 = (1 << 53) - (1 << 40);

/// A number that no store reaches. It lies halfway between [`HIGHEST_IMPORTED`] and 2^53.
pub const HIGHEST_EXPECTED: i64 = (1 << 53) - (1 << 39);

/// Declares the type of an identifier: a number that every JSON reader reads exactly, also a reader that stores every
/// number as an IEEE 754 double.
///
/// `id! { PetId }` becomes a struct `PetId` with `PetId::MAX`, `PetId::new`, `PetId::get` and `Display`. `PetId::new(0)` is
/// `None`.
macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The highest identifier: 2^53 - 1.
            pub const MAX: i64 = (1 << 53) - 1;

            /// Returns the identifier; `None` if the number is not in 1 to [`Self::MAX`].
            pub fn new(id: i64) -> Option<Self> {
                (1..=Self::MAX).contains(&id).then_some(Self(id))
            }

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

words! {
    /// Whether an animal is available.
    #[derive(Default)]
    pub enum PetStatus {
        /// The animal can be reserved or sold, the default.
        #[default]
        Available = "available",
        Pending = "pending",
        /// The animal has a new home.
        Sold = "sold",
    }
}

/// An animal's name: any Unicode text of up to 64 KiB without U+0000, stored exactly as given. It
/// may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetName(String);

impl PetName {
    /// The maximum length in bytes. A request cannot carry a longer name, and the limit bounds the
    /// size of a page.
    pub const MAX_LENGTH: usize = 64 << 10;

    /// Returns the name; `None` if the text is longer than [`Self::MAX_LENGTH`], or contains U+0000. PostgreSQL
    /// cannot store U+0000, so every backend rejects it: a catalogue can move between backends.
    pub fn new(text: String) -> Option<Self> {
        let is_valid = text.len() <= Self::MAX_LENGTH && !text.contains('\0');
        is_valid.then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An animal that has no identifier yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPet {
    pub name: PetName,
    /// The number of the category: any number, which no operation looks up.
    pub category_id: i64,
    pub status: PetStatus,
    /// Whether the window may show the animal. The contract only adds animals that it may show.
    pub is_listed: bool,
}

impl NewPet {
    /// Returns the animal with the identifier that the store gave it.
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
    /// Given by the store, and unique.
    pub id: PetId,
    pub name: PetName,
    pub category_id: i64,
    pub status: PetStatus,
}

impl Pet {
    /// Returns the animal with a borrowed name.
    pub fn as_pet_ref(&self) -> PetRef<'_> {
        PetRef {
            id: self.id,
            name: self.name.as_str(),
            category_id: self.category_id,
            status: self.status,
        }
    }
}

/// An animal in the catalogue with a borrowed name, so that a page is written without a copy of
/// each name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PetRef<'a> {
    pub id: PetId,
    pub name: &'a str,
    pub category_id: i64,
    pub status: PetStatus,
}
