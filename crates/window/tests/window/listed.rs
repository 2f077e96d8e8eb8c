//! The animals that are not on the website: nobody outside the store learns of them.

use petstore_domain::{
    PetId,
    store_area::{Command, FieldKind, PhotoId},
};
use petstore_testing::area::{any, change, complete, place, reserve, restore};

use super::street::{Seen, Street};

/// The pages and files that can have animals, each as a stranger asks for it.
const PATHS: [&str; 12] = [
    "/",
    "/?field.species=Cat",
    "/?q=luna",
    "/?sort=longest",
    "/embed",
    "/animals.json",
    "/animals.json?q=cats",
    "/animals.csv",
    "/animals.csv?field.species=Cat",
    "/animals.atom",
    "/sitemap.xml",
    "/sitemap-0.xml",
];

/// The pages and files of a category, and of a search for it.
const PATHS_OF_CATEGORY: [&str; 6] = [
    "/?categoryId=5",
    "/?q=seized",
    "/embed?categoryId=5",
    "/animals.json?categoryId=5",
    "/animals.csv?categoryId=5",
    "/animals.atom?categoryId=5",
];

/// The response, apart from its number, and from its tag, which no two stores have.
fn essence(seen: &Seen) -> String {
    let headers = seen.headers.iter();
    let headers = headers.filter(|(name, _)| !["etag", "x-request-id"].contains(&name.as_str()));
    let mut text = seen.text.clone();
    let id = seen.field("x-request-id");
    if !id.is_empty() {
        text = text.replace(id, "");
    }
    format!("{} {:?} {text}", seen.status, headers.collect::<Vec<_>>())
}

/// A store with one animal that everybody sees.
async fn street_with_rex() -> Street {
    let street = Street::open().await;
    street.label(1, "Cats").await;
    street.choice("temper", &["Calm"]).await;
    let rex = [("species", "Cat"), ("temper", "Calm")];
    street.add("Rex", &rex).await;
    street
}

#[tokio::test]
async fn every_page_is_the_same_with_an_animal_off_the_website_as_without_it() {
    let without = street_with_rex().await;
    let with = street_with_rex().await;
    let luna = with
        .add("Luna", &[("species", "Cat"), ("temper", "Calm")])
        .await;
    with.photo(luna, None).await;
    with.list(luna, false).await;
    let sold = with.add("Luna", &[("species", "Dog")]).await;
    with.list(sold, false).await;
    let order = place(&with.store, reserve(PetId::new(sold).unwrap())).await;
    change(&with.store, complete(order)).await;
    let gone = with.add("Luna", &[("species", "Dog")]).await;
    with.list(gone, false).await;
    with.withdraw(gone).await;
    with.label(5, "Seized").await;
    with.list(with.add_in_category("Luna", 5).await, false)
        .await;
    with.label(6, "Quarantine").await;

    for is_merged in [false, true] {
        if is_merged {
            while with.store.tend_search(0).await.unwrap() {}
            while without.store.tend_search(0).await.unwrap() {}
            // A change that everybody sees, so that no page comes from a cache.
            for street in [&with, &without] {
                street.field("note", "Note", FieldKind::Text, true).await;
            }
        }
        let pages = [luna, sold, gone].map(|id| format!("/animals/{id}"));
        let pages = pages.iter().map(String::as_str);
        for path in PATHS.into_iter().chain(PATHS_OF_CATEGORY).chain(pages) {
            let expected = essence(&without.get(path).await);
            let seen = essence(&with.get(path).await);
            assert_eq!(seen, expected, "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_goes_at_once_when_the_switch_is_thrown_and_comes_back() {
    let street = street_with_rex().await;
    let luna = street.add("Luna", &[("species", "Cat")]).await;
    let photo = street.photo(luna, None).await;
    let page = format!("/animals/{luna}");
    let file = format!("/photos/{photo}-small.jpg");
    let mut tags = Vec::new();
    for path in PATHS {
        let seen = street.get(path).await.expect(200);
        assert!(seen.text.contains(&page), "{path}");
        tags.push(seen.field("etag").to_owned());
    }
    let tag = street.get(&page).await.expect(200).field("etag").to_owned();
    street.get(&file).await.expect(200);
    let file_tag = street.get(&file).await.field("etag").to_owned();

    street.list(luna, false).await;
    for (path, tag) in PATHS.iter().zip(&tags) {
        // A browser that has the former page gets the new one.
        let fields = [("if-none-match", &**tag)];
        let seen = street
            .ask(hyper::Method::GET, path, &fields)
            .await
            .expect(200);
        assert!(!seen.text.contains(&page), "{path}: {seen:?}");
    }
    let fields = [("if-none-match", &*tag)];
    let gone = street
        .ask(hyper::Method::GET, &page, &fields)
        .await
        .expect(404);
    let never = street.get("/animals/99").await.expect(404);
    assert_eq!(
        gone.text.replace(gone.field("x-request-id"), ""),
        never.text.replace(never.field("x-request-id"), "")
    );
    for size in ["small", "card", "medium", "large"] {
        let file = format!("/photos/{photo}-{size}.jpg");
        let fields = [("if-none-match", &*file_tag)];
        street
            .ask(hyper::Method::GET, &file, &fields)
            .await
            .expect(404);
    }

    street.list(luna, true).await;
    for path in PATHS {
        let seen = street.get(path).await.expect(200);
        assert!(seen.text.contains(&page), "{path}: {seen:?}");
    }
    street.get(&page).await.expect(200);
    street.get(&file).await.expect(200);
}

#[tokio::test]
async fn another_process_takes_an_animal_off_the_website_of_this_one() {
    let street = street_with_rex().await;
    let luna = street.add("Luna", &[("species", "Cat")]).await;
    let page = format!("/animals/{luna}");
    street.get(&page).await.expect(200);
    let other = street.other_process().await;
    let patch = petstore_domain::store_area::PetPatch {
        is_listed: Some(false),
        ..petstore_domain::store_area::PetPatch::default()
    };
    change(
        &other,
        petstore_testing::area::patch(PetId::new(luna).unwrap(), patch),
    )
    .await;
    street.clock.advance(std::time::Duration::from_secs(1));
    street.get(&page).await.expect(404);
    assert_eq!(street.get("/").await.animals(), [1]);
}

#[tokio::test]
async fn an_animal_that_left_is_gone_only_for_those_who_could_see_it() {
    let street = street_with_rex().await;
    let luna = street.add("Luna", &[]).await;
    let page = format!("/animals/{luna}");
    street.withdraw(luna).await;
    street.get(&page).await.expect(410);
    change(&street.store, restore(PetId::new(luna).unwrap())).await;
    street.list(luna, false).await;
    street.withdraw(luna).await;
    street.get(&page).await.expect(404);
    change(&street.store, restore(PetId::new(luna).unwrap())).await;
    let order = place(&street.store, reserve(PetId::new(luna).unwrap())).await;
    change(&street.store, complete(order)).await;
    let sold = street.get(&page).await.expect(404);
    assert!(!sold.text.contains("Luna"), "{sold:?}");
    street.list(luna, true).await;
    street.get(&page).await.expect(410);
}

#[tokio::test]
async fn a_kind_whose_animals_are_all_off_the_website_is_not_offered() {
    let street = street_with_rex().await;
    street.add("Bo", &[("species", "Dog")]).await;
    let hidden = street.add("Pip", &[("species", "Rabbit")]).await;
    assert!(street.get("/").await.text.contains("field.species=Rabbit"));
    street.list(hidden, false).await;
    let page = street.get("/").await.expect(200);
    assert!(
        page.text.contains("field.species=Dog") && !page.text.contains("field.species=Rabbit"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_category_is_offered_while_an_animal_of_it_is_on_the_website() {
    let street = street_with_rex().await;
    street.label(5, "Seized").await;
    // A later category than those from which a visitor can choose.
    for id in 6..=110 {
        street.label(id, &format!("Kind {id}")).await;
    }
    let first = street.add_in_category("Bo", 5).await;
    let later = street.add_in_category("Pip", 110).await;
    let offer = r#"<option value="5">Seized</option>"#;
    let title = |label: &str| format!("<title>Meet our animals – Category: {label}");
    for is_listed in [true, false, true] {
        for id in [first, later] {
            street.list(id, is_listed).await;
        }
        let page = street.get("/").await.expect(200);
        assert_eq!(page.text.contains(offer), is_listed, "{page:?}");
        assert!(!page.text.contains(">Kind 6<"), "{page:?}");
        for (id, label) in [("5", "Seized"), ("110", "Kind 110")] {
            // Also if another part of the filter finds nothing.
            for further in ["", "&name=x"] {
                let path = format!("/?categoryId={id}{further}");
                let page = street.get(&path).await.expect(200);
                let expected = title(if is_listed { label } else { id });
                assert!(page.text.contains(&expected), "{page:?}");
                assert_eq!(page.text.contains(label), is_listed, "{page:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_photo_that_an_animal_off_the_website_lost_is_not_sent() {
    let street = street_with_rex().await;
    let [seen, hidden] = [street.add("Bo", &[]).await, street.add("Pip", &[]).await];
    let photos = [
        street.photo(seen, None).await,
        street.photo(hidden, None).await,
    ];
    street.list(hidden, false).await;
    for (id, photo) in [(seen, photos[0]), (hidden, photos[1])] {
        let delete = Command::DeletePhoto {
            id: PetId::new(id).unwrap(),
            photo,
            preconditions: any(),
        };
        change(&street.store, delete).await;
    }
    for size in ["small", "card", "medium", "large"] {
        let file = |photo: PhotoId| format!("/photos/{photo}-{size}.jpg");
        street.get(&file(photos[0])).await.expect(200);
        street.get(&file(photos[1])).await.expect(404);
    }
}

#[tokio::test]
async fn a_photo_of_nobody_stays_and_one_of_an_animal_off_the_website_does_not() {
    let street = street_with_rex().await;
    let [seen, hidden] = [street.add("Bo", &[]).await, street.add("Pip", &[]).await];
    street.list(hidden, false).await;
    let photos: Vec<PhotoId> = vec![
        street.photo(seen, None).await,
        street.photo(hidden, None).await,
    ];
    let file = |photo: &PhotoId| format!("/photos/{photo}-large.jpg");
    street.get(&file(&photos[0])).await.expect(200);
    street.get(&file(&photos[1])).await.expect(404);
    street.withdraw(seen).await;
    street.get(&file(&photos[0])).await.expect(200);
    street.withdraw(hidden).await;
    street.get(&file(&photos[1])).await.expect(404);
}

#[tokio::test]
async fn a_feed_whose_returns_cannot_be_read_has_none_of_an_earlier_moment() {
    let street = street_with_rex().await;
    let luna = PetId::new(street.add("Luna", &[]).await).unwrap();
    street.withdraw(luna.get()).await;
    change(&street.store, restore(luna)).await;
    let feed = street.get("/animals.atom").await.expect(200);
    assert!(feed.text.contains("#back-"), "{feed:?}");
    street.list(luna.get(), false).await;
    let broken = "ALTER TABLE changes RENAME COLUMN pet_id TO renamed";
    street.database.execute(broken).await;
    let feed = street.get("/animals.atom").await.expect(200);
    assert!(
        feed.text.contains("Rex") && !feed.text.contains("Luna"),
        "{feed:?}"
    );
}
