//! Notes on an animal.

use std::time::Duration;

use petstore_domain::{PetId, Role, store_area::PetNote};

use super::browser::{Browser, Shop};

async fn notes(shop: &Shop) -> Vec<PetNote> {
    shop.store.all_notes(PetId::new(1).unwrap()).await.unwrap()
}

async fn write(member: &mut Browser<'_>, text: &str) {
    let page = member.get("/animals/1").await;
    let sent = [("note-text", text)];
    let next = member
        .submit((&page, "/animals/1/notes"), "/animals/1/notes", &sent)
        .await
        .next()
        .to_owned();
    let page = member.get(&next).await.expect(200);
    assert!(page.text.contains("Note added."), "{page:?}");
}

#[tokio::test]
async fn notes_are_in_the_history_with_their_author_the_newest_first() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    write(&mut clerk, "  Afraid of <men>, fine with children ").await;
    shop.clock.advance(Duration::from_mins(10));
    write(&mut manager, "Anna called").await;
    shop.clock.advance(Duration::from_mins(10));
    let sale = [("do", "sell")];
    clerk.post("/animals/1/order", &sale).await.expect(303);

    let page = shop
        .member("Vi", Role::Viewer)
        .await
        .get("/animals/1")
        .await;
    let history = page.between("<ol class=\"history\">", "</ol>").to_owned();
    let position = |text: &str| {
        history
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {history}"))
    };
    let men = position("Afraid of &lt;men&gt;, fine with children<");
    let order = [
        position("Sold"),
        position("Anna called"),
        men,
        position("Imported"),
    ];
    assert!(order.is_sorted(), "{order:?} {history}");
    assert!(history[men..].contains("Cy"), "{history}");
    assert!(history[order[1]..men].contains("Mo"), "{history}");
    // Their changes in the journal are not shown a second time.
    assert!(!history.contains("Note added"), "{history}");
    // A viewer only reads.
    assert!(!page.text.contains("/notes"), "{page:?}");
    let mut viewer = shop.member("Va", Role::Viewer).await;
    let refused = viewer.post("/animals/1/notes", &[("note-text", "x")]).await;
    assert_eq!(refused.status, 403);
    assert_eq!(notes(&shop).await.len(), 2);
}

#[tokio::test]
async fn a_note_is_corrected_and_deleted_by_its_author_or_a_manager_after_a_question() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut other = shop.member("Di", Role::Clerk).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    write(&mut clerk, "Afraid of men").await;

    // Another clerk sees no link, and the form of the page changes nothing.
    let page = other.get("/animals/1").await;
    assert!(!page.text.contains("/animals/notes/1"), "{page:?}");
    let page = other.get("/animals/notes/1").await.expect(200);
    assert!(page.text.contains("Only the person who wrote"), "{page:?}");
    let form = [("note-text", "x"), ("version", "1")];
    let refused = other.post("/animals/notes/1", &form).await;
    assert_eq!(refused.status, 422);
    let refused = other
        .post("/animals/notes/1/delete", &[("version", "1")])
        .await;
    assert_eq!(refused.status, 422);
    assert_eq!(notes(&shop).await[0].version, 1);

    let page = clerk.get("/animals/notes/1").await;
    let path = "/animals/notes/1";
    let next = clerk
        .submit((&page, path), path, &[("note-text", "Afraid of nobody")])
        .await;
    assert_eq!(next.next(), "/animals/1");
    let page = clerk.get("/animals/1").await;
    assert!(page.text.contains("Note corrected."), "{page:?}");
    assert!(page.text.contains("Afraid of nobody") && !page.text.contains("Afraid of men"));
    assert!(page.text.contains(", corrected "), "{page:?}");

    // Whoever saw the former text is told, and keeps what they typed.
    let stale = manager.post(path, &form).await;
    assert_eq!(stale.status, 422);
    assert!(stale.text.contains("Afraid of nobody"), "{stale:?}");
    assert!(stale.text.contains(">\nx</textarea>"), "{stale:?}");

    let page = manager.get(path).await;
    let delete = "/animals/notes/1/delete";
    let question = manager
        .submit((&page, delete), delete, &[])
        .await
        .expect(200);
    assert!(question.text.contains("Delete this note?"), "{question:?}");
    assert_eq!(notes(&shop).await.len(), 1);
    let next = manager.submit((&question, delete), delete, &[]).await;
    assert_eq!(next.next(), "/animals/1");
    let page = manager.get("/animals/1").await;
    assert!(page.text.contains("Note deleted."), "{page:?}");
    assert_eq!(notes(&shop).await, []);
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("Note deleted") && !history.contains("Afraid"),
        "{history}"
    );
    assert_eq!(manager.get(path).await.status, 404);
}

#[tokio::test]
async fn an_empty_or_long_note_is_explained_and_a_second_click_adds_none() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (text, why) in [
        (" ", "Write something first."),
        (
            &*"ö".repeat(1_001),
            "The note must have at most 1,000 characters.",
        ),
    ] {
        let page = clerk.post("/animals/1/notes", &[("note-text", text)]).await;
        assert_eq!(page.status, 422);
        assert!(page.text.contains(why), "{page:?}");
    }
    let page = clerk.get("/animals/1").await;
    let path = "/animals/1/notes";
    for _ in 0..2 {
        let sent = [("note-text", "once")];
        clerk.submit((&page, path), path, &sent).await.expect(303);
    }
    assert_eq!(notes(&shop).await.len(), 1);
}

#[tokio::test]
async fn older_pages_of_the_history_have_each_note_once() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for number in 0..25 {
        shop.clock.advance(Duration::from_mins(1));
        write(&mut clerk, &format!("note-{number:02}-end")).await;
    }
    let first = clerk.get("/animals/1").await;
    let older = first.between("<a href=\"/animals/1?before=", "\"");
    let second = clerk.get(&format!("/animals/1?before={older}")).await;
    let both = format!("{}{}", first.text, second.text);
    for number in 0..25 {
        let text = format!("note-{number:02}-end");
        assert_eq!(both.matches(&text).count(), 1, "{text}");
    }
}
