//! Categories: their numbers and names, and any number of them.

use petstore_domain::{PetId, Role};

use super::browser::{Browser, Page, Shop};

/// Adds an animal, and returns the path of its page.
async fn add(clerk: &mut Browser<'_>, category: &str) -> String {
    let form = [
        ("name", "Rex"),
        ("category", category),
        ("status", "available"),
    ];
    clerk.post("/add", &form).await.next().to_owned()
}

/// Gives a category a name, without a question.
async fn name(clerk: &mut Browser<'_>, label: &str, number: &str) {
    let form = [("label", label), ("number", number)];
    assert_eq!(clerk.post("/categories", &form).await.next(), "/categories");
}

/// What the store has: numbers with names.
async fn named(clerk: &mut Browser<'_>) -> Vec<(String, String)> {
    let page = clerk.get("/categories").await.expect(200);
    let links = page.text.split("<a href=\"/animals?category=").skip(1);
    links
        .map(|link| {
            let (number, rest) = link.split_once("\"><bdi>").unwrap();
            (
                number.to_owned(),
                rest.split_once("</bdi>").unwrap().0.to_owned(),
            )
        })
        .collect()
}

/// Says yes to the question of this page.
async fn yes(clerk: &mut Browser<'_>, page: &Page, form: &[(&str, &str)]) -> Page {
    let sure = page.hidden("sure");
    clerk
        .post("/categories", &[form, &[("sure", &sure)]].concat())
        .await
}

#[tokio::test]
async fn the_number_that_is_offered_belongs_to_no_animal_and_no_category() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "1"
    );
    add(&mut clerk, "1").await;
    name(&mut clerk, "Cats", "2").await;
    let gone = add(&mut clerk, "3").await;
    let form = [("version", "1"), ("why", "died"), ("remark", "")];
    clerk
        .post(&format!("{gone}/withdraw"), &form)
        .await
        .expect(303);
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "4"
    );
    // An empty number gets the same one, and so does a category that comes with its first animal.
    name(&mut clerk, "Dogs", "").await;
    let form = [
        ("name", "Bo"),
        ("category", "Fish"),
        ("status", "available"),
        ("new-category", "Fish"),
    ];
    assert_eq!(clerk.post("/add", &form).await.next(), "/animals/3");
    let all = [("2", "Cats"), ("4", "Dogs"), ("5", "Fish")];
    assert_eq!(
        named(&mut clerk).await,
        all.map(|(id, label)| (id.to_owned(), label.to_owned()))
    );
    let bo = shop
        .store
        .get_store_pet(PetId::new(3).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bo.category_id, 5);
}

#[tokio::test]
async fn the_name_of_a_category_needs_a_visible_character() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let long = "x".repeat(256);
    for (label, problem) in [
        ("", "Enter the name of the category."),
        ("\u{200b}\u{2060}", "Enter the name of the category."),
        (
            "\u{3164} \u{202e}\u{feff}",
            "Enter the name of the category.",
        ),
        (&long, "Enter 1 to 255 characters."),
    ] {
        let page = clerk
            .post("/categories", &[("label", label), ("number", "7")])
            .await;
        assert!(page.expect(422).text.contains(problem), "{label:?}");
        // It also does not come with its first animal.
        let form = [
            ("name", "Bo"),
            ("category", label),
            ("status", "sold"),
            ("new-category", label),
        ];
        clerk.post("/add", &form).await.expect(422);
    }
    assert_eq!(named(&mut clerk).await, []);
    name(&mut clerk, "\u{200f}Chats\u{200f}", "7").await;
}

#[tokio::test]
async fn a_number_that_animals_use_gets_a_name_only_after_a_question_with_their_number() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for _ in 0..2 {
        add(&mut clerk, "1").await;
    }
    let form = [("label", "Rabbit <1>"), ("number", "1"), ("_key", "k-1")];
    let page = clerk.post("/categories", &form).await.expect(200);
    let asked = "<p>2 animals are in this category and will show this name.</p>";
    assert!(page.text.contains(asked), "{page:?}");
    assert_eq!(named(&mut clerk).await, []);
    // Meanwhile there is another animal, so the question is another one.
    add(&mut clerk, "1").await;
    let page = yes(&mut clerk, &page, &form).await.expect(200);
    assert!(page.text.contains("<p>3 animals are in"), "{page:?}");
    for _ in 0..2 {
        assert_eq!(yes(&mut clerk, &page, &form).await.next(), "/categories");
    }
    assert_eq!(
        named(&mut clerk).await,
        [("1".to_owned(), "Rabbit &lt;1&gt;".to_owned())]
    );
}

#[tokio::test]
async fn another_name_for_a_category_is_asked_and_the_history_shows_the_present_name() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    name(&mut clerk, "Dogs", "4").await;
    let path = add(&mut clerk, "dogs").await;
    // The same name again needs no question.
    name(&mut clerk, "Dogs", "4").await;
    let form = [("label", "Hounds"), ("number", "4")];
    let page = clerk.post("/categories", &form).await.expect(200);
    for shown in [
        "Rename the category “Dogs” to “Hounds”?",
        "<p>1 animal is in this category",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    let page = yes(&mut clerk, &page, &form).await;
    assert_eq!(page.next(), "/categories");
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("<dd><bdi>Hounds</bdi></dd>"), "{page:?}");
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("<ins><bdi>Hounds</bdi></ins>"),
        "{history}"
    );
}

#[tokio::test]
async fn a_category_cannot_get_the_name_of_another_one_and_those_of_before_are_chosen_by_number() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    name(&mut clerk, "Dogs", "1").await;
    let form = [("label", "dogs"), ("number", "7")];
    let page = clerk.post("/categories", &form).await.expect(422);
    assert!(
        page.text
            .contains("Category 1 already has the name “Dogs”."),
        "{page:?}"
    );
    // An earlier release let a person say yes.
    let twin = "INSERT INTO categories VALUES (7, 'dogs', 1)";
    assert_eq!(shop.database().execute(twin, []).unwrap(), 1);
    let form = [
        ("name", "Rex"),
        ("category", "DOGS"),
        ("status", "available"),
    ];
    let page = clerk.post("/add", &form).await.expect(422);
    let which = "More than one category has the name “DOGS”. Type its number, such as 1 or 7.";
    assert!(
        page.text.contains(which) && !page.text.contains("new-category"),
        "{page:?}"
    );
    let path = add(&mut clerk, "7").await;
    // Its form does not move the animal.
    let edit = format!("{path}/edit");
    for category in [
        clerk.get(&edit).await.expect(200).typed("category"),
        "dogs".to_owned(),
    ] {
        let form = [("version", "1"), ("name", "Rex"), ("category", &category)];
        assert_eq!(clerk.post(&edit, &form).await.next(), path);
    }
    let rex = shop
        .store
        .get_store_pet(PetId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((rex.category_id, rex.version), (7, 1));
}

#[tokio::test]
async fn a_store_may_have_any_number_of_categories() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let many = "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1234)
        INSERT INTO categories SELECT id, 'Kind ' || id, 1 FROM n";
    assert_eq!(shop.database().execute(many, []).unwrap(), 1234);
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "1235"
    );
    name(&mut clerk, "Rabbits", "1235").await;
    // All are on a page.
    let (mut path, mut shown) = ("/categories".to_owned(), 0);
    loop {
        let page = clerk.get(&path).await.expect(200);
        shown += page.text.matches("<a href=\"/animals?category=").count();
        if !page.text.contains("Next page") {
            assert!(page.text.contains("Rabbits"), "{page:?}");
            break;
        }
        path = format!(
            "/categories?after={}",
            page.between("/categories?after=", "\"")
        );
    }
    assert_eq!(shown, 1235);
    // One behind the first is typed, shown, filtered by, moved to, pasted, and named again.
    let animal = add(&mut clerk, "rabbits").await;
    for path in [&animal, "/animals", "/animals?category=1235"] {
        let page = clerk.get(path).await.expect(200);
        assert!(page.text.contains("<bdi>Rabbits</bdi>"), "{page:?}");
    }
    let page = clerk.get("/animals?category=1235").await.expect(200);
    assert!(
        page.text
            .contains("<option value=\"1235\" selected>Rabbits</option>"),
        "{page:?}"
    );
    assert_eq!(
        clerk.get(&format!("{animal}/edit")).await.typed("category"),
        "Rabbits"
    );
    let moved = [("do", "move"), ("to", "Kind 1200"), ("pet", "1:1")];
    assert_eq!(
        clerk.post("/animals/selected", &moved).await.next(),
        "/animals"
    );
    let lines = [("lines", "Max\tKind 1199\nMia\t1198")];
    let page = clerk.post("/add/preview", &lines).await.expect(200);
    assert!(page.text.contains("<bdi>Kind 1199</bdi>") && page.text.contains("<bdi>Kind 1198</"));
    assert_eq!(clerk.post("/add/many", &lines).await.next(), "/animals");
    let of = async |id| {
        shop.store
            .get_store_pet(PetId::new(id).unwrap())
            .await
            .unwrap()
            .unwrap()
            .category_id
    };
    assert_eq!([of(1).await, of(2).await, of(3).await], [1200, 1199, 1198]);
    let form = [("label", "Kind 1"), ("number", "1235")];
    let page = clerk.post("/categories", &form).await.expect(422);
    assert!(
        page.text.contains("Category 1 already has the name"),
        "{page:?}"
    );
    let form = [("label", "Kind 1234"), ("number", "5000")];
    let page = clerk.post("/categories", &form).await.expect(422);
    assert!(
        page.text.contains("Category 1234 already has the name"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_free_number_is_found_while_many_animals_are_not_in_the_search_yet() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 15001)
        INSERT INTO pets (name, category_id, status) SELECT 'Max ' || i, 1, 'sold' FROM n";
    shop.database().execute(many, []).unwrap();
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "2"
    );
    name(&mut clerk, "Cats", "2").await;
    assert_eq!(
        named(&mut clerk).await,
        [("2".to_owned(), "Cats".to_owned())]
    );
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "3"
    );
    while shop.store.tend_search(0).await.unwrap() {}
    assert_eq!(
        clerk.get("/categories").await.expect(200).typed("number"),
        "3"
    );
}
