//! Texts with U+0000, which PostgreSQL cannot compare with any text. The test runs on the database that
//! `TEST_DATABASE` names.

use petstore_console::ConsoleSettings;
use petstore_domain::Role;
use petstore_testing::database::Database;
use tempfile::TempDir;

use super::browser::Shop;

/// The table of the pages.
const PAGES: &str = include_str!("../../src/pages/mod.rs");

/// The names of parameters of all pages.
const PARAMETERS: [&str; 20] = [
    "q",
    "status",
    "category",
    "after",
    "before",
    "like",
    "again",
    "code",
    "next",
    "state",
    "iss",
    "error",
    "field.species",
    "sort",
    "name",
    "who",
    "from",
    "to",
    "kind",
    "id",
];

/// The paths of the pages, with the names of their parameters in braces.
fn paths() -> Vec<&'static str> {
    let lines = PAGES.lines().filter_map(|line| line.split_once(" GET  \""));
    lines
        .filter_map(|(_, path)| path.split('"').next())
        .collect()
}

#[tokio::test]
async fn a_text_with_u_0000_in_a_path_or_a_query_fails_on_no_page() {
    let database = Database::fresh().await;
    let folder = TempDir::new().unwrap();
    let shop = Shop::on(&database.url(), folder, ConsoleSettings::default()).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let add = [
        ("name", "Luna"),
        ("category", "7"),
        ("new-category", "yes"),
        ("status", "available"),
    ];
    manager.post("/add", &add).await.expect(303);
    assert!(paths().len() >= 30, "{:?}", paths());
    // A stream of events has no end.
    for path in paths().into_iter().filter(|path| *path != "/live") {
        let mut targets = Vec::new();
        if let Some((before, parameter)) = path.split_once('{') {
            let (_, after) = parameter.split_once('}').unwrap();
            targets.push(format!("{before}%00{after}"));
            targets.push(format!("{before}1%00{after}"));
        }
        let path = path
            .replace("{id}", "1")
            .replace("{token}", "x")
            .replace("{name}", "x");
        for parameter in PARAMETERS {
            for text in ["%00", "a%00b"] {
                targets.push(format!("{path}?{parameter}={text}"));
            }
        }
        for target in targets {
            let page = manager.get(&target).await;
            assert!(page.status.as_u16() < 500, "{target}: {page:?}");
        }
    }
    for (path, field) in [("/sign-in", "name"), ("/sign-in", "password")] {
        let page = shop
            .browser()
            .post(path, &[("name", "Mo"), (field, "a\0b")])
            .await;
        assert!(page.status.as_u16() < 500, "{path} {field}: {page:?}");
    }
}

#[tokio::test]
async fn a_search_for_u_0000_finds_nothing() {
    let database = Database::fresh().await;
    let folder = TempDir::new().unwrap();
    let shop = Shop::on(&database.url(), folder, ConsoleSettings::default()).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    for target in [
        "/animals?q=%00",
        "/orders?q=%00",
        "/animals?q=a%00b",
        "/orders?q=a%00b",
    ] {
        manager.get(target).await.expect(200);
    }
}
