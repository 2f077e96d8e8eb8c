//! Recognizes the kind of animal that a text names, such as a dog for `Cat-friendly dogs`.

use std::{collections::HashMap, sync::LazyLock};

use petstore_domain::store_area::whole_key;

use super::drawn_words;

/// The kinds of animals, each with the name of its drawing and its words. The last kind is for
/// everything else.
pub(super) const KINDS: [(&str, drawn_words::Words); 9] = [
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

/// The place in [`KINDS`] of each word and phrase.
static WORDS: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let mut kinds = HashMap::new();
    for (index, (_, words)) in KINDS.iter().enumerate() {
        for word in words.general.iter().chain(words.special) {
            kinds.insert(*word, index);
        }
    }
    kinds
});

/// The maximum number of words of a phrase.
pub(crate) const LONGEST_PHRASE: usize = 4;

/// The number of words of a text that count, from its end.
const MAX_WORDS: usize = 16;

/// The number of letters that a compound has at least before its end: "Schund" is not a dog.
const SHORTEST_BEGINNING: usize = 3;

/// Returns the place in [`KINDS`] of the kind that the last known word of a text means, without regard to case and
/// accents.
///
/// Example: `Cat-friendly dogs` means a dog.
pub(crate) fn kind(text: &str) -> Option<usize> {
    let text = whole_key(text);
    let mut words: Vec<&str> = text
        .rsplit(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .collect();
    words.reverse();

    for end in (1..=words.len()).rev() {
        // The longest phrase that ends here comes first.
        for begin in end.saturating_sub(LONGEST_PHRASE)..end {
            let phrase = words.get(begin..end)?.join(" ");
            if let Some(kind) = phrase_kind(&phrase) {
                return Some(kind);
            }
        }
        if let Some(kind) = compound_kind(words.get(end - 1)?) {
            return Some(kind);
        }
    }
    None
}

/// The values of the field `species` of a new store, by the names of their drawings.
const SPECIES: [(&str, &str); 8] = [
    ("dog", "Dog"),
    ("cat", "Cat"),
    ("rabbit", "Rabbit"),
    ("small", "Small mammal"),
    ("bird", "Bird"),
    ("reptile", "Reptile"),
    ("fish", "Fish"),
    ("horse", "Horse"),
];

/// The words for animals that look like a species, and are another one.
const OTHER_SPECIES: [&str; 20] = [
    "hare",
    "feldhase",
    "feldhasen",
    "lievre",
    "liebre",
    "donkey",
    "mule",
    "esel",
    "zwergesel",
    "maulesel",
    "maultier",
    "maultiere",
    "ane",
    "anesse",
    "mulet",
    "burro",
    "burra",
    "asno",
    "mulo",
    "mula",
];

/// Returns the value of the field `species` that a whole text means.
///
/// Example: `Hunde` is `Dog`, and `Hund oder Katze` is none.
pub(crate) fn find_species(text: &str) -> Option<&'static str> {
    let key = whole_key(text);
    let words: Vec<&str> = key
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let phrase = words.join(" ");
    let is_other = OTHER_SPECIES.contains(&phrase.trim_end_matches('s'));
    if is_other || words.len() > LONGEST_PHRASE {
        return None;
    }
    let kind = match phrase_kind(&phrase) {
        Some(kind) => kind,
        None if words.len() == 1 => compound_kind(&phrase)?,
        None => return None,
    };
    let (name, _) = KINDS.get(kind)?;
    let (_, species) = SPECIES.iter().find(|(drawing, _)| drawing == name)?;
    Some(species)
}

/// Returns the kind that a word or a phrase means, also in the plural.
fn phrase_kind(phrase: &str) -> Option<usize> {
    if let Some(kind) = WORDS.get(phrase) {
        return Some(*kind);
    }
    WORDS.get(phrase.strip_suffix('s')?).copied()
}

/// What a general word means: a kind of animal, and its sex and age if the word says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GeneralMeaning {
    /// The place in the list of kinds, as [`kind`] returns it.
    pub(crate) kind: usize,
    pub(crate) sex: Option<Sex>,
    pub(crate) is_young: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sex {
    Female,
    Male,
}

/// Returns what a word or a phrase means that stands for every animal of a kind, also in the plural. It has the form of
/// [`whole_key`].
///
/// Example: `hundinnen` means female dogs. `bulldog` does not stand for every dog.
pub(crate) fn general_meaning(phrase: &str) -> Option<GeneralMeaning> {
    let is_in = |words: &[&str]| {
        words.contains(&phrase)
            || phrase
                .strip_suffix('s')
                .is_some_and(|singular| words.contains(&singular))
    };
    let kind = KINDS.iter().position(|(_, words)| is_in(words.general))?;
    let sex = if is_in(drawn_words::FEMALE) {
        Some(Sex::Female)
    } else if is_in(drawn_words::MALE) {
        Some(Sex::Male)
    } else {
        None
    };
    Some(GeneralMeaning {
        kind,
        sex,
        is_young: is_in(drawn_words::YOUNG),
    })
}

/// The values of the field `sex` of a new store, each with the general words for animals of this sex.
pub(crate) const SEX_WORDS: [(&str, &[&str]); 2] =
    [("Female", drawn_words::FEMALE), ("Male", drawn_words::MALE)];

/// Returns the general words for a kind.
pub(crate) fn general_words(kind: usize) -> &'static [&'static str] {
    KINDS.get(kind).map_or(&[], |(_, words)| words.general)
}

/// Whether a text names a kind of animals, and no other kind.
///
/// Example: `Cats` names only cats, and `Dogs and cats` does not.
pub(crate) fn names_only(text: &str, expected_kind: usize) -> bool {
    let key = whole_key(text);
    let mut words = key.split(|character: char| !character.is_alphanumeric());
    kind(text) == Some(expected_kind)
        && words.all(|word| {
            phrase_kind(word)
                .or_else(|| compound_kind(word))
                .is_none_or(|kind| kind == expected_kind)
        })
}

/// Returns the kind that a German compound means.
///
/// Example: `schaferhund` ends like a dog.
fn compound_kind(word: &str) -> Option<usize> {
    KINDS
        .iter()
        .position(|(_, words)| words.ends.iter().any(|end| is_compound(word, end)))
}

/// Whether a word is a compound with this end, also in the plural or genitive.
fn is_compound(word: &str, end: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let beginning = word
        .strip_suffix(end)
        .or_else(|| singular.strip_suffix(end));
    beginning.is_some_and(|beginning| beginning.len() >= SHORTEST_BEGINNING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_as_they_are_compared_and_each_means_one_thing() {
        let (mut seen, mut longest) = (HashMap::new(), 0);
        for (name, words) in KINDS {
            let whole = words.general.iter().chain(words.special);
            for word in whole.clone().chain(words.ends) {
                assert_eq!(whole_key(word), *word);
                longest = longest.max(word.split(' ').count());
            }
            for word in whole {
                assert_eq!(seen.insert(*word, name), None, "{word}");
            }
        }
        assert_eq!(longest, LONGEST_PHRASE);
    }

    #[test]
    fn each_word_with_a_sex_or_an_age_is_a_general_word() {
        for words in [drawn_words::FEMALE, drawn_words::MALE, drawn_words::YOUNG] {
            for word in words {
                assert!(general_meaning(word).is_some(), "{word}");
            }
        }
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
        assert_eq!(kind(&format!("dog {}", "x ".repeat(MAX_WORDS))), None);
        assert_eq!(
            kind(&format!("dog {}", "x ".repeat(MAX_WORDS - 1))),
            Some(0)
        );
    }
}
