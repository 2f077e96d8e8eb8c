//! What search engines find.

use petstore_databases as databases;
use petstore_domain::{Clock, NewPet, PetName, PetStatus, store_area::FieldValues};
use petstore_store::{OpenMode, bulk::IdSource};

use super::street::Street;

/// The addresses in a sitemap, or of the sitemaps in an index.
fn addresses(text: &str) -> Vec<&str> {
    let found = text.split("<loc>https://animals.example").skip(1);
    found
        .map(|rest| rest.split("</loc>").next().unwrap())
        .collect()
}

#[tokio::test]
async fn the_sitemap_has_the_list_and_every_animal_on_offer_and_robots_txt_leads_to_it() {
    let street = Street::open().await;
    for status in [PetStatus::Available, PetStatus::Pending, PetStatus::Sold] {
        street.add_with_status("Luna", status, &[]).await;
    }
    let sitemap = street.get("/sitemap.xml").await.expect(200);
    assert_eq!(
        sitemap.field("content-type"),
        "application/xml; charset=utf-8"
    );
    assert_eq!(
        street.get("/sitemap-0.xml").await.expect(200).text,
        sitemap.text
    );
    assert_eq!(addresses(&sitemap.text), ["/", "/animals/2", "/animals/1"]);
    // To the day, because private values change it, too.
    assert_eq!(
        sitemap
            .text
            .matches("<lastmod>2026-12-01</lastmod>")
            .count(),
        2,
        "{sitemap:?}"
    );
    assert!(sitemap.text.ends_with("</urlset>\n"), "{sitemap:?}");
    let robots = street.get("/robots.txt").await.expect(200);
    assert!(
        robots
            .text
            .contains("Sitemap: https://animals.example/sitemap.xml"),
        "{robots:?}"
    );
    assert!(addresses(&street.get("/sitemap-1.xml").await.expect(200).text).is_empty());
    for path in [
        "/sitemap--1.xml",
        "/sitemap-x.xml",
        "/sitemap-.xml",
        "/sitemap-9007199254740991.xml",
    ] {
        street.get(path).await.expect(404);
    }
}

#[tokio::test]
async fn beyond_50_000_addresses_there_is_an_index_whose_sitemaps_have_each_animal_once() {
    let street = Street::open().await;
    let (url, now) = (street.database.url(), street.clock.now());
    let import = move || {
        let mut load = databases::open_load(&url, OpenMode::AsIs).unwrap();
        load.begin(IdSource::Next, now).unwrap();
        for _ in 0..50_000 {
            let name = PetName::new("Rex".to_owned()).unwrap();
            let pet = NewPet {
                name,
                category_id: 1,
                status: PetStatus::Available,
                is_listed: true,
            };
            load.add_pet(None, &pet, &FieldValues::NONE).unwrap();
        }
        load.commit().unwrap();
    };
    tokio::task::spawn_blocking(import).await.unwrap();
    let index = street.get("/sitemap.xml").await.expect(200);
    assert!(index.text.ends_with("</sitemapindex>\n"), "{index:?}");
    assert_eq!(addresses(&index.text), ["/sitemap-1.xml", "/sitemap-0.xml"]);
    let mut found = Vec::new();
    for (part, count) in addresses(&index.text).into_iter().zip([2, 49_999]) {
        let part = street.get(part).await.expect(200);
        let part = addresses(&part.text);
        assert_eq!(part.len(), count);
        found.extend(part.into_iter().map(str::to_owned));
    }
    let different: std::collections::BTreeSet<_> = found.iter().collect();
    assert_eq!((found.len(), different.len()), (50_001, 50_001));
}
