//! What was done by mistake is put right: by the button in the message, and later by one on the page.

use petstore_domain::{
    PetId, PetStatus, Role,
    store_area::{Order, OrderId, OrderStatus, StorePet, WithdrawalReason},
};

use petstore_console::ConsoleSettings;
use petstore_databases::DatabaseUrl;

use super::browser::{Browser, Page, Shop};

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

async fn order(shop: &Shop) -> Order {
    shop.store
        .get_order(OrderId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap()
}

/// A clerk, and an animal that is reserved for Ann.
async fn reserved(shop: &Shop) -> Browser<'_> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    shop.import(&["Rex", "Max"]).await;
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann"),
    ];
    clerk.post("/animals/1/order", &form).await.expect(303);
    clerk
}

/// Presses a button of the animal's page, and returns the next page.
async fn press(clerk: &mut Browser<'_>, page: &Page, form: &str, path: &str) -> Page {
    let next = clerk
        .submit((page, form), path, &[])
        .await
        .next()
        .to_owned();
    clerk.get(&next).await.expect(200)
}

/// Presses Undo in the message on a page.
async fn undo(clerk: &mut Browser<'_>, page: &Page) -> Page {
    let path = page
        .between("<form data-undo method=\"post\" action=\"", "\"")
        .to_owned();
    press(clerk, page, &path, &path).await
}

const CHANGE: &str = "/orders/1/change";

#[tokio::test]
async fn a_wrong_sale_or_cancellation_is_undone_with_its_end_and_customer() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let placed = order(&shop).await;
    let is_as_before = async || {
        let now = order(&shop).await;
        assert_eq!(
            (now.status, pet(&shop, 1).await.order_id),
            (OrderStatus::Reserved, Some(now.id))
        );
        assert_eq!(
            (&now.contact, now.expires_at),
            (&placed.contact, placed.expires_at)
        );
    };
    let mut page = clerk.get("/animals/1").await;
    for command in ["complete", "cancel"] {
        let done = press(&mut clerk, &page, CHANGE, &format!("/orders/1/{command}")).await;
        assert_ne!(order(&shop).await.status, OrderStatus::Reserved);
        page = undo(&mut clerk, &done).await;
        is_as_before().await;
        // To undo that would sell the animal again, which nobody would expect of "Undo".
        let is_sale = command == "complete";
        assert_eq!(page.text.contains("data-undo"), !is_sale, "{page:?}");
        let said = "<bdi>Rex</bdi></a>: The sale has been undone.";
        assert_eq!(page.text.contains(said), is_sale, "{page:?}");
    }
    // Later, by a button on the page: of the animal that is sold, of the order that is cancelled.
    press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
    let page = clerk.get("/animals/1").await;
    assert!(page.text.contains("Sold by mistake?"), "{page:?}");
    let page = press(&mut clerk, &page, CHANGE, "/orders/1/reopen").await;
    is_as_before().await;
    press(&mut clerk, &page, CHANGE, "/orders/1/cancel").await;
    let page = clerk.get("/animals/1").await;
    assert!(
        page.between("Previous order: ", "</p>")
            .contains("/orders/1"),
        "{page:?}"
    );
    let page = clerk.get("/orders/1").await;
    press(&mut clerk, &page, CHANGE, "/orders/1/reopen").await;
    is_as_before().await;
    // A return by mistake is a sale again, and what was sold or reserved at once is available again.
    let page = clerk.get("/animals/1").await;
    let page = press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
    let page = press(&mut clerk, &page, CHANGE, "/orders/1/return").await;
    undo(&mut clerk, &page).await;
    assert_eq!(order(&shop).await.status, OrderStatus::Completed);
    for act in ["sell", "reserve"] {
        let form = [("do", act), ("until", "2026-12-24")];
        clerk.post("/animals/2/order", &form).await.expect(303);
        let page = clerk.get("/animals/2").await;
        assert_ne!(pet(&shop, 2).await.status, PetStatus::Available);
        let page = undo(&mut clerk, &page).await;
        assert_eq!(pet(&shop, 2).await.status, PetStatus::Available);
        assert_eq!(
            page.text.contains("The sale has been undone."),
            act == "sell",
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn undo_never_undoes_something_newer() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let page = clerk.get("/animals/1").await;
    let sold = press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
    // The price of a sale can be corrected.
    let page = clerk.get("/orders/1").await;
    clerk
        .submit((&page, CHANGE), CHANGE, &[("price", "70")])
        .await
        .expect(303);
    assert_eq!(order(&shop).await.price.unwrap().as_str(), "70");
    let undo = "/orders/1/undo";
    let page = clerk.submit((&sold, undo), undo, &[]).await.expect(422);
    assert_eq!(order(&shop).await.status, OrderStatus::Completed);
    // The page about that has the whole order, so its buttons keep what they do not show.
    press(&mut clerk, &page, CHANGE, "/orders/1/reopen").await;
    let now = order(&shop).await;
    assert_eq!(now.status, OrderStatus::Reserved);
    assert_eq!(now.contact.unwrap().as_str(), "Ann");
    assert_eq!(now.price.unwrap().as_str(), "70");
}

#[tokio::test]
async fn an_undone_sale_has_the_price_of_before() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    for before in ["", "180"] {
        let page = clerk.get("/orders/1").await;
        clerk
            .submit((&page, CHANGE), CHANGE, &[("price", before)])
            .await
            .expect(303);
        let page = clerk.get("/orders/1").await;
        let discount = [("price", "150")];
        let complete = "/orders/1/complete";
        let next = clerk
            .submit((&page, CHANGE), complete, &discount)
            .await
            .next()
            .to_owned();
        assert_eq!(order(&shop).await.price.unwrap().as_str(), "150");
        let sold = clerk.get(&next).await;
        undo(&mut clerk, &sold).await;
        let now = order(&shop).await;
        let price = now.price.as_ref().map_or("", |price| price.as_str());
        assert_eq!((now.status, price), (OrderStatus::Reserved, before));
    }
}

#[tokio::test]
async fn undo_names_the_order_that_has_the_animal_meanwhile() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let page = clerk.get("/animals/1").await;
    let cancelled = press(&mut clerk, &page, CHANGE, "/orders/1/cancel").await;
    let mut ben = shop.member("Ben", Role::Clerk).await;
    let form = [("do", "reserve"), ("until", "2026-12-24")];
    ben.post("/animals/1/order", &form).await.expect(303);
    let undo = "/orders/1/undo";
    let page = clerk
        .submit((&cancelled, undo), undo, &[])
        .await
        .expect(422);
    assert!(page.text.contains("order 2"), "{page:?}");
}

#[tokio::test]
async fn a_withdrawal_a_restoration_and_a_move_are_undone() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let form = [("why", "died"), ("remark", "At night"), ("version", "2")];
    clerk
        .post_and_confirm("/animals/1/withdraw", &form)
        .await
        .expect(303);
    let page = clerk.get("/animals/1").await;
    let page = undo(&mut clerk, &page).await;
    assert!(page.text.contains("Reserved (order 1)."), "{page:?}");
    assert_eq!(
        (
            pet(&shop, 1).await.status,
            order(&shop).await.status.as_str()
        ),
        (PetStatus::Pending, "reserved")
    );
    clerk
        .post("/animals/2/withdraw", &[form[0], form[1], ("version", "1")])
        .await
        .expect(303);
    let page = clerk.get("/animals/2").await;
    let page = press(
        &mut clerk,
        &page,
        "/animals/2/restore",
        "/animals/2/restore",
    )
    .await;
    assert!(pet(&shop, 2).await.withdrawal.is_none());
    undo(&mut clerk, &page).await;
    let withdrawal = pet(&shop, 2).await.withdrawal.unwrap();
    assert_eq!(
        (withdrawal.reason, withdrawal.note.unwrap().as_str()),
        (WithdrawalReason::Died, "At night")
    );
    shop.import(&["Moe", "Mia"]).await;
    let category = pet(&shop, 3).await.category_id;
    for pets in [&["3:1"][..], &["3:3", "4:1"]] {
        let pets: Vec<_> = pets.iter().map(|&pet| ("pet", pet)).collect();
        let form = [&[("do", "move"), ("to", "77")], &pets[..]].concat();
        let sent = clerk.post("/animals/selected", &form).await;
        if pets.len() > 1 {
            let sure = sent.hidden("sure");
            let form = [&form[..], &[("sure", &sure)]].concat();
            clerk.post("/animals/selected", &form).await.expect(303);
        }
        assert_eq!(pet(&shop, 3).await.category_id, 77);
        let page = clerk.get("/animals").await;
        let path = "/animals/undo";
        let form = page.between("data-undo method=\"post\" ", "</form>");
        let undone = Page {
            text: format!("{form}</form>"),
            ..clerk.get("/animals").await
        };
        clerk.submit((&undone, path), path, &[]).await.expect(303);
        assert_eq!(pet(&shop, 3).await.category_id, category);
    }
}

#[tokio::test]
async fn the_status_of_an_animal_that_an_order_holds_is_changed_by_the_order() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    for status in ["Reserved", "Sold"] {
        let edit = clerk.get("/animals/1/edit").await.expect(200);
        assert!(!edit.text.contains("name=\"status\""), "{edit:?}");
        let field = edit.between("<strong>Status</strong>", "</a>");
        assert!(
            field.contains(status) && field.contains("href=\"/orders/1\""),
            "{field}"
        );
        let page = clerk.get("/animals/1").await;
        if status == "Reserved" {
            press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
        }
    }
}

#[tokio::test]
async fn a_message_that_the_service_gave_to_nobody_or_to_another_member_has_no_button() {
    const COOKIE: &str = "petstore-8081-message";
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let mut other = shop.member("Bo", Role::Manager).await;
    let page = clerk.get("/animals/1").await;
    clerk
        .submit((&page, CHANGE), "/orders/1/cancel", &[])
        .await
        .expect(303);
    let cookie = clerk.cookies[COOKIE].clone();
    let (tag, _) = cookie.split_once('.').unwrap();
    let forged = "saved.1.5./settings/staff/1?do=role&role=manager";
    for value in [
        forged,
        &format!("{tag}.{forged}"),
        &format!(".{forged}"),
        &cookie,
    ] {
        other.cookies.insert(COOKIE.to_owned(), value.to_owned());
        let page = other.get("/animals/1").await.expect(200);
        assert!(!page.text.contains("data-undo"), "{value}: {page:?}");
        assert!(!other.cookies.contains_key(COOKIE), "{value}");
    }
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(page.text.contains("data-undo"), "{page:?}");
}

#[tokio::test]
async fn the_enter_key_in_the_reason_of_a_return_takes_the_animal_back() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk
        .post("/add", &[("name", "Rex"), ("category", "1")])
        .await
        .expect(303);
    clerk
        .post("/animals/1/order", &[("do", "sell")])
        .await
        .expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    let form = page.between("action=\"/orders/1/return\"", "</form>");
    let (_, first_button) = form.split_once("<button").unwrap();
    let label = first_button.split('>').nth(1).unwrap();
    assert_eq!(label, "Record the return</button", "{form}");
    let typed = [("reason", "Allergy")];
    clerk
        .submit((&page, "/orders/1/return"), "/orders/1/return", &typed)
        .await
        .expect(303);
    let order = shop
        .store
        .get_order(OrderId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(order.status, OrderStatus::Returned);
    assert_eq!(
        order
            .reason
            .map(|reason| reason.as_str().to_owned())
            .as_deref(),
        Some("Allergy")
    );
}

#[tokio::test]
async fn a_message_can_be_undone_after_a_restart_and_by_one_of_two_members() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let page = clerk.get("/animals/1").await;
    press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
    clerk
        .submit((&page, CHANGE), "/orders/1/complete", &[])
        .await;

    // Another process on the same database knows nothing but the cookie and the journal.
    let url = DatabaseUrl::Sqlite(shop.folder.path().join("pets.db"));
    let folder = petstore_testing::temporary_folder();
    let restarted = Shop::on(&url, folder, ConsoleSettings::default()).await;
    let mut later = restarted.browser();
    later.cookies = clerk.cookies.clone();
    let sold = later.get("/animals/1").await.expect(200);
    assert!(sold.text.contains("Sold (order 1)."), "{sold:?}");

    // Two members press at once. The other one is told the present state.
    let path = "/orders/1/undo";
    let change = sold.between("name=\"change\" value=\"", "\"").to_owned();
    let mut other = shop.member("Bo", Role::Manager).await;
    let form = [("change", &*change)];
    let (one, two) = tokio::join!(later.post(path, &form), other.post(path, &form));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422]);
    let refused = if one.status == 422 { one } else { two };
    assert!(
        refused.text.contains("It is reserved by order 1"),
        "{refused:?}"
    );
    let now = order(&shop).await;
    assert_eq!((now.status, now.version), (OrderStatus::Reserved, 3));

    // Pressed once more, it undoes nothing that is newer.
    let page = clerk.get("/orders/1").await;
    press(&mut clerk, &page, CHANGE, "/orders/1/complete").await;
    clerk.post(path, &form).await.expect(422);
    assert_eq!(order(&shop).await.status, OrderStatus::Completed);
    // A viewer must not do what the change did.
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    viewer.post(path, &form).await.expect(403);
}

#[tokio::test]
async fn an_edit_of_an_animal_is_undone_and_a_repeated_form_has_the_same_message() {
    let shop = Shop::open().await;
    let mut clerk = reserved(&shop).await;
    let edit = [
        ("_key", "k"),
        ("version", "1"),
        ("name", "Mia"),
        ("category", "1"),
    ];
    for _ in 0..2 {
        clerk.post("/animals/2/edit", &edit).await.expect(303);
        let page = clerk.get("/animals/2").await.expect(200);
        assert!(page.text.contains("data-undo"), "{page:?}");
    }
    clerk.post("/animals/2/edit", &edit).await.expect(303);
    let page = clerk.get("/animals/2").await.expect(200);
    let page = undo(&mut clerk, &page).await;
    assert!(
        page.text.contains("The change has been undone."),
        "{page:?}"
    );
    assert_eq!(pet(&shop, 2).await.name.as_str(), "Max");
    // An order has a contact, which the journal does not have, so a change of an order has no button.
    let page = clerk.get("/orders/1").await;
    let page = press(&mut clerk, &page, CHANGE, CHANGE).await;
    assert!(!page.text.contains("data-undo"), "{page:?}");
}
