//! The second factor: set up, used once, recovered, required and removed.

use std::time::Duration;

use petstore_console::RequireSecondFactor;
use petstore_domain::{Clock, Role, staff::TotpSecret};

use super::browser::{Browser, PASSWORD, Page, Shop};

/// The code that the app of the member shows now.
fn code(shop: &Shop, secret: &TotpSecret) -> String {
    secret.code_at(shop.clock.now())
}

/// Sets up an app, and returns its secret and the page with the recovery codes.
async fn set_up(shop: &Shop, browser: &mut Browser<'_>) -> (TotpSecret, Page) {
    let page = browser.get("/account/second-factor").await.expect(200);
    let spelled = page.hidden("secret");
    assert!(
        page.text.contains("<svg") && page.text.contains(&spelled),
        "{page:?}"
    );
    let secret = TotpSecret::parse(&spelled).unwrap();
    let wrong = [("secret", &*spelled), ("code", "000000")];
    let again = browser
        .post("/account/second-factor", &wrong)
        .await
        .expect(422);
    assert_eq!(again.hidden("secret"), spelled);
    let form = [("secret", &*spelled), ("code", &code(shop, &secret))];
    let form = [("_key", &*page.hidden("_key")), form[0], form[1]];
    let page = browser
        .post("/account/second-factor", &form)
        .await
        .expect(200);
    // A second click shows the same recovery codes.
    let again = browser
        .post("/account/second-factor", &form)
        .await
        .expect(200);
    assert_eq!(recovery_codes(&again), recovery_codes(&page));
    (secret, page)
}

fn recovery_codes(page: &Page) -> Vec<String> {
    let codes = page.text.split("<li><code>").skip(1);
    codes
        .map(|code| code.split_once('<').unwrap().0.to_owned())
        .collect()
}

#[tokio::test]
async fn a_password_is_not_enough_and_each_code_is_accepted_once() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let (secret, page) = set_up(&shop, &mut browser).await;
    let recovery = recovery_codes(&page);
    assert_eq!(recovery.len(), 10);
    let stored = format!("{:?}", shop.find("Ana").await);
    assert!(!stored.contains(&recovery[0]));

    let mut other = shop.browser();
    let page = other.sign_in("Ana", PASSWORD).await.expect(200);
    assert!(page.text.contains("/sign-in/code"), "{page:?}");
    assert!(!other.is_in().await);
    let before = other.cookies["petstore-8081"].clone();
    // That of the setup was used, and the next one is not yet valid twice.
    other
        .post("/sign-in/code", &[("code", &code(&shop, &secret))])
        .await
        .expect(422);
    shop.clock.advance(Duration::from_secs(30));
    let present = code(&shop, &secret);
    other
        .post("/sign-in/code", &[("code", &present)])
        .await
        .expect(303);
    assert!(other.is_in().await);
    assert_ne!(other.cookies["petstore-8081"], before);

    let mut third = shop.browser();
    third.sign_in("Ana", PASSWORD).await.expect(200);
    third
        .post("/sign-in/code", &[("code", &present)])
        .await
        .expect(422);
    third
        .post("/sign-in/code", &[("code", &recovery[3].to_uppercase())])
        .await
        .expect(303);
    let mut fourth = shop.browser();
    fourth.sign_in("Ana", PASSWORD).await.expect(200);
    fourth
        .post("/sign-in/code", &[("code", &recovery[3])])
        .await
        .expect(422);
    fourth
        .post("/sign-in/code", &[("code", &recovery[4])])
        .await
        .expect(303);
    let left = shop.find("Ana").await.second_factor.unwrap().recovery.len();
    assert_eq!(left, 8);
    // Without a password, a code is nothing.
    let page = shop
        .browser()
        .post("/sign-in/code", &[("code", &recovery[5])])
        .await
        .expect(403);
    assert!(page.text.contains("Sign in again."), "{page:?}");
}

#[tokio::test]
async fn of_two_who_give_one_code_at_once_one_is_in() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let (secret, page) = set_up(&shop, &mut browser).await;
    shop.clock.advance(Duration::from_secs(30));
    for code in [code(&shop, &secret), recovery_codes(&page)[0].clone()] {
        let (mut one, mut other) = (shop.browser(), shop.browser());
        one.sign_in("Ana", PASSWORD).await.expect(200);
        other.sign_in("Ana", PASSWORD).await.expect(200);
        let form = [("code", &*code)];
        let (_, _) = tokio::join!(
            one.post("/sign-in/code", &form),
            other.post("/sign-in/code", &form)
        );
        assert_eq!(
            [one.is_in().await, other.is_in().await]
                .iter()
                .filter(|is| **is)
                .count(),
            1
        );
    }
}

#[tokio::test]
async fn a_change_of_the_second_factor_ends_other_sessions() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let mut other = shop.browser();
    other.sign_in("Ana", PASSWORD).await.expect(303);
    let (_, page) = set_up(&shop, &mut browser).await;
    assert!(browser.is_in().await && !other.is_in().await);
    other.sign_in("Ana", PASSWORD).await.expect(200);
    other
        .post("/sign-in/code", &[("code", &recovery_codes(&page)[0])])
        .await
        .expect(303);
    browser
        .post("/account/second-factor/remove", &[])
        .await
        .expect(303);
    assert!(browser.is_in().await && !other.is_in().await);
}

#[tokio::test]
async fn codes_cannot_be_guessed() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let (secret, _) = set_up(&shop, &mut browser).await;
    let mut thief = shop.browser();
    thief.sign_in("Ana", PASSWORD).await.expect(200);
    for _ in 0..59 {
        thief
            .post("/sign-in/code", &[("code", "123")])
            .await
            .expect(422);
    }
    shop.clock.advance(Duration::from_secs(30));
    let right = code(&shop, &secret);
    let page = thief
        .post("/sign-in/code", &[("code", &right)])
        .await
        .expect(422);
    assert!(page.text.contains("too many attempts"), "{page:?}");
    assert!(!thief.is_in().await);
}

#[tokio::test]
async fn a_required_second_factor_is_set_up_before_anything_else_and_stays() {
    let shop = Shop::requiring(RequireSecondFactor::Managers).await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    for path in ["/account", "/settings/staff", "/settings/keys", "/"] {
        assert_eq!(
            manager.get(path).await.next(),
            "/account/second-factor",
            "{path}"
        );
    }
    let add = manager
        .post("/settings/staff", &[("name", "Bo"), ("role", "manager")])
        .await;
    assert_eq!(add.next(), "/account/second-factor");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
    set_up(&shop, &mut manager).await;
    assert!(manager.is_in().await);
    manager
        .post("/account/second-factor/remove", &[])
        .await
        .expect(403);
    assert!(shop.member("Cy", Role::Clerk).await.is_in().await);
}

#[tokio::test]
async fn a_member_may_remove_the_second_factor_and_get_new_recovery_codes() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let (_, page) = set_up(&shop, &mut browser).await;
    let old = recovery_codes(&page);
    let page = browser
        .post("/account/recovery-codes", &[])
        .await
        .expect(200);
    assert!(
        page.text.contains("These codes replace the old ones."),
        "{page:?}"
    );
    let new = recovery_codes(&page);
    assert!(new.len() == 10 && new.iter().all(|code| !old.contains(code)));
    let mut other = shop.browser();
    other.sign_in("Ana", PASSWORD).await.expect(200);
    other
        .post("/sign-in/code", &[("code", &old[0])])
        .await
        .expect(422);
    other
        .post("/sign-in/code", &[("code", &new[0])])
        .await
        .expect(303);
    browser
        .post("/account/second-factor/remove", &[])
        .await
        .expect(303);
    shop.browser().sign_in("Ana", PASSWORD).await.expect(303);
    let acts = shop.acts().await;
    for act in ["staff.second_factor_set", "staff.second_factor_removed"] {
        assert!(
            acts.contains(&format!("{act} staff:1 by staff:1")),
            "{acts:?}"
        );
    }
}
