//! The style sheets of the pages for people.

use super::files;

#[test]
fn style_sheets_have_colours_in_browsers_without_light_dark() {
    for (path, text) in files(&["src/console", "src/window"], ".css") {
        assert!(!text.contains("light-dark("), "{}", path.display());
        // What is printed is light.
        assert!(text.contains("@media screen and (prefers-color-scheme: dark)"), "{path:?}");
    }
}
