//! Currencies, and how prices are rounded to their smallest units.

/// The currencies without decimals (ISO 4217).
const CURRENCIES_WITHOUT_DECIMALS: [&str; 16] = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
    "XAF", "XOF", "XPF",
];

/// The currencies with three decimals (ISO 4217).
const THREE_DECIMAL_CURRENCIES: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// An ISO 4217 currency code, such as `EUR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Currency(String);

impl Currency {
    /// Validates a currency code; `None` if the text is not three capital letters. Any such code is
    /// accepted, because the list of codes in use changes over time.
    pub fn new(text: &str) -> Option<Self> {
        let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        is_code.then(|| Self(text.to_owned()))
    }

    /// Returns the ISO 4217 code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number of decimals in amounts of this currency (ISO 4217).
    pub fn decimals(&self) -> usize {
        let code = self.0.as_str();
        if CURRENCIES_WITHOUT_DECIMALS.contains(&code) {
            0
        } else if THREE_DECIMAL_CURRENCIES.contains(&code) {
            3
        } else {
            2
        }
    }

    /// Rounds a price to the decimals of the currency. A half is rounded away from zero. A text
    /// that is not a number is returned unchanged.
    ///
    /// ```
    /// use petstore_domain::store_area::Currency;
    ///
    /// let yen = Currency::new("JPY").unwrap();
    /// let euro = Currency::new("EUR").unwrap();
    /// assert_eq!(yen.round("1249.5"), "1250");
    /// assert_eq!(euro.round("249"), "249.00");
    /// ```
    pub fn round(&self, price: &str) -> String {
        let decimal_count = self.decimals();
        let (minus, amount) = match price.strip_prefix('-') {
            Some(amount) => ("-", amount),
            None => ("", price),
        };
        match round_to_units(amount, decimal_count) {
            Some(units) => format!("{minus}{}", format_units(units, decimal_count)),
            None => price.to_owned(),
        }
    }
}

/// Rounds an amount without a sign to the smallest units of a currency, such as cents; `None` if
/// the amount is not a number. With two decimals, `2.495` becomes 250.
fn round_to_units(amount: &str, decimal_count: usize) -> Option<u128> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let mut unit_digits = whole.to_owned();
    let padded_fraction = fraction.chars().chain(std::iter::repeat('0'));
    unit_digits.extend(padded_fraction.take(decimal_count));
    let units: u128 = unit_digits.parse().ok()?;

    let is_rounded_up = fraction
        .as_bytes()
        .get(decimal_count)
        .is_some_and(|digit| *digit >= b'5');
    Some(units + u128::from(is_rounded_up))
}

/// Formats an amount that is given in the smallest units of a currency: 250 with two decimals
/// becomes `2.50`.
fn format_units(units: u128, decimal_count: usize) -> String {
    // At least one digit must remain before the decimal point.
    let digits = format!("{units:0>width$}", width = decimal_count + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimal_count);
    if fraction.is_empty() {
        return digits;
    }
    format!("{whole}.{fraction}")
}
