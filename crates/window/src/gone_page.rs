//! The page of an animal that is gone: it was sold or withdrawn. The path is `/animals/{id}`, as it
//! was when the animal was on offer.

use hyper::StatusCode;
use maud::{Markup, html};
use petstore_languages::{
    look::{Animal, CARD, Drawings},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    layout::{Layout, Message},
    rendered::RenderedPage,
    shop::{Shop, Snapshot},
    suggestions::{self, SuggestionKind},
};

/// What the page of an animal that is gone says about the animal.
pub(super) struct GoneMessage {
    title: String,
    picture: Markup,
    /// The drawings that the picture refers to.
    drawings: Drawings,
}

impl GoneMessage {
    /// Returns the message about an animal that was withdrawn. It says nothing about the animal.
    pub(super) fn withdrawn() -> Self {
        Self {
            title: texts().gone.to_owned(),
            picture: html! {},
            drawings: Drawings::default(),
        }
    }

    /// Returns the message about an animal that was sold. It has the name and the picture of the
    /// animal, but nothing else about it.
    pub(super) fn sold(name: &str, animal: &Animal<'_>) -> Self {
        let mut drawings = Drawings::default();
        Self {
            title: texts().found_a_home(name),
            picture: last_picture(animal, &mut drawings),
            drawings,
        }
    }
}

/// Renders the page of an animal that is gone, with suggestions of other animals.
pub(super) async fn render_gone_page(
    shop: &Shop,
    layout: &Layout,
    snapshot: &Snapshot,
    gone_message: GoneMessage,
) -> Result<RenderedPage, ApiError> {
    let GoneMessage {
        title,
        picture,
        mut drawings,
    } = gone_message;
    let newest_animals = SuggestionKind::Newest;
    let suggestions =
        suggestions::render_section(shop, snapshot, newest_animals, &mut drawings).await?;

    let message = Message {
        status: StatusCode::GONE,
        title: &title,
        content: &html! { (picture) p { (texts().gone_next) } },
        below: &html! { (drawings.symbols()) (suggestions) },
    };
    Ok(layout.render_message_page(&snapshot.facts, &message))
}

/// Renders the picture of an animal that has been sold: its first photo, or a drawing if it has
/// none.
fn last_picture(animal: &Animal<'_>, drawings: &mut Drawings) -> Markup {
    html! {
        div.picture.last {
            @if let Some(photo) = animal.photos.first() {
                // The only photo of the page is in the first view, so that browsers load it eagerly.
                @let position = 0;
                @let photos_in_first_view = 1;
                (CARD.picture(photo, &animal.alt(position, photo), position, photos_in_first_view))
            } @else {
                (drawings.draw(animal, None))
            }
        }
    }
}
