//! The pictures of photos: browsers know what room each has, and load the file that fills it.

use maud::{Markup, html};

use super::animal::Photo;
use crate::domain::store_area::PhotoSize;

/// The room of a picture on a page. `style.css` decides it, and this repeats what it decides.
pub(super) struct Room {
    /// Its width divided by its height.
    ratio: f64,
    /// Its width in windows of at least so many rem, for the widest windows first.
    widths: &'static [(f64, f64, &'static str)],
}

pub(super) const CARD: Room = Room {
    ratio: 0.8,
    widths: &[
        (79.0, 17.0, "rem"),
        (56.0, 21.5, "vw"),
        (34.0, 29.3, "vw"),
        (21.5, 44.6, "vw"),
        (0.0, 90.0, "vw"),
    ],
};

/// Of a card in a frame of another site.
pub(super) const EMBEDDED_CARD: Room = Room {
    ratio: 0.8,
    widths: &[(56.0, 24.0, "vw"), (34.0, 31.0, "vw"), (21.5, 45.5, "vw"), (0.0, 90.0, "vw")],
};

/// Of the first photo of an animal, and of the others.
pub(super) const FIRST: Room = Room {
    ratio: 4.0 / 3.0,
    widths: &[(80.0, 37.0, "rem"), (60.0, 46.5, "vw"), (0.0, 92.0, "vw")],
};
pub(super) const THUMBNAIL: Room = Room {
    ratio: 4.0 / 3.0,
    widths: &[(80.0, 11.8, "rem"), (60.0, 14.9, "vw"), (0.0, 83.0, "vw")],
};

/// The most that a flat picture is enlarged beyond its room.
const MOST: f64 = 4.0;

impl Room {
    /// The picture of a photo at this position of the page, of which the first `at_first` are in the first
    /// view.
    pub(super) fn picture(&self, photo: &Photo, alt: &str, at: usize, at_first: usize) -> Markup {
        let (width, height) = photo.within(PhotoSize::Medium);
        // Its card is its largest file, and no browser enlarges it.
        let is_little = photo.longer_side() <= PhotoSize::Card.longer_side();
        let source = if is_little { PhotoSize::Card } else { PhotoSize::Medium };
        let files = PhotoSize::ALL.map(|size| {
            let width = photo.within(size).0;
            format!("{} {width}w", photo.path(size))
        });
        let class = match photo.ratio() {
            _ if is_little => Some("little"),
            ratio if ratio < 0.7 => Some("tall"),
            ratio if ratio > 1.3 => Some("wide"),
            _ => None,
        };
        html! {
            img class=[class] src=(photo.path(source)) width=(width) height=(height) alt=(alt)
                srcset=[(!is_little).then(|| files.join(", "))]
                sizes=[(!is_little).then(|| self.sizes(photo.ratio()))]
                fetchpriority=[(at == 0).then_some("high")]
                loading=[(at >= at_first).then_some("lazy")];
        }
    }

    /// How wide a photo with this ratio is that fills the room, where it is cropped, or is whole in it.
    fn sizes(&self, ratio: f64) -> String {
        let factor = (ratio / self.ratio).min(MOST);
        let width = |&(from, width, unit): &(f64, f64, &str)| {
            let shown = format!("{:.1}{unit}", width * factor);
            if from > 0.0 { format!("(min-width: {from}rem) {shown}") } else { shown }
        };
        self.widths.iter().map(width).collect::<Vec<_>>().join(", ")
    }
}
