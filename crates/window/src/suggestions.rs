//! Suggestions of other animals at the end of a page.

use maud::{Markup, html};
use petstore_domain::{Limit, PetId};
use petstore_languages::{look::Drawings, window_texts as texts};
use petstore_store::StoreError;
use petstore_web::edge::ApiError;

use super::{
    cards::{CARDS_IN_FIRST_VIEW, CardRenderer},
    filter::Filter,
    query::Query,
    shop::{Shop, Snapshot, Suggestion},
};

/// The maximum number of suggestions at the end of a page.
const MAX_SUGGESTIONS: u8 = 4;

/// Renders the section with suggestions: the newest animals that match the filter. `excluded_id` is the
/// animal that the page is about, which is left out. Renders nothing if there are no suggestions.
pub(super) async fn section(
    shop: &Shop,
    snapshot: &Snapshot,
    filter: Filter,
    excluded_id: Option<PetId>,
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let title = section_title(&filter, excluded_id);
    let cache_key = filter.parameters();
    let cached_suggestions = shop
        .suggestions(snapshot, cache_key, async || {
            read_suggestions(shop, snapshot, filter).await
        })
        .await?;
    let suggestions: Vec<_> = cached_suggestions
        .iter()
        .filter(|suggestion| excluded_id != Some(suggestion.id))
        .take(MAX_SUGGESTIONS.into())
        .collect();
    for suggestion in &suggestions {
        drawings.add(&suggestion.drawings);
    }

    Ok(html! {
        @if !suggestions.is_empty() {
            section.others {
                h2 { (title) }
                ul.cards {
                    @for suggestion in suggestions { li { (suggestion.card) } }
                }
            }
        }
    })
}

/// Returns the title of the section. It says that the animals are the newest ones, that they are similar
/// to the animal of the page, or that they are an alternative to an empty list.
fn section_title(filter: &Filter, excluded_id: Option<PetId>) -> &'static str {
    if filter.is_empty() {
        texts().newest
    } else if excluded_id.is_some() {
        texts().similar
    } else {
        texts().perhaps
    }
}

/// Reads the newest animals that match the filter, and renders their cards.
async fn read_suggestions(
    shop: &Shop,
    snapshot: &Snapshot,
    filter: Filter,
) -> Result<Vec<Suggestion>, StoreError> {
    // Read one more than is shown, because the animal that the page is about may be among them.
    let limit = Limit::new(i64::from(MAX_SUGGESTIONS) + 1).unwrap_or_default();
    let mut query = Query::for_filter(filter);
    query.limit = limit;
    let list_page = shop.list_page(&query, snapshot).await?;

    let card_renderer = CardRenderer::for_window(shop, &snapshot.facts, &list_page);
    let mut suggestions = Vec::new();
    for animal in list_page.animals() {
        let mut drawings = Drawings::default();
        // The position is beyond the first view, so that browsers load the picture lazily.
        let card = card_renderer.card(&animal, CARDS_IN_FIRST_VIEW, &mut drawings);
        suggestions.push(Suggestion {
            id: animal.id,
            card,
            drawings,
        });
    }
    Ok(suggestions)
}
