//! The accent of the pages, from the colour that the store has chosen: its shades are on every paper of
//! `look.css` as easy to read as text.

use std::fmt::Write as _;

use petstore_domain::{store_area::Colour, text};
use sha2::{Digest, Sha256};

type Rgb = [u8; 3];

const WHITE: Rgb = [255; 3];
const BLACK: Rgb = [0; 3];

/// The paper of `look.css` that is nearest to the accent: the darkest light one, the lightest dark one.
const LIGHT_PAPER: Rgb = [0xef, 0xea, 0xe0];
const DARK_PAPER: Rgb = [0x34, 0x30, 0x2a];

/// The text on the accent of dark screens.
const DARK_TEXT: Rgb = [0x12, 0x23, 0x1d];

/// The least contrast of text (WCAG 2.2, 1.4.3).
const CONTRAST: f64 = 4.5;

/// How far, of 255, the accent goes on when a pointer is over it.
const HOVER: u16 = 50;

/// The path of the style sheet with the accent. It has the colour, so that pages that are cached find
/// theirs, and a digest of the sheet, which a later release may make otherwise.
pub(super) fn path(colour: &Colour) -> String {
    path_of(rgb(colour))
}

/// The style sheet with this path.
pub(super) fn sheet_at(path: &str) -> Option<String> {
    let digits = path.strip_prefix("/assets/colour-")?.get(..6)?;
    let colour = Colour::new(format!("#{digits}"))?;
    (self::path(&colour) == path).then(|| sheet(rgb(&colour)))
}

fn path_of(colour: Rgb) -> String {
    let digest = text::hex_digits(&Sha256::digest(sheet(colour))[..6]);
    format!("/assets/colour-{}-{digest}.css", text::hex_digits(&colour))
}

fn rgb(colour: &Colour) -> Rgb {
    let channel = |at: usize| u8::from_str_radix(&colour.as_str()[at..at + 2], 16);
    [1, 3, 5].map(|at| channel(at).unwrap_or_default())
}

fn sheet(colour: Rgb) -> String {
    let light = shade(colour, BLACK, LIGHT_PAPER);
    let dark = shade(colour, WHITE, DARK_PAPER);
    let variables = |accent, towards, on: Rgb| {
        let mut css = String::new();
        let hover = mixed(accent, towards, HOVER);
        for (name, [red, green, blue]) in [
            ("accent", accent),
            ("accent-hover", hover),
            ("on-accent", on),
        ] {
            // A write to a string cannot fail.
            let _ = write!(css, " --{name}: #{red:02x}{green:02x}{blue:02x};");
        }
        css
    };
    let (light, dark) = (
        variables(light, BLACK, WHITE),
        variables(dark, WHITE, DARK_TEXT),
    );
    format!(
        ":root {{{light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark} }} }}\n"
    )
}

/// The colour, as far towards black or white as this paper needs.
fn shade(colour: Rgb, towards: Rgb, paper: Rgb) -> Rgb {
    let mut shades = (0..=255).map(|share| mixed(colour, towards, share));
    shades
        .find(|shade| contrast(*shade, paper) >= CONTRAST)
        .unwrap_or(towards)
}

/// `share` is of 255.
fn mixed(colour: Rgb, with: Rgb, share: u16) -> Rgb {
    std::array::from_fn(|at| {
        let mixed = u16::from(colour[at]) * (255 - share) + u16::from(with[at]) * share;
        u8::try_from(mixed / 255).unwrap_or(u8::MAX)
    })
}

/// The contrast of two colours (WCAG 2.2).
fn contrast(one: Rgb, other: Rgb) -> f64 {
    let [one, other] = [one, other].map(luminance);
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: Rgb) -> f64 {
    let linear = colour.map(|channel| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 {
            channel / 12.92
        } else {
            ((channel + 0.055) / 1.055).powf(2.4)
        }
    });
    linear
        .into_iter()
        .zip([0.2126, 0.7152, 0.0722])
        .map(|(channel, share)| channel * share)
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Rgb, contrast, path_of, rgb, sheet, sheet_at};
    use petstore_domain::store_area::Colour;

    /// The value of each variable with this name in a style sheet.
    fn values(css: &str, name: &str) -> Vec<Rgb> {
        let before = format!("--{name}:");
        let values = css
            .split(&before)
            .skip(1)
            .map(|rest| rest.split([';', '}']).next().unwrap().trim());
        let full = values.map(|value| match value {
            "#fff" => "#ffffff".to_owned(),
            value => value.to_owned(),
        });
        full.map(|value| rgb(&Colour::new(value).unwrap()))
            .collect()
    }

    #[track_caller]
    fn check(colour: Rgb) {
        let (css, look) = (sheet(colour), petstore_languages::look::style());
        for name in ["accent", "accent-hover"] {
            let [accents, on] = [values(&css, name), values(&css, "on-accent")];
            assert_eq!((accents.len(), on.len()), (2, 2), "{css}");
            for (at, accent) in accents.into_iter().enumerate() {
                assert!(
                    contrast(accent, on[at]) >= 4.5,
                    "text on {name} of {colour:?} in {css}"
                );
                for paper in ["bg", "surface", "hover", "plain-bg"] {
                    let paper = values(&look, paper)[at];
                    assert!(
                        contrast(accent, paper) >= 4.5,
                        "{colour:?} on {paper:?} in {css}"
                    );
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// A failure prints the colour and the seed, and keeps it for the next runs.
        #[test]
        fn text_on_every_accent_and_every_accent_on_the_page_has_a_contrast_of_4_5(
            colour in any::<Rgb>(),
        ) {
            check(colour);
        }
    }

    #[test]
    fn colours_at_the_ends_have_shades_with_enough_contrast_too() {
        for colour in [[0; 3], [255; 3], [255, 255, 0], [0, 0, 255], [0x77; 3]] {
            check(colour);
        }
    }

    #[test]
    fn a_colour_that_can_be_read_stays_as_it_is_on_light_paper() {
        assert_eq!(
            values(&sheet([0x2b, 0x5b, 0x4d]), "accent")[0],
            [0x2b, 0x5b, 0x4d]
        );
    }

    #[test]
    fn a_style_sheet_is_found_by_its_path_and_nothing_else_is() {
        let colour = [0xff, 0x88, 0x00];
        assert_eq!(sheet_at(&path_of(colour)), Some(sheet(colour)));
        let other = path_of(colour).replace("ff8800", "ff8801");
        for path in [
            &*other,
            "/assets/colour-ff8800.css",
            "/assets/colour-é",
            "/assets/colour-",
        ] {
            assert_eq!(sheet_at(path), None, "{path}");
        }
    }
}
