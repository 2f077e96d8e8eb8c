//! The lists of animals and orders as CSV for a spreadsheet.

use petstore_domain::{
    Role,
    store_area::{Profile, StoreTimeZone},
};
use petstore_testing::stores::act;

use super::{
    browser::{Browser, Page, Shop},
    paste::{clerk, preview},
};

/// A store in Berlin with Luna, who is reserved, Rex, who is sold, and Zoe, a dog with a name like a formula.
async fn berlin_shop() -> Shop {
    let shop = Shop::open().await;
    let profile = Profile {
        time_zone: StoreTimeZone::from_name("Europe/Berlin"),
        ..Profile::default()
    };
    petstore_testing::profile::set(&*shop.store, act(0), profile).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let animals: [&[(&str, &str)]; 3] = [
        &[
            ("name", "Luna"),
            ("field.species", "Cat"),
            ("field.microchip", "276098106234567"),
            ("field.price", "1249.50"),
        ],
        &[("name", "Rex"), ("field.species", "Dog")],
        &[("name", "=Zoe"), ("field.species", "Dog")],
    ];
    for animal in animals {
        let more = [("category", "1"), ("status", "available")];
        let form = [animal, &more].concat();
        clerk.post("/add", &form).await.expect(303);
    }
    let reservation = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann; 030 1"),
        ("price", "1200.50"),
        ("reference", "R-1"),
    ];
    clerk
        .post("/animals/1/order", &reservation)
        .await
        .expect(303);
    let sale = [("do", "sell")];
    clerk.post("/animals/2/order", &sale).await.expect(303);
    shop
}

/// The rows of an export, with the separator `;` or `,`, as their cells.
fn rows(page: &Page, separator: u8) -> Vec<Vec<String>> {
    let text = page.text.strip_prefix('\u{FEFF}').unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let records = reader.records();
    records
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

/// The cells below a heading.
fn column<'r>(rows: &'r [Vec<String>], heading: &str) -> Vec<&'r str> {
    let index = rows[0].iter().position(|cell| cell == heading);
    let index = index.unwrap_or_else(|| panic!("{heading}: {:?}", rows[0]));
    rows[1..].iter().map(|row| &*row[index]).collect()
}

/// Follows the link of a list to its export.
async fn export(member: &mut Browser<'_>, list: &str) -> Page {
    let page = member.get(list).await.expect(200);
    let kind = list.split('?').next().unwrap();
    let before = format!("href=\"/export{kind}");
    let query = page.between(&before, "\"").replace("&amp;", "&");
    member
        .get(&format!("/export{kind}{query}"))
        .await
        .expect(200)
}

#[tokio::test]
async fn the_list_of_animals_is_exported_with_its_filters_its_order_and_all_values() {
    let shop = berlin_shop().await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let all = export(&mut viewer, "/animals?status=all&sort=longest").await;
    let name = all.field("content-disposition");
    assert!(name.contains("petstore-animals-2026-12-01.csv"), "{name}");
    let table = rows(&all, b',');
    assert_eq!(column(&table, "Name"), ["Luna", "Rex", "'=Zoe"]);
    assert_eq!(column(&table, "Number"), ["1", "2", "3"]);
    assert_eq!(column(&table, "Status"), ["Reserved", "Sold", "Available"]);
    assert_eq!(column(&table, "Species"), ["Cat", "Dog", "Dog"]);
    // Not public, and a number that a spreadsheet would shorten.
    assert_eq!(column(&table, "Microchip"), ["276 098 106 234 567", "", ""]);
    assert_eq!(column(&table, "Price"), ["1249.50", "", ""]);
    let added = column(&table, "Added (Europe/Berlin)");
    assert_eq!(added[0], "2026-12-01 13:00:00");

    let dogs = rows(
        &export(&mut viewer, "/animals?field.species=Dog").await,
        b',',
    );
    assert_eq!(column(&dogs, "Name"), ["'=Zoe"]);
    let by_name = rows(
        &export(&mut viewer, "/animals?status=all&sort=name").await,
        b',',
    );
    assert_eq!(column(&by_name, "Name").len(), 3);
    let sorted = column(&by_name, "Name");
    let position = |name: &str| sorted.iter().position(|other| *other == name);
    assert!(position("Luna") < position("Rex"), "{sorted:?}");
    let found = rows(&export(&mut viewer, "/animals?q=luna").await, b',');
    assert_eq!(column(&found, "Name"), ["Luna"]);
}

#[tokio::test]
async fn the_list_says_which_animals_are_not_on_the_website_and_pasted_lines_keep_it() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for (name, listed) in [("Rex", "true"), ("Luna", "false")] {
        let form = [
            ("name", name),
            ("category", "4"),
            ("status", "available"),
            ("listed", listed),
        ];
        clerk.post("/add", &form).await.expect(303);
    }
    for (language, heading, no) in [
        ("en", "Website", "No"),
        ("de", "Website", "Nein"),
        ("fr", "Site web", "Non"),
        ("es", "Sitio web", "No"),
    ] {
        let form = [("language", language)];
        clerk.post("/account/language", &form).await.expect(303);
        let separator = if language == "en" { b',' } else { b';' };
        let list = export(&mut clerk, "/animals?status=all&sort=longest").await;
        let table = rows(&list, separator);
        let listings = column(&table, heading);
        assert_eq!(listings[1], no, "{table:?}");
        let lines = format!(
            "Name\tCategory\t{heading}\nPasted Rex {language}\tDogs\t{}\nPasted Luna {language}\tDogs\t{}",
            listings[0], listings[1]
        );
        let page = preview(&mut clerk, &lines).await.expect(200);
        let form = page.form("/add/many");
        let form: Vec<_> = form
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        clerk.post("/add/many", &form).await.expect(303);
        let unlisted = clerk.get("/export/animals?listed=false").await;
        let added = format!("Pasted Luna {language}");
        assert!(unlisted.text.contains(&added), "{unlisted:?}");
        let listed = clerk.get("/export/animals?listed=true").await;
        let added = format!("Pasted Rex {language}");
        assert!(listed.text.contains(&added), "{listed:?}");
    }
}

#[tokio::test]
async fn an_animal_that_has_left_is_exported_with_the_reason() {
    let shop = berlin_shop().await;
    let mut clerk = shop.member("Di", Role::Clerk).await;
    let form = [("why", "died"), ("remark", "old"), ("version", "1")];
    clerk.post("/animals/3/withdraw", &form).await.expect(303);
    let table = rows(&export(&mut clerk, "/animals?status=withdrawn").await, b',');
    assert_eq!(column(&table, "Name"), ["'=Zoe"]);
    assert_eq!(column(&table, "Reason"), ["Died"]);
    assert_eq!(column(&table, "Note"), ["old"]);
}

#[tokio::test]
async fn the_list_of_orders_is_exported_with_its_status_or_search_and_customers_for_clerks() {
    let shop = berlin_shop().await;
    let mut clerk = shop.member("Di", Role::Clerk).await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let reserved = export(&mut clerk, "/orders").await;
    let table = rows(&reserved, b',');
    assert_eq!(column(&table, "Order"), ["1"]);
    assert_eq!(column(&table, "Animal"), ["Luna"]);
    assert_eq!(column(&table, "Customer"), ["Ann; 030 1"]);
    assert_eq!(column(&table, "Price"), ["1200.50"]);
    assert_eq!(column(&table, "Reference"), ["R-1"]);
    assert_eq!(
        column(&table, "Reserved until (Europe/Berlin)"),
        ["2026-12-24 23:59:59"]
    );
    let all = rows(&export(&mut clerk, "/orders?status=all").await, b',');
    assert_eq!(column(&all, "Order"), ["2", "1"]);
    let found = rows(&export(&mut clerk, "/orders?q=ann&status=all").await, b',');
    assert_eq!(column(&found, "Order"), ["1"]);

    let of_viewer = export(&mut viewer, "/orders").await;
    assert!(!of_viewer.text.contains("Ann"), "{of_viewer:?}");
    let headings = &rows(&of_viewer, b',')[0];
    assert!(!headings.contains(&"Customer".to_owned()), "{headings:?}");
}

#[tokio::test]
async fn in_a_language_with_a_decimal_comma_cells_have_semicolons_and_numbers_commas() {
    let shop = berlin_shop().await;
    let mut clerk = shop.member("Di", Role::Clerk).await;
    let form = [("language", "de")];
    clerk.post("/account/language", &form).await.expect(303);
    let table = rows(&export(&mut clerk, "/animals?status=all").await, b';');
    // The labels of fields are in the language of the store.
    assert!(column(&table, "Price").contains(&"1249,50"), "{table:?}");
    let table = rows(&export(&mut clerk, "/orders").await, b';');
    assert_eq!(column(&table, "Preis"), ["1200,50"]);
}

#[tokio::test]
async fn a_long_list_is_exported_as_a_whole_and_a_very_long_one_says_that_more_follows() {
    let shop = Shop::open().await;
    shop.import(&["Bo"; 250]).await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let table = rows(&export(&mut viewer, "/animals").await, b',');
    assert_eq!(table.len(), 251);
    shop.database()
        .execute(
            "UPDATE pets SET name = printf('%.*c', 40000, 'x') WHERE id <= 200",
            [],
        )
        .unwrap();
    let cut = viewer.get("/export/animals").await.expect(200);
    assert!(cut.text.len() < 9 << 20, "{}", cut.text.len());
    let last = cut.text.lines().last().unwrap();
    assert!(last.starts_with("\"More rows follow."), "{last}");
}
