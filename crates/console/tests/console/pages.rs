//! The pages for the work in the store: forms that are sent twice, by two people, or with hostile values.

use std::time::Duration;

use futures_util::StreamExt;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use petstore_domain::{
    PetId, PetStatus, Role,
    store_area::{OrderId, OrderQuery, PetQuery, StorePet},
};

use super::browser::{Browser, Page, Shop};

/// Adds an animal, and returns the path of its page.
async fn add(clerk: &mut Browser<'_>, name: &str) -> String {
    let form = [("name", name), ("category", "1"), ("status", "available")];
    clerk.post("/add", &form).await.next().to_owned()
}

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

pub(super) async fn pets(shop: &Shop) -> Vec<StorePet> {
    shop.store
        .list_store_pets(&PetQuery::default())
        .await
        .unwrap()
        .0
}

/// The key of the form that is sent to this path.
pub(super) fn key(page: &Page, action: &str) -> String {
    let form = page.between(&format!("action=\"{action}\">"), "</form>");
    let (_, value) = form.split_once("name=\"_key\" value=\"").unwrap();
    value.split_once('"').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_form_that_is_sent_twice_makes_one_order_and_shows_its_message_once() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk, "Rex").await;
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("Added as animal 1."));
    let order = format!("{path}/order");
    let key = key(&page, &order);
    let form = [("_key", &*key), ("do", "reserve"), ("until", "2026-12-24")];
    for _ in 0..3 {
        assert_eq!(clerk.post(&order, &form).await.next(), path);
    }
    let (orders, _) = shop
        .store
        .list_orders(&OrderQuery::default())
        .await
        .unwrap();
    assert_eq!(orders.len(), 1);
    assert_eq!(
        orders[0].expires_at.unwrap().to_string(),
        "2026-12-24T23:59:59Z"
    );
    assert!(clerk.get(&path).await.text.contains("Reserved (order 1)."));
    assert!(!clerk.get(&path).await.text.contains("Reserved (order"));
    // The same form with other values, as after "back", is another form.
    let other = [("_key", &*key), ("do", "sell"), ("until", "")];
    let page = clerk.post(&order, &other).await.expect(422);
    assert!(page.text.contains("It is reserved by order 1."), "{page:?}");
    assert_eq!(pet(&shop, 1).await.order_id, OrderId::new(1));
}

#[tokio::test]
async fn a_form_that_is_sent_twice_leads_to_the_list_if_the_log_has_forgotten_what_it_added() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let page = clerk.get("/add").await.expect(200);
    let key = page.hidden("_key");
    let form = [("_key", &*key), ("name", "Rex"), ("category", "1")];
    assert_eq!(clerk.post("/add", &form).await.next(), "/animals/1");
    shop.database().execute("DELETE FROM changes", []).unwrap();
    assert_eq!(clerk.post("/add", &form).await.next(), "/animals");
}

#[tokio::test]
async fn two_people_who_edit_one_animal_see_both_versions_and_lose_nothing() {
    let shop = Shop::open().await;
    let mut one = shop.member("Ana", Role::Clerk).await;
    let mut other = shop.member("Ben", Role::Clerk).await;
    let path = add(&mut one, "Rex").await;
    let edit = format!("{path}/edit");
    let edited = async |by: &mut Browser<'_>, version: &str, name: &str| {
        let form = [
            ("version", version),
            ("name", name),
            ("category", "2"),
            ("status", "available"),
        ];
        by.post(&edit, &form).await
    };
    assert_eq!(edited(&mut one, "1", "Rex I").await.next(), path);
    let page = edited(&mut other, "1", "<Rex II>").await.expect(409);
    for shown in [
        "Rex I</bdi>",
        "Changed by Ana",
        "value=\"&lt;Rex II&gt;\"",
        "Keep the saved version",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    assert_eq!(pet(&shop, 1).await.name.as_str(), "Rex I");
    let version = page.hidden("version");
    assert_eq!(edited(&mut other, &version, "<Rex II>").await.next(), path);
    assert_eq!(pet(&shop, 1).await.name.as_str(), "<Rex II>");
    let history = one.get(&path).await.text;
    assert!(history.contains("<del><bdi>Rex I</bdi></del> → <ins><bdi>&lt;Rex II&gt;</bdi></ins>"));
    assert!(history.contains("Ben, "));
}

#[tokio::test]
async fn hostile_names_are_shown_as_text_and_what_nobody_touched_stays_as_it_is() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    // As long as a name can be, and in the longest spelling of browsers.
    let long = "é".repeat(32 << 10);
    for name in [
        "<script>alert(1)</script>",
        "\u{202e}a\u{1}\nb\r",
        "كلب صغير",
        "🐕 Fluffy 🐾",
        "<!--\"'&amp;",
        &long,
    ] {
        let path = add(&mut manager, name).await;
        for page in [
            "/",
            "/animals",
            "/orders",
            "/activity",
            &path,
            &format!("{path}/edit"),
        ] {
            let page = manager.get(page).await.expect(200);
            let without = page
                .text
                .replace("<!DOCTYPE html>", "")
                .replace("<script defer", "");
            assert!(
                !without.contains("<script") && !without.contains("<!"),
                "{page:?}"
            );
            let in_form = page.text.len() - page.text.replace(name, "").len();
            assert!(page.text.len() - in_form < 60_000, "{}", page.text.len());
        }
        // A browser removes line ends from an input.
        let form = manager.get(&format!("{path}/edit")).await;
        let typed = form.typed("name");
        assert!(!typed.contains(['\n', '\r']));
        let version = form.hidden("version");
        let form = [
            ("version", &*version),
            ("name", &typed),
            ("category", "1"),
            ("status", "available"),
        ];
        assert_eq!(
            manager.post(&format!("{path}/edit"), &form).await.next(),
            path
        );
        let id = path.rsplit_once('/').unwrap().1.parse().unwrap();
        let pet = pet(&shop, id).await;
        assert_eq!((pet.name.as_str(), pet.version), (name, 1));
    }
    let export = manager
        .get("/activity/export?since=2026-11-30")
        .await
        .expect(200);
    assert_eq!(export.field("content-type"), "text/csv; charset=utf-8");
    assert!(export.text.contains("Ana,Animal added,pet:1"), "{export:?}");
}

#[tokio::test]
async fn a_rejected_form_leads_to_the_older_entries_of_the_history() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk, "Rex").await;
    for version in 1..=20 {
        let (version, category) = (version.to_string(), (version + 1).to_string());
        let form = [
            ("version", &*version),
            ("name", "Rex"),
            ("category", &category),
        ];
        assert_eq!(
            clerk.post(&format!("{path}/edit"), &form).await.next(),
            path
        );
    }
    let form = [("do", "reserve"), ("until", "yesterday")];
    let page = clerk
        .post(&format!("{path}/order"), &form)
        .await
        .expect(422);
    let older = format!("{path}?before={}", page.between("?before=", "\""));
    assert!(
        page.text
            .contains(&format!("<a href=\"{older}\">Older entries</a>")),
        "{page:?}"
    );
    assert!(
        clerk
            .get(&older)
            .await
            .expect(200)
            .text
            .contains("<strong>Added</strong>")
    );
}

#[tokio::test]
async fn pages_show_what_a_later_release_logs_in_words() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let path = add(&mut manager, "Rex").await;
    shop.database()
        .execute_batch(
            "INSERT INTO changes (latest_at, at, type, subject_id, version, pet_id, actor)
                SELECT latest_at, at, 'photo.taken_down', 7, 1, 1, 'clock' FROM changes;
             INSERT INTO acts (seq, at, type, actor, details)
                SELECT seq, at, 'backup.made', 'command', '{}' FROM changes LIMIT 1",
        )
        .unwrap();
    let page = manager.get(&path).await.expect(200);
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("<strong>Photo taken down</strong>"),
        "{history}"
    );
    let page = manager.get("/activity").await.expect(200).text;
    for part in [
        "<td class=\"first\">Photo taken down</td>",
        ">Photo 7</td>",
        ">Backup made</td>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let export = manager.get("/activity/export").await.expect(200).text;
    assert!(
        export.contains(",the service,Photo taken down,photo:7,"),
        "{export}"
    );
}

#[tokio::test]
async fn an_animal_keeps_a_name() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk, "Rex").await;
    let form = [
        ("version", "1"),
        ("name", " "),
        ("category", "1"),
        ("status", "sold"),
    ];
    let page = clerk.post(&format!("{path}/edit"), &form).await.expect(422);
    assert!(
        page.text.contains("Enter the name of the animal."),
        "{page:?}"
    );
    assert_eq!(pet(&shop, 1).await.version, 1);
}

#[tokio::test]
async fn the_first_animal_of_a_new_store_brings_its_category() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [
        ("name", "Rex"),
        ("category", "Dogs <1>"),
        ("status", "available"),
    ];
    let page = clerk.post("/add", &form).await.expect(422);
    assert!(
        page.text
            .contains("and the category “Dogs &lt;1&gt;”</button>"),
        "{page:?}"
    );
    assert_eq!(pets(&shop).await, []);
    let with_category = [form[0], form[1], form[2], ("new-category", "Dogs <1>")];
    assert_eq!(
        clerk.post("/add", &with_category).await.next(),
        "/animals/1"
    );
    assert!(
        clerk
            .get("/animals/1")
            .await
            .text
            .contains("Added as animal 1.")
    );
    // Then it is in the list, and is not made twice.
    assert_eq!(clerk.post("/add", &form).await.next(), "/animals/2");
    assert_eq!(
        clerk.post("/add", &with_category).await.next(),
        "/animals/3"
    );
    let categories = clerk.get("/categories").await.expect(200);
    assert_eq!(
        categories.text.matches("Dogs &lt;1&gt;").count(),
        1,
        "{categories:?}"
    );
    assert!(pets(&shop).await.iter().all(|pet| pet.category_id == 1));
}

#[tokio::test]
async fn the_activity_begins_with_the_newest_and_goes_back_page_by_page() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    for _ in 0..60 {
        add(&mut manager, "Rex").await;
    }
    let animals = |page: &Page| -> Vec<u32> {
        let links = page.text.split("<a href=\"/animals/").skip(1);
        links
            .map(|link| link.split_once('"').unwrap().0.parse().unwrap())
            .collect()
    };
    let page = manager.get("/activity").await.expect(200);
    assert_eq!(animals(&page), (11..=60).rev().collect::<Vec<_>>());
    let next = page.between("<a href=\"/activity?after=", "\"").to_owned();
    let page = manager
        .get(&format!("/activity?after={next}"))
        .await
        .expect(200);
    assert_eq!(animals(&page), (1..=10).rev().collect::<Vec<_>>());
    // The first act is the last entry.
    assert!(
        page.text.rfind("Staff member added") > page.text.rfind("Animal added"),
        "{page:?}"
    );
    for (days, is_there) in [("until=2026-11-30", false), ("since=2026-12-01", true)] {
        let page = manager.get(&format!("/activity?{days}")).await.expect(200);
        assert_eq!(
            page.text.contains("Animal added</td>"),
            is_there,
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn a_page_of_the_activity_looks_through_40_000_entries_and_offers_to_continue() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    add(&mut manager, "Rex").await;
    // The animal is just behind 40,000 entries of another kind.
    let others = "INSERT INTO changes (latest_at, at, type, subject_id, version, actor, actor_id)
        WITH RECURSIVE others (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM others WHERE n < 40000)
        SELECT latest_at, at, 'category.changed', 1, n, actor, actor_id FROM others, changes
        WHERE seq = 1";
    assert_eq!(shop.database().execute(others, []).unwrap(), 40_000);
    let page = manager.get("/activity?type=pet.added").await.expect(200);
    assert!(
        page.text.contains("Nothing found yet") && !page.text.contains("Rex"),
        "{page:?}"
    );
    let next = page
        .between("<a href=\"/activity?type=pet.added&amp;after=", "\"")
        .to_owned();
    let path = format!("/activity?type=pet.added&after={next}");
    let page = manager.get(&path).await.expect(200);
    assert!(page.text.contains("<ins><bdi>Rex</bdi></ins>"), "{page:?}");
}

#[tokio::test]
async fn of_many_pasted_lines_all_are_added_or_none() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [("label", "Dogs"), ("number", "4")];
    assert_eq!(clerk.post("/categories", &form).await.next(), "/categories");
    let wrong = [("lines", "Rex\tdogs\nMax\tcats")];
    for path in ["/add/preview", "/add/many"] {
        let page = clerk.post(path, &wrong).await.expect(422);
        assert!(
            page.text.contains("There is no category “cats”."),
            "{page:?}"
        );
        assert!(!page.text.contains("action=\"/add/many\""));
    }
    assert_eq!(pets(&shop).await, []);
    let form = [("label", "Cats"), ("number", "7")];
    assert_eq!(clerk.post("/categories", &form).await.next(), "/categories");
    let right = "Name\tCategory\tStatus\nRex\tdogs\t\nMax\t7\tsold";
    let page = clerk
        .post("/add/preview", &[("lines", right)])
        .await
        .expect(200);
    let key = key(&page, "/add/many");
    for _ in 0..2 {
        let form = [("_key", &*key), ("lines", right)];
        assert_eq!(
            clerk.post("/add/many", &form).await.next(),
            "/animals?status=all"
        );
    }
    let added = pets(&shop).await;
    let added: Vec<_> = added
        .iter()
        .map(|pet| (pet.name.as_str(), pet.category_id, pet.status))
        .collect();
    assert_eq!(
        added,
        [
            ("Rex", 4, PetStatus::Available),
            ("Max", 7, PetStatus::Sold)
        ]
    );
}

#[tokio::test]
async fn a_pasted_column_is_left_out_only_when_the_person_says_so() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [("label", "Dogs"), ("number", "7")];
    clerk.post("/categories", &form).await.expect(303);
    let lines = "Name\tCategory\tBreed <1>\tStatus\tAge\nRex\t7\tPug\tsold\t3";
    let page = clerk
        .post("/add/preview", &[("lines", lines)])
        .await
        .expect(200);
    let label = "Leave out “Breed <1>”, “Age”";
    assert!(
        page.text.contains(&label.replace("<1>", "&lt;1&gt;")),
        "{page:?}"
    );
    // Also for a preview of other lines.
    for other in ["", "yes", "Leave out “Age”"] {
        let form = [("lines", lines), ("left-out", other)];
        let page = clerk.post("/add/many", &form).await.expect(422);
        assert!(
            page.text.contains("<a href=\"#left-out\">Tick the box"),
            "{page:?}"
        );
    }
    assert_eq!(pets(&shop).await, []);
    let form = [("lines", lines), ("left-out", label)];
    assert_eq!(clerk.post("/add/many", &form).await.next(), "/animals/1");
    assert_eq!(pet(&shop, 1).await.status, PetStatus::Sold);
}

#[tokio::test]
async fn a_webhook_shows_its_secret_once_and_to_each_repetition_of_the_form() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let page = manager.get("/settings/webhooks").await.expect(200);
    let key = key(&page, "/settings/webhooks");
    let form = [
        ("_key", &*key),
        ("url", "https://shop.example/hook"),
        ("type", "pet.added"),
    ];
    let secret = |page: Page| page.between("whsec_", "<").to_owned();
    let first = secret(manager.post("/settings/webhooks", &form).await.expect(200));
    assert_eq!(
        secret(manager.post("/settings/webhooks", &form).await.expect(200)),
        first
    );
    assert_eq!(shop.store.list_webhooks().await.unwrap().len(), 1);
    for path in ["/settings/webhooks", "/settings/webhooks/1"] {
        assert!(!manager.get(path).await.expect(200).text.contains("whsec_"));
    }
    let local = [("url", "http://127.0.0.1/")];
    let page = manager.post("/settings/webhooks", &local).await.expect(422);
    assert!(page.text.contains("value=\"http://127.0.0.1/\""));
    let deleted = manager
        .post_and_confirm("/settings/webhooks/1/delete", &[])
        .await;
    assert_eq!(deleted.next(), "/settings/webhooks");
    assert!(shop.store.list_webhooks().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_open_page_learns_which_animals_changed_until_the_service_shuts_down() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    shop.app.journal.poll().await.unwrap();
    let mut events = clerk.stream("/live").await.into_data_stream();
    add(&mut clerk, "Rex").await;
    shop.app.journal.poll().await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap(), "data: 1\n\n");
    shop.app.journal.end();
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn one_member_has_at_most_64_open_pages_that_follow() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(clerk.stream("/live").await);
    }
    let page = clerk.get("/live").await.expect(429);
    assert!(
        page.text.contains("At most 64 streams can be open at once"),
        "{page:?}"
    );
    // Another member, and the first one after a page was closed.
    shop.member("Di", Role::Clerk)
        .await
        .get("/live")
        .await
        .expect(200);
    open.pop();
    clerk.get("/live").await.expect(200);
}

#[tokio::test]
async fn an_open_page_learns_nothing_after_its_session_has_ended() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let (mut out, mut off) = (
        shop.member("Bo", Role::Clerk).await,
        shop.member("Cy", Role::Clerk).await,
    );
    shop.app.journal.poll().await.unwrap();
    let open = async |browser: &mut Browser<'_>| browser.stream("/live").await.into_data_stream();
    let (mut of_out, mut of_off) = (open(&mut out).await, open(&mut off).await);
    let mut of_manager = open(&mut manager).await;
    out.post("/sign-out", &[]).await.expect(303);
    let path = format!("/settings/staff/{}", shop.find("Cy").await.id);
    manager
        .post_and_confirm(&path, &[("do", "disable")])
        .await
        .expect(303);
    add(&mut manager, "Rex").await;
    shop.app.journal.poll().await.unwrap();
    assert_eq!(of_manager.next().await.unwrap().unwrap(), "data: 1\n\n");
    assert!(of_out.next().await.is_none() && of_off.next().await.is_none());
    // The last one ends with the time of its session, although nothing changes.
    shop.clock.advance(Duration::from_mins(30));
    assert!(of_manager.next().await.is_none());
}

#[tokio::test]
async fn the_files_of_the_pages_are_small_and_kept_by_browsers_and_pages_are_not() {
    let shop = Shop::open().await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let page = viewer.get("/").await.expect(200);
    assert_eq!(page.field("cache-control"), "no-store, no-transform");
    for (ending, most) in [(".css", 28_000), (".js", 20_000), (".svg", 1_000)] {
        let path = page.between("/assets/", ending).rsplit_once("/assets/");
        let name = path.map_or_else(|| page.between("/assets/", ending), |(_, name)| name);
        let file = shop
            .browser()
            .get(&format!("/assets/{name}{ending}"))
            .await
            .expect(200);
        assert_eq!(
            file.field("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert!(file.text.len() < most, "{ending}: {}", file.text.len());
    }
    shop.browser().get("/assets/style.css").await.expect(404);
}

#[tokio::test]
async fn the_page_today_tells_everybody_that_the_clock_is_not_believed() {
    let shop = Shop::open().await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    shop.app.expire_orders().await.unwrap();
    assert!(
        !viewer
            .get("/")
            .await
            .expect(200)
            .text
            .contains("petstore clock confirm")
    );
    let confirmed = shop.store.confirmed_time(Timestamp::MIN).await.unwrap();
    let earlier = confirmed - SignedDuration::from_hours(72);
    assert!(
        shop.store
            .confirm_time(confirmed, earlier, None)
            .await
            .unwrap()
    );
    shop.app.expire_orders().await.unwrap();
    let page = viewer.get("/").await.expect(200);
    let (now, then) = ("1\u{a0}December\u{a0}2026", "28\u{a0}November\u{a0}2026");
    for shown in [now, then, "petstore clock confirm", "trusted in 2 hours."] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    assert!(
        shop.store
            .confirm_time(earlier, confirmed, None)
            .await
            .unwrap()
    );
    shop.app.expire_orders().await.unwrap();
    assert!(
        !viewer
            .get("/")
            .await
            .expect(200)
            .text
            .contains("petstore clock confirm")
    );
}
