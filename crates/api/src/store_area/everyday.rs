//! Interprets the everyday words in a search for animals.
//!
//! An everyday word says in another way what the store has as a category or as the value of a field. For
//! example, `chiots` means young dogs, and `schwarze` means the value `schwarz`.

use petstore_domain::{
    Limit,
    store_area::{FieldSet, Phrase},
};
use petstore_languages::everyday::{self, Vocabulary, has_general_words};
use petstore_store::StoreError;

use super::shared::StoreArea;

/// Returns the phrase with its everyday words interpreted.
///
/// Reads the fields and the first page of categories only if the phrase has words that need them.
pub(super) async fn understand(area: &StoreArea, phrase: Phrase) -> Result<Phrase, StoreError> {
    let app = &area.app;
    let facts = area
        .known_facts
        .read(&app.reading.store, &*app.clock, &area.store_options)
        .await?;
    let mut fields = FieldSet::default();
    let mut categories = Vec::new();
    if has_general_words(&phrase) {
        fields = app.store.fields().await?;
        // The maximum is a valid limit, so the default is never used.
        let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
        (categories, _) = app.store.list_categories(None, limit).await?;
    }
    let vocabulary = Vocabulary {
        fields: &fields,
        categories: &categories,
        language: facts.language().value,
        today: facts.day_of(app.clock.now()),
    };
    Ok(everyday::understand(phrase, &vocabulary).phrase)
}
