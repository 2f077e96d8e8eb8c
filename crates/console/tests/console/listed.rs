//! Animals that are not on the website yet.

use petstore_domain::{
    PetId, Role,
    store_area::{PetPatch, StorePet},
};
use petstore_testing::{
    area::{change as change_pet, patch},
    pictures,
};

use super::{
    browser::{Browser, Shop},
    paste::{clerk, preview, rows},
};

const NOT_YET: &str = "<span class=\"badge unlisted\">Not on the website</span>";

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

/// Adds an animal, on the website or not.
async fn add(clerk: &mut Browser<'_>, name: &str, listed: &str) {
    let form = [
        ("name", name),
        ("category", "1"),
        ("status", "available"),
        ("listed", listed),
    ];
    clerk.post("/add", &form).await.expect(303);
}

/// Sends a form as a browser sends it, with other values for some inputs.
fn with<'f>(form: &'f [(String, String)], typed: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let mut fields = Vec::new();
    for (name, value) in form {
        let typed_value = typed.iter().find(|(typed_name, _)| typed_name == name);
        fields.push((&**name, typed_value.map_or(&**value, |(_, value)| *value)));
    }
    fields
}

#[tokio::test]
async fn an_animal_is_added_off_the_website_marked_edited_and_put_back() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "").await;
    add(&mut clerk, "Luna", "false").await;
    assert!(pet(&shop, 1).await.is_listed && !pet(&shop, 2).await.is_listed);
    let page = clerk.get("/animals/2").await.expect(200);
    assert!(page.text.contains(NOT_YET), "{page:?}");
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("Website: <ins><bdi>Not on the website</bdi></ins>"),
        "{history}"
    );
    let other = clerk.get("/animals/1").await.expect(200);
    assert!(!other.text.contains("Not on the website"), "{other:?}");

    let form = clerk.get("/animals/2/edit").await.form("/animals/2/edit");
    let listed = form.iter().find(|(name, _)| name == "listed");
    assert_eq!(listed.unwrap().1, "false");
    let saved = with(&form, &[("listed", "true")]);
    let next = clerk
        .post("/animals/2/edit", &saved)
        .await
        .next()
        .to_owned();
    assert!(pet(&shop, 2).await.is_listed);
    let page = clerk.get(&next).await.expect(200);
    let differs = "Website: <del><bdi>Not on the website</bdi></del> → \
         <ins><bdi>On the website</bdi></ins>";
    assert!(page.text.contains(differs), "{page:?}");

    // Undo takes it off again.
    let path = page
        .between("<form data-undo method=\"post\" action=\"", "\"")
        .to_owned();
    clerk.submit((&page, &path), &path, &[]).await.expect(303);
    assert!(!pet(&shop, 2).await.is_listed);
    // A form that says nothing of it keeps it.
    let form = [
        ("name", "Luna II"),
        ("category", "1"),
        ("status", "available"),
    ];
    clerk.post("/animals/2/edit", &form).await.expect(303);
    assert!(!pet(&shop, 2).await.is_listed);
    let wrong = [("name", "Bo"), ("category", "1"), ("listed", "perhaps")];
    let page = clerk.post("/add", &wrong).await.expect(422);
    assert!(page.text.contains("Enter yes or no."), "{page:?}");
}

#[tokio::test]
async fn two_people_who_change_it_see_both_versions() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "true").await;
    let form = clerk.get("/animals/1/edit").await.form("/animals/1/edit");
    let unlisted = PetPatch {
        is_listed: Some(false),
        ..PetPatch::default()
    };
    change_pet(&shop.store, patch(PetId::new(1).unwrap(), unlisted)).await;
    // Somebody who does not touch it keeps the other's change.
    let saved = with(&form, &[("name", "Max")]);
    clerk.post("/animals/1/edit", &saved).await.expect(303);
    assert!(!pet(&shop, 1).await.is_listed);
    assert_eq!(pet(&shop, 1).await.name.as_str(), "Max");
}

#[tokio::test]
async fn several_animals_are_put_on_the_website_and_taken_off_at_once() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for name in ["Rex", "Max", "Mia"] {
        add(&mut clerk, name, "").await;
    }
    for (button, question, is_listed, versions) in [
        (
            "unlist",
            "Take 2 animals off the website?",
            false,
            ["1:1", "3:1"],
        ),
        (
            "list",
            "Put 2 animals on the website?",
            true,
            ["1:2", "3:2"],
        ),
    ] {
        let form = [("do", button), ("pet", versions[0]), ("pet", versions[1])];
        let page = clerk.post("/animals/selected", &form).await.expect(200);
        assert!(page.text.contains(question), "{page:?}");
        let sure = page.hidden("sure");
        let form = [&form[..], &[("sure", &*sure)]].concat();
        clerk.post("/animals/selected", &form).await.expect(303);
        for id in [1, 3] {
            assert_eq!(pet(&shop, id).await.is_listed, is_listed, "{button} {id}");
        }
        assert!(pet(&shop, 2).await.is_listed);
    }
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let form = [("do", "unlist"), ("pet", "2:1")];
    viewer.post("/animals/selected", &form).await.expect(403);
}

#[tokio::test]
async fn the_list_marks_them_and_is_filtered_by_a_chip() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "").await;
    let page = clerk.get("/animals").await.expect(200);
    assert!(!page.text.contains("listed=false"), "{page:?}");
    add(&mut clerk, "Luna", "false").await;
    let page = clerk.get("/animals").await.expect(200);
    assert_eq!(page.text.matches(NOT_YET).count(), 1);
    let chip = "<a class=\"more\" href=\"/animals?listed=false\">Not on the website</a>";
    assert!(page.text.contains(chip), "{page:?}");
    for (query, shown, hidden) in [
        ("listed=false", "Luna", "Rex"),
        ("listed=true", "Rex", "Luna"),
        ("listed=false&q=l", "Luna", "Rex"),
    ] {
        let page = clerk.get(&format!("/animals?{query}")).await.expect(200);
        let rows = page.between("<tbody>", "</tbody>");
        assert!(
            rows.contains(shown) && !rows.contains(hidden),
            "{query}: {rows}"
        );
    }
    let page = clerk.get("/animals?listed=false").await.expect(200);
    assert!(
        page.text
            .contains("<bdi>Not on the website</bdi> <span aria-hidden"),
        "{page:?}"
    );
    // A form of the list leads back to it.
    let form = [("do", "list"), ("pet", "2:1"), ("listed", "false")];
    let next = clerk.post("/animals/selected", &form).await;
    assert_eq!(next.next(), "/animals?listed=false");
    // The message names the animal, because the list does not show it any more.
    let page = clerk.get(next.next()).await.expect(200);
    assert!(
        page.text
            .contains("<a href=\"/animals/2\"><bdi>Luna</bdi></a>: Saved."),
        "{page:?}"
    );
    let path = "/animals/undo";
    let page = clerk.submit((&page, path), path, &[]).await.expect(303);
    let page = clerk.get(page.next()).await.expect(200);
    assert!(
        page.text
            .contains("<a href=\"/animals/2\"><bdi>Luna</bdi></a>: "),
        "{page:?}"
    );
    // What is none is no filter.
    let page = clerk.get("/animals?listed=perhaps").await.expect(200);
    assert!(page.between("<tbody>", "</tbody>").contains("Rex"));
}

#[tokio::test]
async fn a_pasted_column_says_it_in_four_languages() {
    for (heading, no, yes) in [
        ("On the website", "no", "yes"),
        ("Auf der Website", "nein", "ja"),
        ("Sur le site", "Pas sur le site", "oui"),
        ("En el sitio web", "Fuera del sitio web", "sí"),
        ("listed", "FALSE", "TRUE"),
        ("Website", "No", "Yes"),
        ("Site web", "Non", "Oui"),
        ("Sitio web", "No", "Sí"),
        ("Public", "no", "yes"),
        ("Online", "nein", "ja"),
        ("Show on the website", "no", "yes"),
    ] {
        let shop = Shop::open().await;
        let mut clerk = clerk(&shop).await;
        let lines =
            format!("Name\tCategory\t{heading}\nRex\tDogs\t{no}\nMax\tDogs\t{yes}\nMia\tDogs\t");
        let page = preview(&mut clerk, &lines).await.expect(200);
        assert_eq!(
            rows(&page),
            [
                "2 Rex Dogs Not on the website OK",
                "3 Max Dogs On the website OK",
                "4 Mia Dogs On the website OK"
            ]
        );
        let form = page.form("/add/many");
        let form: Vec<_> = form
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        clerk.post("/add/many", &form).await.expect(303);
        for (name, is_listed) in [("Rex", false), ("Max", true), ("Mia", true)] {
            let (pets, _) = shop
                .store
                .list_store_pets(&petstore_domain::store_area::PetQuery::default())
                .await
                .unwrap();
            let added = pets.iter().find(|pet| pet.name.as_str() == name).unwrap();
            assert_eq!(added.is_listed, is_listed, "{heading} {name}");
        }
    }
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    // The fourth column without a heading is not one that hides animals.
    let page = preview(&mut clerk, "Rex\tDogs\tsold\tno").await;
    assert!(!page.text.contains("Not on the website<"), "{page:?}");
    let wrong = preview(&mut clerk, "Name\tCategory\tListed\nRex\tDogs\tperhaps")
        .await
        .expect(422);
    assert!(
        wrong.text.contains("Website: Enter yes or no."),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn members_see_the_photos_and_strangers_do_not() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Luna", "false").await;
    let picture = pictures::png(8, 6);
    clerk
        .upload("/animals/1/photos", "", &[("a.png", &picture)])
        .await
        .expect(303);
    let photo = pet(&shop, 1).await.photos.all()[0].id;
    let url = format!("/photos/{photo}-small.jpg");
    let file = clerk.get(&url).await.expect(200);
    assert_eq!(
        file.field("cache-control"),
        "private, max-age=31536000, immutable"
    );
    shop.browser().get(&url).await.expect(404);
    let listed = PetPatch {
        is_listed: Some(true),
        ..PetPatch::default()
    };
    change_pet(&shop.store, patch(PetId::new(1).unwrap(), listed)).await;
    let file = shop.browser().get(&url).await.expect(200);
    assert_eq!(
        file.field("cache-control"),
        "public, max-age=31536000, immutable"
    );
}
