//! The pictures of photos: browsers know what room each has, and load the file that fills it.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, Render, html};
use petstore_domain::store_area::{Focus, Photo, PhotoSize};

use super::render::{Written, text};

/// The room of a picture on a page. A style sheet decides it, and this repeats what it decides.
pub struct Room {
    /// Its widths, the widest windows first.
    widths: &'static [RoomWidth],
    /// The largest file that it can need.
    largest: PhotoSize,
    /// Whether it is filled with a part of the picture, except one that is much more upright.
    crops: bool,
}

/// The width of a room in some windows.
struct RoomWidth {
    /// The condition for the windows, with a space after it. Empty for all other windows.
    windows: &'static str,
    /// The width in tenths of the unit.
    tenths: u64,
    unit: &'static str,
    /// The ratio of the width to the height.
    ratio: [u64; 2],
}

/// Returns the width of a room in the windows with this condition.
const fn width(
    windows: &'static str,
    tenths: u64,
    unit: &'static str,
    ratio: [u64; 2],
) -> RoomWidth {
    RoomWidth {
        windows,
        tenths,
        unit,
        ratio,
    }
}

/// The number of steps from each side in which a style sheet can say where to look, because pages can have no style of
/// their own.
pub(super) const STEPS: u32 = 20;

/// Returns the classes of a picture that is cropped around this point.
///
/// Example: for the middle of the picture, `fx10 fy10`.
pub fn focus(focus: Option<Focus>) -> Option<String> {
    let [x, y] = focus?
        .point()
        .map(|part| (u32::from(part) * STEPS + 5_000) / 10_000);
    Some(format!("fx{x} fy{y}"))
}

/// The ratio of cards in the style sheets.
const CARDS: [u64; 2] = [4, 5];

/// The ratio of other rooms in the style sheets.
const LANDSCAPE: [u64; 2] = [4, 3];

/// The room of a card in the window.
pub const CARD: Room = Room {
    widths: &[
        width("(min-width: 79rem) ", 170, "rem", CARDS),
        width("(min-width: 56rem) ", 215, "vw", CARDS),
        width("(min-width: 34rem) ", 293, "vw", CARDS),
        width("(min-width: 21.5rem) ", 442, "vw", CARDS),
        width("", 900, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// The room of a card in a frame of another site.
pub const EMBEDDED_CARD: Room = Room {
    widths: &[
        width("(min-width: 56rem) ", 240, "vw", CARDS),
        width("(min-width: 34rem) ", 310, "vw", CARDS),
        width("(min-width: 21.5rem) ", 455, "vw", CARDS),
        width("", 900, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// The room in a row of a list of the console.
pub const ROW: Room = Room {
    widths: &[width("", 45, "rem", [1, 1])],
    largest: PhotoSize::Small,
    crops: true,
};

/// The room on the page of an animal in the console.
pub const PORTRAIT: Room = Room {
    widths: &[
        width("(min-width: 64rem) ", 300, "rem", LANDSCAPE),
        width("(min-width: 44rem) ", 430, "vw", LANDSCAPE),
        width("", 920, "vw", LANDSCAPE),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// Returns the room of a photo on the page of an animal. `is_first` says whether it is the first photo, and `is_upright`
/// whether the first photo is upright.
pub fn gallery_room(is_first: bool, is_upright: bool) -> Room {
    let widths: &'static [RoomWidth] = match (is_first, is_upright) {
        (true, false) => {
            const {
                &[
                    width("(min-width: 80rem) ", 370, "rem", LANDSCAPE),
                    width("(min-width: 60rem) ", 465, "vw", LANDSCAPE),
                    width("", 920, "vw", LANDSCAPE),
                ]
            }
        }
        (true, true) => {
            const {
                &[
                    width("(min-width: 80rem) ", 370, "rem", CARDS),
                    width("(min-width: 60rem) ", 465, "vw", CARDS),
                    width("", 920, "vw", CARDS),
                ]
            }
        }
        (false, false) => {
            const {
                &[
                    width("(min-width: 80rem) ", 118, "rem", LANDSCAPE),
                    width("(min-width: 60rem) ", 149, "vw", LANDSCAPE),
                    width("", 810, "vw", LANDSCAPE),
                ]
            }
        }
        (false, true) => {
            const {
                &[
                    width("(min-width: 80rem) ", 118, "rem", LANDSCAPE),
                    width("(min-width: 60rem) ", 149, "vw", LANDSCAPE),
                    width("", 810, "vw", CARDS),
                ]
            }
        }
    };
    Room {
        widths,
        largest: PhotoSize::Large,
        crops: false,
    }
}

/// The factor by which a picture is at most wider than its room, for the choice of a file by browsers, in tenths. A flatter
/// picture shows less than is cut off, so it is rather enlarged a little.
const MAX_WIDTH_FACTOR: u64 = 18;

impl Room {
    /// Renders a photo at this position of the page, from 0, whose first view has `photos_in_first_view` photos.
    pub fn picture(
        &self,
        photo: &Photo,
        alt: &str,
        position: usize,
        photos_in_first_view: usize,
    ) -> Markup {
        let (width, height) = photo.dimensions(PhotoSize::Medium);
        // Its card is its largest file, and no browser enlarges it.
        let is_little = photo.longer_side() <= PhotoSize::Card.longer_side();
        let source = if is_little {
            PhotoSize::Card
        } else {
            PhotoSize::Medium
        };
        let source = if source.longer_side() > self.largest.longer_side() {
            self.largest
        } else {
            source
        };
        html! {
            img class=[self.class(photo, is_little)] src=(PreEscaped(photo.path(source)))
                width=(width) height=(height) alt=(text(alt))
                srcset=[(!is_little).then(|| self.files(photo))]
                sizes=[(!is_little).then(|| self.sizes(photo))]
                fetchpriority=[(position == 0).then_some("high")]
                loading=[(position >= photos_in_first_view).then_some("lazy")];
        }
    }

    /// Returns the classes of a photo: one for its shape, and those for the point around which it is cropped.
    fn class(&self, photo: &Photo, is_little: bool) -> Option<Cow<'static, str>> {
        let shape_class = self.shape(photo, is_little);
        let focus_class = focus(photo.focus);
        match (shape_class, focus_class) {
            (Some(shape), Some(focus)) => Some(Cow::Owned([shape, " ", &focus].concat())),
            (Some(shape), None) => Some(Cow::Borrowed(shape)),
            (None, focus) => focus.map(Cow::Owned),
        }
    }

    /// Returns the class for the shape of a photo.
    fn shape(&self, photo: &Photo, is_little: bool) -> Option<&'static str> {
        if is_little {
            return Some("little");
        }
        // A room that crops shows a photo whole, unless somebody has said what is to be seen of it.
        if self.crops && photo.focus.is_some() {
            return None;
        }
        match photo.ratio() {
            ratio if ratio < 0.7 => Some("tall"),
            ratio if ratio < 1.0 => Some("upright"),
            ratio if ratio > 1.3 => Some("wide"),
            _ => None,
        }
    }

    /// Returns the `srcset` of a photo: the files that the room can need, with their widths.
    fn files(&self, photo: &Photo) -> impl Render {
        let largest_side = self.largest.longer_side();
        let sizes = PhotoSize::ALL.into_iter();
        let sizes = sizes.filter(move |size| size.longer_side() <= largest_side);
        Written(move |out: &mut String| {
            for (index, size) in sizes.clone().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&photo.path(size));
                out.push(' ');
                let (width, _) = photo.dimensions(size);
                width.render_to(out);
                out.push('w');
            }
        })
    }

    /// Returns the `sizes` of a photo: its width in each kind of window.
    fn sizes(&self, photo: &Photo) -> impl Render {
        let fills_room = self.crops && photo.focus.is_some();
        Written(move |out: &mut String| {
            for (index, room) in self.widths.iter().enumerate() {
                let tenths = photo_width(photo, room, fills_room);
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(room.windows);
                (tenths / 10).render_to(out);
                out.push('.');
                (tenths % 10).render_to(out);
                out.push_str(room.unit);
            }
        })
    }
}

/// Returns the width of a photo that is whole in a room, in tenths of its unit. If the photo fills the room, it is at least
/// as wide as the room, which cuts off its sides.
fn photo_width(photo: &Photo, room: &RoomWidth, fills_room: bool) -> u64 {
    let width = u64::from(photo.width.max(1));
    let height = u64::from(photo.height.max(1));
    let [room_width, room_height] = room.ratio;
    let parts = height * room_width;
    let whole_width = (room.tenths * width * room_height + parts / 2) / parts;
    let min_width = if fills_room { room.tenths } else { 0 };
    whole_width.clamp(min_width, (room.tenths * MAX_WIDTH_FACTOR + 5) / 10)
}
