//! Decimal numbers, and the currency of those that are prices.

/// The most digits before the point, and after it.
const DIGITS: [usize; 2] = [12, 4];

/// A decimal number that is kept as it was written, such as `249.00`: an optional minus, 1 to 12
/// digits, and optionally a point with 1 to 4 digits after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal(String);

impl Decimal {
    /// `None` if the text has another form.
    pub fn new(text: &str) -> Option<Self> {
        let (whole, fraction) = parts(text);
        let are_digits = |text: &str, most: usize| {
            (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_valid = are_digits(whole, DIGITS[0])
            && fraction.is_none_or(|fraction| are_digits(fraction, DIGITS[1]));
        is_valid.then(|| Self(text.to_owned()))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is written with a minus, which no price has.
    pub fn has_minus(&self) -> bool {
        self.0.starts_with('-')
    }

    /// Returns the number in units of 0.0001, by which two numbers are compared.
    pub fn ten_thousandths(&self) -> i64 {
        let (whole, fraction) = parts(&self.0);
        let digits = [whole, &format!("{:0<4}", fraction.unwrap_or_default())].concat();
        // At most 16 digits.
        let number = digits.parse().unwrap_or(i64::MAX);
        if self.has_minus() { -number } else { number }
    }
}

/// Returns the digits before the point, without the minus, and those after it.
fn parts(text: &str) -> (&str, Option<&str>) {
    let number = text.strip_prefix('-').unwrap_or(text);
    number
        .split_once('.')
        .map_or((number, None), |(whole, fraction)| (whole, Some(fraction)))
}

/// The code of a currency (ISO 4217), such as `EUR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Currency(String);

impl Currency {
    /// `None` if the text is not three capital letters. The codes that are in use change over time.
    pub fn new(text: &str) -> Option<Self> {
        let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        is_code.then(|| Self(text.to_owned()))
    }

    /// Its code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many decimals an amount in it has (ISO 4217).
    pub fn decimals(&self) -> usize {
        match self.0.as_str() {
            code if Self::WITHOUT_DECIMALS.contains(&code) => 0,
            code if Self::WITH_THREE_DECIMALS.contains(&code) => 3,
            _ => 2,
        }
    }

    /// Returns a price with all decimals of the currency, and no more: half up.
    pub fn round(&self, price: &str) -> String {
        let decimals = self.decimals();
        let (minus, digits) = price
            .strip_prefix('-')
            .map_or(("", price), |digits| ("-", digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let kept = fraction
            .chars()
            .chain(std::iter::repeat('0'))
            .take(decimals);
        let Ok(units) = whole
            .chars()
            .chain(kept)
            .collect::<String>()
            .parse::<u128>()
        else {
            return price.to_owned();
        };
        let is_up = fraction
            .as_bytes()
            .get(decimals)
            .is_some_and(|digit| *digit >= b'5');
        let units = format!("{:0>1$}", units + u128::from(is_up), decimals + 1);
        let (whole, fraction) = units.split_at(units.len() - decimals);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{minus}{whole}{point}{fraction}")
    }

    /// The currencies without a smaller unit (ISO 4217).
    const WITHOUT_DECIMALS: [&str; 16] = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
        "XAF", "XOF", "XPF",
    ];
    const WITH_THREE_DECIMALS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
}
