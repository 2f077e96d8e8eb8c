//! Drawings of animals, for those without a photo.

use std::{collections::HashMap, sync::LazyLock};

use maud::{Markup, PreEscaped, html};

use super::{animal::Animal, drawn_words};
use crate::domain::store_area::{FieldKind, whole_key};

/// The drawings, each with the words for what it shows. The last one is for everything else.
const KINDS: [(&str, drawn_words::Words); 9] = [
    ("dog", drawn_words::DOG),
    ("cat", drawn_words::CAT),
    ("rabbit", drawn_words::RABBIT),
    ("small", drawn_words::SMALL),
    ("bird", drawn_words::BIRD),
    ("reptile", drawn_words::REPTILE),
    ("fish", drawn_words::FISH),
    ("horse", drawn_words::HORSE),
    ("other", drawn_words::OTHER),
];

/// The content of each drawing, in the order of [`KINDS`].
static SYMBOLS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let symbols = include_str!("drawings.svg").split("<symbol").skip(1);
    symbols.filter_map(|symbol| Some(symbol.split_once("</symbol>")?.0)).collect()
});

/// The place in [`KINDS`] of each word and phrase.
static WORDS: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let of_kind = |(at, (_, words)): (usize, &(&'static str, drawn_words::Words))| {
        words.whole.iter().map(move |word| (*word, at))
    };
    KINDS.iter().enumerate().flat_map(of_kind).collect()
});

/// The most words of a phrase.
const LONGEST_PHRASE: usize = 4;

/// So many words of a text count, the last ones.
const MOST_WORDS: usize = 16;

/// A compound has at least so many letters before its end: "Schund" is not a dog.
const SHORTEST_BEGINNING: usize = 3;

/// Which drawing shows what a text says: what its last word that is known means, without regard to case
/// and accents.
fn kind(text: &str) -> Option<usize> {
    let text = whole_key(text);
    let words = text.rsplit(|character: char| !character.is_alphanumeric());
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
    words.reverse();
    (1..=words.len()).rev().find_map(|end| {
        let mut longest_first = end.saturating_sub(LONGEST_PHRASE)..end;
        let phrase = |begin: usize| known(&words.get(begin..end)?.join(" "));
        longest_first.find_map(phrase).or_else(|| compound(words.get(end - 1)?))
    })
}

/// What a word or a phrase means, also in the plural.
fn known(words: &str) -> Option<usize> {
    WORDS.get(words).or_else(|| WORDS.get(words.strip_suffix('s')?)).copied()
}

/// What a German compound means.
fn compound(word: &str) -> Option<usize> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let ends_with = |end: &&str| {
        let beginning = word.strip_suffix(end).or_else(|| singular.strip_suffix(end));
        beginning.is_some_and(|beginning| beginning.len() >= SHORTEST_BEGINNING)
    };
    KINDS.iter().position(|(_, words)| words.ends.iter().any(ends_with))
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
#[path = "../../tests/inside/look/drawings.rs"]
mod tests;
