//! The drawings of animals without a photo.

use std::sync::LazyLock;

use maud::{Markup, PreEscaped, html};
use petstore_domain::store_area::FieldKind;

use super::{
    animal::Animal,
    kinds::{KINDS, kind},
};

/// The content of each drawing, in the order of [`KINDS`].
static SYMBOLS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let symbols = include_str!("drawings.svg").split("<symbol").skip(1);
    symbols
        .filter_map(|symbol| Some(symbol.split_once("</symbol>")?.0))
        .collect()
});

/// The drawings on a page. Each is there once, however many animals it shows.
#[derive(Default)]
pub struct Drawings([bool; KINDS.len()]);

impl Drawings {
    /// Adds the drawings of a part of the page that was rendered before.
    pub fn add(&mut self, drawings: &Self) {
        let Self(part_uses) = drawings;
        for (is_used, part_uses) in self.0.iter_mut().zip(part_uses) {
            *is_used |= part_uses;
        }
    }

    /// Renders the drawing of an animal in the place of a photo: by its species, or else by the label of its category.
    pub fn draw(&mut self, animal: &Animal<'_>, category: Option<&str>) -> Markup {
        // The value, or its label, which may be in another language.
        let value = animal.text("species", &[FieldKind::Choice, FieldKind::Text]);
        let label = animal.word("species");
        self.draw_named([value, label.as_deref(), category].into_iter().flatten())
    }

    /// Renders the drawing for the first text that names a kind of animal, or else the drawing for other animals.
    ///
    /// Example: for `Mammal` and `Beagle dogs`, it is the drawing of a dog.
    pub fn draw_named<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Markup {
        let kind = texts.into_iter().find_map(kind).unwrap_or(KINDS.len() - 1);
        if let Some(is_used) = self.0.get_mut(kind) {
            *is_used = true;
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

    /// Renders the symbols to which the drawings on the page refer.
    pub fn symbols(&self) -> Markup {
        html! {
            @if self.0.contains(&true) {
                svg.symbols width="0" height="0" aria-hidden="true" {
                    @for (symbol, is_used) in SYMBOLS.iter().zip(self.0) {
                        @if is_used {
                            (PreEscaped("<symbol")) (PreEscaped(symbol)) (PreEscaped("</symbol>"))
                        }
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

    #[test]
    fn the_category_decides_only_if_the_species_says_nothing() {
        for (species, category, expected) in [
            ("Cat", "Dogs", "of-cat"),
            ("Hund", "Katzen", "of-dog"),
            ("Seehund", "Hunde", "of-other"),
            ("Schäfer", "Hunde", "of-dog"),
            ("Other", "Autres", "of-other"),
        ] {
            let drawn = Drawings::default()
                .draw_named([species, category])
                .into_string();
            assert!(
                drawn.contains(&format!("class=\"drawing {expected}\"")),
                "{drawn}"
            );
        }
    }
}
