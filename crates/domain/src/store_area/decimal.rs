//! Decimal numbers, such as prices.

/// The maximum number of digits before the decimal point.
const MAX_WHOLE_DIGITS: usize = 12;

/// The maximum number of digits after the decimal point.
const MAX_FRACTION_DIGITS: usize = 4;

/// A decimal number that keeps its spelling, such as `249.00`: an optional minus sign, 1 to 12
/// digits, and optionally a decimal point with 1 to 4 digits after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal(String);

impl Decimal {
    /// Parses a decimal number; `None` if the text has another form.
    ///
    /// ```
    /// use petstore_domain::store_area::Decimal;
    ///
    /// assert_eq!(Decimal::new("-249.00").map(|number| number.ten_thousandths()), Some(-2_490_000));
    /// assert_eq!(Decimal::new("249."), None);
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let number = text.strip_prefix('-').unwrap_or(text);
        let is_valid = match number.split_once('.') {
            Some((whole, fraction)) => {
                is_digits(whole, MAX_WHOLE_DIGITS) && is_digits(fraction, MAX_FRACTION_DIGITS)
            }
            None => is_digits(number, MAX_WHOLE_DIGITS),
        };
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the number is written with a minus sign. Prices must not have one.
    pub fn has_minus(&self) -> bool {
        self.0.starts_with('-')
    }

    /// Returns the number in units of 0.0001, for comparisons: 25000 for `2.5`.
    pub fn ten_thousandths(&self) -> i64 {
        let number = self.0.strip_prefix('-').unwrap_or(&self.0);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction:0<MAX_FRACTION_DIGITS$}");
        // There are at most 16 digits, so parsing cannot fail.
        let amount: i64 = digits.parse().unwrap_or(i64::MAX);
        if self.has_minus() { -amount } else { amount }
    }
}

/// Whether a text consists of 1 to `max_length` ASCII digits.
fn is_digits(text: &str, max_length: usize) -> bool {
    (1..=max_length).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
