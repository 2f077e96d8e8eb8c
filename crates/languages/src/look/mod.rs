//! The look of an animal in the window and in the console: its picture, its line and its card, and the
//! style sheet with the colours and the type of both.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

mod age;
mod animal;
mod card;
mod drawings;
mod drawn_words;
mod kinds;
mod pictures;
mod render;

pub use age::duration_in_words;
pub use animal::{Animal, estimated_birth_in_words, label_of, readable_name, value_text};
pub use card::Card;
pub use drawings::Drawings;
pub(crate) use kinds::{
    GeneralMeaning, LONGEST_PHRASE, SEX_WORDS, Sex, find_species, general_meaning, general_words,
    kind, names_only,
};
pub(crate) use pictures::Room;
pub use pictures::{CARD, EMBEDDED_CARD, PORTRAIT, ROW, focus, gallery_room};
pub use render::text;

/// Returns the style that both have, before the style sheet of each.
pub fn style() -> String {
    let classes = (0..=pictures::STEPS).map(|step| {
        let share = step * 100 / pictures::STEPS;
        format!(".fx{step} {{ --fx: {share}% }}\n.fy{step} {{ --fy: {share}% }}\n")
    });
    include_str!("look.css").to_owned() + &classes.collect::<String>()
}

/// The icon of both, for pages, for browsers and for phones.
pub const ICON: &str = include_str!("icon.svg");
pub const FAVICON: &[u8] = include_bytes!("favicon.ico");
pub const TOUCH_ICON: &[u8] = include_bytes!("apple-touch-icon.png");
