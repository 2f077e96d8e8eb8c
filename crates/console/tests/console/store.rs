//! What the store says about itself, which a manager changes in the settings.

use petstore_app::StoreOptions;
use petstore_console::ConsoleSettings;
use petstore_domain::{
    Role,
    store_area::{
        About, AuditEntry, AuditQuery, ContactPage, Currency, EmailAddress, Language, Links,
        Profile, StoreName, StoreTimeZone,
    },
};

use super::browser::{Browser, Page, Shop};

const PAGE: &str = "/settings/store";

async fn profile(shop: &Shop) -> Profile {
    shop.store.profile().await.unwrap()
}

fn name(profile: &Profile) -> &str {
    profile.name.as_ref().map_or("", StoreName::as_str)
}

fn email(profile: &Profile) -> &str {
    profile.email.as_ref().map_or("", EmailAddress::as_str)
}

fn links(profile: &Profile) -> Vec<(&str, &str)> {
    let links = profile.links.as_ref().map(Links::all).unwrap_or_default();
    links
        .iter()
        .map(|link| (link.label.as_str(), link.url.as_str()))
        .collect()
}

/// Sends the form of this page with what was typed.
async fn save(manager: &mut Browser<'_>, seen: &Page, typed: &[(&str, &str)]) -> Page {
    manager.submit((seen, PAGE), PAGE, typed).await
}

/// The members that the acts of the audit trail name, and who changed them.
async fn acts(shop: &Shop) -> Vec<String> {
    let query = AuditQuery {
        limit: 1000,
        ..AuditQuery::default()
    };
    let (entries, _) = shop.store.list_audit(&query).await.unwrap();
    let act = |entry: &AuditEntry| match entry {
        AuditEntry::Act { act, actor, .. } if act.kind.as_str() == "profile.changed" => {
            Some(format!("{:?} by {}", act.details, actor.actor))
        }
        _ => None,
    };
    entries.iter().filter_map(act).collect()
}

#[tokio::test]
async fn a_manager_says_who_the_store_is_and_changes_only_what_was_typed() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    assert_eq!(manager.get("/settings").await.next(), PAGE);
    let empty = manager.get(PAGE).await.expect(200);
    let typed = [
        ("store.name", " Tierheim am See "),
        ("store.kind", "shelter"),
        ("store.about", "Cats.\r\n\r\nAnd dogs.\r\n"),
        ("store.email", "hello@tierheim.example"),
        ("store.telephone", "+49 (0)30 / 12-34.5"),
        (
            "store.contactPage",
            "https://tierheim.example/ask?animal={id}",
        ),
        ("store.address", "Seestr. 1\r\n12345 See"),
        ("store.hours", "Mo–Fr 10–16"),
        ("store.language", "de"),
        ("store.currency", "eur"),
        ("store.colour", "#2F6f4f"),
        ("store.link1.label", "Impressum"),
        ("store.link1.url", "https://tierheim.example/impressum"),
        // Rows between may stay empty.
        ("store.link8.label", "Adopt & <keep>"),
        ("store.link8.url", "https://tierheim.example/adopt"),
    ];
    assert_eq!(save(&mut manager, &empty, &typed).await.next(), PAGE);
    let saved = profile(&shop).await;
    assert_eq!((name(&saved), saved.version), ("Tierheim am See", 2));
    assert_eq!(
        saved.about.as_ref().map(About::as_str),
        Some("Cats.\n\nAnd dogs.")
    );
    assert_eq!(saved.currency.as_ref().map(Currency::as_str), Some("EUR"));
    let adopt = ("Adopt & <keep>", "https://tierheim.example/adopt");
    assert_eq!(
        links(&saved),
        [("Impressum", "https://tierheim.example/impressum"), adopt]
    );
    let page = manager.get(PAGE).await.expect(200);
    assert!(
        page.text.contains("<option value=\"shelter\" selected>"),
        "{page:?}"
    );
    assert!(
        page.text.contains("<option value=\"de\" selected>Deutsch<"),
        "{page:?}"
    );
    assert_eq!(page.typed("store.link2.label"), "Adopt & <keep>");

    // An empty input and empty rows clear what they had; everything else stays.
    let cleared = [
        ("store.email", " "),
        ("store.link1.label", ""),
        ("store.link1.url", ""),
    ];
    save(&mut manager, &page, &cleared).await.expect(303);
    let after = profile(&shop).await;
    assert_eq!(links(&after), [adopt]);
    assert_eq!(
        after,
        Profile {
            email: None,
            links: after.links.clone(),
            version: 3,
            ..saved
        }
    );
    // A form without changes makes no version and no act.
    let page = manager.get(PAGE).await;
    save(&mut manager, &page, &[]).await.expect(303);
    assert_eq!(profile(&shop).await, after);
    let acts = acts(&shop).await;
    assert_eq!(acts.len(), 2, "{acts:?}");
    assert!(
        acts.iter().all(|act| act.ends_with("by staff:1")),
        "{acts:?}"
    );
    assert!(
        acts.iter().any(|act| act.contains("\"email, links\"")),
        "{acts:?}"
    );
    assert!(!acts.concat().contains("tierheim.example"), "{acts:?}");
}

#[tokio::test]
async fn each_wrong_value_is_named_at_its_input_and_nothing_that_was_typed_is_lost() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let seen = manager.get(PAGE).await;
    let long = "x".repeat(64 << 10);
    let values: [(&str, &[&str]); 12] = [
        ("store.contract", &["{name} moves in", "a } b", &long]),
        (
            "store.name",
            &["\u{200b}", "a\u{1}b", "\u{202e}\u{202e}", &long],
        ),
        ("store.kind", &["zoo"]),
        (
            "store.email",
            &["hello", "a@b@c", "a b@c.example", "\"><script>@"],
        ),
        ("store.telephone", &["call us", "١٢٣", "12"]),
        (
            "store.contactPage",
            &[
                "javascript:alert(1)",
                "http://a.example",
                "https://u:p@a.example",
            ],
        ),
        ("store.language", &["it"]),
        ("store.timeZone", &["Berlin", "+01:00"]),
        ("store.currency", &["money", "$"]),
        ("store.colour", &["reddish", "#12345", "#2f6f4f;}"]),
        (
            "store.link1.url",
            &[
                "javascript:alert(1)",
                "data:text/html,x",
                "https://a.examplehttps://b.example",
                "",
            ],
        ),
        ("store.link1.label", &["", "a\nb", &long]),
    ];
    for (input, wrong) in values {
        for typed in wrong {
            let mut form = vec![("store.hours", "<b>9</b>\u{202e}"), (input, *typed)];
            for link in [
                ("store.link1.label", "Imprint"),
                ("store.link1.url", "https://a.example"),
            ] {
                form.extend((input.contains("link") && input != link.0).then_some(link));
            }
            let page = save(&mut manager, &seen, &form).await.expect(422);
            let message = page.between(&format!("id=\"{input}-error\">"), "</p>");
            let linked = format!("<a href=\"#{input}\">{message}</a>");
            assert!(
                page.text.contains(&linked) && message.contains(". "),
                "{linked}: {page:?}"
            );
            let kept = page.form(PAGE);
            for (of, value) in form {
                // No option of a list is wrong.
                let is_choice = ["store.kind", "store.language", "store.timeZone"].contains(&of);
                let expected = if is_choice { "" } else { value };
                assert!(
                    kept.contains(&(of.to_owned(), expected.to_owned())),
                    "{of}: {page:?}"
                );
            }
            assert!(
                !page.text.contains("<script>") && !page.text.contains("<b>"),
                "{page:?}"
            );
        }
    }
    assert!(profile(&shop).await.is_empty());
    assert_eq!(acts(&shop).await, [""; 0]);
}

#[tokio::test]
async fn a_sign_of_a_currency_a_picked_colour_and_a_link_without_a_scheme_are_read() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let page = manager.get(PAGE).await.expect(200);
    let typed = [
        ("store.currency", "€"),
        ("store.colour", "Grün"),
        ("store.contactPage", "tierheim.example/fragen"),
        ("store.link1.label", "Impressum"),
        ("store.link1.url", "www.tierheim.example/impressum"),
    ];
    save(&mut manager, &page, &typed).await.expect(303);
    let saved = profile(&shop).await;
    let colour = |profile: &Profile| profile.colour.as_ref().map(|of| of.as_str().to_owned());
    assert_eq!(saved.currency.as_ref().map(Currency::as_str), Some("EUR"));
    assert_eq!(colour(&saved).as_deref(), Some("#2e7d32"));
    let link = ("Impressum", "https://www.tierheim.example/impressum");
    assert_eq!(links(&saved), [link]);
    let contact_page = saved.contact_page.as_ref().map(ContactPage::as_str);
    assert_eq!(contact_page, Some("https://tierheim.example/fragen"));

    // Without a script, the picker counts if somebody changes it, and else what is typed.
    let page = manager.get(PAGE).await.expect(200);
    assert!(
        page.form(PAGE)
            .contains(&("store.picked".to_owned(), "#2e7d32".to_owned()))
    );
    let picked = [("store.picked", "#112233")];
    save(&mut manager, &page, &picked).await.expect(303);
    assert_eq!(colour(&profile(&shop).await).as_deref(), Some("#112233"));
    let page = manager.get(PAGE).await.expect(200);
    save(&mut manager, &page, &[("store.colour", "")])
        .await
        .expect(303);
    assert_eq!(colour(&profile(&shop).await), None);
}

#[tokio::test]
async fn what_somebody_else_changed_meanwhile_stays_and_what_both_changed_is_asked() {
    let shop = Shop::open().await;
    let mut ana = shop.member("Ana", Role::Manager).await;
    let mut ben = shop.member("Ben", Role::Manager).await;
    let (of_ana, of_ben) = (ana.get(PAGE).await, ben.get(PAGE).await);
    let theirs = [("store.email", "ben@a.example"), ("store.kind", "shelter")];
    save(&mut ben, &of_ben, &theirs).await.expect(303);
    // Another input than those of Ben.
    save(&mut ana, &of_ana, &[("store.name", "Ana's")])
        .await
        .expect(303);
    let both = profile(&shop).await;
    assert_eq!(
        (name(&both), email(&both), both.version),
        ("Ana's", "ben@a.example", 3)
    );
    // The same one: nothing is saved, and the next press decides.
    let mine = [
        ("store.email", "ana@a.example"),
        ("store.name", "Ana's shop"),
    ];
    let asked = save(&mut ana, &of_ana, &mine).await.expect(422);
    assert!(
        asked
            .text
            .contains("E-mail is now ben@a.example; it was –."),
        "{asked:?}"
    );
    assert_eq!(asked.typed("store.email"), "ana@a.example");
    assert!(
        asked.text.contains("<option value=\"shelter\" selected>"),
        "{asked:?}"
    );
    assert_eq!(profile(&shop).await, both);
    save(&mut ana, &asked, &[]).await.expect(303);
    let after = profile(&shop).await;
    assert_eq!(
        (name(&after), email(&after), after.kind),
        ("Ana's shop", "ana@a.example", both.kind)
    );
}

#[tokio::test]
async fn a_second_click_shows_the_same_message_and_changes_nothing_also_after_another_change() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let seen = manager.get(PAGE).await;
    save(&mut manager, &seen, &[("store.name", "A")])
        .await
        .expect(303);
    save(&mut manager, &seen, &[("store.name", "A")])
        .await
        .expect(303);
    assert_eq!(profile(&shop).await.version, 2);
    let again = manager.get(PAGE).await;
    save(&mut manager, &again, &[("store.name", "B")])
        .await
        .expect(303);
    save(&mut manager, &seen, &[("store.name", "A")])
        .await
        .expect(303);
    let after = profile(&shop).await;
    assert_eq!((name(&after), after.version), ("B", 3));
}

#[tokio::test]
async fn only_managers_see_and_change_what_the_store_says() {
    let shop = Shop::open().await;
    for (who, role) in [("Cy", Role::Clerk), ("Vi", Role::Viewer)] {
        let mut member = shop.member(who, role).await;
        member.get(PAGE).await.expect(403);
        member
            .post(PAGE, &[("store.name", "Mine"), ("version", "1")])
            .await
            .expect(403);
    }
    assert_eq!(
        shop.browser().get(PAGE).await.next(),
        "/sign-in?next=%2Fsettings%2Fstore"
    );
    assert!(profile(&shop).await.is_empty());
}

#[tokio::test]
async fn an_empty_input_says_what_counts_instead_and_a_full_one_does_not() {
    let store = StoreOptions {
        name: Some("Paws & <Co>".to_owned()),
        language: Some(Language::English),
        currency: Currency::new("CHF"),
        contact: Some("mailto:ask@paws.example".parse().unwrap()),
        time_zone: StoreTimeZone::from_name("Europe/Berlin"),
    };
    let with = Shop::with(ConsoleSettings {
        store,
        ..ConsoleSettings::default()
    })
    .await;
    let without = Shop::open().await;
    for (shop, hints) in [
        (
            &with,
            [
                (
                    "name",
                    "the system administrator’s setting is used: Paws &amp; &lt;Co&gt;.",
                ),
                (
                    "language",
                    "the system administrator’s setting is used: English.",
                ),
                (
                    "currency",
                    "the system administrator’s setting is used: CHF.",
                ),
                (
                    "timeZone",
                    "the system administrator’s setting is used: Europe/Berlin.",
                ),
                (
                    "email",
                    "the system administrator’s setting is used: ask@paws.example.",
                ),
            ],
        ),
        (
            &without,
            [
                (
                    "name",
                    "the console shows “Petstore” and the website “Our animals”.",
                ),
                ("language", "the default is used: English."),
                ("currency", "amounts are shown without a currency."),
                ("timeZone", "the default is used: UTC."),
                ("kind", "the default is used: Shop."),
            ],
        ),
    ] {
        let mut manager = shop.member("Mo", Role::Manager).await;
        let page = manager.get(PAGE).await.expect(200);
        let typed = [
            ("store.name", "Claws"),
            ("store.kind", "shelter"),
            ("store.telephone", "030 1234"),
            ("store.language", "en"),
            ("store.currency", "GBP"),
            ("store.timeZone", "UTC"),
        ];
        save(&mut manager, &page, &typed).await.expect(303);
        let after = manager.get(PAGE).await.expect(200);
        for (member, hint) in hints {
            let shown = page.between(&format!("id=\"store.{member}-hint\">"), "</div>");
            assert!(
                shown.ends_with(&format!("If this is empty, {hint}")),
                "{shown}"
            );
        }
        assert!(!after.text.contains("If this is empty"), "{after:?}");
    }
}

#[tokio::test]
async fn the_name_stands_at_the_top_and_name_address_and_telephone_on_what_is_printed() {
    let window = Some("https://pets.example".to_owned());
    let shop = Shop::with(ConsoleSettings {
        window,
        ..ConsoleSettings::default()
    })
    .await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let brand = |page: &Page| page.between("class=\"brand\"", "</bdi>").to_owned();
    let seen = manager.get(PAGE).await;
    assert!(brand(&seen).ends_with("<bdi>Petstore"), "{seen:?}");
    let typed = [
        ("store.name", "<i>Paws</i> \u{202e}evil"),
        ("store.about", "Cats & dogs\r\n<b>only</b>"),
        ("store.address", "Seestr. 1\r\n12345 See"),
        ("store.telephone", "+49 30 12"),
        ("store.colour", "#2f6f4f"),
        ("store.link1.label", "<u>Imprint</u>"),
        ("store.link1.url", "https://a.example/?a=1&b=\"2\""),
    ];
    save(&mut manager, &seen, &typed).await.expect(303);
    let name = "<bdi>&lt;i&gt;Paws&lt;/i&gt; \u{fffd}evil";
    let sign_in = shop.browser().get("/sign-in").await.expect(200);
    assert!(brand(&sign_in).ends_with(name), "{sign_in:?}");
    for path in [PAGE, "/", "/animals", "/orders"] {
        let page = manager.get(path).await.expect(200);
        assert!(brand(&page).ends_with(name), "{page:?}");
        assert!(
            page.between("<title>", "<")
                .ends_with(&name["<bdi>".len()..]),
            "{page:?}"
        );
        let head = page.between("<p class=\"print\">", "</p>");
        let lines = "</strong> · <bdi>Seestr. 1, 12345 See</bdi> · <bdi>+49 30 12</bdi>";
        assert_eq!(head, format!("<strong>{name}</bdi>{lines}"));
    }
    let page = manager.get(PAGE).await;
    let shown = page.between("id=\"shown\"", "</section>");
    for part in [
        name,
        "<bdi>Cats &amp; dogs</bdi><br><bdi>&lt;b&gt;only&lt;/b&gt;</bdi></p>",
        "<bdi>Seestr. 1</bdi><br><bdi>12345 See</bdi></p>",
        "fill=\"#2f6f4f\"",
        "href=\"https://a.example/?a=1&amp;b=&quot;2&quot;\"><bdi>&lt;u&gt;Imprint",
        "href=\"https://pets.example\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// What people read of a page.
fn read(page: &Page) -> String {
    let after_tags = page.text.split('<').filter_map(|part| part.split_once('>'));
    after_tags
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join(" ")
}

#[tokio::test]
async fn people_in_a_shelter_read_of_adoptions_and_programs_of_sales() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let rex = [
        ("name", "Rex"),
        ("category", "1"),
        ("status", "available"),
        ("field.price", "95"),
    ];
    for name in ["Rex", "Luna"] {
        manager
            .post("/add", &[&[("name", name)], &rex[1..]].concat())
            .await
            .expect(303);
    }
    let page = manager.get("/animals/1").await;
    for word in ["Sell…", "Sell now", "Customer", "Price"] {
        assert!(read(&page).contains(word), "{word}: {page:?}");
    }
    let seen = manager.get(PAGE).await;
    save(&mut manager, &seen, &[("store.kind", "shelter")])
        .await
        .expect(303);
    let page = manager.get("/animals/1").await;
    for word in [
        "Mark as adopted…",
        "Mark as adopted now",
        "Adopter",
        "Adoption fee",
    ] {
        assert!(read(&page).contains(word), "{word}: {page:?}");
    }
    let sale = [("do", "sell"), ("contact", "Ann"), ("price", "95")];
    manager.post("/animals/1/order", &sale).await.expect(303);
    let page = manager.get("/animals/1").await;
    assert!(read(&page).contains("Adopted (adoption 1)."), "{page:?}");
    let reservation = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Bob"),
    ];
    manager
        .post("/animals/2/order", &reservation)
        .await
        .expect(303);
    for (path, word) in [
        ("/", "Adopted today"),
        ("/animals?status=sold", "Adopted"),
        ("/animals/1", "Adopted"),
        ("/animals/1/edit", "Adopted"),
        ("/animals/2", "Mark as adopted"),
        ("/orders", "Adopted"),
        (
            "/orders?status=completed",
            "1 adoption with a fee, 95 in total",
        ),
        ("/orders/1", "Signed by the adopter"),
        ("/activity", "Animal adopted"),
    ] {
        let page = manager.get(path).await.expect(200);
        let text = read(&page);
        assert!(text.contains(word), "{path}, {word}: {text}");
        let mut words = text
            .split(|of: char| !of.is_alphabetic())
            .map(str::to_lowercase);
        let of_shop =
            words.find(|of| ["sold", "sell", "sale", "sales", "customer"].contains(&&**of));
        assert_eq!(of_shop, None, "{path}: {text}");
    }
    let id = petstore_domain::PetId::new(1).unwrap();
    let pet = shop.store.get_store_pet(id).await.unwrap().unwrap();
    assert_eq!(pet.status.as_str(), "sold");
}

#[tokio::test]
async fn a_number_with_a_long_dash_is_kept_and_no_server_has_the_number_of_an_animal() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let seen = manager.get(PAGE).await.expect(200);
    save(&mut manager, &seen, &[("store.telephone", "0341 – 12345")])
        .await
        .expect(303);
    let telephone = profile(&shop).await.telephone.unwrap();
    assert_eq!(telephone.as_str(), "0341 - 12345");
    for page in [
        "https://{id}.evil.example/",
        "https://a.example:{id}/",
        "https://{id}@a.example",
    ] {
        let seen = manager.get(PAGE).await.expect(200);
        let refused = save(&mut manager, &seen, &[("store.contactPage", page)])
            .await
            .expect(422);
        assert!(
            refused
                .text
                .contains("without {id} in the name of the server"),
            "{page}"
        );
    }
    let seen = manager.get(PAGE).await.expect(200);
    let typed = [
        ("store.contactPage", "https://a.example/{id}?of={id}"),
        ("store.colour", "#2f6f4f"),
    ];
    save(&mut manager, &seen, &typed).await.expect(303);
    let seen = manager.get(PAGE).await.expect(200);
    assert!(
        seen.between("id=\"shown\"", "</section>")
            .contains("Colour: <svg"),
        "{seen:?}"
    );
}
