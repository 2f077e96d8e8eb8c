//! How visitors choose among the animals, and what the page then shows.

use petstore_domain::{
    PetStatus::{Pending, Sold},
    store_area::{FieldKind, FieldValue, PetPatch, RequestedValue},
};

use super::street::{Seen, Street};

#[tokio::test]
async fn a_filter_is_a_category_public_choices_and_the_beginning_of_a_name() {
    let street = Street::open().await;
    street.label(1, "Pets").await;
    let cat = street
        .add("Luna", &[("species", "Cat"), ("size", "Small")])
        .await;
    let dog = street
        .add("Old Max", &[("species", "Dog"), ("size", "Small")])
        .await;
    for (query, expected) in [
        ("field.species=Cat", vec![cat]),
        ("field.species=c%C3%A1t", vec![cat]),
        ("field.size=Small", vec![dog, cat]),
        ("field.size=Small&field.species=Dog", vec![dog]),
        ("field.species=Wolf", vec![]),
        ("name=max", vec![dog]),
        ("name=ax", vec![]),
        ("categoryId=1&name=LUN", vec![cat]),
        ("categoryId=2", vec![]),
        // Unknown ones are ignored.
        (
            "utm_source=mail&field.microchip=7&field.unknown=1&limit=1&fbclid=x",
            vec![dog, cat],
        ),
    ] {
        let page = street.get(&format!("/?{query}")).await.expect(200);
        let none = page.text.contains("No animals match your search.");
        assert_eq!(none, expected.is_empty(), "{query}");
        assert_eq!(page.animals(), expected, "{query}");
        // The first animal is not below a form.
        assert!(
            page.text.contains("<details class=\"filter\"><summary>"),
            "{query}"
        );
    }
    for typed in ["Cat", "cAT"] {
        let page = street
            .get(&format!("/?field.species={typed}"))
            .await
            .expect(200);
        assert_eq!(
            page.text.matches("<option value=\"Cat\" selected>").count(),
            1,
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn what_filters_is_shown_and_can_be_taken_off_and_the_form_keeps_all_of_it() {
    let street = Street::open().await;
    for id in 1..=120 {
        street.label(id, &format!("Label {id}")).await;
    }
    for name in ["good_with_cats", "good_with_dogs"] {
        street.choice(name, &["Yes", "No"]).await;
    }
    let all = [
        "species=Cat",
        "sex=Female",
        "size=Small",
        "good_with_cats=Yes",
        "good_with_dogs=No",
    ];
    let values = all.map(|one| one.split_once('=').unwrap());
    let found = street.add("Luna", &values).await;
    street.add("Mia", &values[..4]).await;
    let patch = PetPatch {
        category_id: Some(110),
        ..PetPatch::default()
    };
    street.patch(found, patch).await;
    let fields = all.map(|one| format!("field.{one}")).join("&");
    let page = street
        .get(&format!("/?categoryId=110&{fields}&name=l"))
        .await
        .expect(200);
    assert_eq!(page.animals(), [found]);
    let chosen = page.between("<ul class=\"chosen\"", "</ul>");
    for shown in [
        "Category: Label 110",
        "Species: Cat",
        "good_with_dogs: No",
        "Name: l",
    ] {
        assert!(
            chosen.contains(&format!("<bdi>{shown}</bdi>")),
            "{shown}: {chosen}"
        );
    }
    assert_eq!(chosen.matches("<a ").count(), 7);
    let without = chosen
        .split("href=\"")
        .nth(2)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        without.contains("categoryId=110") && !without.contains("good%5Fwith%5Fcats"),
        "{without}"
    );
    for kept in [
        "<option value=\"110\" selected>Label 110<",
        "name=\"field.good_with_cats\"><option value=\"\">Any</option><option value=\"Yes\" selected>",
        "<option value=\"No\" selected>No<",
        "<details open><summary>More filters</summary>",
    ] {
        assert!(page.text.contains(kept), "{kept}: {page:?}");
    }
}

#[tokio::test]
async fn a_form_with_empty_inputs_leads_to_the_address_without_them() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    for (query, to) in [
        ("field.species=&field.sex=&categoryId=&name=", "/"),
        ("field.species=dog&field.sex=&name=", "/?field.species=Dog"),
        ("sort=longest&name=", "/?sort=longest"),
    ] {
        let there = street.get(&format!("/?{query}")).await.expect(303);
        assert_eq!(there.field("location"), to);
        street.get(to).await.expect(200);
    }
}

/// The links to the kinds of animals: where each leads, and what it says.
fn kinds(page: &Seen) -> Vec<(String, String)> {
    let Some((_, row)) = page.text.split_once("<ul class=\"kinds\"") else {
        return Vec::new();
    };
    let links = row
        .split_once("</ul>")
        .unwrap()
        .0
        .split("<a href=\"")
        .skip(1);
    let link = |link: &str| {
        let (href, rest) = link.split_once('"').unwrap();
        let texts = rest
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text);
        (href.replace("&amp;", "&"), texts.collect())
    };
    links.map(link).collect()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter()
        .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
        .collect()
}

#[tokio::test]
async fn the_species_are_above_the_list_with_their_drawings_and_numbers() {
    let street = Street::open().await;
    for (species, status) in [
        ("Cat", Pending),
        ("Cat", Pending),
        ("Cat", Sold),
        ("Bird", Sold),
        ("Dog", Pending),
    ] {
        street
            .add_with_status("Luna", status, &[("species", species), ("sex", "Female")])
            .await;
    }
    let page = street.get("/").await.expect(200);
    let all = pairs(&[
        ("/?field.species=Dog", "Dogs 1"),
        ("/?field.species=Cat", "Cats 2"),
    ]);
    assert_eq!(kinds(&page), all);
    let row = page.between("<ul class=\"kinds\"", "</ul>");
    assert!(
        row.contains("href=\"#d-dog\"") && row.contains("href=\"#d-cat\""),
        "{row}"
    );
    // It leads back, and is not shown twice.
    let page = street
        .get("/?sort=longest&field.species=Cat")
        .await
        .expect(200);
    let chosen = [
        ("/?sort=longest&field.species=Dog", "Dogs 1"),
        ("/?sort=longest", "Remove Cats×"),
    ];
    assert_eq!(kinds(&page), pairs(&chosen));
    assert!(!page.text.contains("<ul class=\"chosen\""), "{page:?}");
    assert!(page.text.contains("aria-current=\"true\""), "{page:?}");
    // Another filter stays, and the numbers would be wrong.
    let page = street.get("/?field.sex=Female").await.expect(200);
    let others = [
        ("/?field.sex=Female&field.species=Dog", "Dogs"),
        ("/?field.sex=Female&field.species=Cat", "Cats"),
    ];
    assert_eq!(kinds(&page), pairs(&others));
    street.add("Kiwi", &[("species", "Bird")]).await;
    let names: Vec<_> = kinds(&street.get("/").await)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["Dogs 1", "Cats 2", "Birds 1"]);
}

#[tokio::test]
async fn without_two_species_the_categories_are_above_the_list() {
    let street = Street::open().await;
    for (id, label) in [(1, "Cats"), (2, "Puppies"), (3, "Others")] {
        street.label(id, label).await;
    }
    street.add("Luna", &[("species", "Cat")]).await;
    assert_eq!(kinds(&street.get("/").await), []);
    let id = street.add("Rex", &[]).await;
    let patch = PetPatch {
        category_id: Some(2),
        ..PetPatch::default()
    };
    street.patch(id, patch).await;
    let page = street.get("/").await.expect(200);
    let all = [
        ("/?categoryId=1", "Cats 1"),
        ("/?categoryId=2", "Puppies 1"),
    ];
    assert_eq!(kinds(&page), pairs(&all));
    assert!(
        page.between("<ul class=\"kinds\"", "</ul>")
            .contains("href=\"#d-dog\"")
    );
    let page = street.get("/?categoryId=2").await.expect(200);
    assert_eq!((page.animals(), &*kinds(&page)[1].0), (vec![id], "/"));
}

#[tokio::test]
async fn a_visitor_chooses_by_every_public_choice_and_by_yes_or_no() {
    let street = Street::open().await;
    street
        .field("child", "Good with children", FieldKind::Boolean, true)
        .await;
    street
        .field("bites", "Bites", FieldKind::Boolean, false)
        .await;
    street.choice("energy", &["Calm", "Lively"]).await;
    for value in [true, false] {
        let id = street.add("Luna", &[]).await;
        let values = ["child", "bites"].map(|name| {
            (
                name.to_owned(),
                RequestedValue::Set(FieldValue::Boolean(value)),
            )
        });
        street
            .patch(
                id,
                PetPatch {
                    fields: values.into(),
                    ..PetPatch::default()
                },
            )
            .await;
    }
    let page = street.get("/").await.expect(200);
    // Species, sex and size come first, and the rest is closed.
    let labels = page
        .text
        .split("<label for=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let expected = [
        "field.species",
        "field.sex",
        "field.size",
        "age",
        "field.child",
        "field.energy",
    ];
    assert_eq!(labels.collect::<Vec<_>>(), expected);
    assert!(
        page.text
            .contains("<details><summary>More filters</summary>"),
        "{page:?}"
    );
    for (query, expected) in [
        ("field.child=true", vec![1]),
        ("field.child=false", vec![2]),
        ("field.bites=true", vec![2, 1]),
        ("field.energy=Calm", vec![]),
    ] {
        let page = street.get(&format!("/?{query}")).await.expect(200);
        assert_eq!(page.animals(), expected, "{query}");
        for path in ["/animals.csv", "/animals.atom"] {
            let file = street
                .get(&format!("{path}?{query}"))
                .await
                .expect(200)
                .text;
            let found =
                [1, 2].map(|id| file.contains(&format!("https://animals.example/animals/{id}")));
            assert_eq!(
                found,
                [1, 2].map(|id| expected.contains(&id)),
                "{path} {query}: {file}"
            );
        }
    }
    let page = street.get("/?field.child=true").await.expect(200);
    for shown in [
        "<bdi>Good with children: Yes</bdi>",
        "<option value=\"true\" selected>Yes<",
        "<details open><summary>More filters</summary>",
        "<a href=\"/animals.atom?field.child=true\"",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    let page = street.get("/?field.child=Yes").await.expect(400);
    assert!(
        page.text.contains("field.child must be true or false."),
        "{page:?}"
    );
}

#[tokio::test]
async fn at_most_eight_properties_filter_at_once() {
    let street = Street::open().await;
    let names: Vec<_> = (0..9)
        .map(|number| format!("field.choice{number}=Yes"))
        .collect();
    for name in &names {
        let name = name.trim_start_matches("field.").trim_end_matches("=Yes");
        street.choice(name, &["Yes", "No"]).await;
    }
    let values: Vec<_> = (0..9).map(|number| format!("choice{number}")).collect();
    let values: Vec<_> = values.iter().map(|name| (name.as_str(), "Yes")).collect();
    let id = street.add("Luna", &values).await;
    street.add("Mia", &values[..7]).await;
    let page = street
        .get(&format!("/?{}", names[..8].join("&")))
        .await
        .expect(200);
    assert_eq!(page.animals(), [id]);
    let page = street
        .get(&format!("/?{}", names.join("&")))
        .await
        .expect(400);
    let says =
        "At most 8 properties can be chosen at once, but these are 9. Go back, and take some off.";
    assert!(page.text.contains(says), "{page:?}");
}

#[tokio::test]
async fn if_none_fits_the_page_says_what_is_found_without_one_of_the_filters() {
    let street = Street::open().await;
    for (species, sex) in [("Cat", "Female"), ("Cat", "Female"), ("Dog", "Male")] {
        street
            .add("Luna", &[("species", species), ("sex", sex)])
            .await;
    }
    let page = street
        .get("/?sort=longest&field.species=Cat&field.sex=Male")
        .await
        .expect(200);
    let instead = page
        .between("<ul class=\"instead\">", "</ul>")
        .replace("<bdi>", "")
        .replace("</bdi>", "");
    for link in [
        "<a href=\"/?sort=longest&amp;field.species=Cat\">Without “Sex: Male”</a>: 2 animals",
        "<a href=\"/?sort=longest&amp;field.sex=Male\">Without “Species: Cat”</a>: 1 animal<",
    ] {
        assert!(instead.contains(link), "{link}: {instead}");
    }
    // None of these finds any.
    let page = street
        .get("/?field.species=Bird&field.sex=Male&name=mia")
        .await
        .expect(200);
    assert!(!page.text.contains("class=\"instead\""), "{page:?}");
    assert!(
        page.text.contains("<p><a href=\"/\">Show all</a></p>"),
        "{page:?}"
    );
    let page = Street::open().await.get("/").await.expect(200);
    assert!(
        !page.text.contains("Show all") && !page.text.contains("class=\"kinds\""),
        "{page:?}"
    );
}
