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

/// Corrects the note 1 to a text.
async fn correct(member: &mut Browser<'_>, text: &str) {
    let path = "/animals/notes/1";
    let page = member.get(path).await;
    let sent = [("note-text", text)];
    member.submit((&page, path), path, &sent).await.expect(303);
}

#[tokio::test]
async fn a_correction_by_somebody_else_names_that_person() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    write(&mut clerk, "Afraid of men").await;
    correct(&mut manager, "Afraid of tall men").await;
    let page = clerk.get("/animals/1").await;
    assert!(page.text.contains(", corrected by Mo <time"), "{page:?}");
    correct(&mut clerk, "Afraid of nobody").await;
    let page = clerk.get("/animals/1").await;
    assert!(page.text.contains(", corrected <time"), "{page:?}");
}

#[tokio::test]
async fn the_activity_has_the_notes_of_an_animal_with_its_name() {
    let shop = Shop::open().await;
    shop.import(&["Rex", "Luna"]).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    write(&mut manager, "Afraid of men").await;
    correct(&mut manager, "Afraid of nobody").await;
    let named = "Note 1, <a href=\"/animals/1\"><bdi>Rex</bdi></a></td>";
    for (path, count) in [
        ("/activity", 2),
        ("/activity?animal=1", 2),
        ("/activity?animal=1&type=note.changed", 1),
        ("/activity?animal=1&type=pet.changed", 0),
        ("/activity?animal=1&until=2020-01-01", 0),
        ("/activity?animal=2", 0),
    ] {
        let page = manager.get(path).await.expect(200);
        assert_eq!(page.text.matches(named).count(), count, "{path} {page:?}");
    }
    let export = manager.get("/activity/export?animal=1").await.expect(200);
    assert_eq!(export.text.matches("note:1").count(), 2, "{export:?}");
}

#[tokio::test]
async fn pages_of_the_activity_of_an_animal_have_each_note_and_each_change_once() {
    let shop = Shop::open().await;
    shop.import(&["Rex"]).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    for number in 0..110 {
        let (name, text) = (format!("Rex {number}"), format!("note {number}"));
        let form = [("name", &*name), ("category", "1")];
        manager.post("/animals/1/edit", &form).await.expect(303);
        let form = [("note-text", &*text)];
        manager.post("/animals/1/notes", &form).await.expect(303);
    }
    let mut path = "/activity?animal=1".to_owned();
    let mut seen = String::new();
    loop {
        let page = manager.get(&path).await.expect(200);
        seen.push_str(page.between("<tbody>", "</tbody>"));
        let Some((_, rest)) = page.text.split_once("after=") else {
            break;
        };
        let position = rest.split('"').next().unwrap();
        path = format!("/activity?animal=1&after={position}");
    }
    for number in 0..110 {
        let changed = format!("<ins><bdi>Rex {number}</bdi></ins>");
        assert_eq!(seen.matches(&changed).count(), 1, "{changed} {seen}");
        let note = format!(">Note {}<", number + 1);
        let note_with_animal = format!(">Note {}, <a", number + 1);
        let count = seen.matches(&note).count() + seen.matches(&note_with_animal).count();
        assert_eq!(count, 1, "{note} {seen}");
    }
}
