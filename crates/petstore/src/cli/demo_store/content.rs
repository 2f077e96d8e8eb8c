//! The content of the store of a demo. It is embedded in the program from the files in `demo/`.

use anyhow::anyhow;
use petstore_domain::store_area::{Language, ProfilePatch};
use petstore_formats::json::members::{Body, Members};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The animals, a line of CSV for each. See [`AnimalFacts`].
const ANIMALS: &str = include_str!("../demo/animals.csv");
/// The logo of the store, a PNG file.
pub(super) const LOGO: &[u8] = include_bytes!("../demo/logo.png");

/// Embeds the pictures with these names in the program: `pictures![beagle]` is an array with
/// `Picture { name: "beagle", webp: b"…" }`. This is a macro because `include_bytes!` needs a
/// literal.
macro_rules! pictures {
    ($($name:ident)+) => {
        &[$(Picture {
            name: stringify!($name),
            webp: include_bytes!(concat!("../demo/", stringify!($name), ".webp")),
        }),+]
    };
}

/// All pictures of animals.
const PICTURES: &[Picture] = pictures![
    beagle black blue brown calico cavy cockatiel collie cookie corgi dachshund dutch gecko ginger green
    grey hamster labrador lop poodle retriever shepherd siamese sky tabby terrier tortoise tuxedo white
];

/// A picture of an animal.
struct Picture {
    name: &'static str,
    /// The content of the WebP file.
    webp: &'static [u8],
}

/// The facts about an animal that do not depend on the language, as a line of [`ANIMALS`] has them.
/// Times are in days before now, except for `until`.
#[derive(Deserialize)]
pub(super) struct AnimalFacts {
    /// The name of a picture; empty if the animal has none.
    picture: String,
    /// The id of the category.
    pub(super) category: i64,
    pub(super) species: String,
    pub(super) sex: String,
    pub(super) size: String,
    pub(super) price: String,
    pub(super) born: i64,
    pub(super) arrived: i64,
    /// If the animal is reserved, the number of days from now until the reservation ends.
    pub(super) until: Option<i64>,
    pub(super) sold: Option<i64>,
}

impl AnimalFacts {
    /// Returns the content of the WebP file with the picture of the animal, if the animal has one.
    pub(super) fn picture(&self) -> Option<&'static [u8]> {
        let picture = PICTURES
            .iter()
            .find(|picture| picture.name == self.picture)?;
        Some(picture.webp)
    }
}

/// The texts of the store in one language.
#[derive(Deserialize)]
pub(super) struct Texts {
    profile: Box<RawValue>,
    pub(super) categories: Vec<String>,
    pub(super) staff: StaffNames,
    /// The contacts of the customers who have reserved an animal.
    pub(super) customers: Vec<String>,
    /// The texts of each animal, in the order of [`ANIMALS`].
    pub(super) animals: Vec<AnimalTexts>,
}

/// The names of the staff, which are a JSON array in this order.
#[derive(Deserialize)]
pub(super) struct StaffNames {
    pub(super) manager: String,
    pub(super) clerk: String,
    pub(super) viewer: String,
}

/// The texts of an animal, which are a JSON array in this order.
#[derive(Deserialize)]
pub(super) struct AnimalTexts {
    pub(super) name: String,
    pub(super) breed: String,
    pub(super) colour: String,
    pub(super) description: String,
}

impl Texts {
    /// Parses the texts in a language.
    pub(super) fn read(language: Language) -> anyhow::Result<Self> {
        let json = match language {
            Language::English => include_str!("../demo/en.json"),
            Language::German => include_str!("../demo/de.json"),
            Language::French => include_str!("../demo/fr.json"),
            Language::Spanish => include_str!("../demo/es.json"),
        };
        Ok(serde_json::from_str(json)?)
    }

    /// Parses the profile of the store.
    pub(super) fn read_profile(&self) -> anyhow::Result<ProfilePatch> {
        let members = self.profile.get().as_bytes();
        Members::parse(members, "The profile", ProfilePatch::NAMES)
            .and_then(|members| members.read())
            .map_err(|invalid| anyhow!("{invalid:?}"))
    }
}

/// Parses the facts about the animals, in the order of their arrival.
pub(super) fn read_animal_facts() -> anyhow::Result<Vec<AnimalFacts>> {
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .from_reader(ANIMALS.as_bytes());
    let facts = lines.deserialize().collect::<Result<_, _>>()?;
    Ok(facts)
}
