//! Adding one animal, with its photos.

use std::time::Duration;

use petstore_domain::{Limit, PetId, Role, store_area::StorePet};
use petstore_testing::pictures;

use super::browser::{Browser, Page, Shop};

async fn pet(shop: &Shop, path: &str) -> StorePet {
    let id = path.trim_start_matches("/animals/").parse().unwrap();
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

async fn label(shop: &Shop, path: &str) -> String {
    let id = pet(shop, path).await.category_id;
    let (all, _) = shop
        .store
        .list_categories(None, Limit::default())
        .await
        .unwrap();
    all.into_iter()
        .find(|category| category.id == id)
        .unwrap()
        .label
        .as_str()
        .to_owned()
}

/// Sends a picture while the rest is typed, and returns the field that it becomes.
async fn send(clerk: &mut Browser<'_>, picture: &[u8]) -> String {
    let sent = clerk
        .upload("/add/photo", "", &[("a.png", picture)])
        .await
        .expect(200);
    sent.between("name=\"photo\" value=\"", "\"").to_owned()
}

/// The photos that wait in the form.
fn waiting(page: &Page) -> usize {
    page.text.matches("name=\"photo\" value=\"").count()
}

#[tokio::test]
async fn photos_are_sent_while_the_rest_is_typed_and_wait_for_their_animal() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let (wide, square) = (pictures::png(8, 6), pictures::png(6, 6));
    let photos = [
        send(&mut clerk, &wide).await,
        send(&mut clerk, &square).await,
    ];
    let [one, two] = photos.each_ref().map(String::as_str);
    // With an error, they are still in the form.
    let form = [
        ("name", ""),
        ("field.species", "Cat"),
        ("photo", one),
        ("photo", two),
    ];
    let page = clerk.post("/add", &form).await.expect(422);
    assert_eq!(waiting(&page), 2, "{page:?}");
    assert!(page.text.contains(&format!(
        "src=\"/photos/{}-small.jpg\"",
        one.split_once('.').unwrap().0
    )));
    let form = [
        ("name", "Luna"),
        ("field.species", "Cat"),
        ("photo", one),
        ("photo", two),
        ("_key", "k"),
    ];
    let next = clerk.post("/add", &form).await.next().to_owned();
    // One change, and a second click does nothing more.
    assert_eq!(clerk.post("/add", &form).await.next(), next);
    let luna = pet(&shop, &next).await;
    let sides: Vec<_> = luna
        .photos
        .all()
        .iter()
        .map(|photo| (photo.width, photo.height))
        .collect();
    assert_eq!((luna.version, sides), (1, vec![(8, 6), (6, 6)]));
    let file = clerk
        .stream(&format!("/photos/{}-large.jpg", luna.photos.all()[1].id))
        .await;
    assert!(file.whole().unwrap().starts_with(b"\xff\xd8"));
}

#[tokio::test]
async fn a_photo_waits_only_for_its_member_and_not_for_ever() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut other = shop.member("Di", Role::Clerk).await;
    let photo = send(&mut clerk, &pictures::png(8, 6)).await;
    let refused = |page: Page| {
        assert!(
            page.text.contains("1 photo waited too long or did not fit"),
            "{page:?}"
        );
        assert_eq!((page.typed("name"), waiting(&page)), ("Luna".to_owned(), 0));
    };
    let form = |photo| [("name", "Luna"), ("field.species", "Cat"), ("photo", photo)];
    refused(other.post("/add", &form(&photo)).await.expect(422));
    let (text, mark) = photo.rsplit_once('.').unwrap();
    let forged = format!("{}.{mark}", text.replace(".8.", ".9."));
    for wrong in [&*forged, "", "x", "1.2.3.4.5"] {
        refused(clerk.post("/add", &form(wrong)).await.expect(422));
    }
    // Another 20 do not fit, and 20 do.
    let mut many = form(&photo).to_vec();
    let mut sent = Vec::new();
    for _ in 0..20 {
        sent.push(send(&mut clerk, &pictures::png(2, 2)).await);
    }
    many.extend(sent.iter().map(|photo| ("photo", photo.as_str())));
    let page = clerk.post("/add", &many).await.expect(422);
    assert_eq!(waiting(&page), 20);
    // Its files are gone.
    let id = text.split('.').next().unwrap();
    let id = petstore_domain::store_area::PhotoId::parse(id).unwrap();
    shop.app.photos.storage().unwrap().delete(id).await.unwrap();
    refused(clerk.post("/add", &form(&photo)).await.expect(422));
    shop.clock.advance(Duration::from_hours(11));
    let mut clerk = shop.member("Cy2", Role::Clerk).await;
    let mine = send(&mut clerk, &pictures::png(8, 6)).await;
    shop.clock.advance(Duration::from_mins(10));
    let next = clerk.post("/add", &form(&mine)).await.next().to_owned();
    assert_eq!(pet(&shop, &next).await.photos.all().len(), 1);
}

#[tokio::test]
async fn a_picture_that_cannot_wait_is_named() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let files: [(&str, &[u8]); 1] = [("letter.pdf", b"%PDF-1.7")];
    let page = clerk.upload("/add/photo", "", &files).await.expect(422);
    assert!(page.text.contains("letter.pdf") && page.text.contains("This file is not a"));
    let other = clerk
        .get("/add")
        .await
        .expect(200)
        .key_before("name=\"name\"");
    let mut di = shop.member("Di", Role::Clerk).await;
    let files: [(&str, &[u8]); 1] = [("a.png", &pictures::png(2, 2))];
    let page = di.upload("/add/photo", &other, &files).await.expect(422);
    assert!(
        page.text.contains("Another member is signed in now."),
        "{page:?}"
    );
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    viewer.upload("/add/photo", "", &files).await.expect(403);
    shop.browser()
        .upload("/add/photo", "", &files)
        .await
        .expect(403);
}

#[tokio::test]
async fn an_age_is_written_down_as_a_day_of_birth() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = |about| {
        [
            ("name", "Luna"),
            ("field.species", "Cat"),
            ("field.born", ""),
            ("about", about),
        ]
    };
    for (about, born) in [
        ("2", "2024-12-01"),
        ("1 year", "2025-12-01"),
        ("8 months", "2026-04-01"),
        ("10 Weeks", "2026-09-22"),
        ("0", "2026-12-01"),
    ] {
        let next = clerk.post("/add", &form(about)).await.next().to_owned();
        assert_eq!(
            pet(&shop, &next)
                .await
                .fields
                .get("born")
                .unwrap()
                .to_string(),
            born,
            "{about}"
        );
        let page = clerk.get(&next).await.expect(200);
        assert!(
            page.text
                .contains("Its date of birth was calculated from its age."),
            "{page:?}"
        );
    }
    for wrong in ["old", "2 moons", "-1", "501", "99999999999", "1.5"] {
        let page = clerk.post("/add", &form(wrong)).await.expect(422);
        assert!(
            page.text.contains("Enter the age in years, such as 2"),
            "{wrong}: {page:?}"
        );
        assert_eq!(page.typed("about"), wrong);
    }
    let mut both = form("2");
    both[2].1 = "2024-05-01";
    let page = clerk.post("/add", &both).await.expect(422);
    assert!(
        page.text.contains("Enter the date of birth or the age"),
        "{page:?}"
    );
}

#[tokio::test]
async fn without_a_category_an_animal_gets_that_of_its_species() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = |species, category| {
        [
            ("name", "Luna"),
            ("field.species", species),
            ("category", category),
        ]
    };
    let first = clerk.post("/add", &form("Cat", "")).await.next().to_owned();
    let second = clerk.post("/add", &form("Cat", "")).await.next().to_owned();
    assert_eq!(label(&shop, &first).await, "Cat");
    assert_eq!(
        pet(&shop, &second).await.category_id,
        pet(&shop, &first).await.category_id
    );
    let dog = clerk.post("/add", &form("Dog", "")).await.next().to_owned();
    assert_eq!(label(&shop, &dog).await, "Dog");
    // A category with another name that the others are in, such as a plural, is the one of the species.
    let fish = [&form("Fish", "Pond")[..], &[("new-category", "Pond")]].concat();
    let fish = clerk.post("/add", &fish).await.next().to_owned();
    let alike = clerk
        .post("/add", &form("Fish", ""))
        .await
        .next()
        .to_owned();
    assert_eq!(
        pet(&shop, &alike).await.category_id,
        pet(&shop, &fish).await.category_id
    );
    // What is typed counts.
    let other = clerk
        .post("/add", &form("Dog", "Cat"))
        .await
        .next()
        .to_owned();
    assert_eq!(label(&shop, &other).await, "Cat");
    let page = clerk.post("/add", &form("", "")).await.expect(422);
    assert!(
        page.text.contains("Choose a species or a category."),
        "{page:?}"
    );
}

#[tokio::test]
async fn another_animal_like_one_has_what_is_not_its_own() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let photo = send(&mut clerk, &pictures::png(8, 6)).await;
    let form = [
        ("name", "Luna"),
        ("field.species", "Cat"),
        ("field.breed", "Manx"),
        ("field.born", "2026-09-01"),
        ("field.microchip", "276098106234567"),
        ("field.price", "120"),
        ("field.description", "She purrs."),
        ("photo", &*photo),
    ];
    let next = clerk.post("/add", &form).await.next().to_owned();
    let page = clerk.get(&next).await.expect(200);
    let id = next.trim_start_matches("/animals/");
    assert!(
        page.text
            .contains(&format!("href=\"/add?like={id}\">Add another like this<")),
        "{page:?}"
    );
    let page = clerk.get(&format!("/add?like={id}")).await.expect(200);
    let typed = |name: &str| page.typed(name);
    assert_eq!(
        (typed("name"), typed("field.microchip")),
        (String::new(), String::new())
    );
    let alike = (
        typed("field.breed"),
        typed("category"),
        page.between("name=\"field.born\" type=\"date\" value=\"", "\"")
            .to_owned(),
    );
    assert_eq!(alike, ("Manx".into(), "Cat".into(), "2026-09-01".into()));
    assert!(
        page.text.contains("<option value=\"Cat\" selected>") && !page.text.contains("She purrs.")
    );
    assert_eq!(waiting(&page), 0);
    // Of nobody, the form is empty.
    let page = clerk.get("/add?like=999").await.expect(200);
    assert_eq!(page.typed("field.breed"), "");
}

#[tokio::test]
async fn what_people_ask_first_is_first() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let page = clerk.get("/add").await.expect(200);
    let order = [
        "type=\"file\"",
        "name=\"name\"",
        "name=\"field.species\"",
        "name=\"field.sex\"",
        "name=\"field.born\"",
        "name=\"about\"",
        "name=\"field.price\"",
        "name=\"field.microchip\"",
        "name=\"field.breed\"",
        "name=\"category\"",
        "name=\"status\"",
    ];
    let places = order.map(|part| {
        page.text
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {page:?}"))
    });
    assert!(places.is_sorted(), "{places:?}");
    assert!(
        order
            .iter()
            .all(|part| page.text.matches(part).count() == 1),
        "{page:?}"
    );
}
