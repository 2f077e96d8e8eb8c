//! The link that signs in to the console of a demo.

use petstore_console::ConsoleSettings;
use petstore_domain::{Role, staff::Token};
use rand::{SeedableRng, rngs::StdRng};

use super::browser::Shop;

#[tokio::test]
async fn the_link_of_a_demo_signs_in_only_in_a_demo_and_only_the_first_manager_who_may_sign_in() {
    let token = Token::generate(&mut StdRng::seed_from_u64(7));
    let link = format!("/link/{}", token.reveal());
    let service = Shop::open().await;
    service.member("Mia", Role::Manager).await;
    service.browser().get(&link).await.expect(404);

    let settings = ConsoleSettings {
        demo_link: Some(token.digest()),
        ..ConsoleSettings::default()
    };
    let demo = Shop::with(settings).await;
    demo.browser().get(&link).await.expect(404);
    demo.member("Cy", Role::Clerk).await;
    demo.browser().get(&link).await.expect(404);
    demo.member("Mia", Role::Manager).await;
    demo.member("Zoe", Role::Manager).await;
    let mut browser = demo.browser();
    for _ in 0..3 {
        assert_eq!(browser.get(&link).await.next(), "/");
        assert!(browser.get("/").await.expect(200).text.contains("Mia"));
    }
    // It chooses no password, and it is in the audit trail.
    browser
        .post(
            &link,
            &[("new", "a b c d e f g h"), ("again", "a b c d e f g h")],
        )
        .await
        .expect(404);
    let acts = demo.acts().await;
    assert_eq!(
        acts.iter()
            .filter(|act| *act == "staff.signed_in staff:2 by staff:2")
            .count(),
        3,
        "{acts:?}"
    );
    let mut other = demo.browser();
    other
        .get(&link.replace("/link/", "/link/A"))
        .await
        .expect(404);
}
