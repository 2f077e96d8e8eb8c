//! Lines of a spreadsheet, as their preview shows them.

use petstore_domain::{Limit, Role};

use super::{
    browser::{Browser, Page, Shop},
    pages::{key, pets},
};

/// A clerk of a store whose categories 4 and 7 have the names Dogs and Cats.
pub(super) async fn clerk(shop: &Shop) -> Browser<'_> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (label, number) in [("Dogs", "4"), ("Cats", "7")] {
        clerk
            .post("/categories", &[("label", label), ("number", number)])
            .await
            .expect(303);
    }
    clerk
}

pub(super) async fn preview(clerk: &mut Browser<'_>, lines: &str) -> Page {
    clerk.post("/add/preview", &[("lines", lines)]).await
}

/// The texts of each row of the table, with spaces between them.
pub(super) fn rows(page: &Page) -> Vec<String> {
    let rows = page.between("<tbody>", "</tbody>").split("<tr").skip(1);
    let text = |row: &str| {
        let texts = row
            .split('>')
            .skip(1)
            .filter_map(|part| part.split('<').next());
        texts
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    rows.map(text).collect()
}

#[tokio::test]
async fn lines_of_a_spreadsheet_have_tabs_and_those_of_a_file_commas_or_semicolons() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in [
        "Rex\tdogs\r\nMax, the 2nd\t7\tSold\r\n",
        "Rex,4\n\"Max, the 2nd\",7,sold",
        "Rex;dogs;\nMax, the 2nd;7;Sold",
    ] {
        let shown = rows(&preview(&mut clerk, lines).await.expect(200));
        assert_eq!(
            shown,
            ["1 Rex Dogs Available OK", "2 Max, the 2nd Cats Sold OK"]
        );
    }
}

#[tokio::test]
async fn the_first_line_may_name_the_columns_in_another_order() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Status\tBREED\tCategory\tName\nreserved\tPug\tDogs\tRex\n\n\tTabby\t7\tMax";
    let shown = rows(&preview(&mut clerk, lines).await.expect(200));
    assert_eq!(
        shown,
        [
            "2 Reserved Pug Dogs Rex OK",
            "4 Available Tabby Cats Max OK"
        ]
    );
}

#[tokio::test]
async fn values_are_read_as_people_type_them() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let headings = "Name\tCategory\tspecies\tBorn\tPrice\tNeutered\tGrams";
    for (label, kind) in [("Neutered", "boolean"), ("Grams", "integer")] {
        let form = [("label", label), ("kind", kind)];
        shop.member(label, Role::Manager)
            .await
            .post("/settings/fields", &form)
            .await
            .expect(303);
    }
    let mut lines = vec![headings.to_owned()];
    let days = [
        "2024-03-25",
        "25.3.2024",
        "25/03/2024",
        "03/25/2024",
        "25. mar 2024",
        "March 25, 2024",
    ];
    let prices = [
        "1.250,00 €",
        "1,250.00",
        "1 250",
        "€1250",
        "1250",
        "1250.00",
    ];
    let neutered = ["yes", "No", "X", "nein", "TRUE", "0"];
    for at in 0..6 {
        let (day, price, yes) = (days[at], prices[at], neutered[at]);
        lines.push(format!(
            "Rex {at}\tdogs\tdOG\t{day}\t{price}\t{yes}\t12 500"
        ));
    }
    let lines = lines.join("\n");
    let page = preview(&mut clerk, &lines).await.expect(200);
    assert_eq!(rows(&page).len(), 6, "{page:?}");
    clerk
        .post("/add/many", &[("lines", &*lines)])
        .await
        .expect(303);
    for (at, pet) in (1..).zip(pets(&shop).await) {
        let fields = shop
            .store
            .get_store_pet(pet.id)
            .await
            .unwrap()
            .unwrap()
            .fields;
        let shown = format!("{fields:?}");
        for value in ["\"Dog", "\"2024-03-25", "\"1250", "Integer(12500)"] {
            assert!(shown.contains(value), "{at}: {shown}");
        }
        assert!(
            shown.contains(if at % 2 == 1 {
                "Boolean(true)"
            } else {
                "Boolean(false)"
            }),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn all_that_is_wrong_with_a_line_is_named_with_its_columns() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Name,Category,Status,Species,Born,Price\n,95,lost,Dgo,03/04/2024,1.250\n\
                 Rex,Cows,,Dog,31.2.2024,$$\nMax,4,,,,,x";
    let page = preview(&mut clerk, lines).await.expect(422);
    let two = "03/04/2024 can mean 3\u{a0}April\u{a0}2024 or 4\u{a0}March\u{a0}2024. Write 2024-04-03 or 2024-03-04.";
    for error in [
        "Name: Enter the name of the animal.",
        "Status: The status must be",
        "Species: “Dgo” is not one of the choices: Dog, Cat, ",
        &format!("Born: {two}"),
        "Price: 1.250",
        "Category: There is no category “Cows”.",
        "Born: Enter a date with its day",
        "Price: Enter",
        "It has more cells than there are columns.",
    ] {
        assert!(
            page.text.contains(&format!("<p class=\"error\">{error}")),
            "{error}: {page:?}"
        );
    }
}

#[tokio::test]
async fn a_number_that_no_category_and_no_animal_has_is_no_category() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let page = preview(&mut clerk, "Rex,95\nMax,4").await.expect(422);
    assert_eq!(
        rows(&page),
        [
            "1 Rex 95 There is no category 95. Name it on the Categories page first, or correct the \
             number.",
            "2 Max Dogs OK"
        ]
    );
    assert!(!page.text.contains("action=\"/add/many\""));
    // One that an animal has may have no name.
    shop.database()
        .execute(
            "INSERT INTO pets (name, category_id, status) VALUES ('Mia', 95, 'sold')",
            [],
        )
        .unwrap();
    assert_eq!(
        rows(&preview(&mut clerk, "Rex,95").await.expect(200)),
        ["1 Rex Category 95 OK"]
    );
}

#[tokio::test]
async fn each_column_can_be_chosen() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Tier;Gruppe;Art\nRex;Dogs;dog";
    let page = preview(&mut clerk, lines).await.expect(422);
    assert_eq!(rows(&page).len(), 2);
    let chosen = [
        ("lines", lines),
        ("headings", "yes"),
        ("column-1", "name"),
        ("column-2", "category"),
        ("column-3", "field.species"),
    ];
    let page = clerk.post("/add/preview", &chosen).await.expect(200);
    assert_eq!(rows(&page), ["2 Rex Dogs Dog OK"]);
    assert!(
        page.text
            .contains("name=\"column-3\" value=\"field.species\""),
        "{page:?}"
    );
    // Two columns cannot be one, and the name cannot be left out.
    for (third, error) in [
        ("name", "Two columns are set to Name."),
        ("", "Leave out “Art”"),
    ] {
        let chosen = [
            chosen[0],
            chosen[1],
            chosen[2],
            chosen[3],
            ("column-3", third),
        ];
        let page = clerk.post("/add/preview", &chosen).await;
        assert!(page.text.contains(error), "{page:?}");
    }
    let chosen = [chosen[0], chosen[1], ("column-1", ""), chosen[3], chosen[4]];
    let page = clerk.post("/add/many", &chosen).await.expect(422);
    assert!(
        page.text.contains("Choose the column that contains Name."),
        "{page:?}"
    );
    assert_eq!(pets(&shop).await, []);
}

#[tokio::test]
async fn columns_with_other_headings_are_left_out_and_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in ["Name,Category,Status\nRex,4,sold", "Rex,4,sold"] {
        let page = preview(&mut clerk, lines).await.expect(200);
        assert!(!page.text.contains("name=\"left-out\""), "{page:?}");
    }
    let page = preview(
        &mut clerk,
        "Name\tKind\tCategory\t\tname\nRex\tPug\t4\t7\tR",
    )
    .await;
    assert!(
        page.text.contains(">Leave out “Kind”, “column 4”, “name”<"),
        "{page:?}"
    );
    let page = preview(&mut clerk, "Name,Category,Age\nRex,4,7")
        .await
        .expect(200);
    assert_eq!(rows(&page), ["2 Rex Dogs OK"]);
    let page = preview(&mut clerk, "Rex,4,sold,x").await.expect(200);
    assert!(page.text.contains(">Leave out “column 4”<"), "{page:?}");
}

#[tokio::test]
async fn of_too_many_lines_the_first_100_are_added_and_the_rest_is_shown_next() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = format!(
        "Name,Age,Category\r\n{}\"Max,\r\nII\",5,4\r\n",
        "Rex,4,4\r\n".repeat(149)
    );
    let page = preview(&mut clerk, &lines).await.expect(200);
    assert!(page.text.contains("The other 50 stay here"), "{page:?}");
    // Its input is as high as many lines need, within bounds.
    assert!(
        page.between("<textarea id=\"lines\"", ">")
            .contains(" rows=\"16\""),
        "{page:?}"
    );
    assert_eq!(rows(&page).len(), 100);
    assert_eq!(page.between("Leave out “", "”"), "Age");
    let form = [
        ("_key", &*key(&page, "/add/many")),
        ("lines", &lines),
        ("left-out", "Leave out “Age”"),
    ];
    for _ in 0..2 {
        let page = clerk.post("/add/many", &form).await;
        assert!(page.text.contains("100 animals added."), "{page:?}");
        assert_eq!(rows(&page).len(), 50);
        // Its last cell has two lines, which a name has not.
        let rest = page.between("<textarea id=\"lines\"", "</textarea>");
        assert!(
            rest.contains("\nName,Age,Category\nRex,4,4") && rest.contains("II"),
            "{rest}"
        );
        assert!(
            page.text.contains("Name: The cell has several lines."),
            "{page:?}"
        );
        let count = "SELECT count(*) FROM pets";
        let count: i64 = shop
            .database()
            .query_row(count, [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 100);
    }
}

#[tokio::test]
async fn the_list_after_a_paste_begins_with_a_link_to_each_animal_also_to_sold_ones() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for (lines, list, animals) in [
        ("Rex,4\nMia,7", "/animals", 1..=2),
        (
            "Rex,4,sold\nMax,4,reserved\nMia,7",
            "/animals?status=all",
            3..=5,
        ),
    ] {
        let page = clerk
            .post("/add/many", &[("lines", lines)])
            .await
            .expect(303);
        assert_eq!(page.next(), list);
        let page = clerk.get(page.next()).await.expect(200);
        let count = animals.clone().count();
        assert!(
            page.text.contains(&format!("{count} animals added.")),
            "{page:?}"
        );
        let links = page
            .between("<tbody>", "</tbody>")
            .split("href=\"/animals/")
            .skip(1);
        let links = links.map(|rest| rest.split('"').next().unwrap().parse().unwrap());
        let newest: Vec<i64> = links.take(count).collect();
        assert_eq!(newest, animals.rev().collect::<Vec<_>>(), "{page:?}");
    }
}

#[tokio::test]
async fn a_line_whose_unique_value_an_animal_or_a_line_before_has_is_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Name\tCategory\tMicrochip\nRex\t4\t276 098";
    clerk
        .post("/add/many", &[("lines", lines)])
        .await
        .expect(303);
    let lines = "Name\tCategory\tMicrochip\nMax\t4\t276-098\nIda\t4\t5\nEva\t4\t5";
    let shown = rows(&preview(&mut clerk, lines).await.expect(422));
    let taken =
        |other| format!("Microchip: {other} already has this value. Each animal needs its own.");
    assert!(shown[0].ends_with(&taken("Rex (number 1)")), "{shown:?}");
    assert!(shown[1].ends_with("OK"), "{shown:?}");
    assert!(
        shown[2].ends_with(&taken("another of these animals")),
        "{shown:?}"
    );
}

#[tokio::test]
async fn headings_are_known_in_each_language_and_a_category_is_that_of_the_species() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    clerk
        .post("/account/language", &[("language", "en")])
        .await
        .expect(303);
    for headings in [
        "Name\tKategorie\tStatus",
        "Nom\tCatégorie\tStatut",
        "Nombre\tCategoría\tEstado",
        "NAME\tCategory\tStatus",
    ] {
        let lines = format!("{headings}\nRex\tDogs\tsold");
        let shown = rows(&preview(&mut clerk, &lines).await.expect(200));
        assert_eq!(shown, ["2 Rex Dogs Sold OK"], "{headings}");
    }
    // The usual labels of the fields as well, whatever the store calls them.
    let renamed = "UPDATE fields SET label = 'Coat' WHERE name = 'colour'";
    shop.database().execute(renamed, []).unwrap();
    for headings in [
        "Name\tTierart\tRasse\tGeschlecht\tGeboren\tFarbe\tGröße\tBeschreibung\tPreis\tChipnummer",
        "Nom\tEspèce\tRace\tSexe\tDate de naissance\tCouleur\tTaille\tDescription\tPrix\tNuméro de puce",
        "Nombre\tEspecie\tRaza\tSexo\tFecha de nacimiento\tColor\tTamaño\tDescripción\tPrecio\tNúmero de microchip",
        "Name\tSpecies\tBreed\tSex\tBorn\tColour\tSize\tDescription\tSchutzgebühr\tMicrochip",
    ] {
        let cells = "Rex\tDog\tPug\tMale\t2024-05-03\tRed\tSmall\tShy\t95\t276 098";
        let shown = rows(
            &preview(&mut clerk, &format!("{headings}\n{cells}"))
                .await
                .expect(200),
        );
        let read = "2 Rex Dog Pug Male 3\u{a0}May\u{a0}2024 Red Small Shy 95 276 098 OK";
        assert_eq!(shown, [read], "{headings}");
    }
    // "Cat" has no category yet, and neither has "Bird"; "Dog" has one.
    clerk
        .post("/categories", &[("label", "Dog"), ("number", "9")])
        .await
        .expect(303);
    let lines = "Name\tSpecies\tCategory\nLuna\tcat\t\nMia\tCat\t\nRex\tDog\t\nTweety\tBird\t\nMax\tDog\tCats";
    preview(&mut clerk, lines).await.expect(200);
    clerk
        .post("/add/many", &[("lines", lines)])
        .await
        .expect(303);
    let categories = shop
        .store
        .list_categories(None, Limit::default())
        .await
        .unwrap()
        .0;
    let of = |id: i64| {
        let label = categories
            .iter()
            .find(|category| category.id == id)
            .unwrap()
            .label
            .as_str();
        label.to_owned()
    };
    let mut found: Vec<_> = pets(&shop)
        .await
        .iter()
        .map(|pet| of(pet.category_id))
        .collect();
    found.sort();
    assert_eq!(found, ["Bird", "Cat", "Cat", "Cats", "Dog"]);
    // As on the page Add, it is the one that the others of the species are in, whatever its name.
    let fish = [
        ("name", "Flo"),
        ("field.species", "Fish"),
        ("category", "Pond"),
    ];
    clerk
        .post("/add", &[&fish[..], &[("new-category", "Pond")]].concat())
        .await
        .expect(303);
    let shown = rows(
        &preview(&mut clerk, "Name\tSpecies\nNemo\tFish")
            .await
            .expect(200),
    );
    assert_eq!(shown, ["2 Nemo Fish OK"]);
    clerk
        .post("/add/many", &[("lines", "Name\tSpecies\nNemo\tFish")])
        .await
        .expect(303);
    let mut of_fish = pets(&shop).await;
    of_fish.retain(|pet| ["Flo", "Nemo"].contains(&pet.name.as_str()));
    assert_eq!(of_fish.len(), 2);
    assert_eq!(of_fish[0].category_id, of_fish[1].category_id);
    // Without either, it is missing.
    let page = preview(&mut clerk, "Name\tSpecies\nRex\t")
        .await
        .expect(422);
    assert!(
        page.text
            .contains("Category: Choose a species or a category."),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_column_that_is_missing_is_asked_for_where_it_probably_is() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let page = preview(&mut clerk, "Category\tTitle\tStatus\nDogs\tRex\tsold")
        .await
        .expect(422);
    assert!(page.text.contains("id=\"column-2-error\""), "{page:?}");
    assert!(!page.text.contains("id=\"column-1-error\""), "{page:?}");
}
