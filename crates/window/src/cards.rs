//! The cards of the animals in a list.

use jiff::civil::Date;
use maud::{Markup, html};
use petstore_app::StoreFacts;
use petstore_languages::{
    look::{Animal, CARD, Card, Drawings, EMBEDDED_CARD},
    window_texts as texts,
};

use super::{labels::Labels, list_page::ListPage, shop::Shop};

/// The number of days for which an animal is new.
const NEW_DAYS: i32 = 7;

/// The number of days after which a card says for how long an animal has waited.
const LONG_WAIT_DAYS: i32 = 365;

/// The number of cards in the first view, whose pictures browsers load at once.
pub(super) const CARDS_IN_FIRST_VIEW: usize = 4;

/// Makes the cards of a list.
pub(super) struct CardMaker<'a> {
    facts: &'a StoreFacts,
    labels: &'a Labels,
    today: Date,
    /// Whether the list is in a frame of another site.
    is_in_frame: bool,
}

impl<'a> CardMaker<'a> {
    /// Returns a maker of cards for the pages of the window.
    pub(super) fn for_window(
        shop: &Shop,
        facts: &'a StoreFacts,
        list_page: &'a ListPage<'_>,
    ) -> Self {
        Self {
            facts,
            labels: &list_page.labels,
            today: shop.today(facts),
            is_in_frame: false,
        }
    }

    /// Returns a maker of cards for a frame of another site.
    pub(super) fn for_frame(
        shop: &Shop,
        facts: &'a StoreFacts,
        list_page: &'a ListPage<'_>,
    ) -> Self {
        let mut card_maker = Self::for_window(shop, facts, list_page);
        card_maker.is_in_frame = true;
        card_maker
    }

    /// Renders the cards of these animals, in their order.
    pub(super) fn cards(&self, animals: &[Animal<'_>], drawings: &mut Drawings) -> Markup {
        html! {
            ul.cards {
                @for (position, animal) in animals.iter().enumerate() {
                    li { (self.card(animal, position, drawings)) }
                }
            }
        }
    }

    /// Renders the card of an animal at this position of the list, from 0.
    pub(super) fn card(
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
            target: self.is_in_frame.then_some("_top"),
            category: self.labels.label(animal.category_id),
            badge: self.badge(animal),
            lines: &[self.kind_text(animal), sex_and_age.join(" · ")],
            price: animal.public_price(self.facts.currency().value),
        };

        let room = if self.is_in_frame {
            &EMBEDDED_CARD
        } else {
            &CARD
        };
        card.show(room, drawings, position, CARDS_IN_FIRST_VIEW)
    }

    /// Returns the species and breed of an animal, or else its category. Empty if all of them are unknown.
    fn kind_text(&self, animal: &Animal<'_>) -> String {
        let words = animal.kind();
        if words.is_empty() {
            self.labels
                .readable_label(animal.category_id)
                .unwrap_or_default()
        } else {
            words.join(" · ")
        }
    }

    /// Renders the badge of an animal that is reserved, that is new, or that has waited for a year.
    fn badge(&self, animal: &Animal<'_>) -> Option<Markup> {
        if animal.is_reserved() {
            return Some(html! { p.badge.pending { (texts().reserved) } });
        }

        let added_on = self.facts.day_of(animal.created_at?);
        let arrival = animal.arrival(|_| added_on)?;
        let is_new = (0..NEW_DAYS).contains(&(self.today - added_on).get_days());
        let label = if (self.today - arrival).get_days() >= LONG_WAIT_DAYS {
            texts().one_year
        } else if is_new {
            texts().new
        } else {
            return None;
        };
        Some(html! { p.badge { (label) } })
    }
}
