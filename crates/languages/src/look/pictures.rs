//! The pictures of photos: browsers know what room each has, and load the file that fills it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::borrow::Cow;

use maud::{Markup, PreEscaped, Render, html};
use petstore_domain::store_area::{Focus, Photo, PhotoSize};

use super::render::{Written, text};

/// The room of a picture on a page. A style sheet decides it, and this repeats what it decides.
pub struct Room {
    /// In windows of this width, the widest first: its own width in tenths of a unit, the unit, and how its width is to
    /// its height.
    widths: &'static [(&'static str, u64, &'static str, [u64; 2])],
    /// The largest file that it can need.
    largest: PhotoSize,
    /// Whether it is filled with a part of the picture, except one that is much more upright.
    crops: bool,
}

/// A style sheet says where to look in so many steps from each side: pages can have no style of their own.
pub(super) const STEPS: u32 = 20;

/// The classes of a picture that is cropped around this point.
pub fn focus(focus: Option<Focus>) -> Option<String> {
    let [x, y] = focus?
        .point()
        .map(|part| (u32::from(part) * STEPS + 5_000) / 10_000);
    Some(format!("fx{x} fy{y}"))
}

/// The ratios of rooms in the style sheets.
const CARDS: [u64; 2] = [4, 5];
const LANDSCAPE: [u64; 2] = [4, 3];

pub const CARD: Room = Room {
    widths: &[
        ("(min-width: 79rem) ", 170, "rem", CARDS),
        ("(min-width: 56rem) ", 215, "vw", CARDS),
        ("(min-width: 34rem) ", 293, "vw", CARDS),
        ("(min-width: 21.5rem) ", 442, "vw", CARDS),
        ("", 900, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// Of a card in a frame of another site.
pub const EMBEDDED_CARD: Room = Room {
    widths: &[
        ("(min-width: 56rem) ", 240, "vw", CARDS),
        ("(min-width: 34rem) ", 310, "vw", CARDS),
        ("(min-width: 21.5rem) ", 455, "vw", CARDS),
        ("", 900, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// In a row of a list of the console.
pub const ROW: Room = Room {
    widths: &[("", 45, "rem", [1, 1])],
    largest: PhotoSize::Small,
    crops: true,
};

/// On the page of an animal in the console.
pub const PORTRAIT: Room = Room {
    widths: &[
        ("(min-width: 64rem) ", 300, "rem", LANDSCAPE),
        ("(min-width: 44rem) ", 430, "vw", LANDSCAPE),
        ("", 920, "vw", LANDSCAPE),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// Of a photo of an animal: of the first one, of the others, and the same if the first one is upright.
pub fn gallery_room(is_first: bool, is_upright: bool) -> Room {
    let widths: &[_] = match (is_first, is_upright) {
        (true, false) => &[
            ("(min-width: 80rem) ", 370, "rem", LANDSCAPE),
            ("(min-width: 60rem) ", 465, "vw", LANDSCAPE),
            ("", 920, "vw", LANDSCAPE),
        ],
        (true, true) => &[
            ("(min-width: 80rem) ", 370, "rem", CARDS),
            ("(min-width: 60rem) ", 465, "vw", CARDS),
            ("", 920, "vw", CARDS),
        ],
        (false, false) => &[
            ("(min-width: 80rem) ", 118, "rem", LANDSCAPE),
            ("(min-width: 60rem) ", 149, "vw", LANDSCAPE),
            ("", 810, "vw", LANDSCAPE),
        ],
        (false, true) => &[
            ("(min-width: 80rem) ", 118, "rem", LANDSCAPE),
            ("(min-width: 60rem) ", 149, "vw", LANDSCAPE),
            ("", 810, "vw", CARDS),
        ],
    };
    Room {
        widths,
        largest: PhotoSize::Large,
        crops: false,
    }
}

/// The most that a picture is wider than its room, for what browsers load, in tenths. Of a flatter one, less is seen
/// than is cut off, so it is rather enlarged a little.
const MOST: u64 = 18;

impl Room {
    /// The picture of a photo at this position of the page, of which the first `at_first` are in the first
    /// view.
    pub fn picture(&self, photo: &Photo, alt: &str, at: usize, at_first: usize) -> Markup {
        let (width, height) = photo.within(PhotoSize::Medium);
        // Its card is its largest file, and no browser enlarges it.
        let is_little = photo.longer_side() <= PhotoSize::Card.longer_side();
        let source = if is_little {
            PhotoSize::Card
        } else {
            PhotoSize::Medium
        };
        let is_larger = source.longer_side() > self.largest.longer_side();
        let source = if is_larger { self.largest } else { source };
        let sizes = PhotoSize::ALL.into_iter();
        let needed = sizes.filter(|size| size.longer_side() <= self.largest.longer_side());
        let files = Written(|out: &mut String| {
            for (at, size) in needed.clone().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&photo.path(size));
                out.push(' ');
                photo.within(size).0.render_to(out);
                out.push('w');
            }
        });
        let class = match photo.ratio() {
            _ if is_little => Some("little"),
            // It is shown whole, unless somebody has said what is to be seen of it.
            _ if self.crops && photo.focus.is_some() => None,
            ratio if ratio < 0.7 => Some("tall"),
            ratio if ratio < 1.0 => Some("upright"),
            ratio if ratio > 1.3 => Some("wide"),
            _ => None,
        };
        let class = match (class, focus(photo.focus)) {
            (Some(class), Some(focus)) => Some(Cow::Owned([class, " ", &focus].concat())),
            (class, focus) => focus.map(Cow::Owned).or_else(|| class.map(Cow::Borrowed)),
        };
        html! {
            img class=[class] src=(PreEscaped(photo.path(source))) width=(width) height=(height) alt=(text(alt))
                srcset=[(!is_little).then_some(files)]
                sizes=[(!is_little).then(|| self.sizes(photo))]
                fetchpriority=[(at == 0).then_some("high")]
                loading=[(at >= at_first).then_some("lazy")];
        }
    }

    /// How wide a photo with this ratio is that fills the room, where it is cropped, or is whole in it.
    fn sizes(&self, photo: &Photo) -> impl Render {
        let fills = self.crops && photo.focus.is_some();
        let [width, height] = [photo.width, photo.height].map(|side| u64::from(side.max(1)));
        let shown = move |room: u64, [wide, high]: [u64; 2]| {
            let parts = height * wide;
            let whole = (room * width * high + parts / 2) / parts;
            whole.clamp(if fills { room } else { 0 }, (room * MOST + 5) / 10)
        };
        Written(move |out: &mut String| {
            for (at, &(windows, room, unit, ratio)) in self.widths.iter().enumerate() {
                let tenths = shown(room, ratio);
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(windows);
                (tenths / 10).render_to(out);
                out.push('.');
                (tenths % 10).render_to(out);
                out.push_str(unit);
            }
        })
    }
}
