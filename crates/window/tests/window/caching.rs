//! How caches keep the pages, and what browsers may do with them.

use std::time::Duration;

use hyper::Method;
use petstore_domain::{
    PetId, PetName,
    store_area::{Command, PetPatch},
};
use petstore_testing::area::{any, change};
use petstore_web::edge;
use petstore_window::WindowSettings;

use super::street::{Street, settings};

const PAGES: [&str; 6] = [
    "/",
    "/animals/1",
    "/embed",
    "/animals.json",
    "/animals.atom",
    "/animals/1?x=1",
];

#[tokio::test]
async fn a_page_has_a_strong_tag_which_stays_until_the_next_change_and_a_change_is_seen_at_once() {
    let street = Street::open().await;
    let id = street
        .add("Luna", &[("description", &"She is curious. ".repeat(200))])
        .await;
    for path in PAGES {
        let page = street.get(path).await.expect(200);
        let control =
            "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400, no-transform";
        assert_eq!(page.field("cache-control"), control, "{path}");
        assert_eq!(page.field("vary"), "Accept-Encoding", "{path}");
        let tag = page.field("etag").to_owned();
        assert!(
            tag.starts_with('"') && tag.ends_with('"') && tag.len() > 10,
            "{tag}"
        );
        assert_eq!(street.get(path).await.field("etag"), tag, "{path}");
        let same = street
            .ask(Method::GET, path, &[("if-none-match", &tag)])
            .await
            .expect(304);
        assert_eq!((same.text.as_str(), same.field("etag")), ("", tag.as_str()));
        // Each form has its own tag.
        let gzip = [("accept-encoding", "gzip")];
        let compressed = street.ask(Method::GET, path, &gzip).await.expect(200);
        // From 2 KiB on.
        let is_long = page.text.len() >= 2 << 10;
        assert_eq!(
            compressed.field("content-encoding") == "gzip",
            is_long,
            "{path}"
        );
        assert_eq!(compressed.field("etag") != tag, is_long, "{path}");
        let known = [gzip[0], ("if-none-match", compressed.field("etag"))];
        street.ask(Method::GET, path, &known).await.expect(304);
        let head = street.ask(Method::HEAD, path, &[]).await.expect(200);
        assert_eq!((head.text.as_str(), head.field("etag")), ("", tag.as_str()));
        assert_eq!(
            head.field("content-length"),
            page.text.len().to_string(),
            "{path}"
        );
    }
    let before: Vec<_> = {
        let mut tags = Vec::new();
        for path in PAGES {
            tags.push(street.get(path).await.field("etag").to_owned());
        }
        tags
    };
    let name = petstore_domain::PetName::new("Mia".to_owned());
    street
        .patch(
            id,
            PetPatch {
                name,
                ..PetPatch::default()
            },
        )
        .await;
    for (path, tag) in PAGES.into_iter().zip(before) {
        let page = street
            .ask(Method::GET, path, &[("if-none-match", &tag)])
            .await
            .expect(200);
        assert!(
            page.text.contains("Mia") && !page.text.contains("Luna"),
            "{path}: {page:?}"
        );
    }
}

#[tokio::test]
async fn a_change_of_another_process_is_seen_after_a_second_at_the_latest() {
    let street = Street::open().await;
    let id = PetId::new(street.add("Luna", &[]).await).unwrap();
    assert!(street.get("/").await.expect(200).text.contains("Luna"));
    let other = street.other_process().await;
    let patch = PetPatch {
        name: PetName::new("Mia".to_owned()),
        ..PetPatch::default()
    };
    change(
        &other,
        Command::PatchPet {
            id,
            patch,
            preconditions: any(),
        },
    )
    .await;
    if street.store.version().await.unwrap().is_none() {
        // Until then, no request asks PostgreSQL.
        assert!(street.get("/").await.expect(200).text.contains("Luna"));
        street.clock.advance(Duration::from_secs(1));
    }
    assert!(street.get("/").await.expect(200).text.contains("Mia"));
}

#[tokio::test]
async fn an_age_is_that_of_the_day_although_nothing_changed() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("born", "2026-11-30")]).await;
    for path in ["/".to_owned(), format!("/animals/{id}")] {
        assert!(
            street
                .get(&path)
                .await
                .expect(200)
                .text
                .contains("1\u{a0}day"),
            "{path}"
        );
    }
    street.clock.advance(Duration::from_hours(24));
    for path in ["/".to_owned(), format!("/animals/{id}")] {
        assert!(
            street
                .get(&path)
                .await
                .expect(200)
                .text
                .contains("2\u{a0}days"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_cached_page_finds_its_styles_after_a_restart_with_others() {
    let style = Some(petstore_window::Style::new(b"body{color:red}".to_vec()).unwrap());
    let street = Street::with(WindowSettings {
        style,
        ..settings()
    })
    .await;
    for path in [
        "/assets/store-0123456789ab.css",
        "/assets/window-0123456789ab.css",
        "/assets/icon-0123456789ab.svg",
    ] {
        let page = street.get(path).await.expect(200);
        assert!(!page.text.is_empty(), "{path}");
        // No cache may keep it at the path of another content.
        assert_eq!(page.field("cache-control"), "no-store", "{path}");
    }
    let page = street.get("/assets/store-0123456789ab.css").await;
    assert_eq!(page.text, "body{color:red}");
    for nowhere in [
        "/assets/store-0123456789a.css",
        "/assets/store-0123456789AB.css",
        "/assets/store-0123456789ab.js",
        "/assets/stor-0123456789ab.css",
        "/assets/0123456789ab.css",
        "/assets/-0123456789ab.css",
    ] {
        street.get(nowhere).await.expect(404);
    }
    // A window without a style of its own has no such file.
    let street = Street::open().await;
    street
        .get("/assets/store-0123456789ab.css")
        .await
        .expect(404);
}

#[tokio::test]
async fn every_response_forbids_scripts_other_hosts_and_guesses_of_its_type() {
    let style = Some(petstore_window::Style::new(b"body{color:red}".to_vec()).unwrap());
    let street = Street::with(WindowSettings {
        style,
        ..settings()
    })
    .await;
    street.add("Luna", &[]).await;
    let page = street.get("/").await.expect(200);
    let sheets: Vec<_> = page
        .text
        .split("<link rel=\"stylesheet\" href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(sheets.len(), 2);
    let of_store = street.get(&sheets[1]).await.expect(200);
    assert_eq!(
        (of_store.text.as_str(), of_store.field("content-type")),
        ("body{color:red}", "text/css; charset=utf-8")
    );
    let others = [
        "/animals.csv",
        "/sitemap.xml",
        "/robots.txt",
        "/nowhere",
        "/?cursor=x",
    ];
    let all = PAGES
        .into_iter()
        .chain(others)
        .chain(sheets.iter().map(String::as_str));
    for path in all {
        let seen = street.get(path).await;
        let policy = seen.field("content-security-policy");
        for part in [
            "default-src 'none'",
            "img-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("script"), "{path}: {policy}");
        assert!(!seen.field("referrer-policy").is_empty(), "{path}");
        assert!(!seen.headers.contains_key("set-cookie"), "{path}");
    }
    let sheet = street.get(&sheets[0]).await;
    assert_eq!(
        sheet.field("cache-control"),
        "public, max-age=31536000, immutable"
    );
    for (path, media_type) in [
        ("/favicon.ico", "image/x-icon"),
        ("/apple-touch-icon.png", "image/png"),
    ] {
        assert!(page.text.contains(&format!("href=\"{path}\"")), "{path}");
        let icon = street.get(path).await.expect(200);
        assert_eq!(icon.field("content-type"), media_type);
        assert_eq!(icon.field("cache-control"), "public, max-age=86400");
    }
}

/// Whether both paths lead to the same page in memory.
async fn are_one_page(street: &Street, one: &str, other: &str) -> bool {
    let pages = [street.unread(one).await, street.unread(other).await];
    let [one, other] = pages.each_ref().map(|page| page.whole().unwrap().as_ptr());
    one == other
}

#[tokio::test]
async fn a_page_is_rendered_once_whatever_the_address_has_that_the_window_ignores() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    for (one, other) in [
        ("/", "/?utm_source=7"),
        ("/?categoryId=1&name=L", "/?x=1&name=L&categoryId=1"),
        ("/animals.json?limit=3", "/animals.json?x=1&limit=3"),
        ("/embed?limit=3", "/embed?&limit=3"),
        ("/animals/1", "/animals/1?x"),
    ] {
        assert!(are_one_page(&street, one, other).await, "{other}");
    }
    // What it does not ignore.
    let [few, many] = [
        street.unread("/embed?limit=3").await,
        street.unread("/embed").await,
    ];
    assert_ne!(
        few.whole().unwrap().as_ptr(),
        many.whole().unwrap().as_ptr()
    );
}

#[tokio::test]
async fn pages_that_nobody_asks_for_again_do_not_displace_those_that_people_ask_for() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let first = street.unread("/").await;
    for category in 0..600 {
        street
            .get(&format!("/?categoryId={category}"))
            .await
            .expect(200);
        let now = street.unread("/").await;
        let [first, now] = [&first, &now].map(|page| page.whole().unwrap().as_ptr());
        assert_eq!(first, now, "{category}");
    }
}

#[tokio::test]
async fn pages_for_what_visitors_type_do_not_displace_others() {
    let street = Street::open().await;
    street.add("Luna", &[("species", "Cat")]).await;
    let cats = street.unread("/?field.species=Cat").await;
    for number in 0..300 {
        for typed in [format!("?name=x{number}"), format!("?q=x{number}")] {
            for path in ["/", "/embed", "/animals.json", "/animals.atom"] {
                street.get(&format!("{path}{typed}")).await.expect(200);
            }
        }
    }
    let now = street.unread("/?field.species=Cat").await;
    assert_eq!(
        cats.whole().unwrap().as_ptr(),
        now.whole().unwrap().as_ptr()
    );
}

#[tokio::test]
async fn pages_that_are_not_read_take_the_share_of_an_address_and_cached_ones_no_memory() {
    // Strangers have 100 KiB, and each address an eighth of that, or one page of any length.
    let memory = edge::Settings {
        response_memory: 400 << 10,
        ..edge::Settings::default()
    };
    let street = Street::with_edge(settings(), &memory).await;
    for _ in 0..12 {
        street.add("Luna", &[("breed", "Domestic shorthair")]).await;
    }
    for category in 0..250 {
        street
            .get(&format!("/?categoryId={category}"))
            .await
            .expect(200);
    }
    let unread = street.unread("/").await;
    assert!((7_000..90_000).contains(&unread.whole().unwrap().len()));
    for (address, status) in [("192.0.2.1", 503), ("192.0.2.2", 200)] {
        street.ask_as(address, "/").await.expect(status);
    }
    drop(unread);
    street.get("/").await.expect(200);
}
