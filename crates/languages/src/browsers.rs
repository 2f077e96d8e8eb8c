//! The names of browsers and systems, which are not translated.

/// A part of a user agent, and the name of the browser or system that it shows.
struct Mark {
    text: &'static str,
    name: &'static str,
}

/// The browsers. Each of them also names the browsers after it.
const BROWSERS: [Mark; 8] = [
    mark("Edg", "Edge"),
    mark("OPR/", "Opera"),
    mark("OPT/", "Opera"),
    mark("Firefox/", "Firefox"),
    // On iPhones and iPads, the names of browsers are other ones.
    mark("FxiOS/", "Firefox"),
    mark("CriOS/", "Chrome"),
    mark("Chrome/", "Chrome"),
    mark("Safari/", "Safari"),
];

const SYSTEMS: [Mark; 6] = [
    mark("Android", "Android"),
    mark("iPhone", "iPhone"),
    mark("iPad", "iPad"),
    mark("Windows", "Windows"),
    mark("Mac OS", "Mac"),
    mark("Linux", "Linux"),
];

const fn mark(text: &'static str, name: &'static str) -> Mark {
    Mark { text, name }
}

/// Returns the names of a browser and of its system, if both are known.
pub fn browser(agent: &str) -> Option<(&'static str, &'static str)> {
    let browser = first_name(&BROWSERS, agent)?;
    let system = first_name(&SYSTEMS, agent)?;
    Some((browser, system))
}

/// Returns the name of the first mark that a user agent has.
fn first_name(marks: &[Mark], agent: &str) -> Option<&'static str> {
    let mark = marks.iter().find(|mark| agent.contains(mark.text))?;
    Some(mark.name)
}
