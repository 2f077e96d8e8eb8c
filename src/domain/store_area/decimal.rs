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

    /// The number in units of 0.0001, by which two numbers are compared.
    pub fn ten_thousandths(&self) -> i64 {
        let (whole, fraction) = parts(&self.0);
        let digits = [whole, &format!("{:0<4}", fraction.unwrap_or_default())].concat();
        // At most 16 digits.
        let number = digits.parse().unwrap_or(i64::MAX);
        if self.has_minus() { -number } else { number }
    }
}

/// The digits before the point, without the minus, and those after it.
fn parts(text: &str) -> (&str, Option<&str>) {
    let number = text.strip_prefix('-').unwrap_or(text);
    number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)))
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

    /// A price as people read it: `249` and `249.5` are `249.00 EUR` and `249.50 EUR`.
    pub fn amount(&self, price: &str) -> String {
        let has_none = Self::WITHOUT_DECIMALS.contains(&self.0.as_str());
        let zeros = match price.split_once('.').map(|(_, decimals)| decimals.len()) {
            None if has_none => "",
            None => ".00",
            Some(1) => "0",
            Some(_) => "",
        };
        format!("{price}{zeros} {}", self.0)
    }

    /// The currencies without a smaller unit (ISO 4217).
    const WITHOUT_DECIMALS: [&str; 16] = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV",
        "XAF", "XOF", "XPF",
    ];
}
