//! Drawings of animals, for those without a photo.

use std::{collections::HashMap, sync::LazyLock};

use maud::{Markup, PreEscaped, html};
use petstore_domain::store_area::{FieldKind, whole_key};

use super::{animal::Animal, drawn_words};

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
    symbols
        .filter_map(|symbol| Some(symbol.split_once("</symbol>")?.0))
        .collect()
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
    let mut words: Vec<&str> = words
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .collect();
    words.reverse();
    (1..=words.len()).rev().find_map(|end| {
        let mut longest_first = end.saturating_sub(LONGEST_PHRASE)..end;
        let phrase = |begin: usize| known(&words.get(begin..end)?.join(" "));
        longest_first
            .find_map(phrase)
            .or_else(|| compound(words.get(end - 1)?))
    })
}

/// What a word or a phrase means, also in the plural.
fn known(words: &str) -> Option<usize> {
    WORDS
        .get(words)
        .or_else(|| WORDS.get(words.strip_suffix('s')?))
        .copied()
}

/// What a German compound means.
fn compound(word: &str) -> Option<usize> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let ends_with = |end: &&str| {
        let beginning = word
            .strip_suffix(end)
            .or_else(|| singular.strip_suffix(end));
        beginning.is_some_and(|beginning| beginning.len() >= SHORTEST_BEGINNING)
    };
    KINDS
        .iter()
        .position(|(_, words)| words.ends.iter().any(ends_with))
}

/// The drawings on a page. Each is there once, however many animals it shows.
#[derive(Default)]
pub struct Drawings([bool; KINDS.len()]);

impl Drawings {
    /// Adds those of a part of the page that was made before.
    pub fn add(&mut self, others: &Self) {
        for (used, other) in self.0.iter_mut().zip(others.0) {
            *used |= other;
        }
    }

    /// The drawing of an animal in a category with this label, in its place: by its species, or by that
    /// label.
    pub fn draw(&mut self, animal: &Animal<'_>, category: Option<&str>) -> Markup {
        // The value, or its label, which may be in another language.
        let value = animal.text("species", &[FieldKind::Choice, FieldKind::Text]);
        let label = animal.word("species");
        self.draw_named([value, label.as_deref(), category].into_iter().flatten())
    }

    /// The drawing of what the first of these texts says that has one.
    pub fn draw_named<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Markup {
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
    pub fn symbols(&self) -> Markup {
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

    #[test]
    fn the_words_are_as_they_are_compared_and_each_means_one_thing() {
        let (mut seen, mut longest) = (HashMap::new(), 0);
        for (name, words) in KINDS {
            for word in words.whole.iter().chain(words.ends) {
                assert_eq!(whole_key(word), *word);
                longest = longest.max(word.split(' ').count());
            }
            for word in words.whole {
                assert_eq!(seen.insert(*word, name), None, "{word}");
            }
        }
        assert_eq!(longest, LONGEST_PHRASE);
    }

    /// What texts say, in all languages. `""`: nothing that is known.
    #[rustfmt::skip]
    const PHRASES: &[(&str, &[&str])] = &[
        ("dog", &[
            "Dog", "DOGS", "dogs", "Puppies", "Small dogs", "Bulldog", "Cat-friendly dogs", "Dog (small)",
            "Rat or dog", "Hund", "Hunde", "Mischlingshund", "Schäferhunde", "Hündin", "Huendin",
            "Windhündinnen", "Welpen", "Hundewelpe", "Kleine Hunde", "Taube Hündin", "Hundes", "Bulldogge",
            "Straßenhunde", "Katzen und Hunde", "Chien", "chienne", "Chiots", "Petits chiens",
            "Chien (châtain)", "CHIEN-LOUP", "Chat et chien", "Perro", "perra", "Perrita", "Cachorros",
            "Perros de Canarias", "Podenco canario", "canina", "Galgos", "Dogs from Turkey", "Cane Corso (dog)",
            "Hund in Eingewöhnungsphase", "Perro de tres patas",
        ]),
        ("cat", &[
            "Cat", "cats", "Kittens", "Tomcat", "House cat", "Katze", "Hauskatzen", "Kater", "Kätzchen",
            "Katzenwelpen", "Taube Katze", "Hunde und Katzen", "Katze, empfohlen", "chat", "Chatte", "chatons",
            "Chat de gouttière", "Chien et chat", "gato", "Gatas", "gatita", "Gato cachorro",
            "cachorro de gato", "Felinos",
        ]),
        ("rabbit", &[
            "Rabbit", "bunnies", "Dwarf rabbits", "Kaninchen", "Zwergkaninchen", "Hasen", "Stallhase", "lapin",
            "Lapins nains", "Conejo", "conejitos",
        ]),
        ("small", &[
            "Small mammal", "Small mammals", "small animals", "Guinea pig", "guinea pigs", "mice", "Rat",
            "rats", "Ferrets", "Prairie dog", "Kleintiere", "Meerschweinchen", "Goldhamster", "Rennmäuse",
            "Farbratten", "Nagetiere", "Präriehunde", "cobaye", "cochon d'Inde", "Cochons d’Inde", "Souris",
            "Petits mammifères", "Chien de prairie", "NAC", "Cobayas", "conejillo de Indias", "Hurón",
            "roedores", "Pequeño mamífero", "perrito de las praderas",
        ]),
        ("bird", &[
            "Bird", "birds", "hens", "Hen", "Canaries", "guinea fowl", "Turtle dove", "Vogel", "Vögel",
            "Voegel", "Wellensittich", "Graupapageien", "Zwerghühner", "Gänse", "Kanarienvögel", "oiseaux",
            "perruches", "Poules", "Pájaro", "aves", "canario", "Gallinas", "Periquito",
        ]),
        ("reptile", &[
            "Reptile", "Reptiles", "tortoises", "Bearded dragon", "Reptilien", "Landschildkröte", "Eidechsen",
            "Kornnatter", "Tortue", "lézards", "Reptil", "tortugas", "Camaleón",
        ]),
        ("fish", &[
            "Fish", "goldfish", "Catfish", "Seahorse", "sea horses", "Fische", "Zierfisch", "Poissons rouges",
            "poisson-chat", "Peces", "pez gato", "caballito de mar",
        ]),
        ("horse", &[
            "Horse", "horses", "Ponies", "mare", "Pferd", "Hengst", "Hengste", "Stute", "Shetlandpony", "Esel",
            "Chevaux", "jument", "Ânes", "Caballos", "Yegua", "burro", "Zuchthengst",
        ]),
        ("other", &[
            "Seehund", "Fledermäuse", "Nilpferd",
        ]),
        ("", &[
            "", "—", "Other", "Andere", "Aristokrat", "Hundert", "Hundertfüßer", "Schund", "Henna", "Category",
            "Catalan", "Rath", "Ratatouille", "Dogma", "Small", "Guinea", "Turkey", "Manager", "Wiesel",
            "Phase", "Empfohlen", "Geschunden", "Vegans", "Astute", "Skater", "Châtaigne", "Chateau",
            "Perrault", "Fishing", "Birdie", "Mousse", "Snakewood", "Cochon", "Stunde", "Pata", "Canarias",
            "Hermelin", "Horsham", "Chienlit", "Gatwick", "Gratte", "Hooligans", "Cane Corso", "Kaninchenstall",
            "猫",
        ]),
    ];

    #[test]
    fn the_last_word_that_is_known_decides_in_every_language() {
        for (expected, phrases) in PHRASES {
            for phrase in *phrases {
                let found = kind(phrase)
                    .and_then(|at| KINDS.get(at))
                    .map_or("", |(name, _)| name);
                assert_eq!(found, *expected, "{phrase}");
            }
        }
        // Only the last words count, so a long text takes a bounded time.
        assert_eq!(kind(&format!("dog {}", "x ".repeat(MOST_WORDS))), None);
        assert_eq!(
            kind(&format!("dog {}", "x ".repeat(MOST_WORDS - 1))),
            Some(0)
        );
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
