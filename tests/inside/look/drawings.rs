//! Tests of `src/look/drawings.rs`.

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
            let found = kind(phrase).and_then(|at| KINDS.get(at)).map_or("", |(name, _)| name);
            assert_eq!(found, *expected, "{phrase}");
        }
    }
    // Only the last words count, so a long text takes a bounded time.
    assert_eq!(kind(&format!("dog {}", "x ".repeat(MOST_WORDS))), None);
    assert_eq!(kind(&format!("dog {}", "x ".repeat(MOST_WORDS - 1))), Some(0));
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
        let drawn = Drawings::default().of_texts([species, category]).into_string();
        assert!(drawn.contains(&format!("class=\"drawing {expected}\"")), "{drawn}");
    }
}
