//! What a person types to find animals, and ranges of dates.

use jiff::civil::date;
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{
        Age, Choices, FieldDefinition, FieldKind, FieldName, FieldProblem, FieldSet, FieldValue,
        FieldValues, Label, MAX_VALUE_WORDS, PetQuery, Phrase, value_keys,
    },
};

fn field(name: &str, kind: FieldKind) -> FieldDefinition {
    let choices = || {
        let values = ["f", "m", "x"].map(str::to_owned).to_vec();
        let labels = [("f", "Female (spayed)"), ("gone", "Gone Girl")];
        let labels = labels.map(|(value, label)| (value.to_owned(), label.to_owned()));
        Choices::new(values)
            .unwrap()
            .with_labels(labels.into())
            .unwrap()
    };
    FieldDefinition {
        name: FieldName::new(name).unwrap(),
        label: Label::new(name.to_owned()).unwrap(),
        kind,
        choices: (kind == FieldKind::Choice).then(choices),
        is_public: !name.starts_with("secret"),
        is_unique: name.ends_with("chip"),
        position: 1,
        version: 1,
    }
}

fn fields() -> FieldSet {
    let fields = [
        ("sex", FieldKind::Choice),
        ("breed", FieldKind::Text),
        ("chip", FieldKind::Text),
        ("story", FieldKind::LongText),
        ("born", FieldKind::Date),
        ("secret", FieldKind::Text),
        ("secret_sex", FieldKind::Choice),
        ("secret_chip", FieldKind::Integer),
    ];
    FieldSet::new(
        1,
        fields.map(|(name, kind)| field(name, kind)).to_vec(),
        Vec::new(),
    )
}

fn values(of: &[(&str, &str)]) -> FieldValues {
    let value = |text: &str| {
        text.parse()
            .map_or(FieldValue::Text(text.to_owned()), FieldValue::Integer)
    };
    let all = of
        .iter()
        .map(|&(name, text)| (name.to_owned(), value(text)));
    FieldValues::new(all.collect()).unwrap()
}

fn finds(phrase: &str, name: &str, of: &[(&str, &str)]) -> [bool; 2] {
    [false, true].map(|only_public| {
        let phrase = Phrase::new(phrase).unwrap();
        let phrase = if only_public { phrase.public() } else { phrase };
        let sought = phrase.interpret(&fields());
        let name = PetName::new(name.to_owned()).unwrap();
        sought.matches(PetId::new(17).unwrap(), 1, &name, &values(of))
    })
}

const LUNA: [(&str, &str); 4] = [
    ("sex", "f"),
    ("breed", "Maine-Coon, schwarz"),
    ("chip", "Té 276-098"),
    ("story", "Likes children"),
];

#[test]
fn every_word_begins_a_word_of_the_name_of_a_value_or_of_a_label_or_is_the_number() {
    for found in [
        "luna",
        "LÚN",
        "spayed",
        "fem f",
        "coon maine",
        "mainecoon",
        "coonsch",
        "17",
        "#17",
        "luna #17 ",
        "schwarz luna 17 spay",
        "maine - coon",
        "(female)",
        "te",
        "276",
        "27609",
        "Luna's",
        "f",
        "lun\u{2028}mai",
    ] {
        let name = if found == "Luna's" { "Lunas" } else { "Luna" };
        assert_eq!(finds(found, name, &LUNA), [true, true], "{found}");
    }
    for missed in [
        "likes",
        "una",
        "lunatic",
        "luna z",
        "male",
        "z",
        "18",
        "017",
        "##17",
        "luna likes",
        "*",
        "girl",
        "black",
    ] {
        assert_eq!(finds(missed, "Luna", &LUNA), [false, false], "{missed}");
    }
    assert_eq!(finds("girl", "Luna", &[("sex", "gone")]), [true, true]);
}

#[test]
fn a_unique_value_in_any_spelling_finds_its_animal_whatever_the_other_words_are() {
    for found in [
        "te276.098",
        "TÉ 276 098",
        "chip: te-276-098",
        "te276098 nobody",
    ] {
        assert_eq!(finds(found, "Luna", &LUNA), [true, true], "{found}");
    }
    assert_eq!(finds("te27609 nobody", "Luna", &LUNA), [false, false]);
    let secret = [("secret_chip", "4711")];
    assert_eq!(finds("4711", "Luna", &secret), [true, false]);
    assert_eq!(finds("nobody 4711", "Luna", &secret), [true, false]);
}

#[test]
fn private_values_and_labels_are_not_found_among_public_ones() {
    assert_eq!(finds("dora", "Luna", &[("secret", "Dora")]), [true, false]);
    assert_eq!(finds("f", "Luna", &[("secret_sex", "f")]), [true, false]);
    assert_eq!(
        finds("spayed", "Luna", &[("secret_sex", "f")]),
        [true, false]
    );
    assert_eq!(
        finds("spayed", "Luna", &[("secret_sex", "f"), ("sex", "f")]),
        [true, true]
    );
}

#[test]
fn a_phrase_of_signs_only_is_compared_with_the_beginning_of_a_name() {
    assert_eq!(finds("*", "*Luna", &[("breed", "x")]), [true, true]);
    assert_eq!(finds(" * ", "*Luna", &[("breed", "x")]), [true, true]);
    assert_eq!(finds("*", "Luna", &[("breed", "*")]), [false, false]);
    assert_eq!(finds("* luna", "Luna", &[]), [true, true]);
    assert_eq!(finds(&"…".repeat(64), "Luna", &[]), [false, false]);
}

#[test]
fn a_phrase_has_64_characters_and_16_words_one_of_them_visible() {
    for valid in [
        "x",
        &"x".repeat(64),
        &"x ".repeat(16),
        " 5 ",
        &"\u{FDFA}".repeat(64),
    ] {
        assert!(Phrase::new(valid).is_some(), "{valid}");
    }
    for invalid in [
        "",
        " ",
        "\u{a0}\u{2003}",
        "a\0",
        &"x".repeat(65),
        &"x ".repeat(17),
        "\u{200b}",
    ] {
        assert!(Phrase::new(invalid).is_none(), "{invalid:?}");
    }
    assert_eq!(Phrase::new(" Luna 5 ").unwrap().as_str(), "Luna 5");
    // As far as keys go.
    assert_eq!(
        finds(&"\u{FDFA}".repeat(5), &"\u{FDFA}".repeat(6), &[]),
        [true, true]
    );
}

#[test]
fn a_value_has_a_key_for_each_of_its_first_words() {
    let words: Vec<_> = (100..180).map(|number| number.to_string()).collect();
    let keys = value_keys(&words.join(" "));
    assert_eq!(keys.len(), MAX_VALUE_WORDS);
    assert!(keys.iter().all(|key| key.len() <= 64) && keys[63].starts_with("163"));
    assert_eq!(value_keys("* Max"), ["max"]);
    assert_eq!(value_keys("*"), [""; 0]);
}

#[test]
fn a_range_of_dates_includes_both_days_and_needs_a_field_of_dates() {
    let fields = fields();
    let found = |ends: [Option<&str>; 2], born: &str| {
        let query = PetQuery {
            dates: Some(fields.parse_date_range("born", ends[0], ends[1]).unwrap()),
            ..Default::default()
        };
        let name = PetName::new("Luna".to_owned()).unwrap();
        query.matches_values(PetStatus::Sold, 1, &name, &values(&[("born", born)]))
    };
    let days = [
        "2019-12-31",
        "2020-01-01",
        "2020-01-31",
        "2020-02-01",
        "0000-01-01",
        "9999-12-31",
    ];
    let found = |ends| days.map(|day| found(ends, day));
    let (from, to) = (Some("2020-01-01"), Some("2020-01-31"));
    assert_eq!(found([from, to]), [false, true, true, false, false, false]);
    assert_eq!(found([from, None]), [false, true, true, true, false, true]);
    assert_eq!(found([None, to]), [true, true, true, false, true, false]);
    assert_eq!(found([None, None]), [true; 6]);
    assert_eq!(found([to, from]), [false; 6]);
    let problem = |name, ends: [Option<&str>; 2]| match fields
        .parse_date_range(name, ends[0], ends[1])
        .unwrap_err()
    {
        FieldProblem::Unknown(problem) | FieldProblem::Invalid(problem) => problem,
    };
    assert!(problem("nothing", [None, to]).starts_with("No field has the name \"nothing\"."));
    assert_eq!(
        problem("breed", [from, to]),
        "field.breed.from and field.breed.to are for fields of the kind date; breed is of the kind text."
    );
    for wrong in ["", "2020-1-1", "2020-02-30", "20200101", "yesterday"] {
        let is = "must be a date of the form YYYY-MM-DD.";
        assert_eq!(
            problem("born", [Some(wrong), None]),
            format!("field.born.from {is}")
        );
        assert_eq!(
            problem("born", [None, Some(wrong)]),
            format!("field.born.to {is}")
        );
    }
}

#[test]
fn every_day_of_birth_has_one_age_which_changes_on_the_birthday() {
    let field = FieldName::new("born").unwrap();
    for today in [
        date(2024, 2, 29),
        date(2023, 2, 28),
        date(2023, 3, 1),
        date(2024, 3, 1),
        date(2026, 11, 27),
    ] {
        for days in -1..4_000 {
            let born = today.checked_sub(jiff::Span::new().days(days)).unwrap();
            let had_birthday = (today.month(), today.day()) >= (born.month(), born.day());
            let years = today.year() - born.year() - i16::from(!had_birthday);
            let expected = match years {
                ..=0 => Age::UnderOne,
                1..=2 => Age::OneToThree,
                3..=7 => Age::ThreeToEight,
                _ => Age::EightOrMore,
            };
            for age in Age::ALL {
                let range = age.birth_range(&field, today);
                let is_expected = age == expected || age == Age::UnderThree && years < 3;
                let is_in = range.from.is_none_or(|from| from <= born)
                    && range.to.is_none_or(|to| born <= to);
                assert_eq!(is_in, is_expected, "{born} {today} {age}");
            }
        }
    }
    assert_eq!("3".parse::<Age>().unwrap(), Age::ThreeToEight);
    assert!("2".parse::<Age>().is_err());
}

#[test]
fn a_word_that_is_there_twice_is_looked_for_once() {
    let sought = Phrase::new("b b Bella b bella 7 7 #7")
        .unwrap()
        .interpret(&fields());
    let words: Vec<_> = sought
        .words
        .iter()
        .map(|word| format!("{:?}", word.prefix))
        .collect();
    assert_eq!(words.len(), 3, "{words:?}");
    assert!(finds("bella bella", "Bella", &[])[0]);
}
