//! Hostile names, labels and values, on every page and in every form.

use petstore_app::StoreOptions;
use petstore_domain::{
    PetName,
    store_area::{FieldKind, PetPatch},
};

use super::street::{Street, settings};

const TEXTS: [&str; 9] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></title><b>&amp;",
    "\u{202e}evil\u{2066}",
    "a\u{1}\u{7f}\u{85}\r\nb",
    "🐕 كلب صغير 🐾",
    "=cmd|' /C calc'!A0,\"x\"",
    "\u{200b}\u{200b}",
];

/// What a reader of XML understands, if it is XML: it has no element other than these.
fn expect_xml(text: &str, elements: &[&str]) {
    let allowed = |character: char| matches!(character, '\t' | '\n' | '\r' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(allowed), "{text}");
    for element in text.split('<').skip(1) {
        let name = element
            .trim_start_matches(['/', '?'])
            .split([' ', '>', '/'])
            .next()
            .unwrap();
        assert!(elements.contains(&name), "<{element}");
    }
}

#[tokio::test]
async fn texts_of_people_are_never_markup_and_change_no_form() {
    let name = Some("<b>\"Paws\"</b>".to_owned());
    let street = Street::of(StoreOptions {
        name,
        ..settings().store
    })
    .await;
    street.label(1, "<i>\"Cats\"</i>").await;
    street
        .field("hobby", "<u>Hobby</u>", FieldKind::Text, true)
        .await;
    for text in TEXTS {
        let value = if text.contains('\u{200b}') { "x" } else { text };
        street
            .add(
                text,
                &[("breed", value), ("hobby", value), ("description", value)],
            )
            .await;
    }
    for (number, text) in (1..).zip(TEXTS) {
        for path in [
            "/".to_owned(),
            "/embed".to_owned(),
            format!("/animals/{number}"),
        ] {
            let page = street.get(&path).await.expect(200);
            for forbidden in [
                "<script>",
                "<img src=x",
                "onerror=alert(1)>",
                "<b>",
                "<i>",
                "<u>",
                "\u{202e}",
                "\u{1}",
            ] {
                assert!(
                    !page.text.contains(forbidden),
                    "{path} has {forbidden:?}: {page:?}"
                );
            }
            // The JSON in it ends where it should.
            let schema = page.schema();
            assert!(schema["@type"].is_string(), "{text}");
        }
        let json = street.get("/animals.json").await.expect(200).json();
        let animal = json
            .as_array()
            .unwrap()
            .iter()
            .find(|animal| animal["id"] == number);
        assert_eq!(animal.unwrap()["name"], text);
        let file = street.get("/animals.csv").await.expect(200);
        let mut reader = csv::Reader::from_reader(file.text.as_bytes());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let row = rows
            .iter()
            .find(|row| row[0] == number.to_string())
            .unwrap();
        // No spreadsheet takes it for a formula.
        let quote = if text.starts_with('=') { "'" } else { "" };
        assert_eq!(&row[1], format!("{quote}{text}"));
    }
    let feed = street.get("/animals.atom").await.expect(200);
    let of_feed = [
        "xml",
        "feed",
        "id",
        "title",
        "published",
        "updated",
        "author",
        "name",
        "link",
        "entry",
        "summary",
    ];
    expect_xml(&feed.text, &of_feed);
    let sitemap = street.get("/sitemap-0.xml").await.expect(200);
    expect_xml(&sitemap.text, &["xml", "urlset", "url", "loc", "lastmod"]);
    // A name that nobody sees is not an empty link.
    assert!(
        street
            .get("/")
            .await
            .text
            .contains("<bdi>No name yet</bdi>")
    );
}

#[tokio::test]
async fn a_name_of_64_kib_is_shortened_on_pages_and_whole_in_files() {
    let street = Street::open().await;
    let long = "ñ".repeat(PetName::MAX_LENGTH / 2);
    let id = street.add(&long, &[]).await;
    for (path, longest) in [
        ("/".to_owned(), 20_000),
        (format!("/animals/{id}"), 20_000),
        ("/animals.atom".to_owned(), 4_000),
    ] {
        let page = street.get(&path).await.expect(200);
        assert!(page.text.len() < longest, "{path}: {}", page.text.len());
    }
    assert_eq!(street.get("/animals.json").await.json()[0]["name"], long);
    assert!(street.get("/animals.csv").await.text.contains(&long));
    street
        .patch(
            id,
            PetPatch {
                name: PetName::new(String::new()),
                ..PetPatch::default()
            },
        )
        .await;
    assert!(
        street
            .get(&format!("/animals/{id}"))
            .await
            .text
            .contains("No name yet")
    );
}

#[tokio::test]
async fn a_hostile_query_is_a_page_with_200_or_400_and_never_markup() {
    let street = Street::open().await;
    street.add("Luna", &[("species", "Cat")]).await;
    for text in TEXTS
        .into_iter()
        .chain(["%", "&", "=", "#", "\u{10ffff}", "\0", "a\0b"])
    {
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for parameter in [
            "name",
            "q",
            "categoryId",
            "age",
            "sort",
            "cursor",
            "field.species",
            "field.%3Cb%3E",
            "limit",
            "x",
        ] {
            for path in [
                "/",
                "/embed",
                "/animals.json",
                "/animals.csv",
                "/animals.atom",
            ] {
                let page = street.get(&format!("{path}?{parameter}={text}")).await;
                assert!([200, 400].contains(&page.status.as_u16()), "{page:?}");
                if ["/", "/embed"].contains(&path) {
                    assert!(
                        !page.text.contains("<script>") && !page.text.contains("<b>"),
                        "{page:?}"
                    );
                }
            }
        }
    }
}
