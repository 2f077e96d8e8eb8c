//! Numbers and amounts, as people write them in any language.

use petstore_domain::store_area::{Currency, Decimal};

/// The typographic minus sign, which the program Numbers writes.
const MINUS_SIGN: char = '\u{2212}';

/// The signs and words for currencies, each with the currencies that it can mean. A sign that
/// contains another one comes before it: `US$` must be removed as a whole, before `$`. A sign is
/// removed only in the spelling given here, so common spellings with another case have entries.
const CURRENCY_SIGNS: [(&str, &[&str]); 30] = [
    ("US$", &["USD"]),
    ("R$", &["BRL"]),
    (
        "$",
        &[
            "USD", "AUD", "CAD", "HKD", "NZD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP", "UYU",
            "DOP", "CUP", "BRL",
        ],
    ),
    ("€", &["EUR"]),
    ("Euros", &["EUR"]),
    ("euros", &["EUR"]),
    ("Euro", &["EUR"]),
    ("euro", &["EUR"]),
    ("£", &["GBP"]),
    ("¥", &["JPY", "CNY"]),
    ("₹", &["INR"]),
    ("₩", &["KRW"]),
    ("₺", &["TRY"]),
    ("₪", &["ILS"]),
    ("₽", &["RUB"]),
    ("₴", &["UAH"]),
    ("₫", &["VND"]),
    ("₱", &["PHP"]),
    ("฿", &["THB"]),
    ("zł", &["PLN"]),
    ("Kč", &["CZK"]),
    ("Ft", &["HUF"]),
    ("lei", &["RON"]),
    ("SFr.", &["CHF"]),
    ("Fr.", &["CHF"]),
    ("Fr", &["CHF"]),
    ("kr.", &["SEK", "NOK", "DKK", "ISK"]),
    ("kr", &["SEK", "NOK", "DKK", "ISK"]),
    ("Kr.", &["SEK", "NOK", "DKK", "ISK"]),
    ("Kr", &["SEK", "NOK", "DKK", "ISK"]),
];

/// Returns the currency of a sign or word, regardless of upper and lower case. Returns `None` if
/// several currencies share it.
///
/// Example: `€` and `euro` are `EUR`, and `$` is ambiguous.
pub fn currency_of_sign(text: &str) -> Option<Currency> {
    let lower_case = text.to_lowercase();
    let is_sign = |sign: &str| sign.to_lowercase() == lower_case;
    let (_, currencies) = CURRENCY_SIGNS.iter().find(|(sign, _)| is_sign(sign))?;
    match currencies {
        [code] => Currency::new(code),
        _ => None,
    }
}

/// A number with two possible meanings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousNumber {
    /// The number if its separator groups thousands: `1249` for `1.249`.
    pub whole: String,
    /// The number if its separator precedes decimals: `1.249` for `1.249`.
    pub exact: String,
    /// A spelling of `exact` that is not ambiguous: `1.2490` for `1.249`.
    pub exact_spelling: String,
}

impl AmbiguousNumber {
    /// Creates the description of a number that means `whole` or `exact`. `exact` has three
    /// decimals, even if the last ones are zeros, because [`Decimal`] keeps them.
    fn new(exact: &str, whole: String) -> Self {
        let without_zeros = exact.trim_end_matches('0').trim_end_matches('.');
        // Three digits after the point would be ambiguous again, so a fourth digit follows.
        let exact_spelling = if without_zeros == exact {
            format!("{exact}0")
        } else {
            without_zeros.to_owned()
        };
        Self {
            whole,
            exact: without_zeros.to_owned(),
            exact_spelling,
        }
    }
}

/// Parses a number in any common format, and returns it as the store writes it. A text that is not
/// a number is returned without its spaces and its currency; the validation of the value rejects it
/// later.
///
/// Example: `1 249,50`, `1.249,50` and `1,249.50` are `1249.50`, whatever the language, because
/// people also use the formats of other languages. `249,-` is `249`.
///
/// `currency` is the currency of the store, which can precede or follow the number. `is_whole` says
/// that the number has no decimals.
///
/// # Errors
///
/// A single point or comma before three digits is ambiguous, if the number can have decimals.
pub fn parse_number(
    text: &str,
    currency: Option<&Currency>,
    is_whole: bool,
) -> Result<String, AmbiguousNumber> {
    let number = normalize_characters(strip_currency(text, currency));
    let before_dash = strip_decimal_dash(&number);
    let is_whole = is_whole || before_dash.is_some();
    let grouped_number = before_dash.unwrap_or(&number);

    let with_point = parse_with_separators(grouped_number, ',', '.');
    let with_comma = parse_with_separators(grouped_number, '.', ',');
    let (with_point, with_comma) = match (with_point, with_comma) {
        (Some(with_point), Some(with_comma)) => (with_point, with_comma),
        (Some(parsed), None) | (None, Some(parsed)) => return Ok(parsed),
        (None, None) => return Ok(number),
    };
    if with_point == with_comma {
        return Ok(with_point);
    }
    // The separator groups thousands in one of the two, and precedes decimals in the other.
    let (exact, whole) = if with_point.contains('.') {
        (with_point, with_comma)
    } else {
        (with_comma, with_point)
    };
    if is_whole {
        return Ok(whole);
    }
    Err(AmbiguousNumber::new(&exact, whole))
}

/// Parses a number without decimals, like [`parse_number`]. It cannot be ambiguous: a separator
/// that could also precede decimals groups thousands, so `1.250` is `1250`.
pub(super) fn parse_whole_number(text: &str, currency: Option<&Currency>) -> String {
    match parse_number(text, currency, true) {
        Ok(number) => number,
        Err(ambiguous) => ambiguous.whole,
    }
}

/// Removes spaces and apostrophes, which group digits in some languages, and makes minus signs
/// ASCII.
fn normalize_characters(number: &str) -> String {
    let mut normalized = String::with_capacity(number.len());
    for character in number.chars() {
        if character == MINUS_SIGN {
            normalized.push('-');
        } else if !character.is_whitespace() && !"'’".contains(character) {
            normalized.push(character);
        }
    }
    normalized
}

/// Removes the dash that some people write in place of decimals. Returns `None` if there is none.
///
/// Example: `249,-` becomes `249`.
fn strip_decimal_dash(number: &str) -> Option<&str> {
    let before_dash = ["--", "-", "–", "—"]
        .iter()
        .find_map(|dash| number.strip_suffix(dash))?;
    before_dash.strip_suffix([',', '.'])
}

/// Parses a number with `separator` between its groups of digits and `point` before its decimals.
/// Returns the number as the store writes it.
///
/// Example: with the separator `.` and the point `,`, `1.249,5` is `1249.5`.
fn parse_with_separators(number: &str, separator: char, point: char) -> Option<String> {
    let (whole, decimals) = match number.split_once(point) {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (number, None),
    };
    if whole.contains(separator) && !has_valid_groups(whole, separator) {
        return None;
    }

    let mut plain_number = whole.replace(separator, "");
    if let Some(decimals) = decimals {
        plain_number.push('.');
        plain_number.push_str(decimals);
    }
    let decimal = Decimal::new(&plain_number)?;
    Some(decimal.as_str().to_owned())
}

/// Whether the digits of a number are grouped correctly: three in each group, and one to three in
/// the first group, without a leading zero.
fn has_valid_groups(whole: &str, separator: char) -> bool {
    let mut groups = whole.trim_start_matches('-').split(separator);
    // There is always a first group, which may be empty.
    let first_group = groups.next().unwrap_or_default();
    matches!(first_group.len(), 1..=3)
        && !first_group.starts_with('0')
        && groups.all(|group| group.len() == 3)
}

/// Removes the currency of the store from an amount: its code, or one of its signs. Removes any
/// sign if the store has no currency.
fn strip_currency<'t>(text: &'t str, currency: Option<&Currency>) -> &'t str {
    let code = currency.map(Currency::as_str);
    let mut amount = text.trim();
    if let Some(code) = code {
        amount = strip_word(amount, code);
    }
    for (sign, currencies) in CURRENCY_SIGNS {
        if code.is_none_or(|code| currencies.contains(&code)) {
            amount = strip_word(amount, sign);
        }
    }
    // A text that is only a currency is invalid, and must not become an empty cell.
    if amount.is_empty() { text } else { amount }
}

/// Removes a word at the beginning and at the end of a text.
fn strip_word<'t>(text: &'t str, word: &str) -> &'t str {
    let text = text.strip_prefix(word).unwrap_or(text);
    text.strip_suffix(word).unwrap_or(text).trim()
}
