//! `/animals/{id}`: what a page of an animal shows, and what it shows of one that is gone.

use petstore_app::StoreOptions;
use petstore_domain::{
    PetStatus::{Pending, Sold},
    store_area::{FieldKind, FieldValue, Language, PetPatch, Profile, RequestedValue, StoreKind},
};

use super::street::{Street, settings};

const ALL: [(&str, &str); 8] = [
    ("species", "Cat"),
    ("breed", "Maine Coon"),
    ("sex", "Female"),
    ("born", "2023-05-03"),
    ("colour", "Red tabby"),
    ("size", "Large"),
    ("description", "She is curious.\n\nShe likes\nbirds."),
    ("price", "249.00"),
];

#[tokio::test]
async fn a_page_has_the_public_fields_with_their_labels_and_how_to_ask() {
    let street = Street::open().await;
    street.label(1, "Cats").await;
    let id = street.add("Luna", &ALL).await;
    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    for shown in [
        "<h1><bdi>Luna</bdi></h1>",
        "<p class=\"kind\"><bdi>Cat · Maine Coon · Female · 3\u{a0}years</bdi></p>",
        "<dt>Born</dt><dd><time datetime=\"2023-05-03\">3\u{a0}May\u{a0}2023</time></dd>",
        "<dt>Colour</dt><dd><bdi>Red tabby</bdi></dd>",
        "<p class=\"price\"><span><bdi>Price</bdi>: </span>€249.00</p>",
        "<p dir=\"auto\">She is curious.</p><p dir=\"auto\">She likes<br>birds.</p>",
        "href=\"mailto:hello@paws.example?subject=Luna%20%281%29\"",
        "Ask about Luna",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    // Each is said once, and the story before the facts.
    for said in ["Species", "Breed", "Sex", "Category"] {
        assert!(
            !page.text.contains(&format!("<dt>{said}</dt>")),
            "{said}: {page:?}"
        );
    }
    let labels = ["Description", "Born", "Colour", "Size"];
    let at: Vec<_> = labels
        .iter()
        .map(|label| page.text.find(&format!(">{label}<")))
        .collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{at:?}");
}

#[tokio::test]
async fn without_a_contact_a_page_says_what_to_ask_for() {
    let street = Street::of(StoreOptions {
        contact: None,
        ..settings().store
    })
    .await;
    let id = street.add("Luna", &[]).await;
    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    assert!(
        page.text.contains("Ask us about Luna, number 1."),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_pending_animal_is_shown_as_reserved_with_or_without_an_order() {
    let street = Street::open().await;
    let by_hand = street.add_with_status("Luna", Pending, &[]).await;
    let by_order = street.add("Mia", &[]).await;
    let pet = petstore_domain::PetId::new(by_order).unwrap();
    let order = petstore_testing::area::reserve(pet);
    petstore_testing::area::place(&street.store, order).await;
    for (id, name) in [(by_hand, "Luna"), (by_order, "Mia")] {
        let page = street.get(&format!("/animals/{id}")).await.expect(200);
        assert!(
            page.text
                .contains(&format!("{name} is reserved at the moment.")),
            "{page:?}"
        );
    }
    assert_eq!(street.get("/").await.text.matches(">Reserved<").count(), 2);
}

#[tokio::test]
async fn a_sold_animal_is_410_with_its_name_a_withdrawn_one_410_without_and_an_unknown_one_404() {
    let street = Street::open().await;
    let sold = street.add_with_status("Luna", Sold, &[]).await;
    let withdrawn = street.add("Mia", &[]).await;
    street.withdraw(withdrawn).await;
    let page = street.get(&format!("/animals/{sold}")).await.expect(410);
    assert!(
        page.text.contains("<h1>Luna has found a home</h1>"),
        "{page:?}"
    );
    let page = street
        .get(&format!("/animals/{withdrawn}"))
        .await
        .expect(410);
    assert!(
        !page.text.contains("Mia") && !page.text.contains("ransferred"),
        "{page:?}"
    );
    assert!(
        page.text.contains("<a class=\"button\" href=\"/\">"),
        "{page:?}"
    );
    assert!(
        page.text
            .contains("<meta name=\"robots\" content=\"noindex, follow\">"),
        "{page:?}"
    );
    for id in ["3", "0", "-1", "x", "01", "9007199254740992", "1%20"] {
        let page = street.get(&format!("/animals/{id}")).await.expect(404);
        assert!(page.text.contains("No animal has this number."), "{page:?}");
    }
}

#[tokio::test]
async fn a_sold_animal_keeps_its_picture_and_a_withdrawn_one_has_none() {
    let street = Street::open().await;
    let cat = [("species", "Cat")];
    let sold = street.add_with_status("Luna", Sold, &cat).await;
    let page = street.get(&format!("/animals/{sold}")).await.expect(410);
    let picture = page.between("<div class=\"picture last\">", "</div>");
    assert!(picture.contains("<svg"), "{page:?}");
    let with_photo = street.add_with_status("Mia", Sold, &cat).await;
    let photo = street.photo(with_photo, None).await.to_string();
    let path = format!("/animals/{with_photo}");
    let page = street.get(&path).await.expect(410);
    let picture = page.between("<div class=\"picture last\">", "</div>");
    assert!(picture.contains(&photo), "{page:?}");
    street.withdraw(with_photo).await;
    let page = street.get(&path).await.expect(410);
    let has_picture = page.text.contains("picture last") || page.text.contains(&photo);
    assert!(!has_picture, "{page:?}");
}

#[tokio::test]
async fn a_page_ends_with_others_of_the_species_and_a_gone_one_with_the_newest() {
    let street = Street::open().await;
    let (cat, dog) = ([("species", "Cat")], [("species", "Dog")]);
    let first = street.add("Rex", &dog).await;
    let mut cats = Vec::new();
    for name in ["Ada", "Bea", "Cleo", "Dot", "Elsa", "Fay"] {
        cats.push(street.add(name, &cat).await);
    }
    let sold = street.add_with_status("Gia", Sold, &cat).await;
    let page = street
        .get(&format!("/animals/{}", cats[5]))
        .await
        .expect(200);
    assert!(page.text.contains("<h2>Similar animals</h2>"), "{page:?}");
    assert_eq!(page.animals(), [cats[4], cats[3], cats[2], cats[1]]);
    let alone = street.get(&format!("/animals/{first}")).await.expect(200);
    assert!(!alone.text.contains("Similar animals"), "{alone:?}");
    let gone = street.get(&format!("/animals/{sold}")).await.expect(410);
    assert!(
        gone.text.contains("<h2>Our newest animals</h2>"),
        "{gone:?}"
    );
    assert_eq!(gone.animals(), [cats[5], cats[4], cats[3], cats[2]]);
    // If none fits, those that fit at least by their species.
    for (query, others) in [
        ("name=zoe", &[][..]),
        ("name=zoe&field.species=Dog", &[first]),
    ] {
        let none = street.get(&format!("/?{query}")).await.expect(200);
        assert!(
            none.text.contains("No animals match your search."),
            "{none:?}"
        );
        assert_eq!(none.animals(), others, "{query}");
    }
}

#[tokio::test]
async fn json_ld_uses_the_names_of_schema_org_and_has_an_offer_with_price_and_currency() {
    let street = Street::open().await;
    street.label(1, "Cats").await;
    let id = street.add("Luna", &ALL).await;
    let schema = street
        .get(&format!("/animals/{id}"))
        .await
        .expect(200)
        .schema();
    for (member, value) in [
        ("@type", "Product"),
        ("name", "Luna"),
        ("category", "Cats"),
        ("color", "Red tabby"),
        ("size", "Large"),
        ("sku", "1"),
        ("url", "https://animals.example/animals/1"),
        ("description", "She is curious. She likes birds."),
    ] {
        assert_eq!(schema[member], value, "{schema}");
    }
    let offer = &schema["offers"];
    assert_eq!(
        (&offer["price"], &offer["priceCurrency"]),
        (&"249.00".into(), &"EUR".into())
    );
    assert_eq!(offer["availability"], "https://schema.org/InStock");
    let others = schema["additionalProperty"].as_array().unwrap();
    let names: Vec<_> = others
        .iter()
        .map(|other| other["propertyID"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["species", "breed", "sex", "born"]);
    assert_eq!(others[3]["value"], "2023-05-03");

    street
        .patch(
            id,
            PetPatch {
                status: Some(Pending),
                ..PetPatch::default()
            },
        )
        .await;
    let schema = street
        .get(&format!("/animals/{id}"))
        .await
        .expect(200)
        .schema();
    assert_eq!(
        schema["offers"]["availability"],
        "https://schema.org/Reserved"
    );
    let without = Street::of(StoreOptions {
        currency: None,
        ..settings().store
    })
    .await;
    let id = without.add("Luna", &ALL).await;
    let page = without.get(&format!("/animals/{id}")).await.expect(200);
    assert!(page.text.contains(">249.00<"), "{page:?}");
    // Search engines reject a product without an offer.
    let expected = serde_json::json!({
        "@context": "https://schema.org",
        "@type": "WebPage",
        "inLanguage": "en",
        "publisher": {
            "@type": "Organization",
            "name": "Paws & Co.",
            "url": "https://animals.example/",
        },
        "name": "Luna",
        "url": "https://animals.example/animals/1",
        "description": "She is curious. She likes birds.",
    });
    assert_eq!(page.schema(), expected);
    without.photo(id, None).await;
    let schema = without
        .get(&format!("/animals/{id}"))
        .await
        .expect(200)
        .schema();
    let image = schema["primaryImageOfPage"]["contentUrl"].as_str().unwrap();
    assert!(
        image.starts_with("https://animals.example/photos/"),
        "{schema}"
    );
}

#[tokio::test]
async fn a_field_that_the_store_defines_is_shown_once_it_is_public() {
    let street = Street::open().await;
    street.field("hobby", "Hobby", FieldKind::Text, false).await;
    let id = street.add("Luna", &[("hobby", "Chess")]).await;
    assert!(
        !street
            .get(&format!("/animals/{id}"))
            .await
            .expect(200)
            .text
            .contains("Chess")
    );
    street.field("hobby", "Hobby", FieldKind::Text, true).await;
    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    assert!(
        page.text
            .contains("<dt>Hobby</dt><dd><bdi>Chess</bdi></dd>"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_public_price_or_description_of_another_kind_is_shown_as_any_other_field() {
    let street = Street::open().await;
    street.field("price", "Price", FieldKind::Text, true).await;
    street
        .field("description", "In short", FieldKind::Text, true)
        .await;
    let id = street
        .add("Luna", &[("price", "on request"), ("description", "Calm")])
        .await;
    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    for shown in [
        "<dt>Price</dt><dd><bdi>on request</bdi></dd>",
        "<dt>In short</dt><dd><bdi>Calm</bdi></dd>",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    let schema = page.schema();
    assert_eq!(
        (&schema["@type"], &schema["description"]),
        (&"WebPage".into(), &"Calm".into())
    );
}

#[tokio::test]
async fn a_price_is_written_in_the_language_of_the_store_behind_its_word_and_one_of_nothing_is_free()
 {
    let street = Street::open().await;
    let dear = street.add("Luna", &[("price", "1249.5")]).await;
    let free = street.add("Mia", &[("price", "0.00")]).await;
    for (language, fee, colon, price, nothing) in [
        (Language::English, "Adoption fee", ": ", "€1,249.50", "Free"),
        (
            Language::German,
            "Schutzgebühr",
            ": ",
            "1.249,50\u{a0}€",
            "Kostenlos",
        ),
        (
            Language::French,
            "Frais d’adoption",
            "\u{a0}: ",
            "1\u{202f}249,50\u{a0}€",
            "Gratuit",
        ),
        (
            Language::Spanish,
            "Tasa de adopción",
            ": ",
            "1249,50\u{a0}€",
            "Gratis",
        ),
    ] {
        // A shop has the word that it gave the field.
        for (kind, label) in [(None, "Price"), (Some(StoreKind::Shelter), fee)] {
            street
                .say(Profile {
                    language: Some(language),
                    kind,
                    ..Profile::default()
                })
                .await;
            let list = street.get("/").await.expect(200);
            for (id, expected) in [(dear, price), (free, nothing)] {
                let page = street.get(&format!("/animals/{id}")).await.expect(200);
                let shown = format!("<span><bdi>{label}</bdi>{colon}</span>{expected}</p>");
                for page in [&page, &list] {
                    assert!(page.text.contains(&shown), "{shown} {page:?}");
                }
            }
        }
        // Programs get numbers.
        assert!(street.get("/animals.csv").await.text.contains("1249.5"));
    }
}

#[tokio::test]
async fn an_estimated_birth_is_shown_as_about_its_age_and_its_year() {
    let street = Street::open().await;
    let estimate = ("born_estimated", "Birth estimated", FieldKind::Boolean);
    street.field(estimate.0, estimate.1, estimate.2, true).await;
    let born = ("born", "2023-05-03");
    let known = street.add("Luna", &[born]).await;
    let guessed = street.add("Mia", &[born]).await;
    let mark = RequestedValue::Set(FieldValue::Boolean(true));
    let patch = PetPatch {
        fields: [(estimate.0.to_owned(), mark)].into(),
        ..PetPatch::default()
    };
    street.patch(guessed, patch).await;
    let page = street.get(&format!("/animals/{guessed}")).await.expect(200);
    for shown in ["<bdi>about 3\u{a0}years</bdi>", "<dd>around 2023</dd>"] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    assert!(!page.text.contains("estimated"), "{page:?}");
    let page = street.get(&format!("/animals/{known}")).await.expect(200);
    let about = page.between("<div class=\"about\">", "</dl>");
    assert!(!about.contains("about 3"), "{about}");
    let list = street.get("/").await.expect(200);
    assert_eq!(list.text.matches("about 3\u{a0}years").count(), 1);
    assert!(!list.text.contains("born_estimated"), "{list:?}");
}
