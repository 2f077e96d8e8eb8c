//! `/` and `/embed`: which animals they show, and how.

use hyper::Method;
use petstore_domain::{
    PetStatus::{Pending, Sold},
    store_area::FieldKind,
};
use petstore_window::WindowSettings;

use super::street::{Street, settings};

#[tokio::test]
async fn the_list_has_the_animals_that_are_available_or_reserved_newest_first_24_on_a_page() {
    let street = Street::open().await;
    let mut expected = Vec::new();
    for number in 0..60 {
        let id = match number % 6 {
            0 => street.add_with_status("Max", Sold, &[]).await,
            1 => street.add_with_status("Mia", Pending, &[]).await,
            _ => street.add("Rex", &[]).await,
        };
        if number % 6 == 5 {
            street.withdraw(id).await;
        } else if number % 6 != 0 {
            expected.push(id);
        }
    }
    expected.reverse();
    let (mut found, mut path, mut lengths) = (Vec::new(), Some("/".to_owned()), Vec::new());
    while let Some(next) = path {
        let page = street.get(&next).await.expect(200);
        found.extend(page.animals());
        lengths.push(page.animals().len());
        path = page.next();
        assert_eq!(page.text.contains("<link rel=\"next\""), path.is_some());
    }
    assert_eq!((found, lengths), (expected, vec![24, 16]));
}

#[tokio::test]
async fn a_card_has_name_species_and_breed_sex_age_price_and_whether_the_animal_is_reserved() {
    let street = Street::open().await;
    let values = [
        ("species", "Cat"),
        ("breed", "Maine Coon"),
        ("sex", "Female"),
        ("born", "2023-05-03"),
        ("price", "249.00"),
    ];
    street.add("Luna", &values).await;
    let page = street.get("/").await.expect(200);
    let card = page.between("<article class=\"pet\">", "</article>");
    let price = "<p class=\"price\"><span><bdi>Price</bdi>: </span>€249.00</p>";
    let shown = [
        "<bdi>Luna</bdi>",
        "Cat · Maine Coon",
        "Female · 3\u{a0}years",
        price,
    ];
    let at: Vec<_> = shown.iter().map(|text| card.find(text)).collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{card}");
    assert!(!card.contains("Reserved"), "{card}");
    street.add_with_status("Bruno", Pending, &[]).await;
    let page = street.get("/").await.expect(200);
    assert!(
        page.between("<article class=\"pet\">", "</article>")
            .contains("Reserved")
    );
}

#[tokio::test]
async fn an_animal_without_a_photo_has_a_drawing_of_its_species_which_is_on_the_page_once() {
    let street = Street::open().await;
    street.label(1, "Kittens and cats").await;
    for species in ["Dog", "Dog", "Horse"] {
        street.add("Max", &[("species", species)]).await;
    }
    // Without a species, its category says what it is.
    street.add("Mia", &[]).await;
    let page = street.get("/").await.expect(200);
    // Twice for dogs and once for horses, and once more in the links to their species.
    for (drawing, used) in [("dog", 3), ("horse", 2), ("cat", 1), ("fish", 0)] {
        let symbols = page
            .text
            .matches(&format!("<symbol id=\"d-{drawing}\">"))
            .count();
        let uses = page.text.matches(&format!("href=\"#d-{drawing}\"")).count();
        assert_eq!((symbols, uses), (used.min(1), used), "{drawing}");
    }
}

#[tokio::test]
async fn the_list_says_how_many_animals_there_are_and_can_begin_with_those_that_wait_longest() {
    let street = Street::open().await;
    street.add("Luna", &[("species", "Cat")]).await;
    assert!(
        street
            .get("/")
            .await
            .expect(200)
            .text
            .contains(">1 animal<")
    );
    for _ in 0..59 {
        street.add("Rex", &[("species", "Dog")]).await;
    }
    for (query, count) in [
        ("", "60 animals"),
        ("?field.species=Dog", "59 animals"),
        ("?field.species=Cat", "1 animal"),
        ("?cursor=30", "60 animals"),
        ("?field.species=Dog&cursor=30", "59 animals"),
        ("?name=Luna", "1 animal"),
    ] {
        let page = street.get(&format!("/{query}")).await.expect(200);
        assert!(
            page.text.contains(&format!(">{count}<")),
            "{query}: {page:?}"
        );
    }
    for filter in ["", "&field.species=Dog"] {
        let (mut found, mut path) = (Vec::new(), Some(format!("/?sort=longest{filter}")));
        while let Some(next) = path {
            let page = street.get(&next).await.expect(200);
            found.extend(page.animals());
            path = page.next();
        }
        assert_eq!(
            found,
            (if filter.is_empty() { 1 } else { 2 }..=60).collect::<Vec<_>>()
        );
    }
    street.get("/?sort=price").await.expect(400);
}

#[tokio::test]
async fn search_engines_show_pages_that_stay_and_a_link_to_the_list_has_a_picture() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("species", "Cat")]).await;
    street.photo(id, None).await;
    for (path, is_shown) in [
        ("/", true),
        ("/?field.species=Cat", true),
        ("/animals/1", true),
        ("/?field.species=Dog", false),
        ("/?name=l", false),
        ("/?sort=longest", false),
        ("/?cursor=9", false),
    ] {
        let page = street.get(path).await.expect(200);
        let robots = "<meta name=\"robots\" content=\"noindex, follow\">";
        assert_eq!(page.text.contains(robots), !is_shown, "{path}: {page:?}");
    }
    let page = street.get("/").await.expect(200);
    for name in [
        "property=\"og:image\" content=\"https://",
        "name=\"twitter:card\" content=\"summary_large",
    ] {
        assert!(page.text.contains(name), "{page:?}");
    }
}

#[tokio::test]
async fn a_page_of_a_filter_looks_at_a_bounded_number_of_animals_and_its_walk_finds_each_once() {
    let street = Street::open().await;
    let mut expected = Vec::new();
    for number in 0..130 {
        let species = if number % 4 == 0 { "Cat" } else { "Dog" };
        let id = street.add("Rex", &[("species", species)]).await;
        expected.extend((species == "Cat").then_some(id));
    }
    expected.reverse();
    let first = street.get("/?field.species=Cat").await.expect(200);
    let second = street.get(&first.next().unwrap()).await.expect(200);
    assert_eq!([first.animals(), second.animals()].concat(), expected);
    assert_eq!((first.animals().len(), second.next()), (24, None));
}

#[tokio::test]
async fn every_parameter_is_validated_with_a_page_that_says_what_is_wrong() {
    let street = Street::open().await;
    street.field("hobby", "Hobby", FieldKind::Text, true).await;
    let long = "x".repeat(65);
    for (query, says) in [
        (
            "categoryId=cats",
            "This link is incomplete: categoryId must be the number of a category.",
        ),
        ("categoryId=1&categoryId=2", "more than once"),
        ("cursor=x", "This link is incomplete or too old."),
        ("cursor=0", "This link is incomplete or too old."),
        (&format!("name={long}"), "not be longer than 64 characters"),
        (&format!("field.size={long}"), "must be one of the choices"),
        ("field.size=%00", "must be one of the choices"),
        ("name=%ff", "must be UTF-8"),
    ] {
        for path in ["/", "/embed"] {
            let page = street.get(&format!("{path}?{query}")).await.expect(400);
            assert!(
                page.text.contains(says) && page.text.contains("<h1>"),
                "{query}: {page:?}"
            );
            assert_eq!(page.field("cache-control"), "no-store, no-transform");
        }
        let problem = street
            .get(&format!("/animals.json?{query}"))
            .await
            .expect(400)
            .json();
        assert!(
            problem["message"].as_str().unwrap().contains(says),
            "{problem}"
        );
    }
    for limit in ["0", "49", "x"] {
        street
            .get(&format!("/embed?limit={limit}"))
            .await
            .expect(400);
        street.get(&format!("/?limit={limit}")).await.expect(200);
    }
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let page = street.ask(method, "/", &[]).await.expect(405);
        assert_eq!(page.field("allow"), "GET, HEAD");
    }
    street.get("/nowhere").await.expect(404);
    // What the window does not know is ignored, whatever it is.
    for path in ["/?utm_source=caf%E9", "/embed?%ff=1", "/animals.json?x=%ff"] {
        street.get(path).await.expect(200);
    }
}

#[tokio::test]
async fn each_page_has_a_title_a_description_a_canonical_url_open_graph_and_json_ld() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("species", "Cat")]).await;
    let list = "/?utm_source=x&name=lu&field.species=Cat&categoryId=1&fbclid=7&limit=3";
    let of_list = "/?categoryId=1&amp;field.species=Cat&amp;name=lu";
    for (path, title, canonical) in [
        (
            list.to_owned(),
            "Meet our animals – Category: 1, Species: Cat, Name: lu",
            of_list.to_owned(),
        ),
        (
            format!("/animals/{id}?utm_source=x"),
            "Luna, Cat",
            format!("/animals/{id}"),
        ),
    ] {
        let page = street.get(&path).await.expect(200);
        for needed in [
            format!("<title>{title} – Paws &amp; Co.</title>"),
            "<meta name=\"description\" content=\"".to_owned(),
            format!("<link rel=\"canonical\" href=\"https://animals.example{canonical}\">"),
            format!("<meta property=\"og:url\" content=\"https://animals.example{canonical}\">"),
            format!("<meta property=\"og:title\" content=\"{title}\">"),
            "<meta property=\"og:description\"".to_owned(),
            "<meta property=\"og:site_name\" content=\"Paws &amp; Co.\">".to_owned(),
        ] {
            assert!(page.text.contains(&needed), "{needed}: {page:?}");
        }
        assert_eq!(page.page_schema()["@context"], "https://schema.org");
    }
}

#[tokio::test]
async fn embed_shows_the_cards_in_frames_of_the_chosen_sites_only() {
    let embed = vec![
        "https://paws.example".parse().unwrap(),
        "https://b.example".parse().unwrap(),
    ];
    let street = Street::with(WindowSettings {
        embed,
        ..settings()
    })
    .await;
    for _ in 0..30 {
        street.add("Rex", &[("species", "Dog")]).await;
    }
    let page = street
        .get("/embed?limit=3&field.species=Dog")
        .await
        .expect(200);
    assert_eq!(page.animals(), [30, 29, 28]);
    assert_eq!(
        page.text.matches("<a ").count(),
        page.text.matches("target=\"_top\"").count()
    );
    let policy = page.field("content-security-policy");
    assert!(
        policy.ends_with("frame-ancestors https://paws.example https://b.example"),
        "{policy}"
    );
    assert_eq!(street.get("/embed").await.expect(200).animals().len(), 24);
    assert_eq!(
        street
            .get("/embed?limit=48")
            .await
            .expect(200)
            .animals()
            .len(),
        30
    );
    for path in ["/", "/animals/1", "/nowhere", "/animals.json"] {
        let policy = street
            .get(path)
            .await
            .field("content-security-policy")
            .to_owned();
        assert!(
            policy.ends_with("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
    }
    let nobody = Street::open().await.get("/embed").await.expect(200);
    assert!(
        nobody
            .field("content-security-policy")
            .ends_with("frame-ancestors 'none'")
    );
}

#[tokio::test]
async fn the_first_page_has_at_most_40_kb_and_nothing_of_another_host() {
    let street = Street::open().await;
    street.label(1, "Cats, dogs, and all others").await;
    let species = [
        "Dog",
        "Cat",
        "Rabbit",
        "Small mammal",
        "Bird",
        "Reptile",
        "Fish",
        "Horse",
    ];
    for species in species.iter().cycle().take(24) {
        let values = [
            ("species", *species),
            ("breed", "Norwegian forest cat and others"),
            ("sex", "Unknown"),
            ("born", "2023-05-03"),
            ("price", "1249.00"),
        ];
        street
            .add("Ottilie von Hohenfels-Wallersteinburg", &values)
            .await;
    }
    let page = street.get("/").await.expect(200);
    assert!(page.text.len() <= 40_000, "{}", page.text.len());
    assert_eq!(page.text.matches("rel=\"stylesheet\"").count(), 1);
    for address in page
        .text
        .split(['"', ' '])
        .filter(|part| part.contains("://"))
    {
        let is_known = address.starts_with("https://animals.example/")
            || address.starts_with("https://schema.org");
        assert!(is_known, "{address}");
    }
    let scripts = page.text.matches("<script").count();
    assert_eq!(
        scripts,
        page.text
            .matches("<script type=\"application/ld+json\">")
            .count()
    );
}

#[tokio::test]
async fn the_label_of_a_choice_is_shown_everywhere_in_place_of_its_value_which_filters_use() {
    let street = Street::open().await;
    let id = street
        .add(
            "Mia",
            &[("species", "Cat"), ("size", "Small"), ("price", "9")],
        )
        .await;
    street
        .label_choices("species", &[("Cat", "Katze"), ("Dog", "Hund")])
        .await;
    street.label_choices("size", &[("Small", "Klein")]).await;
    let animal = format!("/animals/{id}");
    for path in [
        "/",
        &animal,
        "/animals.json",
        "/animals.csv",
        "/animals.atom",
    ] {
        let page = street.get(path).await.expect(200).text;
        assert!(
            page.contains("Katze") && !page.contains(">Cat<"),
            "{path}: {page}"
        );
    }
    let page = street.get(&animal).await.expect(200).text;
    assert!(page.contains("\"size\":\"Klein\""), "{page}");
    assert!(page.contains("<symbol id=\"d-cat\">"), "{page}");
    let page = street.get("/?field.species=Cat").await.expect(200);
    assert!(
        page.text.contains("<option value=\"Cat\" selected>Katze<"),
        "{page:?}"
    );
    assert_eq!(page.animals(), [id]);
    assert_eq!(
        street
            .get("/?field.species=Katze")
            .await
            .expect(200)
            .animals(),
        [0; 0]
    );
}

#[tokio::test]
async fn a_card_says_that_an_animal_is_new_or_has_waited_for_a_year() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let days = |days: u64| std::time::Duration::from_hours(24 * days);
    for (passed, label) in [
        (0, Some("Newly listed")),
        (6, Some("Newly listed")),
        (1, None),
        (357, None),
        (1, Some("With us for over a year")),
    ] {
        street.clock.advance(days(passed));
        let page = street.get("/").await.expect(200);
        let card = page.between("<article class=\"pet\">", "</article>");
        assert_eq!(card.contains("badge"), label.is_some(), "{passed}: {card}");
        assert!(
            label.is_none_or(|label| card.contains(label)),
            "{passed}: {card}"
        );
    }
}

#[tokio::test]
async fn a_link_that_asks_for_something_unknown_says_that_this_part_was_left_out() {
    const NOTE: &str = "Part of this link was not understood, and was ignored.";
    let street = Street::open().await;
    street
        .field("keeper", "Keeper", FieldKind::Text, false)
        .await;
    street.add("Rex", &[("species", "Dog")]).await;
    for (query, is_noted) in [
        ("page=9999", true),
        ("field.age=foo", true),
        ("field.species=Dog&field.age=foo", true),
        // A field that is not public is as unknown as one that does not exist.
        ("field.keeper=Ana", true),
        ("page=1", false),
        ("utm_source=letter&fbclid=x", false),
        ("field.age=", false),
        ("field.species=Dog", false),
    ] {
        let page = street.get(&format!("/?{query}")).await;
        let has_note = page.text.contains(NOTE);
        assert_eq!(has_note, is_noted, "{query}: {page:?}");
        if is_noted {
            assert_eq!(page.animals(), [1], "{query}");
            let indexed = page.between("rel=\"canonical\" href=\"", "\"");
            assert!(!indexed.contains("age"), "{indexed}");
        }
    }
    // Neither of both pages is sent in place of the other one.
    let noted = street.get("/?page=2").await;
    let plain = street.get("/").await;
    assert!(noted.text.contains(NOTE) && !plain.text.contains(NOTE));
}
