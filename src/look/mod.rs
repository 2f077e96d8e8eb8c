//! How an animal looks, in the window and in the console: its picture, its line and its card, and the
//! style sheet with the colours and the type of both.

mod age;
mod animal;
mod card;
mod drawings;
mod drawn_words;
mod pictures;
mod render;

pub(crate) use animal::{Animal, label_of, shown, shown_name};
pub(crate) use card::Card;
pub(crate) use drawings::Drawings;
pub(crate) use pictures::{CARD, EMBEDDED_CARD, PORTRAIT, ROW, Room, focus, in_gallery};
pub(crate) use render::text;

/// The style that both have, before the style sheet of each.
pub(crate) fn style() -> String {
    let classes = (0..=pictures::STEPS).map(|step| {
        let share = step * 100 / pictures::STEPS;
        format!(".fx{step} {{ --fx: {share}% }}\n.fy{step} {{ --fy: {share}% }}\n")
    });
    include_str!("look.css").to_owned() + &classes.collect::<String>()
}

/// The icon of both, for pages, for browsers and for phones.
pub(crate) const ICON: &str = include_str!("icon.svg");
pub(crate) const FAVICON: &[u8] = include_bytes!("favicon.ico");
pub(crate) const TOUCH_ICON: &[u8] = include_bytes!("apple-touch-icon.png");
