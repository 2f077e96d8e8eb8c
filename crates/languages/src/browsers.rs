//! Recognizes browsers and operating systems by their user agent. Their names are not translated.

/// A token of a user agent, and the name of the browser or system that it identifies.
struct Token {
    text: &'static str,
    name: &'static str,
}

/// The browsers. The order matters, because a user agent can also contain the tokens of later browsers: Edge
/// also sends `Chrome/` and `Safari/`.
const BROWSERS: [Token; 8] = [
    token("Edg", "Edge"),
    token("OPR/", "Opera"),
    token("OPT/", "Opera"),
    token("Firefox/", "Firefox"),
    // The tokens of Firefox and Chrome on iPhones and iPads.
    token("FxiOS/", "Firefox"),
    token("CriOS/", "Chrome"),
    token("Chrome/", "Chrome"),
    token("Safari/", "Safari"),
];

/// The operating systems. The order matters: Android also sends `Linux`, and iPhones and iPads also
/// send `Mac OS`.
const SYSTEMS: [Token; 6] = [
    token("Android", "Android"),
    token("iPhone", "iPhone"),
    token("iPad", "iPad"),
    token("Windows", "Windows"),
    token("Mac OS", "Mac"),
    token("Linux", "Linux"),
];

const fn token(text: &'static str, name: &'static str) -> Token {
    Token { text, name }
}

/// Returns the names of the browser and of the operating system from a user agent, if both are recognized.
pub fn browser(user_agent: &str) -> Option<(&'static str, &'static str)> {
    let browser = first_name(&BROWSERS, user_agent)?;
    let system = first_name(&SYSTEMS, user_agent)?;
    Some((browser, system))
}

/// Returns the name for the first token that the user agent contains.
fn first_name(tokens: &[Token], user_agent: &str) -> Option<&'static str> {
    let token = tokens
        .iter()
        .find(|token| user_agent.contains(token.text))?;
    Some(token.name)
}
