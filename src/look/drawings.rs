//! Drawings of animals, for those without a photo.

use std::sync::LazyLock;

use maud::{Markup, PreEscaped, html};

use super::animal::Animal;
use crate::domain::store_area::{FieldKind, normalized};

/// The drawings, each with the beginnings of the words for what it shows, without regard to case and
/// accents. The last one is for everything else.
const KINDS: [(&str, &[&str]); 9] = [
    ("dog", &["dog", "pupp"]),
    ("cat", &["cat", "kitten"]),
    ("rabbit", &["rabbit", "bunn"]),
    (
        "small",
        &["small", "hamster", "guinea", "gerbil", "mouse", "mice", "rat", "chinchilla", "ferret"],
    ),
    ("bird", &["bird", "parrot", "budg", "canar", "chicken", "hen", "duck", "pigeon"]),
    ("reptile", &["reptil", "turtle", "tortoise", "lizard", "snake", "gecko"]),
    ("fish", &["fish"]),
    ("horse", &["horse", "pony", "ponies", "donkey"]),
    ("other", &[]),
];

/// The content of each drawing, in the order of [`KINDS`].
static SYMBOLS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let symbols = include_str!("drawings.svg").split("<symbol").skip(1);
    symbols.filter_map(|symbol| Some(symbol.split_once("</symbol>")?.0)).collect()
});

/// Which drawing shows what a text says.
fn kind(text: &str) -> Option<usize> {
    let text = normalized(text);
    KINDS.iter().position(|(_, words)| words.iter().any(|word| text.starts_with(word)))
}

/// The drawings on a page. Each is there once, however many animals it shows.
#[derive(Default)]
pub(crate) struct Drawings([bool; KINDS.len()]);

impl Drawings {
    /// Adds those of a part of the page that was made before.
    pub(crate) fn add(&mut self, others: &Self) {
        for (used, other) in self.0.iter_mut().zip(others.0) {
            *used |= other;
        }
    }

    /// The drawing of an animal in a category with this label, in its place: by its species, or by that
    /// label.
    pub(crate) fn of(&mut self, animal: &Animal<'_>, category: Option<&str>) -> Markup {
        // The value, or its label, which may be in another language.
        let value = animal.text("species", &[FieldKind::Choice, FieldKind::Text]);
        let label = animal.word("species");
        self.of_texts([value, label.as_deref(), category].into_iter().flatten())
    }

    /// The drawing of what the first of these texts says that has one.
    pub(crate) fn of_texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Markup {
        let kind = texts.into_iter().find_map(kind).unwrap_or(KINDS.len() - 1);
        if let Some(used) = self.0.get_mut(kind) {
            *used = true;
        }
        let name = KINDS.get(kind).map(|(name, _)| *name).unwrap_or_default();
        let reference = format!("<use href=\"#d-{name}\"/>");
        html! {
            svg.drawing.{ "of-" (name) } viewBox="0 30 200 220" preserveAspectRatio="xMidYMax meet"
                aria-hidden="true" {
                (PreEscaped(reference))
            }
        }
    }

    /// The symbols to which the drawings on the page refer.
    pub(crate) fn symbols(&self) -> Markup {
        let used = SYMBOLS.iter().zip(self.0).filter(|(_, used)| *used);
        html! {
            @if self.0.contains(&true) {
                svg.symbols width="0" height="0" aria-hidden="true" {
                    @for (symbol, _) in used {
                        (PreEscaped("<symbol")) (PreEscaped(symbol)) (PreEscaped("</symbol>"))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_drawing() {
        assert_eq!(SYMBOLS.len(), KINDS.len());
        for (symbol, (name, _)) in SYMBOLS.iter().zip(KINDS) {
            assert!(symbol.starts_with(&format!(" id=\"d-{name}\">")), "{name}");
        }
    }
}
