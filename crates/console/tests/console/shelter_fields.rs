//! The fields of a shelter, and what the list makes of the day of intake and of the place.

use petstore_domain::{PetId, Role, store_area::FieldValue};

use super::browser::{Browser, Shop};

const NAMES: [&str; 8] = [
    "good_with_children",
    "good_with_dogs",
    "good_with_cats",
    "neutered",
    "house_trained",
    "intake",
    "intake_kind",
    "place",
];

/// The fields of a shelter that the store has.
async fn shelter_fields(shop: &Shop) -> Vec<&'static str> {
    let fields = shop.store.fields().await.unwrap();
    let mut found = NAMES.to_vec();
    found.retain(|name| fields.find(name).is_some());
    found
}

/// Says that the store is a shelter, or a shop.
async fn become_a(manager: &mut Browser<'_>, kind: &str) {
    let form = [("store.kind", kind)];
    manager.post("/settings/store", &form).await.expect(303);
}

async fn add(manager: &mut Browser<'_>, name: &str, values: &[(&str, &str)]) {
    let form = [("name", name), ("category", "1"), ("status", "available")];
    let form = [&form[..], values].concat();
    manager.post("/add", &form).await.expect(303);
}

/// The names of the list, in its order.
async fn names(manager: &mut Browser<'_>, path: &str) -> Vec<String> {
    let page = manager.get(path).await.expect(200);
    let rows = page.between("<tbody>", "</tbody>").split("<tr").skip(1);
    let name = |row: &str| {
        let (_, name) = row.split_once("<h2>").unwrap_or_else(|| panic!("{row}"));
        let (_, name) = name.split_once("<bdi>").unwrap();
        name.split('<').next().unwrap().to_owned()
    };
    rows.map(name).collect()
}

/// The day and the kind of the intake of the first animal.
async fn intake(shop: &Shop) -> [String; 2] {
    let first_pet = PetId::new(1).unwrap();
    let pet = shop.store.get_store_pet(first_pet).await.unwrap().unwrap();
    ["intake", "intake_kind"].map(|name| pet.fields.get(name).map(FieldValue::to_string).unwrap())
}

#[tokio::test]
async fn a_new_shelter_has_its_fields_at_once_and_a_shop_none() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    become_a(&mut manager, "shop").await;
    assert!(shelter_fields(&shop).await.is_empty());
    let page = manager.get("/settings/fields").await.expect(200);
    assert!(!page.text.contains("/settings/shelter-fields"), "{page:?}");
    become_a(&mut manager, "shelter").await;
    assert_eq!(shelter_fields(&shop).await, NAMES);
    let fields = shop.store.fields().await.unwrap();
    assert!(!fields.find("place").unwrap().is_public);
    assert!(!fields.find("intake_kind").unwrap().is_public);
    assert!(fields.find("neutered").unwrap().is_public);
    let page = manager.get("/settings/fields").await.expect(200);
    assert!(!page.text.contains("/settings/shelter-fields"), "{page:?}");
}

#[tokio::test]
async fn a_shelter_with_animals_is_offered_them_and_one_press_changes_no_animal() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    add(&mut manager, "Rex", &[("field.breed", "Pug")]).await;
    become_a(&mut manager, "shelter").await;
    assert!(shelter_fields(&shop).await.is_empty());
    for path in ["/settings/store", "/settings/fields"] {
        let page = manager.get(path).await.expect(200);
        let offer = page.between("action=\"/settings/shelter-fields\"", "</form>");
        assert!(
            offer.contains("Good with children, ") && offer.contains(", Kennel or pen"),
            "{offer}"
        );
    }
    // One that somebody has made keeps what it is.
    let neutered = [("label", "Neutered"), ("kind", "text")];
    manager
        .post("/settings/fields", &neutered)
        .await
        .expect(303);
    let all = petstore_domain::store_area::PetQuery::default();
    let (before, _) = shop.store.list_store_pets(&all).await.unwrap();
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk
        .post("/settings/shelter-fields", &[])
        .await
        .expect(403);
    manager
        .post("/settings/shelter-fields", &[])
        .await
        .expect(303);
    assert_eq!(shelter_fields(&shop).await, NAMES);
    let fields = shop.store.fields().await.unwrap();
    let kind = fields.find("neutered").unwrap().kind;
    assert_eq!(kind, petstore_domain::store_area::FieldKind::Text);
    let (after, _) = shop.store.list_store_pets(&all).await.unwrap();
    assert_eq!(after, before);
    // A second click finds nothing to add.
    manager
        .post("/settings/shelter-fields", &[])
        .await
        .expect(303);
    assert_eq!(shop.store.fields().await.unwrap().all().len(), 17);
}

#[tokio::test]
async fn the_list_counts_from_the_day_of_intake_and_has_the_place_as_a_column_and_an_order() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    become_a(&mut manager, "shelter").await;
    add(&mut manager, "Rex", &[("field.place", "Kennel 2")]).await;
    let page = manager.get("/animals").await.expect(200);
    assert!(page.text.contains("Kennel 2"), "{page:?}");
    add(&mut manager, "Old", &[("field.intake", "2025-11-30")]).await;
    let young = [("field.intake", "2026-11-17"), ("field.place", "kennel 1")];
    add(&mut manager, "Max", &young).await;
    let page = manager.get("/animals").await.expect(200);
    for stay in ["1\u{a0}year", "2\u{a0}weeks"] {
        let cell = format!("<td data-label=\"Here for\"><small>{stay}</small></td>");
        assert!(page.text.contains(&cell), "{cell}: {page:?}");
    }
    let heading = page.between("<thead>", "</thead>");
    assert!(heading.contains("Kennel or pen"), "{heading}");
    assert!(page.text.contains("By kennel or pen"), "{page:?}");
    assert_eq!(
        names(&mut manager, "/animals?sort=longest").await,
        ["Old", "Max", "Rex"]
    );
    assert_eq!(
        names(&mut manager, "/animals?sort=place").await,
        ["Max", "Rex", "Old"]
    );
    assert_eq!(names(&mut manager, "/animals").await, ["Max", "Old", "Rex"]);
}

#[tokio::test]
async fn a_list_without_places_has_no_column_for_them() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    add(&mut manager, "Rex", &[]).await;
    let page = manager.get("/animals").await.expect(200);
    assert!(
        !page.text.contains("Kennel or pen") && !page.text.contains("sort=place"),
        "{page:?}"
    );
    // An order that the store cannot have.
    assert_eq!(names(&mut manager, "/animals?sort=place").await, ["Rex"]);
}

#[tokio::test]
async fn the_order_by_place_compares_the_numbers_in_places_as_numbers() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    become_a(&mut manager, "shelter").await;
    for place in [
        "K10",
        "K2",
        "Yard",
        "k1",
        "House 2, room 11",
        "House 2, room 9",
        "K 99999999999999999999999999",
        "7",
        "K010",
    ] {
        add(&mut manager, place, &[("field.place", place)]).await;
    }
    assert_eq!(
        names(&mut manager, "/animals?sort=place").await,
        [
            "7",
            "House 2, room 9",
            "House 2, room 11",
            "k1",
            "K2",
            "K010",
            "K10",
            "K 99999999999999999999999999",
            "Yard"
        ]
    );
}

#[tokio::test]
async fn the_list_is_filtered_by_a_place() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    become_a(&mut manager, "shelter").await;
    for place in ["K1", "K10", "k1"] {
        add(&mut manager, place, &[("field.place", place)]).await;
    }
    let page = manager.get("/animals").await.expect(200);
    assert!(page.text.contains("name=\"field.place\""), "{page:?}");
    let path = "/animals?field.place=K1";
    assert_eq!(names(&mut manager, path).await, ["k1", "K1"]);
    let page = manager.get(path).await.expect(200);
    assert!(page.text.contains("Kennel or pen: K1"), "{page:?}");
}

#[tokio::test]
async fn a_returned_animal_has_a_new_intake_unless_the_member_does_not_want_that() {
    const RETURN: &str = "/orders/1/return";
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    become_a(&mut manager, "shelter").await;
    let values = [
        ("field.intake", "2026-09-01"),
        ("field.intake_kind", "Found"),
    ];
    add(&mut manager, "Rex", &values).await;
    let sell = [("do", "sell")];
    manager.post("/animals/1/order", &sell).await.expect(303);

    let page = manager.get("/orders/1").await.expect(200);
    let form = page.between("action=\"/orders/1/return\"", "</form>");
    assert!(
        form.contains("Also record its new arrival, today"),
        "{form}"
    );
    let next = manager
        .submit((&page, RETURN), RETURN, &[])
        .await
        .expect(303);
    assert_eq!(intake(&shop).await, ["2026-12-01", "Returned"]);
    let page = manager.get(next.next()).await.expect(200);
    let undo = page
        .between("<form data-undo method=\"post\" action=\"", "\"")
        .to_owned();
    manager.submit((&page, &undo), &undo, &[]).await.expect(303);
    assert_eq!(intake(&shop).await, ["2026-09-01", "Found"]);

    let page = manager.get("/orders/1").await.expect(200);
    let unchecked = [("new-intake", "")];
    manager
        .submit((&page, RETURN), RETURN, &unchecked)
        .await
        .expect(303);
    assert_eq!(intake(&shop).await, ["2026-09-01", "Found"]);
}
