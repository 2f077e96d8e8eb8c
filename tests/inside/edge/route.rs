//! Tests of `src/edge/route.rs`.

use super::*;

#[test]
fn a_parameter_is_one_segment_with_text_around_it_or_the_rest() {
    let parameter = |pattern, path| Pattern::of(pattern).parameters_in(path);
    assert_eq!(parameter("/a/{id}/x", "/a/7/x"), Some("7"));
    for path in ["/a/7", "/a/7/", "/a//x", "/a/x", "/b/7/x", "/a/7/x/", "/a/7/y/x", "/a/"] {
        assert_eq!(parameter("/a/{id}/x", path), None, "{path}");
    }
    assert_eq!(parameter("/a/{id}", "/a/7%2F/"), None);
    assert_eq!(parameter("/a/{id}", "/a/7%2F"), Some("7%2F"));
    assert_eq!(parameter("/a/{*rest}", "/a/b/c"), Some("b/c"));
    assert_eq!(parameter("/a/{*rest}", "/a/"), Some(""));
    assert_eq!(parameter("/a", "/a"), Some(""));
    assert_eq!(parameter("/a/{id}/b/{other}", "/a/7/b/8"), Some("7/b/8"));
    for path in ["/a/7/b/", "/a//b/8", "/a/7/b", "/a/7/b/8/", "/a/7/c/8", "/a/7/x/b/8"] {
        assert_eq!(parameter("/a/{id}/b/{other}", path), None, "{path}");
    }
    let pattern = Pattern::of("/a/{id}/b/{other}");
    assert_eq!(pattern.parameters_at("/a/7/b/8", 5), ["7", "8"]);
    assert_eq!(Pattern::of("/a/{id}/x").parameters_at("/a/7/x", 1), ["7", ""]);
}
