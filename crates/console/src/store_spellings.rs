//! Converts what people type into the store profile to the stored form: `€` to `EUR`, `green` to
//! `#2e7d32`, and `www.shop.example` to `https://www.shop.example`.

use petstore_domain::{store_area::Currency, text::comparison_key};
use petstore_formats::cells::currency_of_sign;

/// Colours with their names in the four languages. Text on each shade has enough contrast.
const COLOURS: [(&str, &[&str]); 13] = [
    ("#b3261e", &["red", "rot", "rouge", "rojo"]),
    ("#c2560a", &["orange", "naranja"]),
    ("#f2c200", &["yellow", "gelb", "jaune", "amarillo"]),
    ("#2e7d32", &["green", "grün", "gruen", "vert", "verde"]),
    (
        "#00796b",
        &["teal", "petrol", "turquoise", "türkis", "turquesa"],
    ),
    ("#1565c0", &["blue", "blau", "bleu", "azul"]),
    (
        "#0d3b66",
        &["navy", "dunkelblau", "bleu marine", "azul marino"],
    ),
    (
        "#6a3fa0",
        &["purple", "violet", "lila", "violett", "morado", "violeta"],
    ),
    ("#c2185b", &["pink", "rosa", "rose"]),
    ("#6d4c41", &["brown", "braun", "marron", "brun", "marrón"]),
    ("#616161", &["grey", "gray", "grau", "gris"]),
    ("#000000", &["black", "schwarz", "noir", "negro"]),
    ("#ffffff", &["white", "weiß", "weiss", "blanc", "blanco"]),
];

/// Parses a currency by its code, its sign or its name. Returns `None` for a sign that several
/// currencies share.
///
/// Example: `eur`, `€` and `Euro` are EUR, but `$` is `None`.
pub(super) fn parse_currency(text: &str) -> Option<Currency> {
    Currency::new(&text.to_ascii_uppercase()).or_else(|| currency_of_sign(text))
}

/// Converts the name of a colour or a hexadecimal code to the form `#rrggbb`. Returns other text
/// unchanged, for [`Colour`](petstore_domain::store_area::Colour) to reject.
///
/// Example: `green` becomes `#2e7d32`, `2f6f4f` becomes `#2f6f4f`, and `#abc` becomes `#aabbcc`.
pub(super) fn colour_to_hex(text: &str) -> String {
    if let Some(hex) = find_named_colour(text) {
        return hex.to_owned();
    }
    let digits = text.strip_prefix('#').unwrap_or(text);
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return text.to_owned();
    }
    match digits.len() {
        3 => {
            let mut hex = "#".to_owned();
            for digit in digits.chars() {
                hex.push(digit);
                hex.push(digit);
            }
            hex
        }
        6 => format!("#{digits}"),
        _ => text.to_owned(),
    }
}

/// Finds the hexadecimal code of a colour by its name.
fn find_named_colour(text: &str) -> Option<&'static str> {
    let key = comparison_key(text);
    for (hex, names) in COLOURS {
        if names.iter().any(|name| comparison_key(name) == key) {
            return Some(hex);
        }
    }
    None
}

/// Adds `https://` to a URL without a scheme. Returns text that does not begin with a host name
/// unchanged.
///
/// Example: `www.tierheim.example/impressum` becomes `https://www.tierheim.example/impressum`.
pub(super) fn with_default_scheme(text: &str) -> String {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = host.contains('.') && !host.contains([':', '@']) && !host.starts_with('.');
    if is_host {
        format!("https://{text}")
    } else {
        text.to_owned()
    }
}

/// Whether a text consists of several URLs that were pasted together, such as
/// `https://a.examplehttps://b.example`. The second one directly follows a letter, a digit, or a
/// separator such as a comma.
///
/// A URL within the path or the query of another one does not count. It follows a character such as
/// `/` or `=`.
pub(super) fn contains_several_urls(text: &str) -> bool {
    for url_prefix in ["https://", "http://", "www."] {
        for (start, _) in text.match_indices(url_prefix) {
            if let Some(previous) = text[..start].chars().next_back()
                && (previous.is_alphanumeric() || ",;|)".contains(previous))
            {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_for_a_currency_a_colour_or_a_link_is_read() {
        for (typed, code) in [
            ("eur", Some("EUR")),
            ("€", Some("EUR")),
            ("Euro", Some("EUR")),
            ("EUROS", Some("EUR")),
            ("£", Some("GBP")),
            ("Fr.", Some("CHF")),
            ("$", None),
            ("kr", None),
            ("money", None),
        ] {
            let parsed = parse_currency(typed);
            assert_eq!(parsed.as_ref().map(Currency::as_str), code, "{typed}");
        }
        for (typed, read) in [
            ("Grün", "#2e7d32"),
            ("BLEU", "#1565c0"),
            ("rojo", "#b3261e"),
            ("2f6f4f", "#2f6f4f"),
            ("#abc", "#aabbcc"),
            ("#12345", "#12345"),
            ("#2f6f4f;}", "#2f6f4f;}"),
            ("mauve-ish", "mauve-ish"),
        ] {
            assert_eq!(colour_to_hex(typed), read);
        }
        for (typed, read) in [
            ("www.a.example", "https://www.a.example"),
            ("a.example/x?y=1:2@3", "https://a.example/x?y=1:2@3"),
            ("https://a.example", "https://a.example"),
            ("http://a.example", "http://a.example"),
            ("javascript:alert(1.5)", "javascript:alert(1.5)"),
            ("u@a.example", "u@a.example"),
            ("Impressum", "Impressum"),
        ] {
            assert_eq!(with_default_scheme(typed), read);
        }
    }

    #[test]
    fn two_addresses_run_together_are_seen_and_one_in_another_is_not() {
        for several in [
            "https://a.examplehttps://b.example",
            "https://a.example/impressumhttp://b.example",
            "https://a.example,https://b.example",
            "www.a.examplewww.b.example",
        ] {
            assert!(contains_several_urls(several), "{several}");
        }
        for one in [
            "https://web.archive.example/web/2020/https://a.example",
            "https://a.example/login?next=https://a.example/www.html",
            "https://www.a.example",
            "https://a.example/#https://b.example",
        ] {
            assert!(!contains_several_urls(one), "{one}");
        }
    }
}
