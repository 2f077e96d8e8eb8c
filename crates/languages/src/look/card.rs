//! The card of an animal.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use maud::{Markup, html};

use super::{Animal, Drawings, Room};

/// An animal in a list. The style sheet of each list puts its parts in their places.
pub struct Card<'a> {
    pub animal: &'a Animal<'a>,
    /// The path of its page.
    pub path: &'a str,
    /// The frame in which the page opens, for a list in a frame.
    pub target: Option<&'static str>,
    /// The label of its category, for the drawing of an animal without a photo.
    pub category: Option<&'a str>,
    pub badge: Option<Markup>,
    pub lines: &'a [String],
    pub price: Option<Markup>,
}

impl Card<'_> {
    /// Renders the card at this position of the page, from 0, whose first view has `cards_in_first_view` cards.
    pub fn show(
        &self,
        room: &Room,
        drawings: &mut Drawings,
        position: usize,
        cards_in_first_view: usize,
    ) -> Markup {
        let Self {
            animal,
            path,
            target,
            category,
            badge,
            lines,
            price,
        } = self;
        let visible_lines = lines.iter().filter(|line| !line.is_empty());
        html! {
            article.pet {
                div.picture {
                    @if let Some(photo) = animal.photos.first() {
                        (room.picture(photo, &animal.alt(0, photo), position, cards_in_first_view))
                    } @else {
                        (drawings.draw(animal, *category))
                    }
                }
                h2 { a href=(path) target=[*target] { bdi { (animal.short_name()) } } }
                @if let Some(badge) = badge { (badge) }
                @for (index, line) in visible_lines.enumerate() {
                    p class=[(index > 0).then_some("muted")] { bdi { (line) } }
                }
                @if let Some(price) = price { (price) }
            }
        }
    }
}
