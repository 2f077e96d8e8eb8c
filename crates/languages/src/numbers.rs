//! Writes numbers and amounts in each language, and parses numbers that people type.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::fmt::Display;

use petstore_domain::store_area::{Currency, Decimal};

/// The way in which a language writes numbers, amounts and days.
#[derive(Debug)]
pub struct Numbers {
    /// The character before the decimals.
    pub point: char,
    /// The character between groups of three digits.
    pub between: char,
    /// A number with fewer digits has no groups.
    pub(crate) grouped_from: usize,
    /// Whether the sign of a currency is before the amount.
    pub(crate) sign_first: bool,
    pub months: [&'static str; 12],
    /// A day: its day, the name of its month, its year.
    pub date: fn(i8, &str, i16) -> String,
    /// Whether `03/04` is a day in April for everybody.
    pub(crate) day_first: bool,
}

/// The error for a number with two meanings, and for each of them a spelling that means nothing else.
#[derive(Debug, PartialEq, Eq)]
pub struct AmbiguousNumber {
    pub meanings: [String; 2],
    pub spellings: [String; 2],
}

const NO_BREAK_SPACE: char = '\u{a0}';

impl Numbers {
    /// Returns an integer in groups.
    pub fn integer(&self, number: impl Display) -> String {
        self.number(&number.to_string())
    }

    /// Returns a number in groups, with the decimals that it has.
    ///
    /// Example: `1249.5` is `1,249.5` in English.
    pub fn number(&self, number: &str) -> String {
        let (whole, decimals) = number.split_once('.').unzip();
        let whole = whole.unwrap_or(number);
        let (minus, digits) = whole
            .strip_prefix('-')
            .map_or(("", whole), |digits| ("-", digits));
        let mut text = minus.to_owned();
        let has_groups = digits.len() >= self.grouped_from;
        for (index, digit) in digits.chars().enumerate() {
            let remaining_digits = digits.len() - index;
            if has_groups && index > 0 && remaining_digits % 3 == 0 {
                text.push(self.between);
            }
            text.push(digit);
        }
        if let Some(decimals) = decimals {
            text.push(self.point);
            text.push_str(decimals);
        }
        text
    }

    /// Returns a price with its currency, and with the decimals of the currency. Without a currency, it has its own
    /// decimals.
    pub fn amount(&self, price: &str, currency: Option<&Currency>) -> String {
        let Some(currency) = currency else {
            return self.number(price);
        };
        let sign = match currency.as_str() {
            "EUR" => "€",
            "GBP" => "£",
            "USD" => "$",
            code => code,
        };
        let number = self.number(&currency.round(price));
        if !self.sign_first {
            return format!("{number}{NO_BREAK_SPACE}{sign}");
        }
        let (minus, number) = number
            .strip_prefix('-')
            .map_or(("", &*number), |number| ("-", number));
        let space = if sign == currency.as_str() {
            "\u{a0}"
        } else {
            ""
        };
        format!("{minus}{sign}{space}{number}")
    }

    /// Returns a number as an input has it, without groups.
    pub fn plain(&self, number: &str) -> String {
        number.replace('.', &self.point.to_string())
    }

    /// Parses a number that somebody typed, and returns it in the form that the store has. Other text stays as it is, and
    /// is invalid. `is_whole` says that the number has no decimals.
    ///
    /// Example: `1 249,50`, `1.249,50` and `1,249.50` are `1249.50` in every language, because people write the languages of
    /// others. `249,-` is `249`. The currency of the store can be before or after the number.
    ///
    /// # Errors
    ///
    /// One point or comma with three digits behind it has two meanings, if the number can have decimals.
    pub fn parse(
        &self,
        text: &str,
        currency: Option<&Currency>,
        is_whole: bool,
    ) -> Result<String, AmbiguousNumber> {
        let number: String = without_currency(text, currency)
            .chars()
            .filter(|&character| !character.is_whitespace() && !"'’".contains(character))
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
                Err(self.ambiguous(&exact, whole))
            }
            (Some(number), _) | (_, Some(number)) => Ok(number),
            (None, None) => Ok(number),
        }
    }

    /// Returns the error for a number that can be `exact`, which has three decimals, or `whole`.
    fn ambiguous(&self, exact: &str, whole: String) -> AmbiguousNumber {
        let short = exact.trim_end_matches('0').trim_end_matches('.');
        // Three digits behind the point would have two meanings again.
        let clear = if short == exact {
            format!("{exact}0")
        } else {
            short.to_owned()
        };
        AmbiguousNumber {
            meanings: [whole.clone(), self.plain(short)],
            spellings: [whole, self.plain(&clear)],
        }
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

/// Returns an amount without the currency of the store, if it has this currency.
fn without_currency<'t>(text: &'t str, currency: Option<&Currency>) -> &'t str {
    let code = currency.map(Currency::as_str);
    let amount = text
        .trim()
        .trim_matches(|sign| is_sign_of(sign, code))
        .trim();
    let code = code.unwrap_or_default();
    let without_prefix = amount.strip_prefix(code).unwrap_or(amount);
    let amount = without_prefix
        .strip_suffix(code)
        .unwrap_or(without_prefix)
        .trim();
    if amount.is_empty() { text } else { amount }
}

/// Whether a character is the sign of a currency. Without a currency, every sign fits.
fn is_sign_of(sign: char, code: Option<&str>) -> bool {
    match sign {
        '€' => code.is_none_or(|code| code == "EUR"),
        '£' => code.is_none_or(|code| code == "GBP"),
        '$' => code.is_none_or(|code| code.ends_with('D')),
        '¥' => code.is_none_or(|code| matches!(code, "JPY" | "CNY")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::numbers_in;
    use petstore_domain::store_area::Language::{self, English, French, German, Spanish};

    /// A price with a currency, or without one (`""`).
    fn written(language: Language, price: &str, currency: &str) -> String {
        numbers_in(language).amount(price, Currency::new(currency).as_ref())
    }

    fn read(language: Language, typed: &str, currency: &str) -> Result<String, [String; 4]> {
        let currency = Currency::new(currency);
        let is_whole = currency
            .as_ref()
            .is_some_and(|currency| currency.decimals() == 0);
        let read = numbers_in(language).parse(typed, currency.as_ref(), is_whole);
        read.map_err(
            |AmbiguousNumber {
                 meanings: [one, other],
                 spellings: [first, second],
             }| { [one, other, first, second] },
        )
    }

    #[test]
    fn an_amount_is_written_as_people_of_the_language_write_it() {
        for (price, currency, [english, german, french, spanish]) in [
            (
                "1249.5",
                "EUR",
                ["€1,249.50", "1.249,50 €", "1_249,50 €", "1249,50 €"],
            ),
            (
                "12495",
                "EUR",
                ["€12,495.00", "12.495,00 €", "12_495,00 €", "12.495,00 €"],
            ),
            (
                "999999.995",
                "GBP",
                [
                    "£1,000,000.00",
                    "1.000.000,00 £",
                    "1_000_000,00 £",
                    "1.000.000,00 £",
                ],
            ),
            (
                "249.00",
                "USD",
                ["$249.00", "249,00 $", "249,00 $", "249,00 $"],
            ),
            (
                "1249.50",
                "CHF",
                [
                    "CHF 1,249.50",
                    "1.249,50 CHF",
                    "1_249,50 CHF",
                    "1249,50 CHF",
                ],
            ),
            (
                "1249.5",
                "JPY",
                ["JPY 1,250", "1.250 JPY", "1_250 JPY", "1250 JPY"],
            ),
            (
                "1249.5",
                "KWD",
                [
                    "KWD 1,249.500",
                    "1.249,500 KWD",
                    "1_249,500 KWD",
                    "1249,500 KWD",
                ],
            ),
            ("0.0049", "EUR", ["€0.00", "0,00 €", "0,00 €", "0,00 €"]),
            ("0.005", "EUR", ["€0.01", "0,01 €", "0,01 €", "0,01 €"]),
            ("007.0050", "EUR", ["€7.01", "7,01 €", "7,01 €", "7,01 €"]),
            (
                "-1249.5",
                "EUR",
                ["-€1,249.50", "-1.249,50 €", "-1_249,50 €", "-1249,50 €"],
            ),
            ("1249.5", "", ["1,249.5", "1.249,5", "1_249,5", "1249,5"]),
            ("1249", "", ["1,249", "1.249", "1_249", "1249"]),
            ("0.0500", "", ["0.0500", "0,0500", "0,0500", "0,0500"]),
        ] {
            let all = [English, German, French, Spanish].map(|of| written(of, price, currency));
            let expected = [english, german, french, spanish]
                .map(|text| text.replace(' ', "\u{a0}").replace('_', "\u{202f}"));
            assert_eq!(all, expected, "{price} {currency}");
        }
        let largest = written(German, "999999999999.9999", "EUR");
        assert_eq!(largest, "1.000.000.000.000,00\u{a0}€");
        let four = [English, German, French, Spanish];
        let integers = four.map(|of| numbers_in(of).integer(-1_234_567));
        let expected = [
            "-1,234,567",
            "-1.234.567",
            "-1\u{202f}234\u{202f}567",
            "-1.234.567",
        ];
        assert_eq!(integers, expected);
        assert_eq!(four.map(|of| numbers_in(of).integer(999)), ["999"; 4]);
        assert_eq!(numbers_in(Spanish).integer(9_999), "9999");
    }

    #[test]
    fn a_number_is_read_as_people_of_any_language_type_it() {
        for (typed, expected) in [
            ("249", "249"),
            ("249.5", "249.5"),
            ("249,50", "249.50"),
            ("1,249.50", "1249.50"),
            ("1.249,50", "1249.50"),
            ("1 249,50", "1249.50"),
            ("1\u{a0}249,50", "1249.50"),
            ("1\u{202f}249,50", "1249.50"),
            ("1\u{2009}249.50", "1249.50"),
            ("1'249.50", "1249.50"),
            ("1’249.50", "1249.50"),
            ("1 249", "1249"),
            ("1.249.000", "1249000"),
            ("1,249,000.5", "1249000.5"),
            ("0,125", "0.125"),
            ("0.125", "0.125"),
            ("1,2490", "1.2490"),
            ("-1.249,5", "-1249.5"),
            ("249,-", "249"),
            ("249.—", "249"),
            ("1.249,--", "1249"),
            ("€ 249,50", "249.50"),
            ("249,50\u{a0}€", "249.50"),
            ("€1,249.50", "1249.50"),
            ("EUR 249,-", "249"),
            ("249 EUR", "249"),
            // Not numbers. They stay, and are invalid.
            ("249,50 CHF", "249,50CHF"),
            ("$249", "$249"),
            ("12.49,50", "12.49,50"),
            ("1,2,3", "1,2,3"),
            ("0,125.5", "0,125.5"),
            ("-", "-"),
            ("€", "€"),
            ("249-", "249-"),
            ("dear", "dear"),
            ("", ""),
        ] {
            for language in Language::ALL {
                assert_eq!(
                    read(language, typed, "EUR").as_deref(),
                    Ok(expected),
                    "{typed}"
                );
            }
        }
        assert_eq!(read(German, "$249,50", "").as_deref(), Ok("249.50"));
        assert_eq!(read(German, "$249,50", "CAD").as_deref(), Ok("249.50"));
    }

    #[test]
    fn what_can_mean_two_things_is_refused_with_both_in_the_language() {
        let refused = |language, typed, texts: [&str; 4]| {
            assert_eq!(
                read(language, typed, "EUR"),
                Err(texts.map(str::to_owned)),
                "{typed}"
            );
        };
        for typed in ["1.249", "1,249", "€1,249", "1.249 €"] {
            refused(English, typed, ["1249", "1.249", "1249", "1.2490"]);
            refused(German, typed, ["1249", "1,249", "1249", "1,2490"]);
        }
        refused(French, "1.250", ["1250", "1,25", "1250", "1,25"]);
        refused(Spanish, "1.000", ["1000", "1", "1000", "1"]);
        // Without decimals, only one of them is possible.
        assert_eq!(read(German, "1.249 JPY", "JPY").as_deref(), Ok("1249"));
        assert_eq!(
            numbers_in(German).parse("1.249", None, true),
            Ok("1249".to_owned())
        );
    }

    proptest! {
        /// What is written is read again in the same language: as the same amount, or with one point and
        /// three decimals as one of two meanings, each of whose spellings is clear.
        #[test]
        fn what_is_written_is_read_again(
            number in "(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?",
            currency in prop::sample::select(vec!["EUR", "GBP", "USD", "CHF", "JPY", "KWD", ""]),
            language in prop::sample::select(Language::ALL.to_vec()),
        ) {
            let value = |number: &str| Decimal::new(number).map(|number| number.ten_thousandths());
            let of = Currency::new(currency);
            let amount = of.as_ref().map_or_else(|| number.clone(), |of| of.round(&number));
            prop_assume!(Decimal::new(&amount).is_some());
            match read(language, &written(language, &number, currency), currency) {
                Ok(read) => prop_assert_eq!(value(&read), value(&amount)),
                Err([_, _, first, second]) => {
                    prop_assert!(currency.is_empty() || currency == "KWD");
                    let read = [first, second].map(|text| read(language, &text, currency).unwrap());
                    prop_assert!(read.iter().any(|read| value(read) == value(&amount)), "{:?}", read);
                }
            }
        }
    }
}
