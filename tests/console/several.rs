//! Changing several animals at once.

use petstore::domain::{
    PetId, PetStatus, Role,
    store_area::{OrderId, PetQuery, StorePet},
};

use super::browser::{Browser, Page, Shop};

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store.get_store_pet(PetId::new(id).unwrap()).await.unwrap().unwrap()
}

/// A clerk who has added these animals.
async fn clerk<'s>(shop: &'s Shop, names: &[&str]) -> Browser<'s> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for name in names {
        let form = [("name", *name), ("category", "1"), ("status", "available")];
        clerk.post("/add", &form).await.expect(303);
    }
    clerk
}

/// Presses a button for the ticked animals, and says yes to the question.
async fn change(clerk: &mut Browser<'_>, form: &[(&str, &str)]) -> Page {
    let page = clerk.post("/animals/selected", form).await.expect(200);
    let sure = page.hidden("sure");
    clerk.post("/animals/selected", &[form, &[("sure", &sure)]].concat()).await
}

#[tokio::test]
async fn of_many_selected_animals_all_change_or_none_and_the_one_in_the_way_is_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max", "Mia"]).await;
    let sell = [("do", "sell"), ("pet", "2:1")];
    assert_eq!(clerk.post("/animals/selected", &sell).await.next(), "/animals");
    let all = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("pet", "1:1"),
        ("pet", "2:1"),
        ("pet", "3:1"),
        ("q", "m"),
        ("status", "all"),
    ];
    clerk.post("/animals/3/order", &[("do", "reserve"), ("until", "2026-12-24")]).await.expect(303);
    // All of them are named at once, and nothing is asked that cannot be done.
    let page = clerk.post("/animals/selected", &all).await.expect(200);
    for shown in ["Max</bdi></a>: It is sold already.", "Mia</bdi></a>: It is reserved by order 2."]
    {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    let free = [("version", "1")];
    clerk.post("/orders/2/cancel", &free).await.expect(303);
    // The list and the ticks are those from before.
    assert!(page.text.contains("value=\"3:2\" checked") && !page.text.contains("value=\"1:1\""));
    assert_eq!(pet(&shop, 1).await.status, PetStatus::Available);
    let moved = [("do", "move"), ("to", "5"), ("pet", "1:1"), ("pet", "3:3"), ("q", "m")];
    assert_eq!(change(&mut clerk, &moved).await.next(), "/animals?q=m");
    assert_eq!((pet(&shop, 1).await.category_id, pet(&shop, 3).await.category_id), (5, 5));
    // Somebody else was faster.
    let stale = [("do", "withdraw"), ("why", "mistake"), ("pet", "1:1")];
    let page = clerk.post("/animals/selected", &stale).await.expect(200);
    assert!(page.text.contains("Somebody else has changed it"), "{page:?}");
}

#[tokio::test]
async fn from_two_animals_on_a_change_is_asked_and_names_them() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max <2>"]).await;
    let form = [("label", "Dogs"), ("number", "7"), ("_key", "k-0")];
    clerk.post("/categories", &form).await.expect(303);
    let both = [
        ("pet", "1:1"),
        ("pet", "2:1"),
        ("q", "x"),
        ("to", "dogs"),
        ("why", "died"),
        ("until", "2026-12-24"),
    ];
    for (button, title) in [
        ("reserve", "Reserve 2 animals until the end of 24 Dec 2026?"),
        ("sell", "Sell 2 animals?"),
        ("withdraw", "Withdraw 2 animals (it died)?"),
        ("move", "Move 2 animals to “Dogs”?"),
    ] {
        let form = [&both[..], &[("do", button)]].concat();
        let page = clerk.post("/animals/selected", &form).await.expect(200);
        for shown in [title, "<bdi>Rex</bdi>", "<bdi>Max &lt;2&gt;</bdi>", "href=\"/animals?q=x\""]
        {
            assert!(page.text.contains(shown), "{shown}: {page:?}");
        }
        assert_eq!((pet(&shop, 1).await.version, pet(&shop, 2).await.version), (1, 1));
        // Yes to one question is not yes to another one.
        let other = [&form[..], &[("sure", "Sell 2 animals? ")]].concat();
        clerk.post("/animals/selected", &other).await.expect(200);
    }
    let form = [&both[..], &[("do", "reserve"), ("_key", "k-1")]].concat();
    let sure = clerk.post("/animals/selected", &form).await.expect(200).hidden("sure");
    let form = [&form[..], &[("sure", &sure)]].concat();
    for _ in 0..2 {
        assert_eq!(clerk.post("/animals/selected", &form).await.next(), "/animals?q=x");
    }
    assert_eq!(pet(&shop, 2).await.status, PetStatus::Pending);
    // One animal needs no question.
    let one = [("pet", "1:2"), ("do", "move"), ("to", "9")];
    assert_eq!(clerk.post("/animals/selected", &one).await.next(), "/animals");
}

#[tokio::test]
async fn a_litter_is_reserved_for_one_customer_and_the_page_of_the_list_stays() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max"]).await;
    let list = [("q", "x"), ("field.species", "Dog"), ("sort", "longest"), ("after", "7")];
    let pets = [("pet", "1:1"), ("pet", "2:1"), ("until", "2026-12-24")];
    let litter = [("do", "reserve"), ("contact", "Ann, 030 1"), ("price", "95,50")];
    let form = [&list[..], &pets, &litter].concat();
    let back = "/animals?q=x&field.species=Dog&sort=longest&after=7";
    assert_eq!(change(&mut clerk, &form).await.next(), back);
    for id in 1..=2 {
        let order = shop.store.get_order(OrderId::new(id).unwrap()).await.unwrap().unwrap();
        assert_eq!(order.contact.unwrap().as_str(), "Ann, 030 1");
        assert_eq!(order.price.unwrap().as_str(), "95.50");
    }
    let moved =
        [&list[..], &[("pet", "1:2"), ("pet", "2:2"), ("do", "move"), ("to", "9")]].concat();
    let asked = clerk.post("/animals/selected", &moved).await.expect(200);
    assert!(asked.text.contains("Ann, 030 1"), "{asked:?}");
    assert!(asked.text.contains(&back.replace('&', "&amp;")), "{asked:?}");
}

#[tokio::test]
async fn enter_in_a_field_for_the_selected_animals_presses_the_button_of_that_field() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex"]).await;
    let page = clerk.get("/animals").await.expect(200);
    // Browsers press the first button of a form.
    let form = page.between("action=\"/animals/selected\">", "</form>");
    let (_, first) = form.split_once("<button").unwrap();
    assert!(first.starts_with(" name=\"do\" value=\"move\">"), "{first}");
    let form = [("pet", "1:1"), ("do", "move"), ("to", "")];
    let page = clerk.post("/animals/selected", &form).await.expect(200);
    assert!(page.text.contains("Enter the category."), "{page:?}");
    assert_eq!(shop.store.list_store_pets(&PetQuery::default()).await.unwrap().0[0].version, 1);
}
