//! What the list of animals is filtered by: chips, the fields that filter, and what survives an action.

use petstore_domain::Role;

use super::{
    browser::{Browser, Shop},
    counter::walk,
};

/// Adds a cat with these values.
async fn add_cat(clerk: &mut Browser<'_>, name: &str, values: &[(&str, &str)]) {
    let cat = [
        ("name", name),
        ("category", "1"),
        ("status", "available"),
        ("field.species", "Cat"),
    ];
    clerk
        .post("/add", &[&cat[..], values].concat())
        .await
        .expect(303);
}

/// The links of the chips with their texts.
fn chips(page: &str) -> Vec<(String, String)> {
    let (_, chips) = page.split_once("<ul class=\"chips").expect(page);
    let links = chips.split_once("</ul>").unwrap().0.split("<li>").skip(1);
    let chip = |link: &str| {
        let (_, link) = link.split_once("href=\"").unwrap();
        let (to, words) = link.split_once("\">").unwrap();
        let words = words.replace("<bdi>", "");
        (
            words.split('<').next().unwrap().to_owned(),
            to.replace("&amp;", "&"),
        )
    };
    links.map(chip).collect()
}

#[tokio::test]
async fn every_choice_filters_and_each_filter_is_a_chip_that_can_be_taken_off() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    for (label, kind, more) in [("House trained", "boolean", ""), ("Kennel", "choice", "k1")] {
        let field = [("label", label), ("kind", kind), ("choices", more)];
        let page = manager.post("/settings/fields", &field).await;
        assert_eq!(page.status, 303, "{page:?}");
    }
    add_cat(
        &mut manager,
        "Mia",
        &[("field.house_trained", "true"), ("field.kennel", "k1")],
    )
    .await;
    add_cat(
        &mut manager,
        "Max",
        &[("field.house_trained", "false"), ("field.sex", "Male")],
    )
    .await;
    let form = manager.get("/animals").await.expect(200).text;
    for input in [
        "field.species",
        "field.sex",
        "field.size",
        "field.house_trained",
        "field.kennel",
    ] {
        assert!(
            form.contains(&format!("<select id=\"{input}\"")),
            "{input}: {form}"
        );
    }
    for (filter, names, words) in [
        (
            "field.house_trained=true",
            vec!["Mia"],
            "House trained: Yes",
        ),
        (
            "field.house_trained=false",
            vec!["Max"],
            "House trained: No",
        ),
        ("field.kennel=k1", vec!["Mia"], "Kennel: k1"),
        ("field.sex=Male", vec!["Max"], "Sex: Male"),
        ("status=all", vec!["Max", "Mia"], "In the store or sold"),
        ("category=1", vec!["Max", "Mia"], "Category 1"),
        ("q=m", vec!["Max", "Mia"], "“m”"),
    ] {
        let path = format!("/animals?{filter}");
        assert_eq!(walk(&mut manager, &path).await, names, "{filter}");
        let page = manager.get(&path).await.expect(200).text;
        assert_eq!(
            chips(&page)[0],
            (words.to_owned(), "/animals".to_owned()),
            "{filter}"
        );
    }
    // A chip takes off only its own filter, and the order stays.
    let path = "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest";
    let chips = chips(&manager.get(path).await.expect(200).text);
    let links: Vec<_> = chips.iter().map(|(words, to)| (&**words, &**to)).collect();
    assert_eq!(
        links,
        [
            (
                "“m”",
                "/animals?field.species=Cat&field.kennel=k1&sort=longest"
            ),
            ("Species: Cat", "/animals?q=m&field.kennel=k1&sort=longest"),
            ("Kennel: k1", "/animals?q=m&field.species=Cat&sort=longest"),
            (
                "Under 1 year",
                "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest&age=0"
            ),
            (
                "1–2 years",
                "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest&age=1"
            ),
            (
                "3–7 years",
                "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest&age=3"
            ),
            (
                "8 years or older",
                "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest&age=8"
            ),
            (
                "Include sold animals",
                "/animals?q=m&field.species=Cat&field.kennel=k1&sort=longest&status=all"
            ),
            ("Clear all", "/animals?sort=longest"),
        ]
    );
}

#[tokio::test]
async fn a_fourth_field_does_not_filter_and_the_list_says_so() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let field = [
        ("label", "Kennel"),
        ("kind", "choice"),
        ("choices", "k1\nk2"),
    ];
    manager.post("/settings/fields", &field).await.expect(303);
    let values = [
        ("field.sex", "Male"),
        ("field.size", "Small"),
        ("field.kennel", "k1"),
    ];
    add_cat(&mut manager, "Max", &values).await;
    let three = "/animals?field.sex=Male&field.size=Small&field.kennel=k1";
    let page = manager.get(three).await.expect(200);
    assert!(!page.text.contains("is left out"), "{page:?}");
    for field in ["sex", "size", "kennel"] {
        let kept = format!("<input type=\"hidden\" form=\"find\" name=\"kept\" value=\"{field}\">");
        assert!(page.text.contains(&kept), "{field}: {page:?}");
    }
    // The form sends what filtered before.
    let kept = "&kept=sex&kept=size&kept=kennel&field.species=Dog";
    let page = manager
        .get(&format!("{three}{kept}"))
        .await
        .expect(200)
        .text;
    assert!(
        page.contains("You can filter by at most 3 fields at once, so Species is left out."),
        "{page}"
    );
    assert!(page.contains("<bdi>Max</bdi>"), "{page}");
    let words: Vec<_> = chips(&page).into_iter().map(|(words, _)| words).collect();
    assert_eq!(
        words,
        ["Sex: Male", "Size: Small", "Kennel: k1", "Clear all"]
    );
}

#[tokio::test]
async fn filters_survive_pages_and_actions() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for number in 1..=51 {
        add_cat(
            &mut clerk,
            &format!("Pet {number}"),
            &[("field.sex", "Female")],
        )
        .await;
    }
    let list = "q=pet&category=1&field.species=Cat&field.sex=Female&sort=longest";
    let path = format!("/animals?{list}");
    assert_eq!(walk(&mut clerk, &path).await.len(), 51);
    let page = clerk.get(&path).await.expect(200);
    let parameters: Vec<_> = list
        .split('&')
        .map(|one| one.split_once('=').unwrap())
        .collect();
    let form = page.between("action=\"/animals/selected\">", "</form>");
    for (name, value) in &parameters {
        let hidden = format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        assert!(form.contains(&hidden), "{hidden}: {form}");
    }
    let moved = [
        &parameters[..],
        &[("do", "move"), ("to", "9"), ("pet", "1:1")],
    ]
    .concat();
    assert_eq!(clerk.post("/animals/selected", &moved).await.next(), path);
}

#[tokio::test]
async fn a_small_black_female_cat_of_an_age_is_found_with_a_search_and_a_chip() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let black = [
        ("field.sex", "Female"),
        ("field.size", "Small"),
        ("field.colour", "Black"),
    ];
    let born = |day| [&black[..], &[("field.born", day)]].concat();
    let (young, old) = (born("2024-06-01"), born("2010-06-01"));
    add_cat(&mut clerk, "Kitten", &born("2026-09-01")).await;
    add_cat(&mut clerk, "Young", &young).await;
    add_cat(&mut clerk, "Old", &old).await;
    add_cat(
        &mut clerk,
        "White",
        &[&young[..2], &[("field.colour", "White")]].concat(),
    )
    .await;
    // What the first page and the list have: one field, which has the focus.
    for path in ["/", "/animals"] {
        let page = clerk.get(path).await.expect(200).text;
        let (_, field) = page.split_once("name=\"q\" type=\"search\"").unwrap();
        assert!(
            field.split('>').next().unwrap().contains(" autofocus"),
            "{page}"
        );
    }
    let path = "/animals?q=small+black+female+cat";
    assert_eq!(walk(&mut clerk, path).await, ["Old", "Young", "Kitten"]);
    let page = clerk.get(path).await.expect(200).text;
    let link_of = |age: &str| {
        chips(&page)
            .into_iter()
            .find(|(words, _)| words == age)
            .unwrap()
            .1
    };
    // "Under three" is a choice of the form, and no chip, because it overlaps with others.
    assert!(page.contains(">Under 3 years</option>"), "{page}");
    assert_eq!(
        walk(&mut clerk, &format!("{path}&age=under3")).await,
        ["Young", "Kitten"]
    );
    let link = link_of("1–2 years");
    assert_eq!(walk(&mut clerk, &link).await, ["Young"]);
    let page = clerk.get(&link).await.expect(200).text;
    assert!(
        chips(&page).contains(&("1–2 years".to_owned(), path.to_owned())),
        "{page}"
    );
    let selected = "<option value=\"1\" selected>1–2 years</option>";
    assert!(page.contains(selected), "{page}");
    // It is one of the three, and the fourth is left out, whichever it is.
    let three = "/animals?age=1&field.sex=Female&field.size=Small";
    let page = clerk
        .get(&format!(
            "{three}&field.species=Cat&kept=age&kept=sex&kept=size"
        ))
        .await;
    assert!(page.text.contains("so Species is left out."), "{page:?}");
    let full = "/animals?age=1&field.species=Dog&field.sex=Male&field.size=Large";
    let page = clerk
        .get(&format!("{full}&kept=species&kept=sex&kept=size"))
        .await;
    assert!(page.text.contains("so Age is left out."), "{page:?}");
    // More than the search takes finds nothing, and the page says so.
    let page = clerk
        .get(&format!("/animals?q={}", "n".repeat(65)))
        .await
        .expect(200);
    assert!(page.text.contains("No animals found"), "{page:?}");
}

#[tokio::test]
async fn a_search_says_in_which_other_list_the_animal_is() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for name in ["Rollo", "Rolf", "Ada"] {
        add_cat(&mut clerk, name, &[]).await;
    }
    clerk
        .post("/animals/1/order", &[("do", "sell")])
        .await
        .expect(303);
    clerk
        .post("/animals/2/withdraw", &[("why", "died"), ("version", "1")])
        .await
        .expect(303);
    for (path, links) in [
        (
            "q=rollo",
            &[("q=rollo&amp;status=sold", "Sold: 1 animal")][..],
        ),
        (
            "q=rolf",
            &[("q=rolf&amp;status=withdrawn", "Other departures: 1 animal")],
        ),
        (
            "q=rol",
            &[
                ("q=rol&amp;status=sold", "Sold: 1 animal"),
                ("q=rol&amp;status=withdrawn", "Other departures: 1 animal"),
            ],
        ),
        ("q=ada&status=sold", &[("q=ada", "In the store: 1 animal")]),
    ] {
        let page = clerk
            .get(&format!("/animals?{path}"))
            .await
            .expect(200)
            .text;
        let said = page
            .split_once("<div class=\"card empty\">")
            .expect(&page)
            .1;
        assert!(
            said.starts_with("<strong>None here at the moment</strong>"),
            "{path}: {page}"
        );
        let links: Vec<_> = links
            .iter()
            .map(|(to, words)| format!("<a href=\"/animals?{to}\">{words}</a>"))
            .collect();
        assert!(
            links.iter().all(|link| said.contains(link)),
            "{links:?}: {page}"
        );
        assert_eq!(
            said.matches("href=\"/animals?").count(),
            links.len(),
            "{path}: {page}"
        );
    }
    let page = clerk.get("/animals?q=nobody").await.expect(200).text;
    assert!(
        page.contains("Check the spelling") && !page.contains("None here at the moment"),
        "{page}"
    );
}

#[tokio::test]
async fn everyday_words_find_what_they_mean_and_are_chips_that_can_be_taken_off() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cleo", Role::Clerk).await;
    add_cat(
        &mut clerk,
        "Mia",
        &[("field.sex", "Female"), ("field.colour", "black")],
    )
    .await;
    add_cat(
        &mut clerk,
        "Tom",
        &[("field.sex", "Male"), ("field.colour", "black")],
    )
    .await;
    for (text, names, understood, other_text) in [
        ("black cats", &["Mia", "Tom"][..], "Cat", "/animals?q=black"),
        ("tomcats", &["Tom"], "Cat · male", "/animals"),
        ("Katze", &["Mia", "Tom"], "Cat", "/animals"),
    ] {
        let query = text.replace(' ', "+");
        let page = clerk
            .get(&format!("/animals?q={query}"))
            .await
            .expect(200)
            .text;
        for name in ["Mia", "Tom"] {
            assert_eq!(
                page.contains(&format!("<bdi>{name}</bdi></a></h2>")),
                names.contains(&name),
                "{text}: {page}"
            );
        }
        let chips = chips(&page);
        assert!(
            chips.contains(&(understood.to_owned(), other_text.to_owned())),
            "{chips:?}"
        );
    }
}
