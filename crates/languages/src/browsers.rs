//! The names of browsers and systems, which are the same in every language.

/// A browser and its system as people name them, if both are known.
pub fn browser(agent: &str) -> Option<(&'static str, &'static str)> {
    let find = |known: &[(&str, &'static str)]| {
        known
            .iter()
            .find(|(mark, _)| agent.contains(mark))
            .map(|(_, name)| *name)
    };
    // Each browser also names those after it.
    let browser = find(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = find(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "Mac"),
        ("Linux", "Linux"),
    ]);
    browser.zip(system)
}
