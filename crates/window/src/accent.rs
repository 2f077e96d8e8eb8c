//! The accent of the pages, from the colour that the store has chosen: its shades are as easy to read as text
//! on every paper of `look.css`.

use petstore_domain::{store_area::Colour, text};
use sha2::{Digest, Sha256};

/// The red, green and blue of a colour.
type Rgb = [u8; 3];

const WHITE: Rgb = [255; 3];
const BLACK: Rgb = [0; 3];

/// The darkest light paper of `look.css`, which is nearest to the accent.
const LIGHT_PAPER: Rgb = [0xef, 0xea, 0xe0];

/// The lightest dark paper of `look.css`, which is nearest to the accent.
const DARK_PAPER: Rgb = [0x34, 0x30, 0x2a];

/// The colour of text on the accent of dark screens.
const DARK_TEXT: Rgb = [0x12, 0x23, 0x1d];

/// The least contrast of text (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;

/// The share of black or white, of 255, in the accent below a pointer.
const HOVER_SHARE: u16 = 50;

/// Returns the path of the style sheet with the accent. It has the colour, so that pages of a cache refer to the sheet
/// with which they were made, and a digest of the sheet, because a later release may make another one.
///
/// Example: the path for `#2b5b4d` begins with `/assets/colour-2b5b4d-`.
pub(super) fn path(colour: &Colour) -> String {
    path_for(rgb(colour))
}

/// Returns the style sheet with this path, if there is one.
pub(super) fn sheet_at(path: &str) -> Option<String> {
    let digits = path.strip_prefix("/assets/colour-")?.get(..6)?;
    let colour = rgb(&Colour::new(format!("#{digits}"))?);
    if path_for(colour) != path {
        return None;
    }
    Some(sheet(colour))
}

/// Returns the path of the style sheet with the accent `colour`.
fn path_for(colour: Rgb) -> String {
    let digest = text::hex_digits(&Sha256::digest(sheet(colour))[..6]);
    format!("/assets/colour-{}-{digest}.css", text::hex_digits(&colour))
}

/// Returns the channels of a colour.
///
/// Example: `#2b5b4d` is `[0x2b, 0x5b, 0x4d]`.
fn rgb(colour: &Colour) -> Rgb {
    let digits = colour.as_str();
    // The first character is the number sign.
    [1, 3, 5].map(|index| u8::from_str_radix(&digits[index..index + 2], 16).unwrap_or_default())
}

/// Returns the style sheet with the accent `colour`, for light and for dark screens.
fn sheet(colour: Rgb) -> String {
    let light_accent = shade(colour, BLACK, LIGHT_PAPER);
    let dark_accent = shade(colour, WHITE, DARK_PAPER);
    let light_variables = variables(light_accent, BLACK, WHITE);
    let dark_variables = variables(dark_accent, WHITE, DARK_TEXT);
    format!(
        ":root {{{light_variables} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark_variables} }} }}\n"
    )
}

/// Returns the variables of a style sheet for an accent. Below a pointer, the accent is nearer to `hover_end`. Text on
/// the accent has the colour `text_colour`.
fn variables(accent: Rgb, hover_end: Rgb, text_colour: Rgb) -> String {
    let hover = mix(accent, hover_end, HOVER_SHARE);
    format!(
        " --accent: #{}; --accent-hover: #{}; --on-accent: #{};",
        text::hex_digits(&accent),
        text::hex_digits(&hover),
        text::hex_digits(&text_colour)
    )
}

/// Returns the shade of a colour between it and `end` that is nearest to the colour and has enough contrast to the paper.
/// Returns `end` if no shade has enough.
fn shade(colour: Rgb, end: Rgb, paper: Rgb) -> Rgb {
    (0..=255)
        .map(|share| mix(colour, end, share))
        .find(|shade| contrast(*shade, paper) >= MIN_CONTRAST)
        .unwrap_or(end)
}

/// Mixes a colour with another one, which has the share `share` of 255.
fn mix(colour: Rgb, other: Rgb, share: u16) -> Rgb {
    std::array::from_fn(|index| {
        let sum = u16::from(colour[index]) * (255 - share) + u16::from(other[index]) * share;
        u8::try_from(sum / 255).unwrap_or(u8::MAX)
    })
}

/// Returns the contrast of two colours (WCAG 2.2), from 1 to 21.
fn contrast(colour: Rgb, other: Rgb) -> f64 {
    let own_luminance = luminance(colour);
    let other_luminance = luminance(other);
    let lighter = own_luminance.max(other_luminance);
    let darker = own_luminance.min(other_luminance);
    (lighter + 0.05) / (darker + 0.05)
}

/// Returns the relative luminance of a colour (WCAG 2.2), from 0 for black to 1 for white.
fn luminance(colour: Rgb) -> f64 {
    let [red, green, blue] = colour.map(linear_channel);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns the intensity of the light of a channel, from 0 to 1.
fn linear_channel(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Rgb, contrast, path_for, rgb, sheet, sheet_at};
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
        assert_eq!(sheet_at(&path_for(colour)), Some(sheet(colour)));
        let other = path_for(colour).replace("ff8800", "ff8801");
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
