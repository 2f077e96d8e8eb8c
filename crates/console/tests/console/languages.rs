//! The languages of the pages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petstore_app::StoreOptions;
use petstore_domain::{
    Role,
    store_area::{Currency, Language, zone_regions},
};
use petstore_testing::english::{english_words, words_on};

use super::browser::{Browser, PASSWORD, Page, Shop};

/// Everything that a page leads to: the addresses of its links, and its forms.
fn links(page: &Page) -> impl Iterator<Item = String> {
    let parts = page.text.split("href=\"/").skip(1);
    let links = parts.filter_map(|part| Some(format!("/{}", part.split_once('"')?.0)));
    links.map(|link| link.replace("&amp;", "&"))
}

/// The forms of a page that change something: the path, and the fields as they are shown.
fn forms(page: &Page) -> Vec<(String, Vec<(String, String)>)> {
    let between = |text: &str, start: &str| -> Option<String> {
        Some(
            text.split_once(start)?
                .1
                .split_once('"')?
                .0
                .replace("&amp;", "&"),
        )
    };
    page.text
        .split("<form ")
        .skip(1)
        .filter_map(|form| {
            let form = form.split_once("</form>").map_or(form, |(form, _)| form);
            let head = form.split_once('>')?.0;
            (head.contains("method=\"post\"")).then_some(())?;
            let action = between(head, "action=\"")?;
            let inputs = form.split(['<']).filter(|tag| {
                ["input ", "select ", "textarea "]
                    .iter()
                    .any(|of| tag.starts_with(of))
            });
            let fields = inputs.filter_map(|tag| {
                let value = between(tag, "value=\"").unwrap_or_default();
                Some((between(tag, "name=\"")?, value))
            });
            Some((action, fields.collect()))
        })
        .collect()
}

/// Opens every page, and sends every form as it is and with nothing in it. Gives each page once it is there.
async fn walk(browser: &mut Browser<'_>, mut see: impl FnMut(&str, &Page)) {
    let mut waiting = VecDeque::from(["/".to_owned(), "/account".to_owned()]);
    let (mut seen, mut sent) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    let mut left = 600;
    while let Some(path) = waiting.pop_front() {
        if left == 0 || !seen.insert(path.clone()) || path.contains("/export") {
            continue;
        }
        left -= 1;
        let page = browser.get(&path).await;
        see(&path, &page);
        let mut pages = vec![page];
        for (action, fields) in forms(&pages[0]) {
            // Each kind of form a few times. These end the walk.
            let kind: String = action.chars().filter(|c| !c.is_ascii_digit()).collect();
            let times = sent.entry(kind).or_default();
            let ends = ["/sign-out", "/account/language", "sessions/end"];
            if *times >= 4 || ends.iter().any(|end| action.ends_with(end)) {
                continue;
            }
            *times += 1;
            let mut typed: Vec<_> = fields.iter().map(|(a, b)| (&**a, &**b)).collect();
            for empties in [true, false] {
                if empties {
                    for field in &mut typed {
                        let is_hidden = field.0.starts_with('_') || field.0 == "version";
                        field.1 = if is_hidden { field.1 } else { "" };
                    }
                }
                let page = browser.post(&action, &typed).await;
                see(&action, &page);
                pages.push(page);
                typed = fields.iter().map(|(a, b)| (&**a, &**b)).collect();
            }
        }
        for page in &pages {
            waiting.extend(links(page).filter(|link| !link.starts_with("/assets")));
            if page.status == hyper::StatusCode::SEE_OTHER {
                waiting.push_back(page.next().to_owned());
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

#[tokio::test]
async fn a_member_chooses_a_language_and_others_have_that_of_the_store() {
    let shop = Shop::open().await;
    let mut ana = shop.member("Ana", Role::Viewer).await;
    let mut bo = shop.member("Bo", Role::Viewer).await;
    let html = |page: Page| page.text.split_once("<html lang=\"").unwrap().1[..2].to_owned();
    assert_eq!(html(ana.get("/").await), "en");
    ana.post("/account/language", &[("language", "xx")])
        .await
        .expect(400);
    for (code, expected) in [("de", "de"), ("fr", "fr"), ("es", "es"), ("", "en")] {
        ana.post("/account/language", &[("language", code)])
            .await
            .expect(303);
        assert_eq!(html(ana.get("/").await), expected);
        assert_eq!(html(ana.get("/animals/77").await), expected);
        assert_eq!(html(bo.get("/").await), "en");
    }
    // What the member chose holds after the next sign-in.
    ana.post("/account/language", &[("language", "de")])
        .await
        .expect(303);
    let mut other = shop.browser();
    assert_eq!(html(other.get("/sign-in").await), "en");
    other.sign_in("Ana", PASSWORD).await.expect(303);
    assert_eq!(html(other.get("/").await), "de");
}

#[tokio::test]
async fn no_page_of_another_language_has_an_english_word() {
    for language in [Language::German, Language::French, Language::Spanish] {
        let shop = Shop::open().await;
        let mut browser = shop.member("Zoë", Role::Manager).await;
        shop.import(&["Kéfir", "Mütze", "Ñandú", "Œuf", "Čuki", "Żaba"])
            .await;
        browser
            .post("/account/language", &[("language", language.as_str())])
            .await
            .expect(303);
        let mut english = english_words(language);
        english.remove("english");
        // What the store has, in the language of those who wrote it.
        for field in shop.store.fields().await.unwrap().all() {
            let said = format!("<p>{}<p>{:?}", field.label.as_str(), field.choices);
            english.retain(|word| !words_on(&said).contains(word));
        }
        // The names of places, such as Lower Princes.
        for region in zone_regions() {
            let places = words_on(&format!("<p>{}", region.zones.join(" ").replace('_', " ")));
            english.retain(|word| !places.contains(word));
        }
        let mut found = BTreeMap::new();
        walk(&mut browser, |path, page| {
            for word in words_on(&page.text).intersection(&english) {
                found.entry(word.clone()).or_insert_with(|| path.to_owned());
            }
        })
        .await;
        assert!(found.is_empty(), "{language}: {found:#?}");
    }
}

#[tokio::test]
async fn the_history_has_days_amounts_and_reasons_in_the_language_of_the_member() {
    let currency = Currency::new("EUR");
    let shop = Shop::of(StoreOptions {
        currency,
        ..StoreOptions::default()
    })
    .await;
    let mut browser = shop.member("Zoë", Role::Clerk).await;
    browser
        .post("/account/language", &[("language", "de")])
        .await
        .expect(303);
    let form = [
        ("name", "Rex"),
        ("field.born", "2023-05-01"),
        ("field.price", "249,50"),
    ];
    let form = [&form[..], &[("category", "1"), ("new-category", "yes")]].concat();
    let path = browser.post("/add", &form).await.next().to_owned();
    let page = browser.get(&path).await.expect(200);
    for shown in ["1.\u{a0}Mai\u{a0}2023", "249,50\u{a0}€"] {
        assert!(
            page.between("<ol class=\"history\">", "</ol>")
                .contains(shown),
            "{page:?}"
        );
    }
    let gone = [("why", "died"), ("version", "1")];
    browser.post(&format!("{path}/withdraw"), &gone).await;
    let page = browser.get(&path).await.expect(200);
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("Verstorben") || history.contains("Gestorben"),
        "{page:?}"
    );
}
