//! The card in the place of a list of animals that has none, with links to the lists that have some.

use super::{
    animal_filters::Filters,
    animal_list::{MAX_COUNT, count_pets},
    parts,
};
use crate::prelude::*;

/// Shows that the list has no animal: with links to the other lists that have animals for the text of the search, or
/// with a hint if none has any, and with a link to the orders that the text finds.
pub(super) async fn nothing_found_card(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Markup, StoreError> {
    // Only a search makes the other lists worth naming.
    let links = if filters.query.phrase.is_some() {
        links_to_other_lists(desk, filters).await?
    } else {
        Vec::new()
    };

    let text = filters.get("q");
    Ok(html! {
        div.card.empty {
            @if links.is_empty() {
                @if text.is_empty() {
                    strong { (texts().none_match) }
                } @else {
                    strong { (texts().nothing_found) }
                    p { (texts().nothing_found_hint) }
                }
            } @else {
                strong { (texts().none_here) }
                @for link in links { p { (link) } }
            }
            @if !text.is_empty() {
                a href=(parts::link("/orders", &[("q", text), ("status", "all")])) {
                    (texts().search_orders(&markup::readable(text, SHORT_LENGTH)))
                }
            }
        }
    })
}

/// Returns links to the lists of other statuses that have animals for the same filters.
async fn links_to_other_lists(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<Markup>, StoreError> {
    let mut links = Vec::new();
    for list in filters.other_lists() {
        let (pets, next_position) = desk.store().list_store_pets(&list.query).await?;
        if pets.is_empty() {
            continue;
        }
        let count = count_pets(desk, &list.query, pets.len(), next_position.is_some()).await?;
        let count_text = wording::animal_count(count, pets.len(), MAX_COUNT);
        links.push(html! {
            a href=(list.path) { (list.label) (window_texts().colon) (count_text) }
        });
    }
    Ok(links)
}
