//! The style sheets of the pages for people.

use super::files;

#[test]
fn style_sheets_have_colours_in_browsers_without_light_dark() {
    let is_dark = |text: &str| text.contains("@media screen and (prefers-color-scheme: dark)");
    for (path, text) in files(
        &[
            "crates/console/src",
            "crates/languages/src",
            "crates/window/src",
        ],
        ".css",
    ) {
        assert!(!text.contains("light-dark("), "{}", path.display());
        // All colours are variables, which the shared one sets, also in the dark. What is printed is light.
        let is_shared = path.ends_with("src/look/look.css");
        assert_eq!(is_dark(&text), is_shared, "{}", path.display());
    }
}
