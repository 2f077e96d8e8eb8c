//! The texts of the pages for the public, and of what the pages for the staff share with them, in French.

use petstore_domain::{
    Problem,
    store_area::{Age, FieldLabels},
};

use crate::{numbers::Numbers, window::Texts};

#[rustfmt::skip]
pub(crate) static NUMBERS: Numbers = Numbers {
    decimal_point: ',',
    // A narrow space that does not break.
    group_separator: '\u{202f}',
    grouped_from: 4,
    currency_first: false,
    months: [
        "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
        "décembre",
    ],
    date: |day, month, year| format!("{day}{}\u{a0}{month}\u{a0}{year}", if day == 1 { "er" } else { "" }),
    day_first: true,
};

// "Reptile" is the same word.
#[rustfmt::skip]
pub(crate) static FIELDS: [FieldLabels; 17] = [
    FieldLabels::new("species", "Espèce", &[
        ("Dog", "Chien"), ("Cat", "Chat"), ("Rabbit", "Lapin"), ("Small mammal", "Petit mammifère"), ("Bird", "Oiseau"),
        ("Fish", "Poisson"), ("Horse", "Cheval"), ("Other", "Autre"),
    ]),
    FieldLabels::new("breed", "Race", &[]),
    FieldLabels::new("sex", "Sexe", &[("Female", "Femelle"), ("Male", "Mâle"), ("Unknown", "Inconnu")]),
    FieldLabels::new("born", "Date de naissance", &[]),
    FieldLabels::new("colour", "Couleur", &[]),
    FieldLabels::new("size", "Taille", &[("Small", "Petite"), ("Medium", "Moyenne"), ("Large", "Grande")]),
    FieldLabels::new("description", "Description", &[]),
    FieldLabels::new("price", "Prix", &[]),
    FieldLabels::new("microchip", "Numéro de puce", &[]),
    // Those of a shelter.
    FieldLabels::new("good_with_children", "S’entend bien avec les enfants", &[]),
    FieldLabels::new("good_with_dogs", "S’entend bien avec les chiens", &[]),
    FieldLabels::new("good_with_cats", "S’entend bien avec les chats", &[]),
    FieldLabels::new("neutered", "Stérilisé(e)", &[]),
    FieldLabels::new("house_trained", "Propre à la maison", &[]),
    FieldLabels::new("intake", "Date d’arrivée", &[]),
    FieldLabels::new("intake_kind", "Motif d’arrivée", &[("Found", "Animal trouvé"), ("Surrendered", "Abandon par le propriétaire"), ("Returned", "Retour d’adoption"), ("Transferred", "Transfert"), ("Born here", "Naissance au refuge")]),
    FieldLabels::new("place", "Emplacement", &[]),
];

pub(crate) static TEXTS: Texts = Texts {
    // The texts about an animal that the pages for the public and those for the staff have.
    no_name: "Pas encore de nom",
    yes: "Oui",
    days: |count| many(count, "jour", "jours"),
    weeks: |count| many(count, "semaine", "semaines"),
    months: |count| many(count, "mois", "mois"),
    years: |count| many(count, "an", "ans"),
    about: |age| format!("environ {age}"),
    around_year: |year| format!("vers {year}"),
    around_day: |day| format!("vers le {day}"),
    birth_estimated: "Date de naissance estimée",
    no: "Non",
    photo: |number, name, species| {
        let species = species.map(|species| format!(", {}", species.to_lowercase()));
        format!(
            "Photo {number} {}{}",
            de(called(name)),
            species.unwrap_or_default()
        )
    },

    // The texts of the pages.
    language: "fr",
    locale: "fr_FR",
    colon: "\u{a0}: ",
    quotes: ["«\u{a0}", "\u{a0}»"],
    language_name: "Français",
    no_store: "Nos animaux",
    skip: "Aller au contenu",
    list: "Découvrez nos animaux",
    pages: "Pages",
    back: "Tous les animaux",
    reserved: "Réservation en cours",
    filter: "Filtrer",
    kinds: "Types d’animaux",
    plural_of_species: |species| match species {
        "Chien" => Some("Chiens"),
        "Chat" => Some("Chats"),
        "Lapin" => Some("Lapins"),
        "Petit mammifère" => Some("Petits mammifères"),
        "Oiseau" => Some("Oiseaux"),
        "Reptile" => Some("Reptiles"),
        "Poisson" => Some("Poissons"),
        "Cheval" => Some("Chevaux"),
        "Autre" => Some("Autres"),
        _ => None,
    },
    search: "Rechercher",
    more: "Autres critères",
    without: "Sans ",
    name: "Nom",
    age: "Âge",
    kind: "Catégorie",
    newest_first: "Derniers arrivés d’abord",
    longest_first: "Les plus anciens chez nous d’abord",
    chosen: "Filtres choisis",
    take_off: "Retirer ",
    any: "Indifférent",
    show: "Voir les animaux",
    clear: "Tout afficher",
    next: "Voir d’autres animaux",
    first: "Retour aux plus récents",
    link_not_understood: "Une partie de ce lien n’a pas été comprise et a été ignorée.",
    none_found: "Aucun de nos animaux ne correspond à votre recherche.",
    none_here_yet: "Aucun de ces animaux ne correspond. Continuez à la page suivante.",
    none_at_all: "Aucun animal ne cherche de famille en ce moment. Revenez bientôt.",
    contact: "Nous contacter",
    feed: "Suivre les nouveaux arrivants (RSS)",
    hours: "Horaires d’ouverture",
    gone: "Cet animal n’est plus chez nous",
    gone_next: "D’autres cherchent encore une famille.",
    photos: "Photos",
    close: "Fermer",
    previous_photo: "Photo précédente",
    next_photo: "Photo suivante",
    similar: "Animaux similaires",
    perhaps: "Vous aimerez peut-être aussi",
    newest: "Nos derniers arrivés",
    new: "Arrivée récente",
    one_year: "Chez nous depuis plus d’un an",
    request: "Référence de l’erreur\u{a0}: ",
    found_a_home: |name| format!("{} a trouvé une famille", called_first(name)),
    ask: |name| format!("Demander des informations sur {}", called(name)),
    ask_here: |name, number| {
        format!(
            "Contactez-nous au sujet {}, numéro {number}.",
            de(called(name))
        )
    },
    number: |number| format!("Numéro {number}"),
    is_reserved: |name| format!("Une réservation est en cours pour {}.", called(name)),
    photo_of: |number, count| format!("Photo {number} sur {count}"),
    count: |count, most| match count {
        0 | 1 => format!("{count} animal"),
        _ if count > most => format!("Plus de {} animaux", in_digits(most)),
        _ => format!("{} animaux", in_digits(count)),
    },
    age_range: |age| match age {
        Age::UnderOne => "Moins d’un an",
        Age::UnderThree => "Moins de 3\u{a0}ans",
        Age::OneToThree => "1 à 2\u{a0}ans",
        Age::ThreeToEight => "3 à 7\u{a0}ans",
        Age::EightOrMore => "8\u{a0}ans et plus",
    },
    about_list: |store| {
        let list = "animaux qui cherchent une famille, les derniers arrivés d’abord";
        match store {
            Some(store) => format!("{store}\u{a0}: nos {list}"),
            None => format!("Nos {list}"),
        }
    },
    about_animal: |name, kind, store| {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", kind.join(", "))
        };
        let name = called_first(name);
        match store {
            Some(store) => format!("{store}\u{a0}: {name}{kind} cherche une famille"),
            None => format!("{name}{kind} cherche une famille"),
        }
    },
    words: crate::join_in_sentence_case,
    problem: |problem| match problem {
        Problem::NotFound => ("Page introuvable", "Découvrez tous nos animaux."),
        Problem::InvalidParameter | Problem::InvalidCursor | Problem::InvalidRequest => (
            "Cette adresse n’est pas valable",
            "Découvrez tous nos animaux.",
        ),
        Problem::MethodNotAllowed => ("Ce n’est pas possible ici", "Découvrez tous nos animaux."),
        Problem::HeadTooLarge => (
            "Cette adresse est trop longue",
            "Découvrez tous nos animaux.",
        ),
        Problem::OldVersion => (
            "Le protocole HTTP/1.1 est nécessaire",
            "Découvrez tous nos animaux.",
        ),
        _ => (
            "Une erreur s’est produite",
            "Patientez un instant, puis rechargez la page.",
        ),
    },
    free: "Gratuit",
};

/// "de Luna", "d’Oscar".
pub(super) fn de(name: &str) -> String {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    let is_vowel = |letter: char| "aàâäæeéèêëiîïoôöœuùûü".contains(letter);
    let elides = match letters.next() {
        // "d’Yves", but "de Yoda".
        Some('y') => letters
            .next()
            .is_some_and(|next| next.is_alphabetic() && !is_vowel(next)),
        Some(first) => is_vowel(first),
        None => false,
    };
    if elides {
        format!("d’{name}")
    } else {
        format!("de {name}")
    }
}

/// The name of an animal within a sentence.
fn called(name: &str) -> &str {
    if name == TEXTS.no_name {
        "cet animal"
    } else {
        name
    }
}

/// The name of an animal at the beginning of a sentence.
fn called_first(name: &str) -> &str {
    if name == TEXTS.no_name {
        "Cet animal"
    } else {
        name
    }
}

/// A number in groups.
pub(crate) fn in_digits(number: usize) -> String {
    NUMBERS.integer(number)
}

fn many(count: i64, one: &str, several: &str) -> String {
    format!("{count}\u{a0}{}", if count < 2 { one } else { several })
}
