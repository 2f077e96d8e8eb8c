//! Suggestions of animals for the end of a page.

use maud::{Markup, html};
use petstore_domain::{Limit, PetId};
use petstore_languages::{look::Drawings, window_texts as texts};
use petstore_store::StoreError;
use petstore_web::edge::ApiError;

use super::{
    cards::{CARDS_IN_FIRST_VIEW, CardMaker},
    filter::Filter,
    query::Query,
    shop::{Moment, Shop, Suggestion},
};

/// The number of suggestions at the end of a page.
const MAX_SUGGESTIONS: u8 = 4;

/// Renders suggestions for the end of a page: animals that pass the filter, or the newest animals if the filter is
/// empty. Leaves out the animal `excluded_id`.
pub(super) async fn section(
    shop: &Shop,
    moment: &Moment,
    filter: Filter,
    excluded_id: Option<PetId>,
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let title = if filter.is_empty() {
        texts().newest
    } else if excluded_id.is_some() {
        texts().similar
    } else {
        texts().perhaps
    };

    let cache_key = filter.parameters();
    let suggestions = shop
        .suggestions(moment, cache_key, async || {
            read_suggestions(shop, moment, filter).await
        })
        .await?;
    let suggestions: Vec<_> = suggestions
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

/// Reads the first animals that pass the filter, and makes their cards.
async fn read_suggestions(
    shop: &Shop,
    moment: &Moment,
    filter: Filter,
) -> Result<Vec<Suggestion>, StoreError> {
    // One more than the page shows, because the animal of the page itself may be among them.
    let limit = Limit::new(i64::from(MAX_SUGGESTIONS) + 1).unwrap_or_default();
    let mut query = Query::for_filter(filter);
    query.limit = limit;
    let list_page = shop.list_page(&query, moment).await?;

    let card_maker = CardMaker::for_window(shop, &moment.facts, &list_page);
    let mut suggestions = Vec::new();
    for animal in list_page.animals() {
        let mut drawings = Drawings::default();
        // Its picture is not in the first view, so browsers load it when it is near.
        let card = card_maker.card(&animal, CARDS_IN_FIRST_VIEW, &mut drawings);
        suggestions.push(Suggestion {
            id: animal.id,
            card,
            drawings,
        });
    }
    Ok(suggestions)
}
