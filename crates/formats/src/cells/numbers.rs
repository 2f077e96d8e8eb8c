//! Numbers and amounts as people of any language write them.

use petstore_domain::store_area::{Currency, Decimal};

/// The minus sign of typography, which Numbers writes.
const MINUS_SIGN: char = '\u{2212}';

/// The signs that people write with an amount, each with its currencies. A sign that contains another one comes first.
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

/// Returns the currency of a sign or word that only one currency has, in any case.
///
/// Example: `€` and `euro` are `EUR`, and `$` is none.
pub fn currency_of_sign(text: &str) -> Option<Currency> {
    let lower_case = text.to_lowercase();
    let is_sign = |sign: &str| sign.to_lowercase() == lower_case;
    let (_, currencies) = CURRENCY_SIGNS.iter().find(|(sign, _)| is_sign(sign))?;
    match currencies {
        [code] => Currency::new(code),
        _ => None,
    }
}

/// A number with two meanings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousNumber {
    /// The number if the sign in it separates thousands: `1250` for `1.250`.
    pub whole: String,
    /// The number if the sign in it is before the decimals: `1.25` for `1.250`.
    pub exact: String,
    /// A spelling of `exact` that means nothing else: `1.2490` for `1.249`.
    pub exact_spelling: String,
}

impl AmbiguousNumber {
    /// `exact` has three decimals.
    fn new(exact: &str, whole: String) -> Self {
        let short = exact.trim_end_matches('0').trim_end_matches('.');
        // Three digits after the point would have two meanings again.
        let exact_spelling = if short == exact {
            format!("{exact}0")
        } else {
            short.to_owned()
        };
        Self {
            whole,
            exact: short.to_owned(),
            exact_spelling,
        }
    }
}

/// Parses a number that somebody wrote, and returns it in the form that the store has. Other text stays as it is, and is
/// invalid. `is_whole` says that the number has no decimals.
///
/// Example: `1 249,50`, `1.249,50` and `1,249.50` are `1249.50` in every language, because people write the languages of
/// others. `249,-` is `249`. The currency of the store can be before or after the number.
///
/// # Errors
///
/// One point or comma with three digits after it has two meanings, if the number can have decimals.
pub fn parse_number(
    text: &str,
    currency: Option<&Currency>,
    is_whole: bool,
) -> Result<String, AmbiguousNumber> {
    let number: String = without_currency(text, currency)
        .chars()
        .filter(|&character| !character.is_whitespace() && !"'’".contains(character))
        .map(|character| {
            if character == MINUS_SIGN {
                '-'
            } else {
                character
            }
        })
        .collect();
    let whole_number = without_dash(&number);
    let is_whole = is_whole || whole_number.is_some();
    let digits = whole_number.unwrap_or(&number);

    let with_point = read_as(digits, ',', '.');
    let with_comma = read_as(digits, '.', ',');
    match (with_point, with_comma) {
        (Some(with_point), Some(with_comma)) if with_point != with_comma => {
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
        (Some(number), _) | (_, Some(number)) => Ok(number),
        (None, None) => Ok(number),
    }
}

/// Returns a number without the dash that some people write in place of decimals.
///
/// Example: `249,-` is `249`.
fn without_dash(number: &str) -> Option<&str> {
    ["--", "-", "–", "—"]
        .iter()
        .find_map(|dash| number.strip_suffix(dash))?
        .strip_suffix([',', '.'])
}

/// Reads a number with `separator` between its groups and `point` before its decimals. Returns it in the form that the
/// store has, if it is valid.
///
/// Example: with `.` between groups and the point `,`, `1.249,5` is `1249.5`.
fn read_as(number: &str, separator: char, point: char) -> Option<String> {
    let (whole, decimals) = number.split_once(point).unzip();
    let whole = whole.unwrap_or(number);
    if whole.contains(separator) && !has_valid_groups(whole, separator) {
        return None;
    }

    let mut plain_number = whole.replace(separator, "");
    if let Some(decimals) = decimals {
        plain_number.push('.');
        plain_number.push_str(decimals);
    }
    let number = Decimal::new(&plain_number)?;
    Some(number.as_str().to_owned())
}

/// Whether each group of a number has three digits, except the first one, which has one to three and no leading zero.
fn has_valid_groups(whole: &str, separator: char) -> bool {
    let mut groups = whole.trim_start_matches('-').split(separator);
    let first_group = groups.next().unwrap_or_default();
    matches!(first_group.len(), 1..=3)
        && !first_group.starts_with('0')
        && groups.all(|group| group.len() == 3)
}

/// Returns an amount without the currency of the store, if it has this currency: its code, or one of its signs.
fn without_currency<'t>(text: &'t str, currency: Option<&Currency>) -> &'t str {
    let code = currency.map(Currency::as_str);
    let mut amount = without_word(text.trim(), code.unwrap_or_default());
    for (sign, currencies) in CURRENCY_SIGNS {
        // Without a currency, every sign fits.
        if code.is_none_or(|code| currencies.contains(&code)) {
            amount = without_word(amount, sign);
        }
    }
    if amount.is_empty() { text } else { amount }
}

/// Returns a text without a word at its beginning and at its end.
fn without_word<'t>(text: &'t str, word: &str) -> &'t str {
    let text = text.strip_prefix(word).unwrap_or(text);
    text.strip_suffix(word).unwrap_or(text).trim()
}
