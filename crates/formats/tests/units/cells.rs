//! The cells of tables.

use jiff::civil::{Date, date};
use petstore_domain::store_area::{
    Choices, Currency, FieldDefinition, FieldKind, FieldName, Label,
    Language::{self, English, French, German, Spanish},
};
use petstore_formats::cells::{CellProblem, CellReader, parse_integer_cell};
use petstore_languages::table_words;

const TODAY: Date = date(2026, 11, 28);

fn field(name: &str, kind: FieldKind, choices: &[&str]) -> FieldDefinition {
    let values = choices.iter().map(|choice| (*choice).to_owned()).collect();
    FieldDefinition {
        name: FieldName::new(name).unwrap(),
        label: Label::new(name.to_owned()).unwrap(),
        kind,
        choices: Choices::new(values),
        is_public: true,
        is_unique: false,
        position: 0,
        version: 1,
    }
}

fn unique(name: &str, kind: FieldKind) -> FieldDefinition {
    FieldDefinition {
        is_unique: true,
        ..field(name, kind, &[])
    }
}

fn read(language: Language, field: &FieldDefinition, cell: &str) -> Result<String, CellProblem> {
    let euro = Currency::new("EUR");
    let reader = CellReader {
        words: table_words(language),
        currency: euro.as_ref(),
        today: TODAY,
    };
    reader.read_cell(field, cell)
}

#[track_caller]
fn expect_in_each_language(field: &FieldDefinition, cases: &[(&str, &str)]) {
    for (cell, expected) in cases {
        for language in Language::ALL {
            let value = read(language, field, cell);
            assert_eq!(value.as_deref(), Ok(*expected), "{cell:?} in {language}");
        }
    }
}

#[test]
fn a_day_is_read_as_people_and_programs_write_it() {
    let vaccinated = field("vaccinated", FieldKind::Date, &[]);
    expect_in_each_language(
        &vaccinated,
        &[
            ("2024-03-25", "2024-03-25"),
            ("25.03.2024", "2024-03-25"),
            ("25. 3. 2024", "2024-03-25"),
            ("03.04.2024", "2024-04-03"),
            ("25/03/2024", "2024-03-25"),
            ("03/25/2024", "2024-03-25"),
            ("Mar 25, 2024", "2024-03-25"),
            ("25 mars 2024", "2024-03-25"),
            ("25. Mär. 2024", "2024-03-25"),
            ("1er août 2024", "2024-08-01"),
            ("1st May 2024", "2024-05-01"),
            ("1º de mayo del 2024", "2024-05-01"),
            ("3 juil. 2024", "2024-07-03"),
            ("3 Dez 2024", "2024-12-03"),
            ("16. Jänner 1994", "1994-01-16"),
            ("Sunday, January 16, 1994", "1994-01-16"),
            ("Montag, 3. Mai 2024", "2024-05-03"),
            ("vendredi 3 mai 2024", "2024-05-03"),
            ("viernes, 3 de mayo de 2024", "2024-05-03"),
            ("1994-01-16T00:00:00", "1994-01-16"),
            ("1994-01-16 00:00:00.000", "1994-01-16"),
            ("1994-01-16T00:00:00Z", "1994-01-16"),
            ("1994-01-16 00:00:00+01:00", "1994-01-16"),
            ("01/16/1994 12:00:00 AM", "1994-01-16"),
            ("01/16/1994 12:00 a. m.", "1994-01-16"),
            ("01/16/1994 12:00a", "1994-01-16"),
            ("01/16/1994 12:00:00\u{202f}AM", "1994-01-16"),
            ("1994-01-16 00:00 PST", "1994-01-16"),
            ("16.01.1994 00:00", "1994-01-16"),
            ("16/01/1994 0:00:00", "1994-01-16"),
            ("16-Jan-94", "1994-01-16"),
            ("03.05.24", "2024-05-03"),
            ("3. Mai 24", "2024-05-03"),
            ("01.01.50", "1950-01-01"),
            ("20240503", "2024-05-03"),
            ("\u{a0}2024-05-03 ", "2024-05-03"),
            ("=\"2024-05-03\"", "2024-05-03"),
            ("", ""),
            ("NA", ""),
            ("NaT", ""),
            ("k. A.", ""),
            ("?", ""),
            ("Unbekannt", ""),
            // Not days. They stay, and are invalid.
            ("3 jui 2024", "3 jui 2024"),
            ("31.02.2024", "31.02.2024"),
            ("03.25.2024", "03.25.2024"),
            ("1994-01-16T22:00:00Z", "1994-01-16T22:00:00Z"),
            ("1994-01-16 12:00", "1994-01-16 12:00"),
            ("1994-01-16 12:00 AEST", "1994-01-16 12:00 AEST"),
            ("1994-01-16 00:00 PM", "1994-01-16 00:00 PM"),
            ("1994-01-16 0:", "1994-01-16 0:"),
            ("01/16/1994 12:00:00 PM", "01/16/1994 12:00:00 PM"),
            ("99-05-03", "99-05-03"),
            ("43586", "43586"),
            ("2024", "2024"),
            ("05/2024", "05/2024"),
            ("3 years", "3 years"),
            ("+1-2-2024", "+1-2-2024"),
            ("x", "x"),
        ],
    );
    let [april, march] = [date(2024, 4, 3), date(2024, 3, 4)];
    for cell in ["03/04/2024", "3-4-2024", "3/4/24"] {
        assert_eq!(
            read(English, &vaccinated, cell),
            Err(CellProblem::Date([april, march]))
        );
        for language in [German, French, Spanish] {
            assert_eq!(
                read(language, &vaccinated, cell).as_deref(),
                Ok("2024-04-03")
            );
        }
    }
}

#[test]
fn a_day_of_birth_can_be_a_year_a_month_or_an_age() {
    let born = field("born", FieldKind::Date, &[]);
    expect_in_each_language(
        &born,
        &[
            ("2019", "2019-01-01"),
            ("ca. 2019", "2019-01-01"),
            ("~2019", "2019-01-01"),
            ("05/2019", "2019-05-01"),
            ("5.2019", "2019-05-01"),
            ("2019-05", "2019-05-01"),
            ("Mai 2019", "2019-05-01"),
            ("May 2019", "2019-05-01"),
            ("mayo de 2019", "2019-05-01"),
            ("etwa 3.5.2019", "2019-05-03"),
            ("ca. 3 Jahre", "2023-11-28"),
            ("about 3 years old", "2023-11-28"),
            ("environ 3 ans", "2023-11-28"),
            ("unos 3 años", "2023-11-28"),
            ("8 months", "2026-03-28"),
            ("2 years, 8 months", "2024-03-28"),
            ("2 Jahre und 8 Monate alt", "2024-03-28"),
            ("1 año y 8 meses", "2025-03-28"),
            ("6 Wochen", "2026-10-17"),
            ("03.05.24", "2024-05-03"),
            // A number without a unit, and what is no age.
            ("3", "3"),
            ("years", "years"),
            ("3 4 years", "3 4 years"),
            ("3 years 4", "3 years 4"),
            ("900 years", "900 years"),
            ("ca.", "ca."),
            ("19", "19"),
            // No May has 99 days.
            ("Mai 99", "1999-05-01"),
            ("ca. May-99", "1999-05-01"),
        ],
    );
    // A short unit has a meaning only in its language.
    assert_eq!(read(German, &born, "3 J.").as_deref(), Ok("2023-11-28"));
    assert_eq!(read(French, &born, "3 j.").as_deref(), Ok("3 j."));
    assert_eq!(read(English, &born, "2y 3mo").as_deref(), Ok("2024-08-28"));
}

#[test]
fn a_month_with_two_digits_can_be_a_day_or_a_month() {
    for name in ["born", "vaccinated"] {
        let field = field(name, FieldKind::Date, &[]);
        for (cell, day, month) in [
            ("Mar-24", date(2026, 3, 24), date(2024, 3, 1)),
            ("Mrz 24", date(2026, 3, 24), date(2024, 3, 1)),
            ("mars-24", date(2026, 3, 24), date(2024, 3, 1)),
            ("Mai 19", date(2026, 5, 19), date(2019, 5, 1)),
            // The last 24 December was in the year before.
            ("Dez. 24", date(2025, 12, 24), date(2024, 12, 1)),
        ] {
            for language in Language::ALL {
                let value = read(language, &field, cell);
                assert_eq!(value, Err(CellProblem::Date([day, month])), "{cell:?}");
            }
        }
    }
    let vaccinated = field("vaccinated", FieldKind::Date, &[]);
    expect_in_each_language(&vaccinated, &[("Mai 99", "Mai 99")]);
}

#[test]
fn an_error_of_a_spreadsheet_is_a_value_of_no_field() {
    let fields = [
        field("breed", FieldKind::Text, &[]),
        field("description", FieldKind::LongText, &[]),
        unique("microchip", FieldKind::Text),
        field("weight", FieldKind::Integer, &[]),
        field("price", FieldKind::Decimal, &[]),
        field("born", FieldKind::Date, &[]),
        field("neutered", FieldKind::Boolean, &[]),
        field("sex", FieldKind::Choice, &["Female", "Male"]),
    ];
    let cells = "#REF! #BEZUG! #¡REF! #NAME? #NOM? #¿NOMBRE? #N/A #NV #VALUE! #WERT! #VALEUR! #¡VALOR! #DIV/0! #¡DIV/0! \
                 #NUM! #ZAHL! #NOMBRE! #¡NUM! #NULL! #NUL! #¡NULO! #SPILL! #ÜBERLAUF! #überlauf! #ref! #ERROR! Err:502 \
                 ### ########";
    for cell in cells.split(' ') {
        for field in &fields {
            let name = field.name.as_str();
            for cell in [cell, &format!(" {cell}\u{a0}")] {
                let value = read(German, field, cell);
                assert_eq!(value, Err(CellProblem::SpreadsheetError), "{cell} {name}");
            }
        }
    }
    for text in ["#", "##", "#1", "#REF", "REF!", "# A", "Err", "Err: 502"] {
        expect_in_each_language(&fields[0], &[(text, text)]);
    }
    let field = field("code", FieldKind::Choice, &["#N/A"]);
    expect_in_each_language(&field, &[("#n/a", "#N/A")]);
}

#[test]
fn a_word_for_a_missing_value_is_one_unless_the_field_is_free_text() {
    let words = "NA N/A n.a. NULL None nan - -- – — ? ??? ./. k.A. unbekannt unknown n.r. s/d";
    let phrases = [
        "k. A.",
        "keine Angabe",
        "non renseigné",
        "sin datos",
        "n. c.",
    ];
    let chip = unique("microchip", FieldKind::Text);
    let number = unique("number", FieldKind::Integer);
    let born = field("born", FieldKind::Date, &[]);
    let neutered = field("neutered", FieldKind::Boolean, &[]);
    let coat = field("coat", FieldKind::Choice, &["Short", "Long"]);
    let free_texts = [
        field("breed", FieldKind::Text, &[]),
        field("description", FieldKind::LongText, &[]),
    ];
    for word in words.split(' ').chain(phrases) {
        for field in [&chip, &born, &neutered, &coat] {
            expect_in_each_language(field, &[(word, "")]);
        }
        // Excel shows zero as a dash.
        let is_zero = ["-", "–", "—"].contains(&word);
        let value = if is_zero { word } else { "" };
        expect_in_each_language(&number, &[(word, value)]);
        for field in &free_texts {
            expect_in_each_language(field, &[(word, word)]);
        }
    }
    for word in ["kein Chip", "ohne", "sans puce", "ninguno"] {
        expect_in_each_language(&chip, &[(word, "")]);
        // It can mean "no".
        expect_in_each_language(&neutered, &[(word, word)]);
    }
    for text in ["0A12E34F", "K1", "-7", "None of them", "NA 7"] {
        expect_in_each_language(&chip, &[(text, text)]);
    }
}

#[test]
fn yes_and_no_are_words_signs_and_numbers() {
    let neutered = field("neutered", FieldKind::Boolean, &[]);
    for cell in [
        "TRUE",
        "True",
        "true",
        "WAHR",
        "VRAI",
        "VERDADERO",
        "Yes",
        "ja",
        "J",
        "oui",
        "Sí",
        "SI",
        "x",
        "1",
        "1.0",
        " TRUE\u{a0}",
        "=\"TRUE\"",
    ] {
        expect_in_each_language(&neutered, &[(cell, "true")]);
    }
    for cell in [
        "FALSE", "False", "FALSCH", "FAUX", "FALSO", "no", "N", "Nein", "non", "0", "0.0",
    ] {
        expect_in_each_language(&neutered, &[(cell, "false")]);
    }
    expect_in_each_language(
        &neutered,
        &[("", ""), ("NA", ""), ("maybe", "maybe"), ("2", "2")],
    );
}

#[test]
fn an_estimate_that_a_page_shows_is_read_again_in_every_language() {
    let born = field("born", FieldKind::Date, &[]);
    for text in [
        "around 12 July 2026",
        "um den 12. Juli 2026",
        "vers le 12 juillet 2026",
        "hacia el 12 de julio de 2026",
    ] {
        expect_in_each_language(&born, &[(text, "2026-07-12")]);
    }
    for text in ["around 2024", "um 2024", "vers 2024", "hacia 2024"] {
        expect_in_each_language(&born, &[(text, "2024-01-01")]);
    }
}

#[test]
fn fields_of_a_shelter_have_words_of_their_own() {
    let neutered = field("neutered", FieldKind::Boolean, &[]);
    let trained = field("house_trained", FieldKind::Boolean, &[]);
    for cell in ["Neutered", "kastriert", "castré", "CASTRADA"] {
        expect_in_each_language(&neutered, &[(cell, "true")]);
        expect_in_each_language(&trained, &[(cell, cell)]);
    }
    for cell in ["not neutered", "Nicht kastriert", "intact"] {
        expect_in_each_language(&neutered, &[(cell, "false")]);
    }
    let values = [
        "Found",
        "Surrendered",
        "Returned",
        "Transferred",
        "Born here",
    ];
    let intake = field("intake_kind", FieldKind::Choice, &values);
    for (cell, value) in [
        ("Stray", "Found"),
        ("Fundtier", "Found"),
        ("Hallazgo", "Found"),
        ("owner surrender", "Surrendered"),
        ("Signed over", "Surrendered"),
        ("Abgabetier", "Surrendered"),
        ("Abgegeben", "Surrendered"),
        ("Abandon", "Surrendered"),
        ("Cesión", "Surrendered"),
        ("Rückläufer", "Returned"),
        ("Übernommen", "Transferred"),
        ("Nacido aquí", "Born here"),
    ] {
        expect_in_each_language(&intake, &[(cell, value)]);
    }
    // An animal of a pound can be found or transferred.
    let pound = read(German, &intake, "Fourrière");
    assert_eq!(pound, Err(CellProblem::NoChoice));
}

#[test]
fn an_animal_that_is_not_yet_on_the_website_is_not_listed() {
    for language in Language::ALL {
        let words = table_words(language);
        for text in ["not yet", "Noch nicht", "pas encore", "Todavía no"] {
            assert_eq!(words.find_listing(text), Some(false), "{text}");
        }
        for text in ["Not on the website yet", "Noch nicht auf der Website"] {
            assert_eq!(words.find_listing(text), Some(false), "{text}");
        }
        assert_eq!(words.find_listing("perhaps"), None);
    }
}

#[test]
fn an_integer_has_no_decimals_and_no_zeros_before_it() {
    for (cell, integer) in [
        ("7", Some(7)),
        (" 7\u{a0}", Some(7)),
        ("7.0", Some(7)),
        ("7,00", Some(7)),
        ("=\"7\"", Some(7)),
        ("1 250", Some(1250)),
        ("1,250", Some(1250)),
        ("1.250", Some(1250)),
        ("-3", Some(-3)),
        ("0", Some(0)),
        ("007", None),
        ("07.0", None),
        ("+7", None),
        ("-0", None),
        ("7.5", None),
        ("7e3", None),
        ("", None),
    ] {
        assert_eq!(parse_integer_cell(cell), integer, "{cell:?}");
    }
    let weight = field("weight", FieldKind::Integer, &[]);
    expect_in_each_language(
        &weight,
        &[("7.0", "7"), ("007", "007"), ("N/A", ""), ("1'250", "1250")],
    );
}

#[test]
fn a_choice_is_known_by_the_words_of_people_who_write_tables() {
    let sex = field("sex", FieldKind::Choice, &["Female", "Male", "Unknown"]);
    for (value, cells) in [
        (
            "Female",
            "w|W|f|F|weibl.|weiblich|WEIBLICH|female|Fem.|femelle|Hembra|h|Hündin|HUENDIN|chienne|gata|Stute|pouliche|gata cachorra|Spayed|spayed female|\
             Weiblich (kastriert)|female ",
        ),
        (
            "Male",
            "m|M|männl.|Männlich|mâle|Macho|Rüde|ruede|Kater|NEUTERED|Neutered Male|Intact Male|Hengst|Wallach|colt|étalon",
        ),
        ("Unknown", "unbekannt|UNKNOWN|u|?|inconnu|desconocido"),
        ("", "| |NA|n/a|-"),
    ] {
        for cell in cells.split('|') {
            expect_in_each_language(&sex, &[(cell, value)]);
        }
    }
    let species = field(
        "species",
        FieldKind::Choice,
        &["Dog", "Cat", "Small mammal", "Rabbit"],
    );
    for (value, cells) in [
        (
            "Dog",
            "dog|DOG|Dogs|Hund|Hunde|chien|chienne|Perros|Schäferhund|Welpe",
        ),
        ("Cat", "cats|Katzen|Kater|gata|chaton"),
        ("Small mammal", "Meerschweinchen|Guinea Pig|small mammals"),
    ] {
        for cell in cells.split('|') {
            expect_in_each_language(&species, &[(cell, value)]);
        }
    }
    for (field, cell) in [
        (&sex, "m/w"),
        (&sex, "Dog"),
        (&species, "Hund oder Katze"),
        (&species, "Dog/Cat"),
        (&species, "Vogel"),
        (&species, "donkey"),
        (&species, "Feldhasen"),
    ] {
        assert_eq!(
            read(German, field, cell),
            Err(CellProblem::NoChoice),
            "{cell}"
        );
    }
    // A field of the store has its own words.
    let coat = field("coat", FieldKind::Choice, &["m", "None"]);
    assert_eq!(read(German, &coat, "M").as_deref(), Ok("m"));
    assert_eq!(read(German, &coat, "none").as_deref(), Ok("None"));
    assert_eq!(read(German, &coat, "w"), Err(CellProblem::NoChoice));
}

#[test]
fn a_text_keeps_its_words_and_loses_only_the_space_around_it() {
    let breed = field("breed", FieldKind::Text, &[]);
    expect_in_each_language(
        &breed,
        &[
            (" Pug\u{a0}", "Pug"),
            ("\u{200b}Pug\u{feff}", "Pug"),
            ("NA", "NA"),
            ("-", "-"),
            ("007", "007"),
            ("=\"7\"", "=\"7\""),
            ("a  b", "a  b"),
        ],
    );
}

#[test]
fn every_day_that_a_page_shows_is_read_again_in_every_language() {
    let day_field = field("day", FieldKind::Date, &[]);
    for shown in [
        [
            "3 May 2024",
            "3. Mai 2024",
            "3 mai 2024",
            "3 de mayo de 2024",
        ],
        [
            "1 March 2024",
            "1. März 2024",
            "1er mars 2024",
            "1 de marzo de 2024",
        ],
        [
            "31 December 2024",
            "31. Dezember 2024",
            "31 décembre 2024",
            "31 de diciembre de 2024",
        ],
    ] {
        let first = read(English, &day_field, shown[0]).unwrap();
        for text in shown {
            let text = text.replace(' ', "\u{a0}");
            expect_in_each_language(&day_field, &[(&text, &first)]);
        }
    }
}
