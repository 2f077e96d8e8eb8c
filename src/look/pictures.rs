//! The pictures of photos: browsers know what room each has, and load the file that fills it.

use maud::{Markup, html};

use super::animal::Photo;
use crate::domain::store_area::{Focus, PhotoSize};

/// The room of a picture on a page. A style sheet decides it, and this repeats what it decides.
pub(crate) struct Room {
    /// In windows of at least so many rem, the widest first: its width, and that divided by its height.
    widths: &'static [(f64, f64, &'static str, f64)],
    /// The largest file that it can need.
    largest: PhotoSize,
    /// Whether it is filled with a part of the picture, except one that is much more upright.
    crops: bool,
}

/// A style sheet says where to look in so many steps from each side: pages can have no style of their own.
pub(super) const STEPS: u32 = 20;

/// The classes of a picture that is cropped around this point.
pub(crate) fn focus(focus: Option<Focus>) -> Option<String> {
    let [x, y] = focus?.point().map(|part| (u32::from(part) * STEPS + 5_000) / 10_000);
    Some(format!("fx{x} fy{y}"))
}

/// The ratios of rooms in the style sheets.
const CARDS: f64 = 4.0 / 5.0;
const LANDSCAPE: f64 = 4.0 / 3.0;

pub(crate) const CARD: Room = Room {
    widths: &[
        (79.0, 17.0, "rem", CARDS),
        (56.0, 21.5, "vw", CARDS),
        (34.0, 29.3, "vw", CARDS),
        (21.5, 44.2, "vw", CARDS),
        (0.0, 90.0, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// Of a card in a frame of another site.
pub(crate) const EMBEDDED_CARD: Room = Room {
    widths: &[
        (56.0, 24.0, "vw", CARDS),
        (34.0, 31.0, "vw", CARDS),
        (21.5, 45.5, "vw", CARDS),
        (0.0, 90.0, "vw", CARDS),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// In a row of a list of the console.
pub(crate) const ROW: Room =
    Room { widths: &[(0.0, 4.5, "rem", 1.0)], largest: PhotoSize::Small, crops: true };

/// On the page of an animal in the console.
pub(crate) const PORTRAIT: Room = Room {
    widths: &[
        (64.0, 30.0, "rem", LANDSCAPE),
        (44.0, 43.0, "vw", LANDSCAPE),
        (0.0, 92.0, "vw", LANDSCAPE),
    ],
    largest: PhotoSize::Medium,
    crops: true,
};

/// Of a photo of an animal: of the first one, of the others, and the same if the first one is upright.
pub(crate) fn in_gallery(is_first: bool, is_upright: bool) -> Room {
    let widths: &[_] = match (is_first, is_upright) {
        (true, false) => &[
            (80.0, 37.0, "rem", LANDSCAPE),
            (60.0, 46.5, "vw", LANDSCAPE),
            (0.0, 92.0, "vw", LANDSCAPE),
        ],
        (true, true) => {
            &[(80.0, 37.0, "rem", CARDS), (60.0, 46.5, "vw", CARDS), (0.0, 92.0, "vw", CARDS)]
        }
        (false, false) => &[
            (80.0, 11.8, "rem", LANDSCAPE),
            (60.0, 14.9, "vw", LANDSCAPE),
            (0.0, 81.0, "vw", LANDSCAPE),
        ],
        (false, true) => &[
            (80.0, 11.8, "rem", LANDSCAPE),
            (60.0, 14.9, "vw", LANDSCAPE),
            (0.0, 81.0, "vw", CARDS),
        ],
    };
    Room { widths, largest: PhotoSize::Large, crops: false }
}

/// The most that a picture is wider than its room, for what browsers load. Of a flatter one, less is seen
/// than is cut off, so it is rather enlarged a little.
const MOST: f64 = 1.8;

impl Room {
    /// The picture of a photo at this position of the page, of which the first `at_first` are in the first
    /// view.
    pub(crate) fn picture(&self, photo: &Photo, alt: &str, at: usize, at_first: usize) -> Markup {
        let (width, height) = photo.within(PhotoSize::Medium);
        // Its card is its largest file, and no browser enlarges it.
        let is_little = photo.longer_side() <= PhotoSize::Card.longer_side();
        let source = if is_little { PhotoSize::Card } else { PhotoSize::Medium };
        let is_larger = source.longer_side() > self.largest.longer_side();
        let source = if is_larger { self.largest } else { source };
        let sizes = PhotoSize::ALL.into_iter();
        let needed = sizes.filter(|size| size.longer_side() <= self.largest.longer_side());
        let file = |size| format!("{} {}w", photo.path(size), photo.within(size).0);
        let files: Vec<_> = needed.map(file).collect();
        let class = match photo.ratio() {
            _ if is_little => Some("little"),
            // It is shown whole, unless somebody has said what is to be seen of it.
            _ if self.crops && photo.focus.is_some() => None,
            ratio if ratio < 0.7 => Some("tall"),
            ratio if ratio < 1.0 => Some("upright"),
            ratio if ratio > 1.3 => Some("wide"),
            _ => None,
        };
        let classes: Vec<_> =
            class.map(str::to_owned).into_iter().chain(focus(photo.focus)).collect();
        let class = Some(classes.join(" ")).filter(|class| !class.is_empty());
        html! {
            img class=[class] src=(photo.path(source)) width=(width) height=(height) alt=(alt)
                srcset=[(!is_little).then(|| files.join(", "))]
                sizes=[(!is_little).then(|| self.sizes(photo))]
                fetchpriority=[(at == 0).then_some("high")]
                loading=[(at >= at_first).then_some("lazy")];
        }
    }

    /// How wide a photo with this ratio is that fills the room, where it is cropped, or is whole in it.
    fn sizes(&self, photo: &Photo) -> String {
        let fills = self.crops && photo.focus.is_some();
        let width = |&(from, width, unit, room): &(f64, f64, &str, f64)| {
            let ratio = (photo.ratio() / room).clamp(if fills { 1.0 } else { 0.0 }, MOST);
            let shown = format!("{:.1}{unit}", width * ratio);
            if from > 0.0 { format!("(min-width: {from}rem) {shown}") } else { shown }
        };
        self.widths.iter().map(width).collect::<Vec<_>>().join(", ")
    }
}
