//! What the pages say about the store: its logo, text, footer and colour, and the ways to it.

use petstore_app::StoreOptions;
use petstore_domain::store_area::{Colour, Currency, Language, LinkUrl, Profile};
use petstore_testing::{
    hostile_texts::{animal_of, expect_harmless, hostile_texts, of},
    pictures,
};
use serde_json::json;

use super::street::{Seen, Street, settings};

const MAIL: &str = "<a href=\"mailto:Claws@b\"><bdi>Claws@b</bdi></a>";
const CALL: &str = "<a href=\"tel:+493012345\">+49 (0)30 123-45</a>";

fn footer(page: &Seen) -> &str {
    page.between("<footer class=\"bottom\">", "</footer>")
}

#[tokio::test]
async fn every_page_but_embed_ends_with_address_hours_ways_links_and_feed_and_only_the_list_has_the_text()
 {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    street.say(of("Claws")).await;
    let about = "<h2><bdi>Claws</bdi></h2><p dir=\"auto\">Claws</p><p dir=\"auto\">Paragraph 2<br>Line 2</p>";
    let animal = format!("/animals/{id}");
    for path in [
        "/",
        &animal,
        "/?name=x",
        "/?cursor=9",
        "/animals/77",
        "/nowhere",
        "/?limit=x",
    ] {
        let page = street.get(path).await;
        let footer = footer(&page);
        for part in [
            "<strong><bdi>Claws</bdi></strong><p dir=\"auto\">Claws<br>Line 2</p>",
            "<strong>Opening hours</strong><p dir=\"auto\">Claws<br>Line 2</p>",
            MAIL,
            CALL,
            "\"><bdi>Imprint</bdi></a>",
            "<a href=\"/animals.atom",
        ] {
            assert!(footer.contains(part), "{path}: {part}: {footer}");
        }
        assert_eq!(
            page.text.contains(about),
            ["/", "/?limit=x"].contains(&path),
            "{path}: {page:?}"
        );
    }
    let embedded = street.get("/embed").await.expect(200);
    assert!(!embedded.text.contains("<footer") && !embedded.text.contains("Paragraph 2"));
    // Without a profile, it has what it had before.
    street.say(Profile::default()).await;
    let page = street.get("/").await;
    let expected = "<div><strong><bdi>Paws &amp; Co.</bdi></strong></div><div class=\"ways\"><a href=\"/animals.atom\" type=\"application/atom+xml\">Subscribe to new animals (RSS)</a></div>";
    assert_eq!(footer(&page), expected);
}

#[tokio::test]
async fn the_ways_to_a_person_stand_at_the_button_as_text_and_as_links() {
    let street = Street::open().await;
    let path = format!("/animals/{}", street.add("Luna", &[]).await);
    street.say(of("Claws")).await;
    let page = street.get(&path).await.expect(200);
    let ways = page.between("<p class=\"ways\">", "</p>");
    assert!(ways.contains(MAIL) && ways.contains(CALL), "{ways}");
    assert!(
        page.text.contains("href=\"https://claws.example/1?"),
        "{page:?}"
    );
    street
        .say(Profile {
            email: None,
            telephone: None,
            ..of("Claws")
        })
        .await;
    let page = street.get(&path).await.expect(200);
    assert_eq!(page.between("<p class=\"ways\">", "</p>"), "");
    assert!(
        page.between("<p class=\"paper\">", "</p>")
            .contains("https://claws.example/1?")
    );
}

#[tokio::test]
async fn the_logo_is_at_the_top_and_the_picture_of_links_where_there_is_no_photo() {
    let street = Street::open().await;
    let path = format!("/animals/{}", street.add("Luna", &[]).await);
    let logo = street
        .set_logo(Some(pictures::png(60, 30)))
        .await
        .unwrap()
        .path();
    let image = format!("<meta property=\"og:image\" content=\"https://animals.example{logo}\">");
    for path in ["/", &path, "/animals/77"] {
        let page = street.get(path).await;
        let shown =
            format!("<img class=\"logo\" src=\"{logo}\" alt=\"\" width=\"60\" height=\"30\">");
        assert!(page.text.contains(&shown), "{page:?}");
        assert!(page.text.contains(&image), "{page:?}");
        assert!(
            page.text
                .contains("<meta name=\"twitter:card\" content=\"summary\">"),
            "{page:?}"
        );
    }
    street.photo(1, None).await;
    let page = street.get(&path).await.expect(200);
    assert!(!page.text.contains(&image), "{page:?}");
    assert!(
        page.text
            .contains("og:image\" content=\"https://animals.example/photos/"),
        "{page:?}"
    );
    street.set_logo(None).await;
    assert!(!street.get(&path).await.text.contains("class=\"logo\""));
}

#[tokio::test]
async fn programs_learn_who_the_store_is_on_the_list_and_as_the_seller_of_an_offer() {
    let street = Street::of(StoreOptions {
        name: None,
        ..settings().store
    })
    .await;
    let path = format!("/animals/{}", street.add("Luna", &[("price", "249")]).await);
    let list = street.get("/").await.expect(200).page_schema();
    assert_eq!(
        (&list["@type"], &list["inLanguage"]),
        (&"CollectionPage".into(), &"en".into())
    );
    assert!(list.get("publisher").is_none(), "{list}");
    street.say(of("Claws")).await;
    let logo = street
        .set_logo(Some(pictures::png(60, 30)))
        .await
        .unwrap()
        .path();
    let store = json!({
        "@type": "Organization",
        "name": "Claws",
        "url": "https://animals.example/",
        "address": "Claws, Line 2",
        "telephone": "+49 (0)30 123-45",
        "email": "Claws@b",
        "logo": format!("https://animals.example{logo}"),
    });
    assert_eq!(
        street.get("/").await.expect(200).page_schema()["publisher"],
        store
    );
    let page = street.get(&path).await.expect(200);
    assert_eq!(page.page_schema()["@type"], "ItemPage");
    assert_eq!(page.schema()["offers"]["seller"], store);
    street
        .say(Profile {
            currency: Currency::new("GBP"),
            ..Profile::default()
        })
        .await;
    assert_eq!(
        street.get("/").await.page_schema()["publisher"]["address"],
        json!(null)
    );
}

#[tokio::test]
async fn the_colour_is_a_style_sheet_after_that_of_the_window_and_before_that_of_the_operator() {
    let style = Some(petstore_window::Style::new(b"body{color:red}".to_vec()).unwrap());
    let street = Street::with(petstore_window::WindowSettings {
        style,
        ..settings()
    })
    .await;
    street.say(of("Claws")).await;
    let page = street.get("/").await.expect(200);
    let sheets: Vec<_> = page
        .text
        .split("<link rel=\"stylesheet\" href=\"")
        .skip(1)
        .collect();
    let sheets: Vec<_> = sheets
        .iter()
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let [window, colour, store] = sheets[..] else {
        panic!("{sheets:?}")
    };
    assert!(window.starts_with("/assets/window-") && store.starts_with("/assets/store-"));
    assert!(colour.starts_with("/assets/colour-ff8800-"), "{colour}");
    let sheet = street.get(colour).await.expect(200);
    assert_eq!(sheet.field("content-type"), "text/css; charset=utf-8");
    assert_eq!(
        sheet.field("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert!(
        sheet.text.starts_with(":root { --accent: #"),
        "{}",
        sheet.text
    );
    // A cached page still finds it when the store has another one.
    street.say(Profile::default()).await;
    assert!(!street.get("/").await.text.contains("/assets/colour-"));
    street.get(colour).await.expect(200);
    street
        .get("/assets/colour-ff8800-000000000000.css")
        .await
        .expect(404);
}

/// Fails if a page has markup of such a text, if it can turn what people read around, or if a link leads
/// elsewhere.
#[track_caller]
#[tokio::test]
async fn hostile_texts_of_store_and_animals_are_never_markup_in_any_language() {
    let street = Street::open().await;
    let luna = street.add("Luna", &[("price", "9")]).await;
    let evil = street.add("Evil", &[("price", "9")]).await;
    let [luna, evil_page] = [luna, evil].map(|id| format!("/animals/{id}"));
    assert!(LinkUrl::new("javascript:alert(1)".to_owned()).is_none());
    assert!(Colour::new("red;}</style>".to_owned()).is_none());
    for text in hostile_texts() {
        street.patch(evil, animal_of(&text)).await;
        for language in Language::ALL {
            street
                .say(Profile {
                    language: Some(language),
                    ..of(&text)
                })
                .await;
            for path in [
                "/",
                &luna,
                &evil_page,
                "/embed",
                "/?name=x",
                "/animals/77",
                "/nowhere",
                "/animals.atom",
            ] {
                let page = street.get(path).await;
                let lang = format!("lang=\"{}\"", language.as_str());
                assert!(page.text.contains(&lang), "{path}: {page:?}");
                expect_harmless(path, &page.text);
                if ["/", "/embed", &luna, &evil_page].contains(&path) {
                    let schema = page.page_schema();
                    assert_eq!(schema["@context"], "https://schema.org", "{schema}");
                }
            }
            let feed = street.get("/animals.atom").await.expect(200);
            assert_eq!(feed.text.matches("<entry>").count(), 2, "{feed:?}");
            quick_xml(&feed.text);
        }
    }
}

/// Fails if a text is not XML with elements that close.
#[track_caller]
fn quick_xml(text: &str) {
    let mut open = Vec::new();
    for element in text.split('<').skip(1) {
        let name = element.split(['>', ' ', '/']).next().unwrap();
        match element {
            _ if element.starts_with('?') => {}
            _ if element.starts_with('/') => {
                let name = element[1..].split('>').next().unwrap();
                assert_eq!(open.pop(), Some(name), "{text}");
            }
            _ if element.split('>').next().unwrap().ends_with('/') => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{text}");
}
