//! The accent colour of the pages, which is derived from the colour that the store has chosen. It is
//! readable on every background of `look.css`, both in light and in dark mode.

use petstore_domain::{store_area::Colour, text};
use sha2::{Digest, Sha256};

/// The red, green and blue channels of a colour.
type Rgb = [u8; 3];

const WHITE: Rgb = [255; 3];
const BLACK: Rgb = [0; 3];

/// The darkest background of `look.css` in light mode. An accent with enough contrast to it has enough
/// contrast to all others.
const LIGHT_BACKGROUND: Rgb = [0xef, 0xea, 0xe0];

/// The lightest background of `look.css` in dark mode. An accent with enough contrast to it has enough
/// contrast to all others.
const DARK_BACKGROUND: Rgb = [0x34, 0x30, 0x2a];

/// The colour of text on the accent in light mode.
const TEXT_IN_LIGHT_MODE: Rgb = WHITE;

/// The colour of text on the accent in dark mode.
const TEXT_IN_DARK_MODE: Rgb = [0x12, 0x23, 0x1d];

/// The minimum contrast ratio of text (WCAG 2.2, success criterion 1.4.3).
const MIN_CONTRAST: f64 = 4.5;

/// The number of hexadecimal digits of a colour in the path of its style sheet.
const COLOUR_DIGITS: usize = 6;

/// The number of bytes of the digest in the path of a style sheet.
const DIGEST_BYTES: usize = 6;

/// The share of black or white, out of 255, that is mixed into the accent while the pointer hovers
/// over it.
const HOVER_SHARE: u16 = 50;

/// Returns the path of the style sheet for a colour of the store.
///
/// The path contains the colour, so that a cached page still finds its style sheet after the store has
/// changed its colour. It also contains a digest of the style sheet, because a later release may derive
/// other shades from the same colour.
///
/// Example: the path for `#2b5b4d` begins with `/assets/colour-2b5b4d-`.
pub(super) fn style_sheet_path(colour: &Colour) -> String {
    path_for(rgb(colour))
}

/// Returns the style sheet with this path. Returns `None` if no colour has this path: see
/// [`style_sheet_path`].
pub(super) fn style_sheet_at(path: &str) -> Option<String> {
    let colour_digits = path.strip_prefix("/assets/colour-")?.get(..COLOUR_DIGITS)?;
    let colour = rgb(&Colour::new(format!("#{colour_digits}"))?);
    if path_for(colour) != path {
        return None;
    }
    Some(style_sheet(colour))
}

/// Returns the path of the style sheet for a colour: see [`style_sheet_path`].
fn path_for(colour: Rgb) -> String {
    let digest = Sha256::digest(style_sheet(colour));
    let digest_digits = text::hex_digits(&digest[..DIGEST_BYTES]);
    let colour_digits = text::hex_digits(&colour);
    format!("/assets/colour-{colour_digits}-{digest_digits}.css")
}

/// Returns the channels of a colour.
///
/// Example: `#2b5b4d` becomes `[0x2b, 0x5b, 0x4d]`.
fn rgb(colour: &Colour) -> Rgb {
    let digits = colour.as_str();
    // The digits begin after the `#`. They are always hexadecimal, so the default is never used.
    [1, 3, 5].map(|index| u8::from_str_radix(&digits[index..index + 2], 16).unwrap_or_default())
}

/// Returns the style sheet for a colour: the CSS variables of the accent, for light and dark mode.
fn style_sheet(colour: Rgb) -> String {
    let light_accent = readable_shade(colour, BLACK, LIGHT_BACKGROUND);
    let dark_accent = readable_shade(colour, WHITE, DARK_BACKGROUND);
    let light_variables = variables(light_accent, BLACK, TEXT_IN_LIGHT_MODE);
    let dark_variables = variables(dark_accent, WHITE, TEXT_IN_DARK_MODE);
    format!(
        ":root {{ {light_variables} }}\n\
         @media screen and (prefers-color-scheme: dark) {{ :root {{ {dark_variables} }} }}\n"
    )
}

/// Returns the CSS variables of an accent. Its hover shade is a mix with `hover_target`, and text on
/// the accent has the colour `text_colour`.
fn variables(accent: Rgb, hover_target: Rgb, text_colour: Rgb) -> String {
    let hover = mix(accent, hover_target, HOVER_SHARE);
    format!(
        "--accent: #{}; --accent-hover: #{}; --on-accent: #{};",
        text::hex_digits(&accent),
        text::hex_digits(&hover),
        text::hex_digits(&text_colour)
    )
}

/// Returns the first shade between a colour and `target` that has enough contrast to the background.
/// Returns `target` if no shade has enough.
fn readable_shade(colour: Rgb, target: Rgb, background: Rgb) -> Rgb {
    (0..=255)
        .map(|share| mix(colour, target, share))
        .find(|shade| contrast(*shade, background) >= MIN_CONTRAST)
        .unwrap_or(target)
}

/// Mixes two colours. `share` is the share of `other`, out of 255: 0 returns `colour`, and 255
/// returns `other`.
fn mix(colour: Rgb, other: Rgb, share: u16) -> Rgb {
    std::array::from_fn(|index| {
        let sum = u16::from(colour[index]) * (255 - share) + u16::from(other[index]) * share;
        u8::try_from(sum / 255).unwrap_or(u8::MAX)
    })
}

/// Returns the contrast ratio of two colours (WCAG 2.2), from 1 to 21.
fn contrast(colour: Rgb, other: Rgb) -> f64 {
    let colour_luminance = luminance(colour);
    let other_luminance = luminance(other);
    let lighter = colour_luminance.max(other_luminance);
    let darker = colour_luminance.min(other_luminance);
    (lighter + 0.05) / (darker + 0.05)
}

/// Returns the relative luminance of a colour (WCAG 2.2), from 0 for black to 1 for white.
fn luminance(colour: Rgb) -> f64 {
    let [red, green, blue] = colour.map(linear_channel);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Converts a gamma-encoded sRGB channel to its linear intensity, from 0 to 1 (WCAG 2.2).
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

    use super::{Rgb, contrast, path_for, rgb, style_sheet, style_sheet_at};
    use petstore_domain::store_area::Colour;

    /// Returns the value of each definition of a CSS variable in a style sheet: first for light mode,
    /// then for dark mode.
    fn variable_values(css: &str, name: &str) -> Vec<Rgb> {
        let definition_start = format!("--{name}:");
        let values = css
            .split(&definition_start)
            .skip(1)
            .map(|text| text.split([';', '}']).next().unwrap().trim());
        let long_values = values.map(|value| match value {
            // `look.css` abbreviates white.
            "#fff" => "#ffffff".to_owned(),
            value => value.to_owned(),
        });
        long_values
            .map(|value| rgb(&Colour::new(value).unwrap()))
            .collect()
    }

    /// Checks the contrast of the shades that are derived from a colour. The ratio of WCAG is
    /// written out, so that the test also notices a wrong constant.
    #[track_caller]
    fn check_contrasts(colour: Rgb) {
        let css = style_sheet(colour);
        let look = petstore_languages::look::style();
        for name in ["accent", "accent-hover"] {
            let accents = variable_values(&css, name);
            let text_colours = variable_values(&css, "on-accent");
            assert_eq!((accents.len(), text_colours.len()), (2, 2), "{css}");
            for (mode, accent) in accents.into_iter().enumerate() {
                assert!(
                    contrast(accent, text_colours[mode]) >= 4.5,
                    "text on {name} of {colour:?} in {css}"
                );
                for variable in ["bg", "surface", "hover", "plain-bg"] {
                    let background = variable_values(&look, variable)[mode];
                    assert!(
                        contrast(accent, background) >= 4.5,
                        "{colour:?} on {background:?} in {css}"
                    );
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// A failure prints the colour and the seed, and saves the seed for later runs.
        #[test]
        fn every_accent_has_enough_contrast_to_its_text_and_to_the_page(
            colour in any::<Rgb>(),
        ) {
            check_contrasts(colour);
        }
    }

    #[test]
    fn colours_at_the_ends_have_shades_with_enough_contrast_too() {
        for colour in [[0; 3], [255; 3], [255, 255, 0], [0, 0, 255], [0x77; 3]] {
            check_contrasts(colour);
        }
    }

    #[test]
    fn a_colour_that_can_be_read_stays_as_it_is_on_light_paper() {
        assert_eq!(
            variable_values(&style_sheet([0x2b, 0x5b, 0x4d]), "accent")[0],
            [0x2b, 0x5b, 0x4d]
        );
    }

    #[test]
    fn a_style_sheet_is_found_by_its_path_and_nothing_else_is() {
        let colour = [0xff, 0x88, 0x00];
        assert_eq!(style_sheet_at(&path_for(colour)), Some(style_sheet(colour)));
        let path_with_digest_of_another_colour = path_for(colour).replace("ff8800", "ff8801");
        for path in [
            &*path_with_digest_of_another_colour,
            "/assets/colour-ff8800.css",
            "/assets/colour-é",
            "/assets/colour-",
        ] {
            assert_eq!(style_sheet_at(path), None, "{path}");
        }
    }
}
