//! The labels of fields in the language of the store.

use petstore::domain::{PetId, Role};

use super::browser::{Browser, Shop};

const CAT: &str = "Some(Text(\"Cat\"))";

/// The label of a field, and what people read in place of a value.
async fn shown(shop: &Shop, name: &str, value: &str) -> [String; 2] {
    let fields = shop.store.fields().await.unwrap();
    let field = fields.find(name).unwrap();
    [field.label.as_str(), field.shown(value)].map(str::to_owned)
}

async fn speak(manager: &mut Browser<'_>, language: &str) -> bool {
    let page = "/settings/store";
    let seen = manager.get(page).await.expect(200);
    manager.submit((&seen, page), page, &[("store.language", language)]).await.expect(303);
    manager.get(page).await.expect(200).text.contains("action=\"/settings/labels\"")
}

#[tokio::test]
async fn a_store_with_another_language_is_offered_its_labels_for_what_nobody_has_changed() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    assert!(!speak(&mut manager, "en").await);
    let colour = "/settings/fields/colour";
    let seen = manager.get(colour).await.expect(200);
    manager.submit((&seen, colour), colour, &[("label", "Coat")]).await.expect(303);
    let animal = [("name", "Luna"), ("category", "95"), ("field.species", "Cat")];
    manager.post("/add", &animal).await.expect(303);
    assert!(speak(&mut manager, "de").await);
    let page = manager.get("/settings/store").await.expect(200);
    let offer = page.between("action=\"/settings/labels\"", "</form>");
    assert!(offer.contains("Tierart, Rasse, Geschlecht") && !offer.contains("Farbe"), "{offer}");
    // Not before somebody wants it, and not by a clerk.
    assert_eq!(shown(&shop, "species", "Cat").await, ["Species", "Cat"]);
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.post("/settings/labels", &[]).await.expect(403);
    manager.post("/settings/labels", &[]).await.expect(303);
    assert_eq!(shown(&shop, "species", "Cat").await, ["Tierart", "Katze"]);
    assert_eq!(shown(&shop, "colour", "").await, ["Coat", ""]);
    assert!(!speak(&mut manager, "de").await);
    // No value of an animal changes, and there is a way back.
    let pet = shop.store.get_store_pet(PetId::new(1).unwrap()).await.unwrap().unwrap();
    assert_eq!((format!("{:?}", pet.fields.get("species")), pet.version), (CAT.to_owned(), 1));
    let page = manager.get("/animals/1").await.expect(200);
    assert!(page.text.contains("Katze"), "{page:?}");
    assert!(speak(&mut manager, "en").await);
    manager.post("/settings/labels", &[]).await.expect(303);
    assert_eq!(shown(&shop, "species", "Cat").await, ["Species", "Cat"]);
}
