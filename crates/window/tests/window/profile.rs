//! What the window shows of the profile of the store.

use std::time::Duration;

use petstore_domain::store_area::{
    ContactPage, Currency, EmailAddress, Profile, StoreName, StoreTimeZone, TelephoneNumber,
};
use petstore_testing::{pictures, stores::act};

use super::street::Street;

/// A profile with this name.
fn named(name: &str) -> Profile {
    Profile {
        name: StoreName::new(name.to_owned()),
        ..Profile::default()
    }
}

#[tokio::test]
async fn a_change_of_the_profile_is_on_the_next_page_in_the_feed_and_on_the_page_of_an_error() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("price", "249")]).await;
    let paths = [
        "/".to_owned(),
        format!("/animals/{id}"),
        "/embed".to_owned(),
        "/animals.atom".to_owned(),
        "/animals/77".to_owned(),
        "/nowhere".to_owned(),
    ];
    for (profile, name) in [
        (Profile::default(), "Paws &amp; Co."),
        (named("Claws"), "Claws"),
        (named("Tails"), "Tails"),
        (Profile::default(), "Paws &amp; Co."),
    ] {
        street.say(profile).await;
        for path in &paths {
            let page = street.get(path).await;
            assert!(page.text.contains(name), "{path} {name}: {page:?}");
        }
    }
    street
        .say(Profile {
            currency: Currency::new("GBP"),
            ..Profile::default()
        })
        .await;
    assert_eq!(
        street.get("/animals.json").await.json()[0]["currency"],
        "GBP"
    );
    for path in &paths[..2] {
        assert!(street.get(path).await.text.contains("£249.00"), "{path}");
    }
}

#[tokio::test]
async fn a_change_of_the_profile_by_another_process_is_seen_after_a_second_at_the_latest() {
    let street = Street::open().await;
    assert!(street.get("/").await.expect(200).text.contains("Paws"));
    let other = street.other_process().await;
    petstore_testing::profile::set(&*other, act(0), named("Claws")).await;
    if street.store.version().await.unwrap().is_none() {
        street.clock.advance(Duration::from_secs(1));
    }
    let page = street.get("/").await.expect(200);
    assert!(
        page.text.contains("Claws") && !page.text.contains("Paws"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_question_goes_to_the_page_else_by_mail_else_by_telephone_else_to_the_option() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let path = format!("/animals/{id}");
    let full = Profile {
        contact_page: ContactPage::new(
            "https://claws.example/{id}/ask?pet={id}&a=b#{id}".to_owned(),
        ),
        email: EmailAddress::new("a?b&c=\"d@claws.example".to_owned()),
        telephone: TelephoneNumber::new("+49 (0)30 / 1234-5".to_owned()),
        ..Profile::default()
    };
    let mail = "mailto:a%3Fb%26c%3D%22d@claws.example";
    let no_page = Profile {
        contact_page: None,
        ..full.clone()
    };
    let number = Profile {
        email: None,
        ..no_page.clone()
    };
    let page = Profile {
        contact_page: full.contact_page.clone(),
        ..Profile::default()
    };
    let asked = "https://claws.example/1/ask?pet=1&amp;a=b#1";
    let subject = "?subject=Luna%20%281%29";
    for (profile, about, in_general) in [
        (full, asked, mail),
        (no_page, &*format!("{mail}{subject}"), mail),
        (number, "tel:+493012345", "tel:+493012345"),
        (page, asked, "https://claws.example/"),
        (
            Profile::default(),
            &format!("mailto:hello@paws.example{subject}"),
            "mailto:hello@paws.example",
        ),
    ] {
        street.say(profile).await;
        let page = street.get(&path).await.expect(200);
        assert_eq!(page.between("<a class=\"button\" href=\"", "\""), about);
        assert_eq!(
            page.between("<a class=\"contact\" href=\"", "\""),
            in_general
        );
    }
}

#[tokio::test]
async fn the_file_of_a_logo_never_changes_and_a_former_one_is_there_for_a_day() {
    let street = Street::open().await;
    let first = street
        .set_logo(Some(pictures::png(600, 300)))
        .await
        .unwrap();
    assert_eq!((first.width, first.height), (512, 256));
    let file = street.get(&first.path()).await.expect(200);
    for (name, value) in [
        ("content-type", "image/png"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(file.field(name), value, "{name}");
    }
    let second = street.set_logo(Some(pictures::png(60, 30))).await.unwrap();
    street.get(&second.path()).await.expect(200);
    street.clock.advance(Duration::from_hours(23));
    street.get(&first.path()).await.expect(200);
    street.set_logo(None).await;
    street.clock.advance(Duration::from_hours(2));
    street.get(&first.path()).await.expect(404);
    street.get(&second.path()).await.expect(200);
    street.clock.advance(Duration::from_hours(23));
    street.get(&second.path()).await.expect(404);
    street
        .get("/assets/logo-0000000000000000200100.png")
        .await
        .expect(404);
}

#[tokio::test]
async fn ages_and_days_are_those_of_the_time_zone_of_the_store_and_change_at_its_midnight() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("born", "2025-12-02")]).await;
    let path = format!("/animals/{id}");
    let age_on = async |path: &str| {
        let page = street.get(path).await.expect(200);
        ["1\u{a0}year", "11\u{a0}months"].map(|age| page.text.contains(age))
    };
    // It is noon in UTC, and the next day has begun in Auckland.
    for (zone, ages) in [
        (None, [false, true]),
        (Some("Pacific/Auckland"), [true, false]),
        (Some("America/Los_Angeles"), [false, true]),
    ] {
        street
            .say(Profile {
                time_zone: zone.and_then(StoreTimeZone::from_name),
                ..Profile::default()
            })
            .await;
        for path in [&*path, "/"] {
            assert_eq!(age_on(path).await, ages, "{zone:?} {path}");
        }
        let is_young = street.get("/?age=0").await.text.contains("Luna");
        assert_eq!(is_young, ages[1], "{zone:?}");
    }
    let csv = "/animals.csv?age=0";
    let young = street.get(csv).await.expect(200);
    assert!(young.text.contains("Luna"), "{young:?}");

    // At midnight in Los Angeles, although nobody writes.
    street.clock.set("2026-12-02T07:59:59Z".parse().unwrap());
    assert_eq!(age_on(&path).await, [false, true]);
    street.clock.set("2026-12-02T08:00:00Z".parse().unwrap());
    for path in [&*path, "/"] {
        assert_eq!(age_on(path).await, [true, false], "{path}");
    }
    let known = [("if-none-match", young.field("etag"))];
    let older = street
        .ask(hyper::Method::GET, csv, &known)
        .await
        .expect(200);
    assert!(!older.text.contains("Luna"), "{older:?}");
}

#[tokio::test]
async fn an_animal_is_new_for_seven_days_of_the_store() {
    let street = Street::open().await;
    street
        .say(Profile {
            time_zone: StoreTimeZone::from_name("Pacific/Auckland"),
            ..Profile::default()
        })
        .await;
    // In Auckland, this is half an hour before midnight.
    street.clock.set("2026-12-01T10:30:00Z".parse().unwrap());
    street.add("Luna", &[]).await;
    for (time, is_new) in [
        ("2026-12-07T10:59:59Z", true),
        ("2026-12-07T11:00:00Z", false),
    ] {
        street.clock.set(time.parse().unwrap());
        let page = street.get("/").await.expect(200);
        assert_eq!(page.text.contains("Newly listed"), is_new, "{time}");
    }
}
