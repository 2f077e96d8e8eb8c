//! Pasted tables: which quotes are part of the text, and what has no place in a form.

use petstore_domain::{
    PetId,
    store_area::{FieldValue, StorePet},
};

use super::{
    browser::Shop,
    pages::pets,
    paste::{clerk, preview, rows},
};

fn description(pet: &StorePet) -> String {
    match pet.fields.get("description") {
        Some(FieldValue::Text(text)) => text.clone(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn each_line_that_a_spreadsheet_copies_is_an_animal_whatever_quotes_its_texts_have() {
    let headings = "name\tcategory\tdescription";
    for (lines, descriptions) in [
        (
            "A\tDogs\t\"Smokey - gentle dog\nB\tDogs\tNice\nC\tDogs\tCalm",
            vec!["\"Smokey - gentle dog", "Nice", "Calm"],
        ),
        (
            "A\tDogs\t\"Best dog ever\nB\tDogs\tNice\nC\tDogs\tCalled \"Champ\"\nD\tDogs\tCalm",
            vec!["\"Best dog ever", "Nice", "Called \"Champ\"", "Calm"],
        ),
        (
            "A\tDogs\t\"Luna\" is sweet, she loves \"Max\"\nB\tDogs\t\"one\r\n\"\"two\"\"\tthree\"",
            vec![
                "\"Luna\" is sweet, she loves \"Max\"",
                "one\n\"two\"\tthree",
            ],
        ),
    ] {
        let shop = Shop::open().await;
        let mut clerk = clerk(&shop).await;
        let lines = format!("{headings}\n{lines}");
        let page = preview(&mut clerk, &lines).await.expect(200);
        assert_eq!(rows(&page).len(), descriptions.len(), "{page:?}");
        let form = page.form("/add/many");
        let form: Vec<_> = form
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        clerk.post("/add/many", &form).await.expect(303);
        let mut added = Vec::new();
        for pet in pets(&shop).await {
            let pet = shop.store.get_store_pet(pet.id).await.unwrap().unwrap();
            added.push(description(&pet));
        }
        added.sort();
        let mut expected = descriptions.clone();
        expected.sort_unstable();
        assert_eq!(added, expected);
    }
}

#[tokio::test]
async fn a_quoted_cell_that_can_be_several_animals_is_asked_about() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "name\tcategory\tdescription\nA\tDogs\t\"Shy\nB\tDogs\tCalled Max\"";
    let page = preview(&mut clerk, lines).await.expect(422);
    assert!(
        page.text.contains("Is a closing quotation mark missing?"),
        "{page:?}"
    );
    clerk
        .post("/add/many", &[("lines", lines)])
        .await
        .expect(422);
    assert!(pets(&shop).await.is_empty());
}

#[tokio::test]
async fn a_quote_that_no_file_with_commas_can_have_is_named_with_its_line_and_adds_nothing() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in [
        "name,category,description\nA,Dogs,Calm\nB,Dogs,\"Nice\nC,Dogs,Calm",
        "name;category\nA;Dogs\n\"Lucky\" Luke;Dogs",
    ] {
        for path in ["/add/preview", "/add/many"] {
            let page = clerk.post(path, &[("lines", lines)]).await.expect(422);
            assert!(
                page.text
                    .contains("Row 3: A closing quotation mark is missing"),
                "{page:?}"
            );
            let kept = page.between("<textarea id=\"lines\"", "</textarea>");
            assert!(kept.contains("Dogs"), "what was typed is kept: {page:?}");
        }
    }
    assert!(pets(&shop).await.is_empty());
}

#[tokio::test]
async fn a_text_without_a_table_is_answered_as_one() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in [
        "",
        " ",
        "\n\n",
        ",",
        ",,,\n,",
        "\t",
        "\t\t\n\t",
        "\"",
        "\u{FEFF}",
        "\u{FEFF}\"",
    ] {
        for path in ["/add/preview", "/add/many"] {
            for headings in ["yes", "no", ""] {
                let form = [("lines", lines), ("headings", headings)];
                clerk.post(path, &form).await.expect(422);
            }
        }
    }
}

#[tokio::test]
async fn of_a_line_with_very_many_cells_the_first_100_are_kept_and_the_line_is_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = format!("name\tcategory{}x\nRex\tDogs", "\t".repeat(300_000));
    let page = preview(&mut clerk, &lines).await.expect(200);
    assert_eq!(rows(&page), ["2 Rex Dogs OK"]);
    let lines = format!("Rex\tDogs{}x\nMax\tDogs", "\t".repeat(300_000));
    let page = preview(&mut clerk, &lines).await.expect(422);
    assert_eq!(rows(&page)[1], "2 Max Dogs Available OK");
    assert!(
        page.text
            .contains("It has more cells than there are columns."),
        "{:?}",
        rows(&page)
    );
    let selects = page.text.matches("name=\"column-").count();
    assert_eq!(selects, 100);
}

#[tokio::test]
async fn a_form_with_more_fields_than_any_page_makes_is_refused_with_the_limit() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let most = vec![("name", "Mo"); 1_000];
    clerk.post("/animals/selected", &most).await.expect(200);
    let more = vec![("name", "Mo"); 1_001];
    for path in ["/animals/selected", "/add/preview", "/sign-in"] {
        let page = clerk.post(path, &more).await.expect(400);
        assert!(page.text.contains("more than 1,000 fields"), "{page:?}");
    }
    let query = "a&".repeat(1_001);
    clerk.get(&format!("/animals?{query}")).await.expect(400);
}

#[tokio::test]
async fn the_first_line_decides_what_separates_the_cells_and_a_person_can_choose() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in [
        "name,category,description\nRex,Dogs,\"Sweet; loves kids\"",
        "name,category,description (max; 200)\nRex,Dogs,Collie; Mix",
        "sep=;\nname;category;description\nRex;Dogs;a, b",
        "name;category;description\nRex;Dogs;\"a\tb\"",
        "\u{FEFF}name\tcategory\tdescription\nRex\tDogs\ta; b, c",
    ] {
        let page = preview(&mut clerk, lines).await.expect(200);
        let rows = rows(&page);
        assert!(
            rows.len() == 1 && rows[0].contains("Rex Dogs"),
            "{lines}: {rows:?}"
        );
    }
    let lines = "Rex;Dogs,Mix";
    let page = preview(&mut clerk, lines).await.expect(422);
    assert!(
        page.text.contains("<option value=\"semicolon\" selected"),
        "{page:?}"
    );
    let form = [("lines", lines), ("separator", "comma")];
    let page = clerk.post("/add/preview", &form).await.expect(422);
    assert!(page.text.contains("There is no category “Mix”"), "{page:?}");
    assert!(
        page.text.contains("<option value=\"comma\" selected"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_heading_that_can_be_two_columns_is_refused_with_both() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let renamed = "UPDATE fields SET label = 'Coat' WHERE name IN ('colour', 'breed')";
    shop.database().execute(renamed, []).unwrap();
    let lines = "name\tcategory\tcoat\nRex\tDogs\tred";
    let page = preview(&mut clerk, lines).await.expect(422);
    assert!(
        page.text
            .contains("“coat” can be Coat (field.breed) or Coat (field.colour). Choose which."),
        "{page:?}"
    );
    let form = [("lines", lines), ("column-3", "field.colour")];
    clerk.post("/add/preview", &form).await.expect(200);
}

#[tokio::test]
async fn a_member_reads_tables_and_types_days_of_birth_in_the_own_language() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let language = [("language", "de")];
    clerk.post("/account/language", &language).await.expect(303);
    let lines =
        "Tiername;Tierart;Geschlecht;Geburtsdatum;Status\nRex;Hunde;männl.;03/05/2024;Verfügbar";
    let shown = rows(&preview(&mut clerk, lines).await.expect(200));
    assert_eq!(shown, ["2 Rex Dog Male 3.\u{a0}Mai\u{a0}2024 Verfügbar OK"]);
    for (born, expected) in [
        ("2019", "2019-01-01"),
        ("05/2019", "2019-05-01"),
        ("03.05.24", "2024-05-03"),
    ] {
        let form = [("name", "Max"), ("category", "Dogs"), ("field.born", born)];
        let page = clerk.post("/add", &form).await.expect(303);
        let id = page.next().rsplit('/').next().unwrap().parse().ok();
        let pet = shop
            .store
            .get_store_pet(id.and_then(PetId::new).unwrap())
            .await;
        let pet = pet.unwrap().unwrap();
        assert_eq!(
            pet.fields.get("born"),
            Some(&FieldValue::Text(expected.to_owned()))
        );
    }
}

#[tokio::test]
async fn titles_above_the_headings_are_no_animals_and_the_preview_names_them() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines =
        "Our animals\t\t\nAs of today\n\nname\tcategory\tmicrochip\nRex\tDogs\t-\nMax\tDogs\t?";
    let page = preview(&mut clerk, lines).await.expect(200);
    assert_eq!(rows(&page).len(), 2, "{page:?}");
    let titles = "Not imported, because it is above the headings: “Our animals”, “As of today”";
    assert!(page.text.contains(titles), "{page:?}");
    // Somebody who says that the first line is an animal gets a line for each of them.
    let form = [("lines", lines), ("headings", "no")];
    let page = clerk.post("/add/preview", &form).await.expect(422);
    assert_eq!(rows(&page).len(), 5, "{page:?}");

    let form = [("lines", lines)];
    clerk.post("/add/many", &form).await.expect(303);
    assert_eq!(pets(&shop).await.len(), 2);
    let lines = "name\tcategory\nRex\t#REF!";
    let page = preview(&mut clerk, lines).await.expect(422);
    let problem = "Category: #REF! is not a value.";
    assert!(page.text.contains(problem), "{page:?}");
}

#[tokio::test]
async fn a_preview_asks_first_about_the_columns_that_it_does_not_know() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Name\tCategory\tOwner\tColour\nRex\tDogs\tAna\tRed";
    let page = preview(&mut clerk, lines).await.expect(200);
    let form = page.between("action=\"/add/preview\"", "</form>");
    let (visible, hidden) = form.split_once("<details").unwrap();
    let selects = |part: &str| part.matches("<select id=\"column-").count();
    assert_eq!([selects(visible), selects(hidden)], [1, 3], "{form}");
    assert!(visible.contains("name=\"column-3\""), "{form}");
    // It stands before the table, with the tick about the same columns.
    let places = ["action=\"/add/preview\"", "id=\"left-out\"", "<tbody>"]
        .map(|part| page.text.find(part).unwrap());
    assert!(places.is_sorted(), "{page:?}");

    let known = preview(&mut clerk, "Name\tCategory\nRex\tDogs").await;
    let known = known.expect(200);
    let places = ["<tbody>", "action=\"/add/preview\""].map(|part| known.text.find(part).unwrap());
    assert!(places.is_sorted(), "{known:?}");
}

#[tokio::test]
async fn a_message_that_several_lines_have_is_shown_once_with_their_numbers() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines =
        "Name\tCategory\tBorn\nRex\tDogs\tx\nMax\tDogs\tx\nMia\tCows\t2024-05-03\nIda\tDogs\tx";
    let page = preview(&mut clerk, lines).await.expect(422);
    let message = "Born: Enter a date with its day, month and year";
    assert_eq!(page.text.matches(message).count(), 1, "{page:?}");
    let summary = page.between("<div class=\"problem\"", "</div>");
    assert!(
        summary.contains("<li>Rows 2, 3, 5: Born: Enter"),
        "{summary}"
    );
    assert!(!summary.contains("Cows"), "{summary}");
    let table = page.between("<tbody>", "</tbody>");
    assert_eq!(table.matches("See above").count(), 3, "{table}");
    assert_eq!(table.matches("There is no category").count(), 1, "{table}");
}

#[tokio::test]
async fn a_first_line_that_looks_like_headings_has_a_button_that_says_so() {
    const OFFER: &str = "The first row has headings</button>";
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Called\tSort\tSince\nRex\tDogs\t2024-05-03\nMax\tDogs\t2023-01-01";
    let page = preview(&mut clerk, lines).await;
    assert!(page.text.contains(OFFER), "{page:?}");
    let form = page.form("/add/preview");
    assert!(form.contains(&("headings".to_owned(), "yes".to_owned())));
    let form: Vec<_> = form
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let page = clerk.post("/add/preview", &form).await;
    assert!(page.text.contains("“Called” contains"), "{page:?}");
    assert!(!page.text.contains(OFFER), "{page:?}");
    for animals in [
        "Rex\tDogs\nMax\tDogs",
        "Rex 2\tDogs\t2024-05-03\nMax\tDogs\t2023-01-01",
        "Rex\tDogs\t2024-05-03\nMax\tDogs\t2023-01-01",
        "Name\tCategory\tBorn\nMax\tDogs\t2023-01-01",
    ] {
        let page = preview(&mut clerk, animals).await;
        assert!(!page.text.contains(OFFER), "{animals}: {page:?}");
    }
}
