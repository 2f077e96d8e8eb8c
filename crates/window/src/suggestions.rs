//! Suggestions of other animals at the end of a page.

use maud::{Markup, html};
use petstore_domain::PetId;
use petstore_languages::{look::Drawings, window_texts as texts};
use petstore_store::StoreError;
use petstore_web::edge::ApiError;

use super::{
    cards::{CARDS_IN_FIRST_VIEW, CardRenderer},
    filter::Filter,
    offers::constant_limit,
    query::Query,
    shop::{Shop, Snapshot, Suggestion},
};

/// The maximum number of suggestions at the end of a page.
const MAX_SUGGESTIONS: u8 = 4;

/// The animals that a page suggests.
pub(super) enum SuggestionKind {
    /// The newest animals of all kinds, on the page of an animal that is gone.
    Newest,
    /// Similar animals, on the page of the animal with this id, which is left out.
    Similar { filter: Filter, id: PetId },
    /// Animals that match a wider filter, on a list page without animals.
    InsteadOfEmptyList { filter: Filter },
}

impl SuggestionKind {
    /// Returns the title of the section with the suggestions.
    fn title(&self) -> &'static str {
        match self {
            Self::Newest => texts().newest,
            Self::Similar { .. } => texts().similar,
            Self::InsteadOfEmptyList { .. } => texts().perhaps,
        }
    }

    /// Returns the id of the animal that is not suggested, because the page is about it.
    fn excluded_id(&self) -> Option<PetId> {
        match self {
            Self::Similar { id, .. } => Some(*id),
            Self::Newest | Self::InsteadOfEmptyList { .. } => None,
        }
    }

    /// Returns the filter that selects the suggestions.
    fn into_filter(self) -> Filter {
        match self {
            Self::Newest => Filter::default(),
            Self::Similar { filter, .. } | Self::InsteadOfEmptyList { filter } => filter,
        }
    }
}

/// Renders the section with suggestions, the newest animals of this kind. Renders nothing if there
/// are no suggestions. Adds the drawings of the cards to `drawings`.
pub(super) async fn render_section(
    shop: &Shop,
    snapshot: &Snapshot,
    kind: SuggestionKind,
    drawings: &mut Drawings,
) -> Result<Markup, ApiError> {
    let title = kind.title();
    let excluded_id = kind.excluded_id();
    let filter = kind.into_filter();
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

/// Reads the newest animals that match the filter, and renders their cards.
async fn read_suggestions(
    shop: &Shop,
    snapshot: &Snapshot,
    filter: Filter,
) -> Result<Vec<Suggestion>, StoreError> {
    // Read one more than is shown, because the animal that the page is about may be among them.
    let limit = constant_limit(i64::from(MAX_SUGGESTIONS) + 1);
    let mut query = Query::for_filter(filter);
    query.limit = limit;
    let list_page = shop.read_list_page(&query, snapshot).await?;

    let card_renderer = CardRenderer::for_window(shop, &snapshot.facts, &list_page);
    let mut suggestions = Vec::new();
    for animal in list_page.animals() {
        let mut drawings = Drawings::default();
        // The position is beyond the first view, so that browsers load the picture lazily.
        let card = card_renderer.render_card(&animal, CARDS_IN_FIRST_VIEW, &mut drawings);
        suggestions.push(Suggestion {
            id: animal.id,
            card,
            drawings,
        });
    }
    Ok(suggestions)
}
