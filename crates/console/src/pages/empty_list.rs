//! The card that replaces an empty list of animals, with links to other lists that have matches.

use super::{
    animal_filters::Filters,
    animal_list::{MAX_COUNT, count_pets},
    parts,
};
use crate::prelude::*;

/// Renders the card for a filtered list without animals.
///
/// After a search by text, the card has a link to the same search in the orders. It also has links
/// to the lists of other statuses that have matches, such as the list of sold animals. If no other
/// list has matches, the card has a hint instead.
pub(super) async fn nothing_found_card(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Markup, StoreError> {
    // Without a search, nearly every other list has matches, so links would not help.
    let links = if filters.query.phrase.is_some() {
        links_to_other_lists(desk, filters).await?
    } else {
        Vec::new()
    };

    let search_text = filters.search_text();
    Ok(html! {
        div.card.empty {
            @if links.is_empty() {
                @if search_text.is_empty() {
                    strong { (texts().none_match) }
                } @else {
                    strong { (texts().nothing_found) }
                    p { (texts().nothing_found_hint) }
                }
            } @else {
                strong { (texts().none_here) }
                @for link in links { p { (link) } }
            }
            @if !search_text.is_empty() {
                a href=(parts::link("/orders", &[("q", search_text), ("status", "all")])) {
                    (texts().search_orders(&markup::readable(search_text, SHORT_LENGTH)))
                }
            }
        }
    })
}

/// Returns a link to each list of another status in which the same filters have matches. Each link
/// shows the number of matches.
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
