//! Amounts in the language of the member.

use petstore_app::StoreOptions;
use petstore_domain::{Role, store_area::Currency};

use super::browser::Shop;

#[tokio::test]
async fn amounts_are_typed_and_shown_as_people_of_the_language_write_them() {
    let shop = Shop::of(StoreOptions {
        currency: Currency::new("EUR"),
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (at, (language, typed, shown, input)) in [
        ("de", "1.249,50 €", "1.249,50\u{a0}€", "1249,50"),
        ("fr", "1\u{202f}249,5", "1\u{202f}249,50\u{a0}€", "1249,5"),
        ("es", "1249,50 EUR", "1249,50\u{a0}€", "1249,50"),
        ("en", "€1,249.50", "€1,249.50", "1249.50"),
    ]
    .into_iter()
    .enumerate()
    {
        clerk
            .post("/account/language", &[("language", language)])
            .await
            .expect(303);
        let animal = [("name", "Rex"), ("category", "95"), ("status", "available")];
        clerk
            .post("/add", &[&animal[..], &[("field.price", typed)]].concat())
            .await
            .expect(303);
        let path = format!("/animals/{}", at + 1);
        let page = clerk.get(&path).await.expect(200);
        assert!(
            page.text
                .contains(&format!("<strong class=\"price\">{shown}")),
            "{page:?}"
        );
        let edit = clerk.get(&format!("{path}/edit")).await.expect(200);
        assert_eq!(
            [page.typed("price"), edit.typed("field.price")],
            [input, input]
        );
        // What nobody has touched is no change, and can be sent as it is shown.
        let order = format!("{path}/order");
        clerk
            .post(&order, &[("do", "sell"), ("price", input)])
            .await
            .expect(303);
        let page = clerk.get(&format!("/orders/{}", at + 1)).await.expect(200);
        assert!(
            page.text.contains(&format!("<bdi>{shown}</bdi>")),
            "{page:?}"
        );
        // Two meanings, in the language.
        let point = if language == "en" { '.' } else { ',' };
        let page = clerk
            .post("/add", &[("field.price", "1.249")])
            .await
            .expect(422);
        let error = page.between("id=\"field.price-error\"", "</p>");
        assert!(
            error.contains("1249") && error.contains(&format!("1{point}2490")),
            "{error}"
        );
    }
}
