//! A day of birth that was calculated from an age says so, wherever it is shown.

use petstore_domain::{
    PetId, Role,
    store_area::{FieldDefinition, FieldValue, StorePet},
};

use super::browser::{Browser, Shop};

async fn pet(shop: &Shop, id: i64) -> StorePet {
    let id = PetId::new(id).unwrap();
    shop.store.get_store_pet(id).await.unwrap().unwrap()
}

/// The mark of an animal; `None` without one.
fn mark(pet: &StorePet) -> Option<&FieldValue> {
    pet.fields.get(FieldDefinition::BIRTH_ESTIMATE)
}

async fn add_with_age(clerk: &mut Browser<'_>, age: &str) {
    let form = [("name", "Luna"), ("field.species", "Cat"), ("about", age)];
    clerk.post("/add", &form).await.expect(303);
}

#[tokio::test]
async fn an_age_is_shown_as_an_estimate_until_somebody_knows_the_day() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let has_field = async || {
        let fields = shop.store.fields().await.unwrap();
        fields.find(FieldDefinition::BIRTH_ESTIMATE).is_some()
    };
    let wrong = [("name", "Luna"), ("field.species", "Cat"), ("about", "x")];
    clerk.post("/add", &wrong).await.expect(422);
    assert!(!has_field().await);
    add_with_age(&mut clerk, "2").await;
    assert!(has_field().await);
    assert_eq!(mark(&pet(&shop, 1).await), Some(&FieldValue::Boolean(true)));
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(page.text.contains("about 2\u{a0}years"), "{page:?}");
    let facts = page.between("id=\"facts\"", "</dl>");
    assert!(
        facts.contains("<dt>Born</dt><dd>around 2024</dd>"),
        "{facts}"
    );
    assert!(!facts.contains("estimated"), "{facts}");

    // Somebody finds the passport.
    let edit = clerk.get("/animals/1/edit").await.expect(200);
    let known = [("field.born", "2024-05-03")];
    let path = "/animals/1/edit";
    clerk.submit((&edit, path), path, &known).await.expect(303);
    assert_eq!(mark(&pet(&shop, 1).await), None);
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(page.text.contains("3\u{a0}May\u{a0}2024"), "{page:?}");
    assert!(!page.text.contains("about 2"), "{page:?}");

    // An age in place of the day, and a change of something else.
    let edit = clerk.get(path).await.expect(200);
    let age = [("field.born", "3 years")];
    clerk.submit((&edit, path), path, &age).await.expect(303);
    assert_eq!(mark(&pet(&shop, 1).await), Some(&FieldValue::Boolean(true)));
    let edit = clerk.get(path).await.expect(200);
    let name = [("name", "Luna Moon")];
    clerk.submit((&edit, path), path, &name).await.expect(303);
    assert_eq!(mark(&pet(&shop, 1).await), Some(&FieldValue::Boolean(true)));
}

#[tokio::test]
async fn pasted_ages_years_and_months_are_estimates_and_days_are_not() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let lines = "Name\tSpecies\tBorn\nAda\tCat\tca. 3 years\nBea\tCat\t2019\nCleo\tCat\t05/2019\nDot\tCat\t2019-05-03";
    let page = clerk.post("/add/preview", &[("lines", lines)]).await;
    let table = page.between("<tbody>", "</tbody>");
    assert_eq!(table.matches(">around 20").count(), 3, "{table}");
    let form = page.form("/add/many");
    let form: Vec<_> = form
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    clerk.post("/add/many", &form).await.expect(303);
    for (id, is_estimate) in [(1, true), (2, true), (3, true), (4, false)] {
        let pet = pet(&shop, id).await;
        assert_eq!(mark(&pet).is_some(), is_estimate, "{pet:?}");
    }
}

#[tokio::test]
async fn a_pasted_column_of_ages_is_the_birth_unless_another_column_is_or_a_number_has_no_unit() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (lines, birth_count, is_asked) in [
        (
            "Name\tSpecies\tAge\nAda\tCat\t3 years\nBea\tCat\t",
            1,
            false,
        ),
        ("Name\tTierart\tAlter\nAda\tKatze\tca. 8 Monate", 1, false),
        (
            "Name\tAge\tSpecies\tDOB\nAda\t3 years\tCat\tca. 2019",
            1,
            true,
        ),
        (
            "Name\tSpecies\tAge\nAda\tCat\t3 years\nBea\tCat\t4",
            0,
            true,
        ),
    ] {
        let page = clerk.post("/add/preview", &[("lines", lines)]).await;
        let table = page.between("<tbody>", "</tbody>");
        assert_eq!(table.matches(">around ").count(), birth_count, "{table}");
        let question = "What do these columns contain?";
        assert_eq!(page.text.contains(question), is_asked, "{page:?}");
        assert_eq!(page.text.contains(">Leave out “Age”<"), is_asked);
    }
}

#[tokio::test]
async fn the_mark_is_as_public_as_the_day_of_birth_and_no_filter_or_input_of_a_new_animal() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add_with_age(&mut clerk, "8 months").await;
    let fields = shop.store.fields().await.unwrap();
    let [birth, mark] = ["born", FieldDefinition::BIRTH_ESTIMATE].map(|name| fields.find(name));
    assert_eq!(birth.unwrap().is_public, mark.unwrap().is_public);
    for path in ["/animals", "/add"] {
        let page = clerk.get(path).await.expect(200);
        assert!(!page.text.contains("field.born_estimated"), "{page:?}");
    }
    let edit = clerk.get("/animals/1/edit").await.expect(200);
    assert!(edit.text.contains(">Date of birth estimated<"), "{edit:?}");
}

#[tokio::test]
async fn an_age_that_no_animal_reaches_is_refused_wherever_people_type_it() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let message = "at most 150 years";
    for (name, typed) in [
        ("about", "200"),
        ("about", "151 years"),
        ("field.born", "1850-01-01"),
        ("field.born", "200 years"),
    ] {
        let form = [("name", "Luna"), ("field.species", "Cat"), (name, typed)];
        let page = clerk.post("/add", &form).await.expect(422);
        let error = page.between(&format!("id=\"{name}-error\">"), "</p>");
        assert!(error.contains(message), "{typed}: {error}");
    }
    // A tortoise.
    add_with_age(&mut clerk, "150").await;
    let path = "/animals/1/edit";
    let edit = clerk.get(path).await.expect(200);
    let age = [("field.born", "1826-12-01")];
    let page = clerk.submit((&edit, path), path, &age).await.expect(422);
    assert!(page.text.contains(message), "{page:?}");
    let lines = "Name\tSpecies\tBorn\nAda\tCat\t200 years";
    let page = clerk.post("/add/preview", &[("lines", lines)]).await;
    assert!(page.text.contains(message), "{page:?}");
    // A former value that is older stays while nobody changes it.
    shop.database()
        .execute(
            "UPDATE pets SET fields = replace(fields, '1876-', '1776-')",
            [],
        )
        .unwrap();
    let edit = clerk.get(path).await.expect(200);
    let name = [("name", "Methuselah")];
    clerk.submit((&edit, path), path, &name).await.expect(303);
}
