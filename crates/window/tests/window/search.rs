//! The search of the window, and ages.

use std::collections::BTreeSet;

use super::street::Street;

/// A store with a cat, a dog and a bird.
async fn animals() -> Street {
    let street = Street::open().await;
    let cat = [
        ("species", "Cat"),
        ("breed", "Maine Coon"),
        ("colour", "Black"),
        ("sex", "Female"),
        ("size", "Small"),
        ("born", "2025-12-01"),
        ("description", "Likes sunshine"),
    ];
    street.add("Luna", &cat).await;
    let dog = [
        ("species", "Dog"),
        ("colour", "Black"),
        ("sex", "Male"),
        ("born", "2025-12-02"),
    ];
    street.add("Old Max", &dog).await;
    street
        .add(
            "Kiwi",
            &[
                ("species", "Bird"),
                ("sex", "Female"),
                ("born", "2018-12-01"),
            ],
        )
        .await;
    street
        .label_choices("species", &[("Bird", "Wellensittich")])
        .await;
    street
}

#[tokio::test]
async fn one_search_finds_words_of_names_and_public_values_labels_and_numbers() {
    let street = animals().await;
    for is_merged in [false, true] {
        if is_merged {
            while street.store.tend_search(0).await.unwrap() {}
        }
        for (query, expected) in [
            ("q=black", vec![2, 1]),
            ("q=small+black+female+cat", vec![1]),
            ("q=MAX", vec![2]),
            ("q=coon+luna", vec![1]),
            ("q=wellen", vec![3]),
            ("q=bird", vec![3]),
            ("q=dogs", vec![2]),
            ("q=black+cats", vec![1]),
            // Under a year on 1 December 2026.
            ("q=puppies", vec![2]),
            ("q=kitten", vec![]),
            ("q=Katzen", vec![1]),
            ("q=%233", vec![3]),
            ("q=sunshine", vec![]),
            ("q=oon", vec![]),
            ("q=black&field.sex=Male", vec![2]),
            ("q=black&name=lu", vec![1]),
            ("q=black&age=1", vec![1]),
            // On 1 December 2026.
            ("age=0", vec![2]),
            ("age=under3", vec![2, 1]),
            ("age=1", vec![1]),
            ("age=3", vec![]),
            ("age=8", vec![3]),
            ("age=8&field.sex=Female&sort=longest", vec![3]),
        ] {
            let page = street.get(&format!("/?{query}")).await.expect(200);
            let cards = page
                .between("<main", "</main>")
                .split("class=\"others\"")
                .next()
                .unwrap();
            let cards = cards.split("<a href=\"/animals/").skip(1);
            let cards: Vec<i64> = cards
                .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
                .collect();
            assert_eq!(cards, expected, "{query} {is_merged}");
            let json = street
                .get(&format!("/animals.json?{query}"))
                .await
                .expect(200)
                .json();
            assert_eq!(json.as_array().unwrap().len(), expected.len(), "{query}");
            let rows = street
                .get(&format!("/animals.csv?{query}"))
                .await
                .expect(200)
                .text;
            assert_eq!(rows.lines().count(), 1 + expected.len(), "{query}: {rows}");
            let feed = street
                .get(&format!("/animals.atom?{query}"))
                .await
                .expect(200)
                .text;
            assert_eq!(
                feed.matches("<entry>").count(),
                expected.len(),
                "{query}: {feed}"
            );
        }
    }
}

#[tokio::test]
async fn a_search_shows_what_it_understood_with_a_link_to_the_search_without_it() {
    let street = animals().await;
    street.add("Kitten", &[("species", "Dog")]).await;
    let page = street.get("/?q=black+puppies").await.expect(200);
    let chips = page.between("<ul class=\"chosen\"", "</ul>");
    let link =
        "<a href=\"/?q=black\"><span class=\"hidden\">Remove </span><bdi>Dog · under 1 year</bdi>";
    assert!(chips.contains(link), "{chips}");
    let page = street.get("/?q=cat").await.expect(200);
    let chips = page.between("<ul class=\"chosen\"", "</ul>");
    assert!(
        chips.contains("<a href=\"/\"><span class=\"hidden\">Remove </span><bdi>Cat</bdi>"),
        "{chips}"
    );
    // Only words that mean something have such a link.
    let page = street.get("/?q=luna").await.expect(200);
    let chips = page.between("<ul class=\"chosen\"", "</ul>");
    assert_eq!(chips.matches("<li>").count(), 1, "{chips}");
}

#[tokio::test]
async fn the_animal_with_the_name_comes_before_those_that_the_word_means() {
    let street = Street::open().await;
    street.add("Kater Karlo", &[("species", "Dog")]).await;
    for name in ["Tom", "Tim"] {
        let values = [("species", "Cat"), ("sex", "Male")];
        street.add(name, &values).await;
    }
    let page = street.get("/?q=Kater").await.expect(200);
    let cards = page.between("<main", "</main>");
    let ids: Vec<_> = cards
        .split("<a href=\"/animals/")
        .skip(1)
        .map(|card| &card[..1])
        .collect();
    assert_eq!(ids, ["1", "3", "2"]);
}

#[tokio::test]
async fn what_is_searched_is_shown_and_can_be_taken_off_and_no_address_has_an_empty_parameter() {
    let street = animals().await;
    let page = street
        .get("/?q=+black++cat&age=1&name=lu")
        .await
        .expect(200);
    let chosen = page.between("<ul class=\"chosen\"", "</ul>");
    for shown in ["Age: 1–2 years", "Name: lu", "“black  cat”"] {
        assert!(
            chosen.contains(&format!("<bdi>{shown}</bdi>")),
            "{shown}: {chosen}"
        );
    }
    for kept in [
        "value=\"black  cat\" placeholder=\"Name, breed, colour\"",
        "<input type=\"hidden\" name=\"name\" value=\"lu\">",
        "<option value=\"1\" selected>1–2 years<",
        "<meta name=\"robots\" content=\"noindex, follow\">",
    ] {
        assert!(page.text.contains(kept), "{kept}: {page:?}");
    }
    let (mut waiting, mut seen) = (
        vec!["/?q=black&age=1&field.sex=Female".to_owned()],
        BTreeSet::new(),
    );
    while let Some(path) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = street.get(&path).await.expect(200);
        let links = page
            .text
            .split("href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        for link in links.map(|link| link.replace("&amp;", "&")) {
            assert!(
                !link.contains("=&") && !link.ends_with('='),
                "{path}: {link}"
            );
            waiting.extend(link.starts_with("/?").then_some(link));
        }
    }
    // Filters that were taken off, with each species, and in both orders.
    assert!(
        seen.contains("/?field.sex=Female&field.species=Dog&age=1&q=black"),
        "{seen:?}"
    );
    assert!(
        seen.contains("/?sort=longest") && seen.contains("/?age=1"),
        "{seen:?}"
    );
    let there = street.get("/?q=++&age=&field.sex=").await.expect(303);
    assert_eq!(there.field("location"), "/");
}

#[tokio::test]
async fn a_search_that_is_too_long_and_an_unknown_age_get_a_page_that_says_so() {
    let street = Street::open().await;
    let (long, many) = (
        format!("q={}", "x".repeat(65)),
        format!("q={}", "x+".repeat(17)),
    );
    for query in [&*long, &many, "q=%00"] {
        let page = street.get(&format!("/?{query}")).await.expect(400);
        let says = "A search must not be longer than 64 characters and 16 words.";
        assert!(page.text.contains(says), "{query}: {page:?}");
    }
    let page = street.get("/?age=2").await.expect(400);
    assert!(
        page.text.contains("age must be 0, under3, 1, 3 or 8."),
        "{page:?}"
    );
    street
        .get(&format!("/?q={}", "x".repeat(64)))
        .await
        .expect(200);
}
