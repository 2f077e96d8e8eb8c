//! The labels of fields in the language of the store.

use petstore_domain::{PetId, Role};

use super::browser::{Browser, Shop};

const CAT: &str = "Some(Text(\"Cat\"))";

/// The label of a field, and what people read in place of a value.
async fn shown(shop: &Shop, name: &str, value: &str) -> [String; 2] {
    let fields = shop.store.fields().await.unwrap();
    let field = fields.find(name).unwrap();
    [field.label.as_str(), field.display_text(value)].map(str::to_owned)
}

/// Chooses a language without the labels of fields. Returns whether the page then offers to write them.
async fn speak(manager: &mut Browser<'_>, language: &str) -> bool {
    let page = "/settings/store";
    let seen = manager.get(page).await.expect(200);
    let typed = [("store.language", language), ("with-labels", "")];
    manager
        .submit((&seen, page), page, &typed)
        .await
        .expect(303);
    manager
        .get(page)
        .await
        .expect(200)
        .text
        .contains("action=\"/settings/labels\"")
}

#[tokio::test]
async fn a_store_with_another_language_is_offered_its_labels_for_what_nobody_has_changed() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    assert!(!speak(&mut manager, "en").await);
    let colour = "/settings/fields/colour";
    let seen = manager.get(colour).await.expect(200);
    manager
        .submit((&seen, colour), colour, &[("label", "Coat")])
        .await
        .expect(303);
    let animal = [
        ("name", "Luna"),
        ("category", "95"),
        ("field.species", "Cat"),
    ];
    manager.post("/add", &animal).await.expect(303);
    assert!(speak(&mut manager, "de").await);
    let page = manager.get("/settings/store").await.expect(200);
    let offer = page.between("action=\"/settings/labels\"", "</form>");
    assert!(
        offer.contains("Tierart, Rasse, Geschlecht") && !offer.contains("Farbe"),
        "{offer}"
    );
    // Not before somebody wants it, and not by a clerk.
    assert_eq!(shown(&shop, "species", "Cat").await, ["Species", "Cat"]);
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.post("/settings/labels", &[]).await.expect(403);
    manager.post("/settings/labels", &[]).await.expect(303);
    assert_eq!(shown(&shop, "species", "Cat").await, ["Tierart", "Katze"]);
    assert_eq!(shown(&shop, "colour", "").await, ["Coat", ""]);
    assert!(!speak(&mut manager, "de").await);
    // No value of an animal changes, and there is a way back.
    let pet = shop
        .store
        .get_store_pet(PetId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (format!("{:?}", pet.fields.get("species")), pet.version),
        (CAT.to_owned(), 1)
    );
    let page = manager.get("/animals/1").await.expect(200);
    assert!(page.text.contains("Katze"), "{page:?}");
    assert!(speak(&mut manager, "en").await);
    manager.post("/settings/labels", &[]).await.expect(303);
    assert_eq!(shown(&shop, "species", "Cat").await, ["Species", "Cat"]);
}

#[tokio::test]
async fn another_language_takes_the_labels_that_nobody_has_changed_with_it() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let colour = "/settings/fields/colour";
    let seen = manager.get(colour).await.expect(200);
    let own_label = [("label", "Coat")];
    manager
        .submit((&seen, colour), colour, &own_label)
        .await
        .expect(303);
    let page = "/settings/store";
    for (typed, label) in [
        (
            [("store.name", "Paws"), ("store.hours", "9 to 5")],
            "Species",
        ),
        (
            [("store.language", "de"), ("store.hours", "9 to 6")],
            "Tierart",
        ),
        (
            [("store.language", "fr"), ("store.hours", "9 to 7")],
            "Espèce",
        ),
        (
            [("store.language", ""), ("store.hours", "9 to 8")],
            "Species",
        ),
    ] {
        let seen = manager.get(page).await.expect(200);
        manager
            .submit((&seen, page), page, &typed)
            .await
            .expect(303);
        let [shown_label, _] = shown(&shop, "species", "").await;
        assert_eq!(shown_label, label);
        assert_eq!(shown(&shop, "colour", "").await, ["Coat", ""]);
        let seen = manager.get(page).await.expect(200);
        assert!(
            !seen.text.contains("action=\"/settings/labels\""),
            "{seen:?}"
        );
    }
}

#[tokio::test]
async fn a_shelter_has_one_word_for_a_price_on_each_page() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let form = [
        ("name", "Rex"),
        ("field.species", "Dog"),
        ("field.price", "80"),
    ];
    let path = manager.post("/add", &form).await.next().to_owned();
    let page = manager.get("/settings/store").await.expect(200);
    let typed = [("store.kind", "shelter")];
    manager
        .submit((&page, "/settings/store"), "/settings/store", &typed)
        .await
        .expect(303);
    for path in [
        &*path,
        "/add",
        "/animals",
        "/settings/fields",
        &format!("{path}/edit"),
    ] {
        let page = manager.get(path).await.expect(200).text;
        assert!(
            page.contains("Adoption fee") && !page.contains(">Price<"),
            "{path}: {page}"
        );
    }
    // A label of the store's own stays.
    let form = manager.get("/settings/fields/price").await.expect(200);
    let own = [("label", "Donation")];
    manager
        .submit(
            (&form, "/settings/fields/price"),
            "/settings/fields/price",
            &own,
        )
        .await;
    assert!(
        manager
            .get(&path)
            .await
            .expect(200)
            .text
            .contains("<dt>Donation</dt>")
    );
}
