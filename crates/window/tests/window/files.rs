//! The list in forms for other programs.

use std::io::Read;

use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use hyper::Version;
use petstore_domain::{
    PetId,
    PetStatus::{Pending, Sold},
    store_area::{FieldKind, PetPatch},
};
use petstore_testing::area::{
    cancel, change, complete, give_back, place, reserve, restore, withdraw,
};

use super::street::Street;

#[tokio::test]
async fn animals_json_has_the_public_fields_and_is_for_pages_of_every_site() {
    let street = Street::open().await;
    street.label(1, "Cats").await;
    let id = street
        .add("Luna", &[("species", "Cat"), ("microchip", "276")])
        .await;
    for _ in 0..24 {
        street.add_with_status("Mia", Pending, &[]).await;
    }
    let page = street.get("/animals.json").await.expect(200);
    assert_eq!(page.field("content-type"), "application/json");
    assert_eq!(page.field("access-control-allow-origin"), "*");
    assert_eq!(page.json().as_array().unwrap().len(), 24);
    let next = page.field("link").strip_suffix(">; rel=\"next\"").unwrap();
    let next = next
        .strip_prefix("<https://animals.example")
        .unwrap()
        .to_owned();
    let last = street.get(&next).await.expect(200);
    assert_eq!(last.field("link"), "");
    let expected = serde_json::json!([{
        "id": id,
        "name": "Luna",
        "status": "available",
        "category": "Cats",
        "fields": {"species": "Cat"},
        "photos": [],
        "url": format!("https://animals.example/animals/{id}"),
        "currency": "EUR",
        "updatedOn": "2026-12-01",
    }]);
    assert_eq!(last.json(), expected);
    let found = street
        .get("/animals.json?field.species=Cat")
        .await
        .expect(200);
    assert_eq!(found.json(), expected);
    let page = street.get("/animals.json?limit=2").await.expect(200);
    assert_eq!(page.json().as_array().unwrap().len(), 2);
    assert!(page.field("link").contains("&limit=2>"), "{page:?}");
}

#[tokio::test]
async fn animals_csv_has_all_animals_with_a_column_for_each_public_field() {
    let street = Street::open().await;
    street.label(1, "Cats, and \"others\"").await;
    street
        .field("name", "Other name", FieldKind::Text, true)
        .await;
    let luna = [
        ("species", "Cat"),
        ("description", "a,\"b\"\nc"),
        ("name", "Lu"),
        ("microchip", "7"),
    ];
    street.add("Luna, \"the\" cat", &luna).await;
    street.add_with_status("Max", Sold, &[]).await;
    for _ in 0..230 {
        street.add_with_status("Mia", Pending, &[]).await;
    }
    let file = street.get("/animals.csv").await.expect(200);
    assert_eq!(
        file.field("content-type"),
        "text/csv; charset=utf-8; header=present"
    );
    let mut reader = csv::Reader::from_reader(file.text.as_bytes());
    let headings: Vec<_> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let first = [
        "id", "name", "status", "category", "species", "breed", "sex", "born", "colour",
    ];
    assert_eq!(headings[..9], first);
    assert_eq!(
        headings[9..15],
        [
            "size",
            "description",
            "price",
            "field.name",
            "url",
            "photo_1"
        ]
    );
    assert_eq!(headings.len(), 34);
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 231);
    let last = rows.last().unwrap();
    let cell = |name: &str| &last[headings.iter().position(|heading| heading == name).unwrap()];
    for (name, value) in [
        ("id", "1"),
        ("name", "Luna, \"the\" cat"),
        ("status", "available"),
        ("category", "Cats, and \"others\""),
        ("species", "Cat"),
        ("description", "a,\"b\"\nc"),
        ("field.name", "Lu"),
        ("url", "https://animals.example/animals/1"),
        ("photo_20", ""),
    ] {
        assert_eq!(cell(name), value, "{name}");
    }
    assert_eq!((&rows[0][0], &rows[0][2]), ("232", "pending"));
}

#[tokio::test]
async fn animals_csv_breaks_off_rather_than_show_a_value_that_is_not_public_any_more() {
    let street = Street::open().await;
    for _ in 0..250 {
        street.add("Mia", &[("breed", "Collie")]).await;
    }
    let mut file = street.unread("/animals.csv").await;
    for _ in 0..2 {
        file.frame().await.unwrap().unwrap();
    }
    street.field("breed", "Breed", FieldKind::Text, false).await;
    assert!(file.frame().await.unwrap().is_err());
}

#[tokio::test]
async fn over_http_1_0_a_file_has_its_length_or_is_rejected() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    for path in ["/animals.csv", "/sitemap.xml", "/sitemap-0.xml"] {
        let file = street.get(path).await.expect(200);
        let (head, body) = street.raw(Version::HTTP_10, path, &[]).await.into_parts();
        assert_eq!(head.status, 200, "{path}");
        assert_eq!(body.whole().unwrap(), file.text.as_bytes(), "{path}");
    }
    let long = "A story. ".repeat(880);
    for _ in 0..150 {
        street.add("Luna", &[("description", &long)]).await;
    }
    let (head, body) = street
        .raw(Version::HTTP_10, "/animals.csv", &[])
        .await
        .into_parts();
    let page = String::from_utf8_lossy(body.whole().unwrap()).into_owned();
    assert_eq!(head.status, 505, "{page}");
    assert!(page.contains("proxy_http_version 1.1"), "{page}");
    let (_, body) = street
        .raw(Version::HTTP_11, "/animals.csv", &[])
        .await
        .into_parts();
    assert!(body.whole().is_none());
}

#[tokio::test]
async fn a_client_that_has_a_file_gets_304_and_others_get_it_compressed_piece_by_piece() {
    let street = Street::open().await;
    for _ in 0..250 {
        street.add("Mia", &[("breed", "Collie")]).await;
    }
    let plain = street.get("/animals.csv").await.expect(200);
    let gzip = ("accept-encoding", "gzip");
    let file = street.raw(Version::HTTP_11, "/animals.csv", &[gzip]).await;
    assert_eq!(file.headers()["content-encoding"], "gzip");
    let compressed = file.into_body().collect().await.unwrap().to_bytes();
    assert!(
        compressed.len() * 4 < plain.text.len(),
        "{}",
        compressed.len()
    );
    let mut text = String::new();
    GzDecoder::new(&*compressed)
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, plain.text);
    // What breaks off has no end when it is compressed, either.
    let mut file = street
        .raw(Version::HTTP_11, "/animals.csv", &[gzip])
        .await
        .into_body();
    file.frame().await.unwrap().unwrap();
    street.field("breed", "Breed", FieldKind::Text, false).await;
    let mut last = file.frame().await;
    while let Some(Ok(_)) = last {
        last = file.frame().await;
    }
    assert!(last.unwrap().is_err());
    for path in ["/animals.csv", "/sitemap.xml", "/sitemap-0.xml"] {
        let mut is_known = false;
        // A server of PostgreSQL has one version for all its databases, and tests write to others.
        for _ in 0..1000 {
            let tag = street.get(path).await.field("etag").to_owned();
            let known = [gzip, ("if-none-match", &*tag)];
            is_known |= street.ask(hyper::Method::GET, path, &known).await.status == 304;
            if is_known {
                street.add("Luna", &[]).await;
                street
                    .ask(hyper::Method::GET, path, &known)
                    .await
                    .expect(200);
                break;
            }
        }
        assert!(is_known, "{path}");
    }
}

#[tokio::test]
async fn a_page_has_the_labels_of_any_number_of_categories() {
    let street = Street::open().await;
    for id in 1..=120 {
        street.label(id, &format!("Label {id}")).await;
    }
    let id = street.add("Luna", &[]).await;
    for (category_id, label) in [
        (1, "Label 1"),
        (100, "Label 100"),
        (101, "Label 101"),
        (120, "Label 120"),
    ] {
        street
            .patch(
                id,
                PetPatch {
                    category_id: Some(category_id),
                    ..PetPatch::default()
                },
            )
            .await;
        assert_eq!(
            street.get("/animals.json").await.json()[0]["category"],
            label
        );
        let page = street.get(&format!("/animals/{id}")).await.expect(200);
        assert!(
            page.text.contains(&format!("<bdi>{label}</bdi>")),
            "{page:?}"
        );
        assert!(
            street
                .get("/animals.csv")
                .await
                .text
                .contains(&format!(",{label},"))
        );
    }
    street
        .patch(
            id,
            PetPatch {
                category_id: Some(121),
                ..PetPatch::default()
            },
        )
        .await;
    assert!(street.get("/animals.json").await.json()[0]["category"].is_null());
}

#[tokio::test]
async fn animals_atom_has_the_newest_animals() {
    let street = Street::open().await;
    for name in ["Luna", "Tom & Jerry"] {
        street.add(name, &[("species", "Cat")]).await;
    }
    let feed = street.get("/animals.atom").await.expect(200);
    assert_eq!(
        feed.field("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    assert!(
        feed.text
            .starts_with("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed"),
        "{feed:?}"
    );
    for part in [
        "<title>Paws &amp; Co.</title>",
        "<link rel=\"self\" type=\"application/atom+xml\" href=\"https://animals.example/animals.atom\"/>",
        "<id>https://animals.example/animals/2</id>\n<title>Tom &amp; Jerry</title>",
        "<summary>Tom &amp; Jerry (Cat) at Paws &amp; Co. is looking for a home</summary>",
    ] {
        assert!(feed.text.contains(part), "{part}: {feed:?}");
    }
    assert_eq!(feed.text.matches("<updated>").count(), 3);
    assert_eq!(
        feed.text
            .matches("<published>2026-12-01T12:00:00Z</published>")
            .count(),
        2
    );
}

#[tokio::test]
async fn the_table_and_the_feed_have_the_animals_of_a_filter() {
    let street = Street::open().await;
    street.add("Luna", &[("species", "Cat")]).await;
    street.add("Max", &[("species", "Dog")]).await;
    for path in ["/animals.csv", "/animals.atom"] {
        let file = street
            .get(&format!("{path}?field.species=cat"))
            .await
            .expect(200);
        assert!(
            file.text.contains("Luna") && !file.text.contains("Max"),
            "{file:?}"
        );
        street
            .get(&format!("{path}?categoryId=x"))
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn an_animal_that_comes_back_is_a_new_entry_of_the_feed() {
    let street = Street::open().await;
    let mut ids = Vec::new();
    for name in ["Luna", "Max", "Mia", "Rex"] {
        ids.push(PetId::new(street.add(name, &[]).await).unwrap());
    }
    let sold = place(&street.store, reserve(ids[0])).await;
    change(&street.store, complete(sold)).await;
    change(&street.store, withdraw(ids[1])).await;
    let cancelled = place(&street.store, reserve(ids[2])).await;
    let entries = async || {
        let feed = street.get("/animals.atom").await.expect(200);
        let ids = feed
            .text
            .split("<entry>\n<id>https://animals.example/animals/")
            .skip(1);
        ids.map(|rest| rest.split("</id>").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(entries().await, ["4", "3"]);
    for command in [give_back(sold), restore(ids[1]), cancel(cancelled)] {
        change(&street.store, command).await;
    }
    let found = entries().await;
    let back: Vec<_> = found.iter().filter(|id| id.contains("#back-")).collect();
    assert_eq!((found.len(), back.len()), (7, 3), "{found:?}");
    assert_eq!(entries().await, found);
}

#[tokio::test]
async fn addresses_that_do_not_read_their_files_leave_files_to_a_newcomer() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let mut unread = Vec::new();
    for number in 0..150 {
        for _ in 0..4 {
            let file = street
                .unread_as([198, 51, 100, number].into(), "/animals.csv")
                .await;
            if file.status() == 200 {
                unread.push(file);
            }
        }
    }
    assert!(unread.len() >= 150);
    for path in ["/animals.csv", "/sitemap.xml", "/sitemap-0.xml"] {
        street.ask_as("192.0.2.2", path).await.expect(200);
    }
}

#[tokio::test]
async fn an_address_that_does_not_read_its_files_leaves_files_to_others() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let mut unread = Vec::new();
    for _ in 0..4 {
        unread.push(street.unread("/animals.csv").await);
    }
    for path in ["/animals.csv", "/sitemap.xml", "/sitemap-0.xml"] {
        assert_eq!(street.ask_as("192.0.2.1", path).await.status, 503, "{path}");
        assert_eq!(street.ask_as("192.0.2.2", path).await.status, 200, "{path}");
    }
    drop(unread);
    assert_eq!(street.ask_as("192.0.2.1", "/animals.csv").await.status, 200);
}
