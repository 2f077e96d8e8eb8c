//! `petstore import` of the tables that people bring: separators, headings, categories, and public files of shelters.

use std::{fs, path::Path};

use serde_json::Value;

use super::program::{Done, directory, run};

/// The public files of shelters, with values that were made up.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");

fn import(here: &Path, content: impl AsRef<[u8]>, options: &[&str]) -> Done {
    fs::write(here.join("animals.csv"), content).unwrap();
    run(
        here,
        &[&["import", "animals.csv", "--create"], options].concat(),
    )
}

/// Returns the animals of the database, each with its name, the label of its category and its values.
fn animals(here: &Path) -> Vec<String> {
    let exported = run(here, &["export", "--all"]).expect_success().stdout;
    let mut pets = Vec::new();
    let mut labels = Vec::new();
    for line in exported.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["pet"].is_object() {
            pets.push(line["pet"].clone());
        }
        if line["category"].is_object() {
            labels.push(line["category"].clone());
        }
    }
    let mut animals = Vec::new();
    for pet in pets {
        let label = labels.iter().find(|label| label["id"] == pet["categoryId"]);
        let label = label.map_or("", |label| label["label"].as_str().unwrap());
        let fields = pet["fields"].as_object().unwrap();
        let values: Vec<_> = fields
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        animals.push(format!(
            "{} ({label}): {}",
            pet["name"].as_str().unwrap(),
            values.join(", ")
        ));
    }
    animals
}

#[test]
fn the_public_files_of_three_shelters_are_imported_with_a_map_alone() {
    for (file, map, expected) in [
        (
            "shelter-dallas.csv",
            "Animal_Id=name|Animal_Type=category|Animal_Type=species|Animal_Breed=breed",
            [
                r#"A9000001 (Dog): breed "LABRADOR RETR", species "Dog""#,
                r#"A9000002 (Cat): breed "DOMESTIC SH", species "Cat""#,
                r#"A9000003 (Bird): breed "CHICKEN", species "Bird""#,
            ]
            .as_slice(),
        ),
        (
            "shelter-san-jose.csv",
            "animalname=name|AnimalType=category|ANIMALTYPE=species|PrimaryColor=colour|PrimaryBreed=breed|DOB=born",
            &[
                r#"LUNA (Dog): born "2019-01-16", breed "CHIHUAHUA SH", colour "BLACK", sex "Female", species "Dog""#,
                r#" (Cat): breed "DOMESTIC SH", colour "BRN TABBY", sex "Unknown", species "Cat""#,
                r#"*HAZEL (Rabbit): born "2022-05-03", breed "LOP-HOLLAND", colour "TAN", sex "Male", species "Rabbit""#,
            ],
        ),
        (
            "shelter-long-beach.csv",
            "animal_name=name|animal_type=species|primary_color=colour|dob=born",
            &[
                r#"*charlien (Cat): born "2022-02-15", colour "gray", sex "Female", species "Cat""#,
                r#"NA (Reptile): colour "brown", sex "Unknown", species "Reptile""#,
                r#"Rex (Small mammal): born "2019-11-05", colour "white", sex "Male", species "Small mammal""#,
                r#"Bo (Other): colour "brown", sex "Male", species "Other""#,
            ],
        ),
    ] {
        let here = directory();
        let path = format!("{DATA}/{file}");
        let mut arguments = vec!["import", &path, "--create", "--ignore-unknown-columns"];
        for mapping in map.split('|') {
            arguments.extend(["--map", mapping]);
        }
        run(here.path(), &arguments).expect_success();
        assert_eq!(animals(here.path()), expected, "{file}");
    }
}

#[test]
fn a_name_and_a_species_are_enough_and_the_category_is_that_of_the_species() {
    let here = directory();
    let done = import(
        here.path(),
        "name,Tierart\nRex,Hund\nLuna,Katze\nBo,dog\n",
        &[],
    )
    .expect_success();
    assert!(
        done.stderr
            .ends_with(" New categories: Dog (1), Cat (2).\n"),
        "{done:?}"
    );
    // The category of the label comes first, and then the one that the others of the species are in.
    let categories = "{\"category\":{\"id\":9,\"label\":\"FISH\",\"version\":1}}\n";
    fs::write(here.path().join("more.ndjson"), categories).unwrap();
    run(here.path(), &["import", "more.ndjson", "--keep-ids"]).expect_success();
    import(here.path(), "name,categoryId,species\nPolly,9,Bird\n", &[]).expect_success();
    let done = import(
        here.path(),
        "name,species\nNemo,Fish\nCoco,Bird\nRex,Dog\n",
        &[],
    )
    .expect_success();
    assert!(!done.stderr.contains("New categories"), "{done:?}");
    let names: Vec<_> = animals(here.path())
        .iter()
        .map(|animal| animal.split(':').next().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "Rex (Dog)",
            "Luna (Cat)",
            "Bo (Dog)",
            "Polly (FISH)",
            "Nemo (FISH)",
            "Coco (FISH)",
            "Rex (Dog)"
        ]
    );
    run(here.path(), &["check"]).expect_success();

    let done = import(here.path(), "name,species\nRex,\nMax,Einhorn\n", &[]);
    let missing = "line 2: species is missing or invalid, and decides the category\n";
    assert!(done.stderr.starts_with(missing), "{done:?}");
    assert!(
        done.stderr
            .contains("line 3: species is missing or invalid"),
        "{done:?}"
    );
}

#[test]
fn the_fields_of_a_file_are_separated_by_what_its_first_line_has() {
    for (content, options) in [
        ("name;categoryId;price\nRex;1;249,50\n", &[][..]),
        ("name\tcategoryId\tprice\nRex\t1\t249,50\n", &[]),
        ("\u{FEFF}name;categoryId;price\r\nRex;1;\"249,50\"\r\n", &[]),
        ("sep=;\r\nname;categoryId;price\r\nRex;1;249.50\r\n", &[]),
        ("\u{FEFF}sep=,\nname,categoryId,price\nRex,1,249.50\n", &[]),
        ("\n;;\nname;categoryId;price\n\n;;\nRex;1;249.50\n;;\n", &[]),
        (
            "name,categoryId,price,,\nRex,1,249.50,,\n,,,,\n , ,\u{a0},,\n",
            &[],
        ),
        (
            "name,price;a,categoryId\nRex,249.50,1\n",
            &["--map", "price;a=price"],
        ),
        (
            " Name ;CATEGORYID;Preis\nRex;1;\u{a0}249,50 €\n",
            &["--separator", "semicolon"],
        ),
    ] {
        let here = directory();
        import(here.path(), content, options).expect_success();
        let [rex] = &animals(here.path())[..] else {
            panic!("{content:?}");
        };
        assert_eq!(rex, "Rex (): price \"249.50\"", "{content:?}");
    }
    // The number of a line counts the line with the separator, and the empty ones.
    let here = directory();
    let done = import(
        here.path(),
        "sep=;\nname;categoryId\n;\nRex;x\n\"Max;1\n",
        &[],
    );
    assert!(
        done.stderr.starts_with("line 4: categoryId must be"),
        "{done:?}"
    );
    assert!(
        done.stderr.contains("line 5: a quote is not closed"),
        "{done:?}"
    );
    let done = import(
        here.path(),
        "name;categoryId\nRex;1\n",
        &["--separator", "comma"],
    );
    assert!(
        done.stderr.contains("unknown columns: \"name;categoryId\""),
        "{done:?}"
    );
    let done = import(here.path(), "name,categoryId,\nRex,1,x\n", &[]);
    assert!(
        done.stderr
            .starts_with("line 2: column 3 has a value and no heading"),
        "{done:?}"
    );
    import(
        here.path(),
        "name,categoryId,\nRex,1,x\n",
        &["--ignore-unknown-columns"],
    )
    .expect_success();
}

#[test]
fn two_equal_headings_are_told_apart_by_their_numbers() {
    let content = "Name,categoryId,Name\nRex,1,Anna Smith\n";
    let here = directory();
    let done = import(here.path(), content, &[]);
    assert!(
        done.stderr.contains(
            "the column \"Name\" appears twice; say which one is name with --map 'Name#1=name'"
        ),
        "{done:?}"
    );
    let done = import(here.path(), content, &["--map", "name=name"]);
    assert!(
        done.stderr
            .contains("appears 2 times; write 'name#1' for the first"),
        "{done:?}"
    );
    let done = import(here.path(), content, &["--map", "name#1=name"]);
    assert!(
        done.stderr.contains("unknown columns: \"Name\""),
        "{done:?}"
    );
    import(
        here.path(),
        content,
        &["--map", "name#1=NAME", "--ignore-unknown-columns"],
    )
    .expect_success();
    import(here.path(), content, &["--map", "Name#2=breed"]).expect_success();
    assert_eq!(
        animals(here.path()),
        ["Rex (): ", "Rex (): breed \"Anna Smith\""]
    );
    let done = import(here.path(), content, &["--map", "Name#3=name"]);
    assert!(
        done.stderr.contains("the header has no column \"Name#3\""),
        "{done:?}"
    );
}

#[test]
fn usual_headings_and_words_are_known_in_four_languages() {
    let here = directory();
    for file in [
        "Tiername;Tierart;Rasse;Geschlecht;Geburtsdatum;Größe;Schutzgebühr;Chip-Nr.;STATUS\n\
         Rex;Hunde;Mops;männl.;03.05.24;klein;95,00 €;1;Verfügbar\n",
        "Nom;Espèce;Race;SEXE;Né le;Taille;Frais d’adoption;N° de puce;Statut\n\
         Rex;chien;Mops;M;3 mai 2024;Petite;95,00;2;disponible\n",
        "Nombre;Especie;Raza;Sexo;Fecha nacimiento;Tamano;Precio;Número de chip;Estado\n\
         Rex;perro;Mops;macho;3/5/2024 0:00;pequeño;95,00;3;Disponible\n",
        "Animal Name,Animal Type,Breed,Gender,DOB,Size,Adoption Fee,Chip No.,Status\n\
         Rex,Dogs,Mops,M,2024-05-03T00:00:00,S,$95.00,4,AVAILABLE\n",
    ] {
        let done = import(here.path(), file, &[]);
        let language = if file.contains("3/5/2024") {
            "es"
        } else {
            "en"
        };
        if language == "es" {
            // The store is English, so that this can mean two days.
            assert!(
                done.stderr.contains("can mean 2024-05-03 or 2024-03-05"),
                "{done:?}"
            );
            import(here.path(), file.replace("3/5/2024", "2024-05-03"), &[]).expect_success();
        } else {
            done.expect_success();
        }
    }
    for (index, animal) in (1..).zip(animals(here.path())) {
        let price = animal
            .split("price \"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(price, "95.00");
        let expected = format!(
            "Rex (Dog): born \"2024-05-03\", breed \"Mops\", microchip \"{index}\", price \"95.00\", \
             sex \"Male\", size \"Small\", species \"Dog\""
        );
        assert_eq!(animal, expected);
    }
}

#[test]
fn a_file_in_the_encoding_of_windows_is_rejected_with_what_to_do() {
    let here = directory();
    for (content, expected) in [
        (
            &b"name,categoryId,Gr\xF6\xDFe\nRex,1,\n"[..],
            "line 1: the header is not UTF-8; save the file again as \"CSV UTF-8\"",
        ),
        (
            b"name,categoryId\nM\xFCsli,1\n",
            "line 2: name is not UTF-8; save the file again as \"CSV UTF-8\"",
        ),
    ] {
        let done = import(here.path(), content, &[]);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(done.stderr.contains(expected), "{done:?}");
    }
}

#[test]
fn a_file_for_a_spreadsheet_opens_in_the_language_of_the_store() {
    let here = directory();
    import(here.path(), "name,categoryId\n\"Zoë; =1\",1\n", &[]).expect_success();
    let export = |options: &[&str]| {
        run(here.path(), &[&["export"], options].concat())
            .expect_success()
            .stdout
    };
    let header = "id,name,categoryId,status\n";
    assert_eq!(export(&[]), format!("{header}1,Zoë; =1,1,available\n"));
    assert_eq!(
        export(&["--spreadsheet"]),
        format!("\u{FEFF}{header}1,Zoë; '=1,1,available\n")
    );
    for (language, separator) in [("de", ';'), ("fr", ';'), ("es", ';'), ("en", ',')] {
        let database = rusqlite::Connection::open(here.path().join("petstore.db")).unwrap();
        let members = format!("{{\"language\":\"{language}\"}}");
        let update = "UPDATE profile SET members = ?1";
        assert_eq!(database.execute(update, [members]).unwrap(), 1);
        drop(database);
        let first_line = format!("\u{FEFF}{}", header.replace(',', &separator.to_string()));
        assert!(
            export(&["--spreadsheet"]).starts_with(&first_line),
            "{language}"
        );
    }
}

#[test]
fn titles_above_the_headings_are_left_out_and_named_and_lines_keep_their_numbers() {
    let here = directory();
    let table = "Unsere Tiere;;\r\nStand: 28.11.2026;;\r\n\r\nName;Tierart;Chip\r\nRex;Hund;-\r\nLuna;Katze;-\r\n";
    let done = import(here.path(), table, &[]).expect_success();
    let titles =
        "Rows above the header that are left out: \"Unsere Tiere\", \"Stand: 28.11.2026\".";
    assert!(done.stderr.contains(titles), "{done:?}");
    // No two animals share the dash, which is no chip.
    let expected = [
        r#"Rex (Dog): species "Dog""#,
        r#"Luna (Cat): species "Cat""#,
    ];
    assert_eq!(animals(here.path()), expected);

    let table = "Unsere Tiere;;\nName;Tierart;Chip\nRex;Hund;#NV\n";
    let done = run_import(here.path(), table);
    let problem = "line 3: Chip has an error of the spreadsheet in place of a value: \"#NV\"";
    assert!(done.stderr.contains(problem), "{done:?}");
}

fn run_import(here: &Path, content: &str) -> Done {
    fs::write(here.join("more.csv"), content).unwrap();
    run(here, &["import", "more.csv"])
}
