//! The texts in German of the pages for the public, and of what the pages for the staff share with them.

use petstore_domain::{
    Problem,
    store_area::{Age, FieldLabels},
};

use crate::{numbers::Numbers, window::Texts};

#[rustfmt::skip]
pub(crate) static NUMBERS: Numbers = Numbers {
    decimal_point: ',',
    group_separator: '.',
    grouped_from: 4,
    currency_first: false,
    months: [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ],
    date: |day, month, year| format!("{day}.\u{a0}{month}\u{a0}{year}"),
    day_first: true,
};

#[rustfmt::skip]
pub(crate) static FIELDS: [FieldLabels; 17] = [
    FieldLabels::new("species", "Tierart", &[
        ("Dog", "Hund"), ("Cat", "Katze"), ("Rabbit", "Kaninchen"), ("Small mammal", "Kleintier"), ("Bird", "Vogel"),
        ("Reptile", "Reptil"), ("Fish", "Fisch"), ("Horse", "Pferd"), ("Other", "Andere"),
    ]),
    FieldLabels::new("breed", "Rasse", &[]),
    FieldLabels::new("sex", "Geschlecht", &[("Female", "Weiblich"), ("Male", "Männlich"), ("Unknown", "Unbekannt")]),
    FieldLabels::new("born", "Geboren", &[]),
    FieldLabels::new("colour", "Farbe", &[]),
    FieldLabels::new("size", "Größe", &[("Small", "Klein"), ("Medium", "Mittel"), ("Large", "Groß")]),
    FieldLabels::new("description", "Beschreibung", &[]),
    FieldLabels::new("price", "Preis", &[]),
    FieldLabels::new("microchip", "Chipnummer", &[]),
    // Those of a shelter.
    FieldLabels::new("good_with_children", "Für Kinder geeignet", &[]),
    FieldLabels::new("good_with_dogs", "Verträglich mit Hunden", &[]),
    FieldLabels::new("good_with_cats", "Verträglich mit Katzen", &[]),
    FieldLabels::new("neutered", "Kastriert", &[]),
    FieldLabels::new("house_trained", "Stubenrein", &[]),
    FieldLabels::new("intake", "Bei uns seit", &[]),
    FieldLabels::new("intake_kind", "Art der Aufnahme", &[("Found", "Fundtier"), ("Surrendered", "Abgabetier"), ("Returned", "Rückläufer"), ("Transferred", "Übernahme"), ("Born here", "Hier geboren")]),
    FieldLabels::new("place", "Unterbringung", &[]),
];

pub(crate) static TEXTS: Texts = Texts {
    // The texts about an animal that the pages for the public and those for the staff have.
    no_name: "Noch ohne Namen",
    yes: "Ja",
    days: |count| many(count, "Tag", "Tage"),
    weeks: |count| many(count, "Woche", "Wochen"),
    months: |count| many(count, "Monat", "Monate"),
    years: |count| many(count, "Jahr", "Jahre"),
    about: |age| format!("etwa {age}"),
    around_year: |year| format!("um {year}"),
    around_day: |day| format!("um den {day}"),
    birth_estimated: "Geburtsdatum geschätzt",
    no: "Nein",
    photo: |number, name, species| {
        let species = species.map(|species| format!(", {species}"));
        format!(
            "Foto {number} von {}{}",
            called(name),
            species.unwrap_or_default()
        )
    },

    // The texts of the pages.
    language: "de",
    locale: "de_DE",
    colon: ": ",
    quotes: ["„", "“"],
    language_name: "Deutsch",
    no_store: "Unsere Tiere",
    skip: "Zum Inhalt springen",
    list: "Lernen Sie unsere Tiere kennen",
    pages: "Seiten",
    back: "Alle Tiere",
    reserved: "Reserviert",
    filter: "Filtern",
    kinds: "Tierarten",
    plural_of_species: |species| match species {
        "Hund" => Some("Hunde"),
        "Katze" => Some("Katzen"),
        "Kleintier" => Some("Kleintiere"),
        "Vogel" => Some("Vögel"),
        "Reptil" => Some("Reptilien"),
        "Fisch" => Some("Fische"),
        "Pferd" => Some("Pferde"),
        _ => None,
    },
    search: "Suchen",
    more: "Weitere Filter",
    without: "Ohne ",
    name: "Name",
    age: "Alter",
    kind: "Kategorie",
    newest_first: "Neueste zuerst",
    longest_first: "Am längsten bei uns",
    chosen: "Ausgewählte Filter",
    take_off: "Entfernen: ",
    any: "Egal",
    show: "Tiere anzeigen",
    clear: "Alle anzeigen",
    next: "Weitere Tiere",
    first: "Zurück zu den neuesten",
    link_not_understood: "Ein Teil dieses Links ist unbekannt und wurde nicht beachtet.",
    none_found: "Zu Ihrer Suche passt zurzeit kein Tier.",
    none_here_yet: "Unter diesen Tieren passt keines. Auf der nächsten Seite geht es weiter.",
    none_at_all: "Zurzeit sucht kein Tier ein Zuhause. Schauen Sie bald wieder vorbei.",
    contact: "Kontakt",
    feed: "Neue Tiere per RSS-Feed abonnieren",
    hours: "Öffnungszeiten",
    gone: "Dieses Tier ist nicht mehr bei uns",
    gone_next: "Andere suchen noch ein Zuhause.",
    photos: "Fotos",
    close: "Schließen",
    previous_photo: "Voriges Foto",
    next_photo: "Nächstes Foto",
    similar: "Ähnliche Tiere",
    perhaps: "Vielleicht auch diese",
    newest: "Neu bei uns",
    new: "Neu hier",
    one_year: "Über ein Jahr bei uns",
    request: "Fehlernummer ",
    found_a_home: |name| format!("{} hat ein Zuhause gefunden", called_first(name)),
    ask: |name| format!("Anfrage zu {}", called(name)),
    ask_here: |name, number| format!("Fragen Sie uns nach {}, Nummer {number}.", called(name)),
    number: |number| format!("Nummer {number}"),
    is_reserved: |name| format!("{} ist zurzeit reserviert.", called_first(name)),
    photo_of: |number, count| format!("Foto {number} von {count}"),
    count: |count, most| match count {
        1 => "1 Tier".to_owned(),
        _ if count > most => format!("Mehr als {} Tiere", in_digits(most)),
        _ => format!("{} Tiere", in_digits(count)),
    },
    age_range: |age| match age {
        Age::UnderOne => "Unter 1\u{a0}Jahr",
        Age::UnderThree => "Unter 3\u{a0}Jahren",
        Age::OneToThree => "1–2\u{a0}Jahre",
        Age::ThreeToEight => "3–7\u{a0}Jahre",
        Age::EightOrMore => "8\u{a0}Jahre oder älter",
    },
    about_list: |store| {
        let at = store.map(|store| format!(" – {store}")).unwrap_or_default();
        format!("Neueste zuerst: Tiere, die ein Zuhause suchen{at}")
    },
    about_animal: |name, kind, store| {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", kind.join(", "))
        };
        let at = store.map(|store| format!(" – {store}")).unwrap_or_default();
        format!("{}{kind} sucht ein Zuhause{at}", called_first(name))
    },
    words: |all| all.join(", "),
    problem: |problem| {
        let to_all = "Sehen Sie sich alle Tiere an.";
        match problem {
            Problem::NotFound => (
                "Seite nicht gefunden",
                "Diese Seite gibt es nicht oder nicht mehr. Unsere Tiere finden Sie unter „Alle Tiere“.",
            ),
            Problem::InvalidParameter | Problem::InvalidCursor | Problem::InvalidRequest => {
                ("Diese Adresse ist ungültig", to_all)
            }
            Problem::MethodNotAllowed => ("Das ist hier nicht möglich", to_all),
            Problem::HeadTooLarge => ("Diese Adresse ist zu lang", to_all),
            Problem::OldVersion => ("Dafür ist HTTP/1.1 nötig", to_all),
            _ => (
                "Etwas ist schiefgegangen",
                "Warten Sie einen Moment und laden Sie die Seite dann neu.",
            ),
        }
    },
    free: "Kostenlos",
};

/// The name of an animal within a sentence.
fn called(name: &str) -> &str {
    if name == TEXTS.no_name {
        "diesem Tier"
    } else {
        name
    }
}

/// The name of an animal at the beginning of a sentence.
fn called_first(name: &str) -> &str {
    if name == TEXTS.no_name {
        "Dieses Tier"
    } else {
        name
    }
}

/// A number in groups.
pub(crate) fn in_digits(number: usize) -> String {
    NUMBERS.integer(number)
}

fn many(count: i64, one: &str, several: &str) -> String {
    format!("{count}\u{a0}{}", if count == 1 { one } else { several })
}
