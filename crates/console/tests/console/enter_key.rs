//! The Enter key presses the first button of a form, so this is the button that people see as the action of the form.

use std::collections::BTreeSet;

use petstore_domain::Role;
use petstore_testing::pictures;

use super::browser::{Browser, Page, Shop};

/// The form of the list, whose bar has a button for each part that opens. Its first button carries out the part into which
/// somebody has typed: see `several::the_enter_key_means_the_button_next_to_what_was_typed`.
const BAR_OF_LIST: &str = "/animals/selected";

/// The tags of the buttons of a form that submit it, in their order.
fn submit_buttons(form: &str) -> Vec<&str> {
    let tags = form.split('<').skip(1).filter_map(|part| {
        let (tag, _) = part.split_once('>')?;
        Some(tag)
    });
    tags.filter(|tag| {
        let is_button = tag.starts_with("button") && !tag.contains("type=\"button\"");
        is_button || tag.starts_with("input type=\"image\"")
    })
    .collect()
}

/// What is wrong with the first button of each form with several buttons.
fn problems(path: &str, page: &Page) -> Vec<String> {
    let mut problems = Vec::new();
    for part in page.text.split("<form").skip(1) {
        let form = part.split("</form>").next().unwrap();
        let buttons = submit_buttons(form);
        let [first, _, ..] = buttons[..] else {
            continue;
        };
        let is_hidden = first.contains("hidden");
        let has_main = buttons.iter().any(|tag| tag.contains("class=\"main\""));
        let is_main = first.contains("class=\"main\"");
        let is_bar = form.contains(&format!("action=\"{BAR_OF_LIST}\""));
        if !is_bar && (is_hidden || has_main && !is_main) {
            problems.push(format!("{path}: {buttons:?}"));
        }
    }
    problems
}

/// The paths to which a page links.
fn links(page: &Page) -> Vec<String> {
    let links = page.text.split("href=\"/").skip(1);
    links
        .map(|rest| {
            let path = rest.split('"').next().unwrap();
            let path = path.split('#').next().unwrap();
            format!("/{path}").replace("&amp;", "&")
        })
        .filter(|path| !path.starts_with("/assets") && !path.starts_with("/photos"))
        .collect()
}

/// A store with animals and orders in each state, photos, a field, a key, a webhook and another member.
async fn busy_shop(shop: &Shop) -> Browser<'_> {
    shop.invite("Bo", Role::Clerk).await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    for name in ["Rex", "Max", "Mia", "Tom", "Ida"] {
        let form = [("name", name), ("category", "1")];
        manager.post("/add", &form).await.expect(303);
    }
    for (animal, act) in [("2", "reserve"), ("3", "sell"), ("4", "reserve")] {
        let path = format!("/animals/{animal}/order");
        let form = [("do", act), ("until", "2026-12-24")];
        manager.post(&path, &form).await.expect(303);
    }
    manager.post("/orders/3/cancel", &[]).await.expect(303);
    let withdrawal = [("why", "died"), ("version", "1")];
    manager.post("/animals/5/withdraw", &withdrawal).await;
    let picture = pictures::png(8, 6);
    let files: [(&str, &[u8]); 2] = [("a.png", &picture), ("b.png", &picture)];
    manager.upload("/animals/1/photos", "", &files).await;
    let forms: [(&str, &[(&str, &str)]); 4] = [
        ("/settings/fields", &[("label", "Diet"), ("kind", "text")]),
        ("/settings/keys", &[("name", "Till")]),
        ("/settings/webhooks", &[("url", "https://example.com/hook")]),
        ("/categories", &[("label", "Dogs"), ("number", "1")]),
    ];
    for (path, form) in forms {
        manager.post(path, form).await;
    }
    manager
}

#[tokio::test]
async fn on_every_page_the_enter_key_presses_the_button_that_people_see() {
    let shop = Shop::open().await;
    let mut manager = busy_shop(&shop).await;
    let mut seen = BTreeSet::new();
    let mut paths = vec!["/".to_owned(), "/account/passkeys".to_owned()];
    let mut all_problems = Vec::new();
    while let Some(path) = paths.pop() {
        if seen.len() > 150 || !seen.insert(path.clone()) {
            continue;
        }
        let page = manager.get(&path).await;
        all_problems.extend(problems(&path, &page));
        paths.extend(links(&page));
    }
    for path in ["/animals/2", "/animals/3", "/orders/1", "/animals/1/photos"] {
        assert!(seen.contains(path), "{path}: {seen:?}");
    }

    // Pages that follow a form.
    let wrong_animal = [("name", "Rex"), ("category", "Lions")];
    let wrong_lines = [("lines", "Name\tCategory\tOwner\nRex\tCows\tAna")];
    let many_lines = [("lines", "Name\tCategory\tOwner\nRex\tDogs\tAna")];
    let long_reason = "x".repeat(20_000);
    let wrong_return = [("reason", &*long_reason)];
    let forms: [(&str, &[(&str, &str)]); 4] = [
        ("/add", &wrong_animal),
        ("/add/preview", &wrong_lines),
        ("/add/preview", &many_lines),
        ("/orders/2/return", &wrong_return),
    ];
    for (path, form) in forms {
        let page = manager.post(path, form).await;
        assert!(page.text.contains("<form"), "{path}: {page:?}");
        all_problems.extend(problems(path, &page));
    }
    assert!(all_problems.is_empty(), "{all_problems:#?}");
}

#[tokio::test]
async fn each_form_of_an_order_has_the_inputs_of_its_first_button() {
    let shop = Shop::open().await;
    let mut manager = busy_shop(&shop).await;
    for (path, action, input) in [
        ("/animals/2", "/orders/1/complete", "price"),
        ("/animals/2", "/orders/1/change", "note"),
        ("/animals/3", "/orders/2/return", "reason"),
        ("/animals/3", "/orders/2/change", "note"),
    ] {
        let page = manager.get(path).await.expect(200);
        let form = page.form(action);
        assert!(form.iter().any(|(name, _)| name == input), "{page:?}");
        let has_version = form.iter().any(|(name, _)| name == "version");
        assert!(has_version, "{page:?}");
    }
}
