//! The cards that represent animals in lists and suggestions.

use jiff::civil::Date;
use maud::{Markup, html};
use petstore_app::StoreFacts;
use petstore_languages::{
    look::{Animal, CARD, Card, Drawings, EMBEDDED_CARD},
    window_texts as texts,
};

use super::{labels::Labels, list_page::ListPage, shop::Shop};

/// The number of days after it was added for which an animal has the badge for new animals.
const NEW_DAYS: i32 = 7;

/// The number of days of waiting after which an animal gets the badge for a long wait.
const LONG_WAIT_DAYS: i32 = 365;

/// The number of cards that are visible without scrolling. Browsers load their pictures eagerly,
/// and all other pictures lazily.
pub(super) const CARDS_IN_FIRST_VIEW: usize = 4;

/// Renders the cards of a list.
pub(super) struct CardRenderer<'a> {
    facts: &'a StoreFacts,
    labels: &'a Labels,
    today: Date,
    /// Whether the list is shown in a frame on another site.
    is_embedded: bool,
}

impl<'a> CardRenderer<'a> {
    /// Creates a renderer for pages of the window itself.
    pub(super) fn for_window(
        shop: &Shop,
        facts: &'a StoreFacts,
        list_page: &'a ListPage<'_>,
    ) -> Self {
        Self {
            facts,
            labels: &list_page.labels,
            today: shop.today(facts),
            is_embedded: false,
        }
    }

    /// Creates a renderer for `/embed`, whose cards are smaller and open their links in the whole
    /// tab.
    pub(super) fn for_frame(
        shop: &Shop,
        facts: &'a StoreFacts,
        list_page: &'a ListPage<'_>,
    ) -> Self {
        let mut card_renderer = Self::for_window(shop, facts, list_page);
        card_renderer.is_embedded = true;
        card_renderer
    }

    /// Renders the cards of animals as a list, in the order of the animals.
    pub(super) fn render_cards(&self, animals: &[Animal<'_>], drawings: &mut Drawings) -> Markup {
        html! {
            ul.cards {
                @for (position, animal) in animals.iter().enumerate() {
                    li { (self.render_card(animal, position, drawings)) }
                }
            }
        }
    }

    /// Renders the card of an animal. `position` is its zero-based position in the list.
    pub(super) fn render_card(
        &self,
        animal: &Animal<'_>,
        position: usize,
        drawings: &mut Drawings,
    ) -> Markup {
        let sex_and_age: Vec<String> = animal
            .sex()
            .into_iter()
            .chain(animal.age(self.today))
            .collect();
        let card = Card {
            animal,
            path: &animal.path(),
            target: self.is_embedded.then_some("_top"),
            category: self.labels.label(animal.category_id),
            badge: self.render_badge(animal),
            lines: &[self.describe_kind(animal), sex_and_age.join(" · ")],
            price: animal.public_price(self.facts.currency().value),
        };

        let room = if self.is_embedded {
            &EMBEDDED_CARD
        } else {
            &CARD
        };
        card.show(room, drawings, position, CARDS_IN_FIRST_VIEW)
    }

    /// Returns the species and breed of an animal or, if neither is known, its category. Returns an
    /// empty string if the category has no label either.
    fn describe_kind(&self, animal: &Animal<'_>) -> String {
        let words = animal.kind();
        if words.is_empty() {
            self.labels
                .readable_label(animal.category_id)
                .unwrap_or_default()
        } else {
            words.join(" · ")
        }
    }

    /// Renders the badge of an animal that is reserved, has waited for a year, or is new, in this
    /// order of precedence.
    fn render_badge(&self, animal: &Animal<'_>) -> Option<Markup> {
        if animal.is_reserved() {
            return Some(html! { p.badge.pending { (texts().reserved) } });
        }

        // An animal that was added by an early release has no time, and gets no badge.
        let added_on = self.facts.day_of(animal.created_at?);
        // Without a date of arrival, the day on which the animal was added counts.
        let arrival = animal.arrival(|_| added_on)?;
        let days_since_added = (self.today - added_on).get_days();
        let days_waited = (self.today - arrival).get_days();
        let label = if days_waited >= LONG_WAIT_DAYS {
            texts().one_year
        } else if (0..NEW_DAYS).contains(&days_since_added) {
            texts().new
        } else {
            return None;
        };
        Some(html! { p.badge { (label) } })
    }
}
