//! The language of the public pages: that of the store.

use std::collections::BTreeMap;

use petstore_domain::{
    PetStatus,
    store_area::{Language, Profile},
};
use petstore_testing::english::{english_words, words_on};

use super::street::Street;

#[tokio::test]
async fn every_public_page_is_in_the_language_of_the_store_and_has_no_english_word() {
    let street = Street::open().await;
    let values = [
        ("species", "Cat"),
        ("born", "2024-05-03"),
        ("price", "1249.5"),
    ];
    let luna = street.add("Luna", &values).await;
    let zoe = street.add("Zoë", &[]).await;
    let sold = street.add_with_status("Žofka", PetStatus::Sold, &[]).await;
    for language in [Language::German, Language::French, Language::Spanish] {
        street
            .say(Profile {
                language: Some(language),
                ..Profile::default()
            })
            .await;
        let mut english = english_words(language);
        for field in street.store.fields().await.unwrap().all() {
            let said = words_on(&format!(
                "<p>{}<p>{:?}",
                field.label.as_str(),
                field.choices
            ));
            english.retain(|word| !said.contains(word));
        }
        let mut found = BTreeMap::new();
        let code = language.as_str();
        for path in [
            "/",
            "/?q=xyz",
            "/?age=8&sort=longest",
            "/?q=",
            "/?age=7",
            "/?nothing=1",
            "/embed",
            "/animals.atom",
            "/nowhere",
            "/animals/99",
            &format!("/animals/{luna}"),
            &format!("/animals/{zoe}"),
            &format!("/animals/{sold}"),
        ] {
            let page = street.get(path).await;
            let tag = format!("lang=\"{code}\"");
            assert!(
                page.status.as_u16() == 303 || page.text.contains(&tag),
                "{path}: {page:?}"
            );
            for word in words_on(&page.text).intersection(&english) {
                found.entry(word.clone()).or_insert_with(|| path.to_owned());
            }
        }
        assert!(found.is_empty(), "{language}: {found:#?}");
        let page = street.get("/").await.expect(200);
        let locale = format!("content=\"{code}_{}\"", code.to_uppercase());
        assert!(page.text.contains(&locale), "{page:?}");
    }
}
