//! The spellings of names in the search, after the release before has merged animals, in both stores.

use petstore_domain::{
    PetStatus::Available,
    store_area::{NamePrefix, PetQuery},
};
use petstore_testing::{
    area::add,
    stores::{AnyStore, new_pet},
};

/// What the release before leaves when it merges: words that it knows, and a number that it counts.
pub(crate) const MERGED_BEFORE: &str =
    "DELETE FROM word_blocks; UPDATE search_state SET merges = merges + 1";

/// The schema before the step of spellings.
pub(crate) const BEFORE: &str = "DELETE FROM word_blocks;
    ALTER TABLE search_state DROP COLUMN own_merges; ALTER TABLE search_state DROP COLUMN noted_merges";

/// Adds merged animals with names of several spellings.
pub(crate) async fn fill(store: &AnyStore) {
    for name in ["Bjørn", "Müller", "大黄狗", "Rex"] {
        add(store, new_pet(name, 1, Available)).await;
    }
    merge(store).await;
}

async fn merge(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

async fn ids_named(store: &AnyStore, name: &str) -> Vec<i64> {
    let query = PetQuery {
        name: NamePrefix::new(name),
        ..PetQuery::default()
    };
    let (pets, _) = store.list_store_pets(&query).await.unwrap();
    pets.iter().map(|pet| pet.id.get()).collect()
}

/// Expects that the search finds the animals in all spellings, as soon as two runs of the task saw that nobody else merges.
pub(crate) async fn expect_all(store: &AnyStore, url: &str) {
    for _ in 0..2 {
        expect_no_problem(url).await;
        merge(store).await;
    }
    for (typed, id) in [
        ("bjorn", 1),
        ("bjoern", 1),
        ("bjø", 1),
        ("mueller", 2),
        ("muller", 2),
        ("狗", 3),
        ("rex", 4),
    ] {
        assert_eq!(ids_named(store, typed).await, [id], "{typed}");
    }
    expect_no_problem(url).await;
}

async fn expect_no_problem(url: &str) {
    let url = url.parse().unwrap();
    let check = move || petstore_databases::check(&url).unwrap();
    let checkup = tokio::task::spawn_blocking(check).await.unwrap();
    assert_eq!(checkup.problems, [""; 0]);
}

/// Categories, choices of the field `sex`, and fields that are equal in any case, as an earlier release could make them.
pub(crate) const TWINS: &str = r#"INSERT INTO categories (id, label, version) VALUES (1, 'Größe', 1), (2, 'GRÖSSE', 1);
    UPDATE fields SET choices = '["Rüde", "RÜDE"]', choice_labels = NULL WHERE name = 'sex';
    UPDATE fields SET label = ' BREED' WHERE name = 'colour'"#;

/// Expects that a check names the [`TWINS`], which are no problem, and that the fields are read with them.
pub(crate) async fn expect_named_twins(store: &AnyStore, url: &str) {
    let url = url.parse().unwrap();
    let check = move || petstore_databases::check(&url).unwrap();
    let checkup = tokio::task::spawn_blocking(check).await.unwrap();
    assert_eq!(checkup.problems, [""; 0]);
    for note in [
        "categories 1 and 2 have the same label \"GRÖSSE\", regardless of upper and lower case; rename one",
        "the fields breed and colour have the same label \" BREED\", regardless of upper and lower case; rename one",
        "the field sex has the choices \"Rüde\" and \"RÜDE\", which are equal regardless of upper and lower case; rename or remove one",
    ] {
        assert!(
            checkup.notes.contains(&note.to_owned()),
            "{:?}",
            checkup.notes
        );
    }
    let fields = store.fields().await.unwrap();
    let choices = fields.find("sex").unwrap().choices.as_ref().unwrap();
    assert_eq!(choices.find("RÜDE").unwrap(), "RÜDE");
    assert_eq!(choices.find("rüde").unwrap(), "Rüde");
}
