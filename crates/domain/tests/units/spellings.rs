//! Names in many alphabets, and what people type to find them.

use petstore_domain::store_area::{NamePrefix, name_keys, spellings, value_keys};

/// Names, each with what a person of its language types: with a keyboard that lacks letters, without accents and marks,
/// in another case or normalization, or from the middle where there are no spaces.
const NAMES: [(&str, &[(&str, &str)]); 20] = [
    (
        "Latin of Germany",
        &[
            ("Müller", "muller"),
            ("Müller", "mueller"),
            ("Mueller", "müller"),
            ("Größe", "GROESSE"),
            ("Strolchi Weiß", "weiss"),
        ],
    ),
    (
        "Latin of France",
        &[("Cœur", "coeur"), ("Sœurette", "soeur"), ("Ève", "eve")],
    ),
    (
        "Latin of Scandinavia",
        &[
            ("Bjørn", "bjorn"),
            ("Bjørn", "bjoern"),
            ("Bjoern", "bjørn"),
            ("Åse", "aase"),
            ("Ægir", "aegir"),
            ("Þór", "thor"),
            ("Guðrún", "gudrun"),
        ],
    ),
    (
        "Latin of Poland and Croatia",
        &[
            ("Łatka", "latka"),
            ("Żabka", "zabka"),
            ("Đurđa", "djurdja"),
            ("Đurđa", "durda"),
        ],
    ),
    (
        "Latin of Turkey and Azerbaijan",
        &[
            ("Ilgın", "ilgin"),
            ("İzmir", "IZMIR"),
            ("Şeker", "seker"),
            ("Əli", "eli"),
        ],
    ),
    (
        "Latin of Malta, Vietnam and Hawaii",
        &[
            ("Ħobża", "hobza"),
            ("Đậu Phộng", "dau phong"),
            ("ʻŌlelo", "olelo"),
        ],
    ),
    ("Greek", &[("Οδυσσέας", "ΟΔΥΣΣΕΑΣ"), ("Ήρα", "ηρα")]),
    (
        "Cyrillic",
        &[
            ("Ёжик", "ежик"),
            ("Ґава", "гава"),
            ("Дем'янчик", "дем’янчик"),
            ("Дем\u{2bc}ян", "демян"),
            ("Қарлығаш", "карлыгаш"),
        ],
    ),
    ("Armenian", &[("Սև", "սեւ"), ("Բարև", "ԲԱՐԵՒ")]),
    ("Georgian", &[("ცუგა", "ᲪᲣᲒᲐ"), ("მურა თეთრი", "თეთ")]),
    ("Hebrew", &[("שׁוֹקוֹ", "שוקו"), ("לאקי־לוק", "לוק")]),
    (
        "Arabic",
        &[
            ("كلب", "کلب"),
            ("أسد", "اسد"),
            ("قطة", "قطه"),
            ("لـــولو", "لولو"),
            ("مَشْمَش", "مشمش"),
        ],
    ),
    (
        "Persian and Urdu",
        &[
            ("گربه کوچولو", "كوچولو"),
            ("پیشی", "پيشي"),
            ("موتیا ۷", "موتیا 7"),
        ],
    ),
    ("Devanagari", &[("मोती", "मोती"), ("शेरा १२", "शेरा 12")]),
    ("Bengali", &[("টমি", "টমি"), ("লাল মিনু", "মিনু")]),
    ("Tamil", &[("கருப்பு", "கரு"), ("ராஜா மணி", "மணி")]),
    ("Thai", &[("แมวดำ", "ดำ"), ("น้องหมา", "หมา")]),
    (
        "Chinese",
        &[("大黄狗", "黄狗"), ("大黄狗", "狗"), ("小白", "白")],
    ),
    (
        "Japanese",
        &[
            ("ポチ", "ぽち"),
            ("たま", "タマ"),
            ("ﾊﾁ公", "公"),
            ("柴犬のハナ", "はな"),
        ],
    ),
    ("Korean", &[("김복실", "복실"), ("바둑이", "둑")]),
];

#[test]
fn at_least_60_names_in_20_alphabets_are_found_by_what_people_type() {
    let mut count = 0;
    for (alphabet, names) in NAMES {
        for (name, typed) in names {
            count += 1;
            let prefix = NamePrefix::new(typed).unwrap();
            assert!(prefix.finds(name), "{alphabet}: {name} by {typed}");
        }
    }
    assert!(count >= 60, "{count}");
}

#[test]
fn letters_that_differ_for_people_find_nothing_else() {
    for (name, typed) in [
        ("Jürgen", "jorgen"),
        ("大黄狗", "黑"),
        ("Joel", "jol"),
        ("Bob", "bób s"),
    ] {
        assert!(!NamePrefix::new(typed).unwrap().finds(name), "{typed}");
    }
}

#[test]
fn each_spelling_is_compared_as_a_whole_with_parts_of_other_texts() {
    assert_eq!(spellings("Müller, Łódź"), ["mullerlodz", "muellerlodz"]);
    assert_eq!(spellings("Miller"), ["miller"]);
}

#[test]
fn a_long_text_without_spaces_has_a_bounded_number_of_keys() {
    let name: String = ('\u{4e00}'..).take(200).collect();
    assert_eq!(name_keys(&name).len(), 14);
    assert_eq!(value_keys(&name).len(), 64);
    let umlauts = "äb öc ".repeat(40);
    assert!(name_keys(&umlauts).len() <= 3 * 14);
}
